"""Large allocations beside a stream-ordered pool that may still hold its memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.evaluate import Evaluator
from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts import HeldPool, Site
from cudalint.analysis.queries.capacity.flushes import model_of
from cudalint.analysis.shape.operations import calls, definitions, successors
from cudalint.analysis.values.values import constant, integer
from cudalint.apis.model import ApiFunction
from cudalint.program import (
    AddressOf,
    Assign,
    Block,
    Call,
    Function,
    Return,
    render,
    variables,
)

LARGE = 256 << 20
"""Below this a pool that keeps its memory is no danger to anybody."""
LARGE_THOUGH_SYNCHRONIZED = 1 << 30
LARGE_WHERE_NOTHING_WAITS = 16 << 20
"""What is worth a note where nothing waits for the frees at all."""
Place = tuple[int, int]


def held_pools(run: FunctionRun) -> Iterator[HeldPool]:
    """The large allocations of one function that a pool may stand in the way of."""
    large = [
        (record.acquired, size)
        for origin, record in run.log(Recorder).records.items()
        if not record.acquired.managed
        and record.acquired.through is None
        and record.acquired.info.space == "device"
        and (size := integer(record.acquired.bytes)) is not None
        and size >= LARGE_WHERE_NOTHING_WAITS
        and (model := run.models.lookup(record.acquired.api)) is not None
        and not model.stream_ordered
    ]
    if not large:
        return
    events = _Events(run)
    if not events.frees or events.trims:
        return
    for acquired, size in large:
        here = position_of(acquired.origin)
        reason: Literal["threshold", "unsynchronized", "synchronized"] | None = None
        for place, site in events.frees.items():
            if here is None or not run.flow.reaches(*place, *here):
                continue
            if events.threshold is not None:
                reason = "threshold" if events.keeps and size >= LARGE else None
            elif place not in events.waited and _reaches(
                run.flow.blocks, place, here, events.waits
            ):
                reason = "unsynchronized"
            elif size >= LARGE_THOUGH_SYNCHRONIZED:
                reason = "synchronized"
            if reason is not None:
                yield HeldPool(
                    acquired.api, acquired.shown, acquired.span, size, site, reason,
                    events.threshold,
                )  # fmt: skip
                break


class _Events:
    """What a function, and the functions of the run that it calls, do to pools."""

    def __init__(self, run: FunctionRun) -> None:
        self.frees: dict[Place, Site] = {}
        self.waited: set[Place] = set()
        """Frees in a callee that waits for them itself."""
        self.waits: frozenset[Place] = frozenset()
        self.trims = False
        self.threshold: Site | None = None
        self.keeps = False
        waits: set[Place] = set()
        for at, call in calls(run.function):
            model = model_of(run, call)
            if model is not None and not model.guess:
                self._note(run, at.place, call, model, waits, run.function)
            elif call.key:
                callee = run.symbols.function(call.key, run.filename)
                if callee is not None and callee.key != run.function.key:
                    self._inside(run, at.place, callee, waits)
        self.waits = frozenset(waits)

    def _note(
        self, run: FunctionRun, place: Place, call: Call, model: ApiFunction, waits: set[Place],
        function: Function,
    ) -> None:  # fmt: skip
        if model.stream_ordered and model.releases:
            self.frees.setdefault(place, Site(function.filename, call.span, call.name))
        if model.synchronizes:
            waits.add(place)
        self.trims |= model.trims_pool
        effect = model.pool_threshold
        if effect is None:
            return
        binding = Binding(call, model.parameters, run.evaluator, State())
        attribute = binding.expression(effect.attribute)
        spelling = render(attribute) if attribute is not None else ""
        if spelling.rpartition(".")[2].rpartition("::")[2] in effect.only:
            self.threshold = Site(function.filename, call.span, call.name)
            amount = _amount(run, function, call)
            self.keeps = amount is not None and amount >= 1 << 40

    def _inside(self, run: FunctionRun, place: Place, callee: Function, waits: set[Place]) -> None:
        inner = _Events.__new__(_Events)
        inner.frees, inner.waited, inner.trims = {}, set(), False
        inner.threshold, inner.keeps = None, False
        waiting: set[Place] = set()
        for at, call in calls(callee):
            model = model_of(run, call)
            if model is not None and not model.guess:
                inner._note(run, at.place, call, model, waiting, callee)
        self.trims |= inner.trims
        if inner.threshold is not None:
            self.threshold, self.keeps = inner.threshold, inner.keeps
        lasting = [
            free for free in inner.frees if _reaches(callee.blocks, free, None, frozenset(waiting))
        ]
        if inner.frees:
            self.frees[place] = next(iter(inner.frees.values()))
            if not lasting:
                self.waited.add(place)
        elif waiting and not _reaches(callee.blocks, (0, -1), None, frozenset(waiting)):
            waits.add(place)


def _amount(run: FunctionRun, function: Function, call: Call) -> int | None:
    """The threshold, from the constant that the variable passed is set to."""
    value = call.arguments[-1].value if call.arguments else None
    if value is None:
        return None
    evaluator = Evaluator(
        function, run.program.language, run.program.variables, run.models.constants
    )
    number = integer(evaluator.value(value, State()))
    if number is not None:
        return number
    place = value.place if isinstance(value, AddressOf) else value
    found: set[object] = set()
    given = definitions(function)
    for operation in (one for symbol in variables(place) for one in given.get(symbol, ())):
        if isinstance(operation, Assign):
            found.add(constant(evaluator.value(operation.value, State())))
        elif isinstance(operation, Call) and operation.arguments:  # a number in its C type
            found.add(constant(evaluator.value(operation.arguments[0].value, State())))
    numbers = {number for number in found if isinstance(number, int)}
    return max(numbers) if numbers and len(numbers) == len(found) else None


def _reaches(
    blocks: Sequence[Block], start: Place, goal: Place | None, without: frozenset[Place]
) -> bool:
    """Whether control may go from one operation to another (``None``: out of the function) past
    none of some."""
    seen: set[int] = set()
    pending: list[Place] = [(start[0], start[1] + 1)]
    while pending:
        number, index = pending.pop()
        places = [(number, at) for at in range(index, len(blocks[number].operations) + 1)]
        stop = next((place for place in places if place in without or place == goal), None)
        if stop is not None and stop == goal:
            return True
        if stop is not None:
            continue
        targets = successors(blocks[number])
        if goal is None and isinstance(blocks[number].terminator, Return):
            return True
        for target in targets:
            if target not in seen:
                seen.add(target)
                pending.append((target, 0))
    return False
