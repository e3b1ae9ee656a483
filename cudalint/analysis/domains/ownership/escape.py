"""Ownership that goes out of sight: from here on, silence."""

from __future__ import annotations

from cudalint.analysis.domains.ownership.objects import leave_out
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.containers import out_of_sight
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.values.values import (
    Address,
    FunctionValue,
    Location,
    Uninitialized,
    Value,
)
from cudalint.program import Expression, Variable


def escape_value(run: FunctionRun, expression: Expression, value: Value, state: State) -> None:
    """Somebody else may own everything that a value gives access to."""
    state.give_away([value])
    location = run.evaluator.location(expression, state)
    if location is not None:
        state.give_away(inner for _, inner in state.below(location))  # `keep(Block(pointer, size))`
        leave_out(location, state)


def escape_object(run: FunctionRun, location: Location, state: State) -> None:
    """Something out of sight ends an object: it may release, keep or call all that it holds."""
    held = [value for _, value in state.below(location)]
    state.give_away(held)
    for value in held:
        guard(run, value, state)


def havoc(
    run: FunctionRun, state: State, place: Location | None, value: Value, *, written: bool
) -> None:
    """All that can be reached through a place and its value may be released, kept or, where it is
    ``written``, replaced from here on."""
    pointed = value.location if isinstance(value, Address) else None
    places = [one for one in (place, pointed) if one is not None]
    state.give_away([value, *(inner for one in places for _, inner in state.below(one))])
    guard(run, value, state)
    for one in places:
        out_of_sight(state, one)
    for one in places if written else ():
        if one[-1] != "[]":
            _unknown(run, state, one)


def _unknown(run: FunctionRun, state: State, place: Location) -> None:
    """Another value may stand there; a pointer that is out of sight may as well stay."""
    current = state.values.get(place)
    if isinstance(current, Address) or state.reachable(inner for _, inner in state.below(place)):
        for location, inner in state.below(place):
            if isinstance(inner, Uninitialized):
                del state.values[location]
        return
    fresh = run.position.symbol(f"out:{place}")
    state.refresh(fresh)
    state.write(place, fresh)


def guard(run: FunctionRun, value: Value, state: State) -> bool:
    """A value goes out of sight. If it is a function: what that would release, its new holder owns,
    and what the captured variables hold later on too."""
    if not isinstance(value, FunctionValue) or not value.key:
        return False
    state.guards |= {value.key}
    escape_captured(run, value.key, state)
    return True


def escape_captured(run: FunctionRun, key: str, state: State) -> None:
    """What a function value would release is looked after."""
    summary, _ = run.summaries.summary(key, run.filename)
    for outcome in summary.outcomes if summary is not None else ():
        state.escape(state.reachable(state.read(one.location) for one in outcome.released))
    definition = run.symbols.function(key, run.filename) if run.python else None
    for _, call in calls(definition.blocks if definition is not None else ()):
        if isinstance(call.receiver, Variable):
            _escape_by_method(run, call.name, call.receiver, state)


def _escape_by_method(run: FunctionRun, name: str, captured: Variable, state: State) -> None:
    """A method that releases what it is called of: which one it is, only its holder can tell."""
    for resource in sorted(state.reachable([state.read((captured.symbol,))])):
        acquired = run.log(Recorder).of(resource)
        model = run.models.lookup_method(name, acquired.family) if acquired is not None else None
        if model is not None and model.releases and model.receiver is not None:
            state.escape([resource])
