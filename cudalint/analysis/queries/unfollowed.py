"""Locals that nothing releases in functions whose ends no path was seen to reach: there are too
many paths, or ``exit`` ends them all.

No path is asked here, only the function's text: what acquires into a local, and that no line which
mentions the local could release it, keep it or put something else in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import Exit, Leak, LeakExit, Resource, Site
from cudalint.analysis.shape.arguments import given_at
from cudalint.analysis.shape.effects import EffectsOf
from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.analysis.shape.walk import plain
from cudalint.apis.model import Acquisition
from cudalint.apis.paths import parse_path
from cudalint.findings.finding import Step
from cudalint.program import (
    AddressOf,
    Assign,
    Call,
    Constant,
    Operation,
    Return,
    Unknown,
    Variable,
    render,
    variables,
)


def left_unfollowed(symbols: Symbols, runs: Sequence[FunctionRun]) -> dict[Identity, list[Leak]]:
    """By function: what it acquires into locals, where siblings are released."""
    return {
        identity(run.function): list(_Unfollowed(symbols, run).leaks())
        for run in runs
        if not run.python and not (run.complete and any(o.kind == "return" for o in run.outcomes))
    }


class _Unfollowed:
    """One function."""

    def __init__(self, symbols: Symbols, run: FunctionRun) -> None:
        self._symbols = symbols
        self._run = run
        self._function = run.function
        self._captured = {
            symbol
            for program in symbols.programs.values()
            for function in program.functions
            if function.parent == run.function.key
            for symbol in function.variables
        }

    def leaks(self) -> Iterator[Leak]:
        """What is acquired into a local that nothing else could end."""
        known = {
            record.acquired.span: record for record in self._run.log(Recorder).records.values()
        }
        releases = list(self._releases())
        for at, call in calls(self._function):
            model = self._run.models.lookup(call.name)
            for acquisition in model.acquires if model is not None else ():
                local = self._local(call, acquisition)
                record = known.get(call.span)
                if local is None or (record and (record.exits or record.acquired.managed)):
                    continue
                siblings = [
                    Site(self._run.filename, released.span, name)
                    for family, name, released in releases
                    if acquisition.family in family
                ]
                if siblings and not self._may_end(local, call):
                    yield self._leak(call, acquisition, local, siblings, at.block)

    def _local(self, call: Call, acquisition: Acquisition) -> Variable | None:
        """The variable that is acquired into."""
        model = self._run.models.lookup(call.name)
        if model is None or acquisition.handle == "return" or acquisition.managed:
            return None
        target = given_at(call, parse_path(acquisition.handle, model.parameters))
        address = plain(target) if target is not None else None
        place = plain(address.place) if isinstance(address, AddressOf) else None
        if not isinstance(place, Variable) or place.symbol in self._captured:
            return None
        info = self._function.variables.get(place.symbol)
        return place if info is not None and info.storage == "local" else None

    def _releases(self) -> Iterator[tuple[tuple[str, ...], str, Call]]:
        """What the function releases, by the families that the release is for."""
        for _, call in calls(self._function):
            model = self._run.models.lookup(call.name)
            if model is None:
                continue
            for release in model.releases:
                place = given_at(call, parse_path(release.handle, model.parameters))
                if place is not None and isinstance(plain(place), Variable):
                    yield tuple(release.families), render(place), call

    def _may_end(self, local: Variable, acquired: Call) -> bool:
        """Whether something other than its acquisition may release, keep or replace it."""
        symbol = local.symbol
        ends = (block.terminator for block in self._function.blocks)
        returned = (end.value for end in ends if isinstance(end, Return) and end.value is not None)
        if any(symbol in variables(value) for value in returned):
            return True
        return any(
            at.operation is not acquired and self._ends(at.operation, symbol)
            for at in operations(self._function)
        )

    def _ends(self, operation: Operation, symbol: str) -> bool:
        target = operation.target if isinstance(operation, Assign | Call) else None
        written = isinstance(target, Variable) and target.symbol == symbol
        if isinstance(operation, Assign):
            if written:
                empty = isinstance(operation.value, Constant | Unknown)
                return not (operation.declares and empty)
            return symbol in variables(operation.value)
        return isinstance(operation, Call) and (
            written
            or self._symbols.memo(EffectsOf).may_end(
                operation, symbol, self._run.filename, self._run.models
            )
        )

    def _leak(
        self,
        call: Call,
        acquisition: Acquisition,
        local: Variable,
        siblings: list[Site],
        block: int,
    ) -> Leak:
        run = self._run
        resource = Resource(
            name=render(local),
            api=call.name,
            family=acquisition.family,
            info=run.models.family_of(call.name, acquisition.family),
            filename=run.filename,
            span=call.span,
            in_loop=run.repeats(block),
        )
        end = max(site.span for site in siblings)
        acquired = Step(run.filename, call.span, f"`{resource.name}` is acquired here")
        way = LeakExit(Exit.END, end, "the function ends", (acquired,))
        return Leak(resource, (way,), siblings=tuple(siblings), followed=False)
