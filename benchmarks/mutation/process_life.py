"""What goes with the process: where it ends after a release, and globals that keep what they hold
until then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from cudalint.analysis.domains.ownership.recorder import Acquired, Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.queries.process_end import ProcessEnd
from cudalint.analysis.shape.operations import calls, successors
from cudalint.analysis.summaries import Linker
from cudalint.program import (
    Call,
    Expression,
    Return,
    Terminator,
    Throw,
    Unreachable,
    Variable,
    render,
    variables,
)

_MOST_CALLERS = 6
"""Levels of callers after which nobody asks further."""

Callers = Mapping[tuple[str, str], Sequence[tuple[FunctionRun, Call]]]
"""By the file and the key of a function: who calls it, where."""


class ProcessLife:
    """The functions of a unit, as far as its process lives."""

    def __init__(
        self,
        linker: Linker,
        runs: Sequence[FunctionRun],
        callers: Callers,
        referred: Container[str | None],
    ) -> None:
        self._linker = linker
        self._callers = callers
        self._referred = referred
        self._end = ProcessEnd(linker, frozenset())
        self._all = runs
        self._runs = {id(one): run for run in runs for one in _acquired(run)}
        self._filled = Counter(root for run in runs for root in _globals_filled(run))

    def keeps(self, acquired: Acquired) -> bool:
        """Whether a global of a whole program keeps what is acquired once, and what nothing else is
        ever stored over: it can be reached until the process ends."""
        run = self._runs.get(id(acquired))
        root = _global(acquired)
        return (
            run is not None
            and not run.python
            and root is not None
            and not acquired.in_loop
            and self._filled[root] == 1
            and self._end.runs_once(run.function)
        )

    def keeps_on_device(
        self, run: FunctionRun, place: Expression | None, owed: Sequence[Acquired]
    ) -> bool:
        """Whether what is acquired once is released out of a variable of the device, which was
        given it once: there, too, it can be reached until the process ends."""
        read = {
            render(call.arguments[1].value)
            for _, call in calls(run.function)
            if call.name == "cudaMemcpyFromSymbol" and len(call.arguments) > 1
            if isinstance(place, Variable) and place.symbol in variables(call.arguments[0].value)
        }
        put = [
            not other.flow.enclosing[at.block] and self._end.runs_once(other.function)
            for other in self._all
            for at, call in calls(other.function)
            if call.name == "cudaMemcpyToSymbol" and render(call.arguments[0].value) in read
        ]
        makers = [self._runs.get(id(one)) for one in owed if not one.in_loop]
        return (
            put == [True]
            and len(makers) == len(owed) > 0
            and all(maker is not None and self._end.runs_once(maker.function) for maker in makers)
        )

    def ways_out(self, run: FunctionRun, call: Call, depth: int = 0) -> set[type[Terminator]]:
        """How control goes on after a call, until the process ends: by ``Return``, by ``Throw`` or
        by neither. A function that only others call ends it where they do."""
        blocks = run.flow.blocks
        ends = {type(blocks[number].terminator) for number, _ in self.after(run, call)}
        ends &= {Return, Throw}
        identity = (run.filename, run.function.key)
        callers = self._callers.get(identity, ())
        if Return not in ends or not callers or run.function.key in self._referred:
            return ends
        if run.function.is_main or depth > _MOST_CALLERS:
            return ends
        ends.discard(Return)
        return ends.union(*(self.ways_out(caller, at, depth + 1) for caller, at in callers))

    def after(self, run: FunctionRun, call: Call) -> Iterator[tuple[int, int]]:
        """The operations that may run after a call: block and index (one past the last stands for
        the terminator)."""
        starts = [
            (block.number, index + 1)
            for block in run.function.blocks
            for index, operation in enumerate(block.operations)
            if isinstance(operation, Call) and operation.span == call.span
        ]
        pending, seen = starts, set[tuple[int, int]]()
        while pending:
            number, index = pending.pop()
            if (number, index) in seen:
                continue
            seen.add((number, index))
            yield number, index
            block = run.function.blocks[number]
            if index < len(block.operations):
                if not self._ends_process(run, block.operations[index]):
                    pending.append((number, index + 1))
            elif not isinstance(block.terminator, Unreachable):
                pending.extend((successor, 0) for successor in successors(block))

    def _ends_process(self, run: FunctionRun, operation: object) -> bool:
        if not isinstance(operation, Call):
            return False
        if operation.noreturn:
            return True
        model = run.models.lookup(operation.name) if operation.name else None
        if model is not None:
            return model.noreturn
        summary = self._linker.summary(operation.key, run.filename)[0] if operation.key else None
        return summary is not None and summary.complete and not summary.outcomes


def _acquired(run: FunctionRun) -> Iterator[Acquired]:
    for record in run.log(Recorder).records.values():
        yield record.acquired


def _global(acquired: Acquired) -> str | None:
    """The global that a resource is acquired into: all of it, not an element of a table."""
    location = acquired.location
    if location is None or not location[0].startswith("::") or "[]" in location:
        return None
    return "".join(map(str, location))


def _globals_filled(run: FunctionRun) -> Iterator[str]:
    """The globals that a function acquires into itself."""
    for acquired in _acquired(run):
        if acquired.from_callee is None and (root := _global(acquired)) is not None:
            yield root
