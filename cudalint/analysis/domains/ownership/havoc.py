"""Out of sight: what somebody may do of whom nothing more is known than what he can reach."""

from __future__ import annotations

from cudalint.analysis.engine.containers import out_of_sight
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.values.values import (
    Address,
    Location,
    Uninitialized,
    Value,
)


def havoc(
    run: FunctionRun, state: State, place: Location | None, value: Value, *, written: bool
) -> None:
    """All that can be reached through a place and its value may be released, kept or, where it is
    ``written``, replaced from here on."""
    places = [one for one in (place, _pointed(run, value)) if one is not None]
    state.give_away([value, *(inner for one in places for _, inner in state.below(one))])
    for one in places:
        out_of_sight(state, one)
    for one in places if written else ():
        if one[-1] != "[]":
            _unknown(run, state, one)


def _pointed(run: FunctionRun, value: Value) -> Location | None:
    return value.location if isinstance(value, Address) else None


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
