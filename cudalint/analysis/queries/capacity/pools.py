"""Large allocations beside a stream-ordered pool that may still hold its memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.evaluate import Evaluator
from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts import HeldPool, Site
from cudalint.analysis.shape.flow import Flow, Place
from cudalint.analysis.shape.operations import calls, definitions
from cudalint.analysis.values.values import constant, integer
from cudalint.apis.model import ApiFunction
from cudalint.program import (
    AddressOf,
    Assign,
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
    events = _events(run, run.function)
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
            elif place not in events.waited and here in run.flow.passed(place, events.waits):
                reason = "unsynchronized"
            elif size >= LARGE_THOUGH_SYNCHRONIZED:
                reason = "synchronized"
            if reason is not None:
                yield HeldPool(
                    acquired.api, acquired.shown, acquired.span, size, site, reason,
                    events.threshold,
                )  # fmt: skip
                break


@dataclass
class _Events:
    """What a function, and the functions of the run that it calls, do to pools."""

    frees: dict[Place, Site] = field(default_factory=dict)
    waited: set[Place] = field(default_factory=set)
    """Frees in a callee that waits for them itself."""
    waits: set[Place] = field(default_factory=set)
    trims: bool = False
    threshold: Site | None = None
    keeps: bool = False


def _events(run: FunctionRun, function: Function, inside: bool = True) -> _Events:
    found = _Events()
    for at, call in calls(function):
        model = run.models.lookup(call.name)
        if model is not None and not model.guess:
            _note(found, run, at.place, call, model, function)
        elif call.key and inside:
            callee = run.symbols.function(call.key, run.filename)
            if callee is not None and callee.key != function.key:
                _called(
                    found, at.place, run.symbols.flow(callee), _events(run, callee, inside=False)
                )
    return found


def _note(
    found: _Events, run: FunctionRun, place: Place, call: Call, model: ApiFunction,
    function: Function,
) -> None:  # fmt: skip
    if model.stream_ordered and model.releases:
        found.frees.setdefault(place, Site(function.filename, call.span, call.name))
    if model.synchronizes:
        found.waits.add(place)
    found.trims |= model.trims_pool
    effect = model.pool_threshold
    if effect is None:
        return
    attribute = Binding(call, model.parameters, run.evaluator, State()).expression(effect.attribute)
    spelling = render(attribute) if attribute is not None else ""
    if spelling.rpartition(".")[2].rpartition("::")[2] in effect.only:
        found.threshold = Site(function.filename, call.span, call.name)
        amount = _amount(run, function, call)
        found.keeps = amount is not None and amount >= 1 << 40


def _called(found: _Events, place: Place, flow: Flow, inner: _Events) -> None:
    """Add what a callee does to pools."""
    found.trims |= inner.trims
    if inner.threshold is not None:
        found.threshold, found.keeps = inner.threshold, inner.keeps
    if inner.frees:
        found.frees[place] = next(iter(inner.frees.values()))
        if not any(_leaves(flow, free, inner.waits) for free in inner.frees):
            found.waited.add(place)
    elif inner.waits and not _leaves(flow, (0, -1), inner.waits):
        found.waits.add(place)


def _amount(run: FunctionRun, function: Function, call: Call) -> int | None:
    """The threshold, from the constant that the variable passed is set to."""
    value = call.arguments[-1].value
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


def _leaves(flow: Flow, start: Place, without: set[Place]) -> bool:
    """Whether control may leave a function past none of some operations."""
    found = flow.passed(start, without)
    return any(
        isinstance(block.terminator, Return) and (block.number, len(block.operations)) in found
        for block in flow.blocks
    )
