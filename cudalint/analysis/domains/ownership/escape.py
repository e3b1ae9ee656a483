"""Ownership that goes out of sight: from here on, silence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cudalint.analysis.domains.ownership.objects import leave_out
from cudalint.analysis.domains.ownership.passed_by import gets_past
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.containers import out_of_sight
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import InputRelease, Lending, State
from cudalint.analysis.facts import Site
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.values.values import (
    Address,
    FunctionValue,
    Input,
    Location,
    Sequence,
    Symbol,
    Uninitialized,
    Value,
    resources_in,
)
from cudalint.program import FIELDS, Expression, Variable


def give_away(run: FunctionRun, values: Iterable[Value], state: State) -> None:
    """All that values give access to goes out of sight."""
    _passed_on(run, state.give_away(values))


def _passed_on(run: FunctionRun, resources: Iterable[Symbol]) -> None:
    for resource in resources:
        run.log(Recorder).handed_over(resource.origin, Site(run.filename, run.position.span, ""))


def lend(
    run: FunctionRun, expression: Expression, value: Value, lending: Lending, state: State
) -> None:
    """Give a value to a callee out of sight; what an object holds is out of sight then: its class,
    or whoever has a copy, may end it."""
    place = run.evaluator.location(expression, state)
    if place is not None:
        give_away(run, (inner for at, inner in state.below(place) if at != place), state)
    if isinstance(value, Sequence) and value.kind == FIELDS:
        give_away(run, [value], state)
    lend_values(run, [value], lending, state)


def lend_values(run: FunctionRun, values: list[Value], lending: Lending, state: State) -> None:
    """Give values to a callee out of sight, and with them what they lead to."""
    given = {resource for value in values for resource in resources_in(value)}
    _passed_on(run, state.escape(state.reachable(values) - given))
    state.lend(sorted(given), lending)
    inputs = {value for value in values if isinstance(value, Input)}
    state.lent |= {value.location for value in inputs}
    for entry, release in state.inputs.items():
        if entry[0] == "@" and entry[1] in inputs:  # it may put something else there
            state.inputs[entry] = release._replace(cut=True)


def escape_value(run: FunctionRun, expression: Expression, value: Value, state: State) -> None:
    """Somebody else may own everything that a value gives access to."""
    give_away(run, [value], state)
    location = run.evaluator.location(expression, state)
    if location is not None:
        inside = [inner for _, inner in state.below(location)]
        give_away(run, inside, state)  # `keep(Block(pointer, size))`
        leave_out(location, state)


def escape_object(run: FunctionRun, location: Location, state: State) -> None:
    """Something out of sight ends an object: it may release, keep or call all that it holds."""
    held = [value for _, value in state.below(location)]
    give_away(run, held, state)
    for value in held:
        guard(run, value, state)


def leave_globals(run: FunctionRun, *states: State, for_good: bool = False) -> None:
    """Somebody out of sight may run: what stands in globals is theirs to release, too. Where there
    are too many paths to tell what stands there on each, that is so ``for_good``."""
    log = run.log(Recorder)
    if log.in_globals:
        for state in states:
            state.give_away(value for at, value in state.values.items() if at[0].startswith("::"))
    log.follows_globals = log.follows_globals and not for_good


OUT_OF_SIGHT = "out:"
"""In the origin of a value that somebody out of sight may have put there, before the place."""


def is_out_of_sight(value: Value) -> bool:
    """Whether somebody out of sight may have put a value where it is, in place of another."""
    return isinstance(value, Symbol) and f"{OUT_OF_SIGHT}(" in value.origin


class Reached(NamedTuple):
    """What somebody out of sight can reach, and whether it may be ``written``."""

    place: Location | None
    value: Value
    written: bool = True
    copied: bool = False
    """Whether only a copy of the place's value was given: the place keeps it, whatever becomes of
    what it leads to."""

    @property
    def places(self) -> list[Location]:
        """Where it leads."""
        pointed = self.value.location if isinstance(self.value, Address) else None
        return [one for one in (self.place, pointed) if one is not None]


def havoc(run: FunctionRun, state: State, *reached: Reached) -> None:
    """All that can be reached may be released, kept or, where it is written, replaced from here
    on."""
    places = [place for one in reached for place in one.places]
    inside = (inner for place in places for _, inner in state.below(place))
    give_away(run, [*(one.value for one in reached), *inside], state)
    for one in reached:
        guard(run, one.value, state)
    for place in places:
        out_of_sight(state, place)
    for one in reached:
        if one.written and one.copied and one.place is not None:
            for place, _ in state.below(one.place):
                if place != one.place:
                    del state.values[place]
    written = [
        place
        for one in reached
        if one.written
        for place in one.places
        if place[-1] != "[]" and not (one.copied and place == one.place)
    ]
    pointed = state.pointed()
    fresh = {
        place: run.position.symbol(f"{OUT_OF_SIGHT}{place}")
        for place in written
        if not _stays(state, place, pointed)
    }
    state.refresh(*fresh.values())
    for place, unknown in fresh.items():
        if run.evaluator.kind(place) == "array":
            state.forget(place)  # its elements change, not where it is
        else:
            state.write(place, unknown)


def _stays(state: State, place: Location, pointed: Mapping[Value | str, list[Value]]) -> bool:
    """A pointer that is out of sight may as well stay, and what has no value may get one."""
    current = state.values.get(place)
    inside = state.below(place)
    if not (
        isinstance(current, Address) or state.reachable((inner for _, inner in inside), pointed)
    ):
        return False
    for location, inner in inside:
        if isinstance(inner, Uninitialized):
            del state.values[location]
    return True


def guard(run: FunctionRun, value: Value, state: State) -> bool:
    """A value goes out of sight. If it is a function: what that would release, its new holder owns,
    and what the captured variables hold later on too."""
    if not isinstance(value, FunctionValue) or not value.key:
        return False
    state.guards |= {value.key}
    escape_captured(run, value.key, state)
    return True


def escape_captured(run: FunctionRun, key: str, state: State) -> None:
    """What a function value would release is looked after, unless it may get past the release."""
    summary, _ = run.summaries.summary(key, run.filename)
    for outcome in summary.outcomes if summary is not None else ():
        for one in outcome.released:
            value = state.read(one.location)
            past = not run.python and run.summaries.told(key, run.filename, _gets_past, one)
            own = resources_in(value) if past else ()
            for resource in own:
                site = Site(one.step.filename, one.step.span, one.api)
                run.log(Recorder).put_off(resource.origin, site)
            if not own:
                give_away(run, [value], state)
    definition = run.symbols.function(key, run.filename) if run.python else None
    for _, call in calls(definition.blocks if definition is not None else ()):
        if isinstance(call.receiver, Variable):
            _escape_by_method(run, call.name, call.receiver, state)


def _gets_past(ending: FunctionRun, release: InputRelease) -> bool:
    """Whether a function may return without a release of what it has captured."""
    spans = ending.log(Recorder).released_inputs.get(release.location, {release.step.span})
    return gets_past(ending, spans)


def _escape_by_method(run: FunctionRun, name: str, captured: Variable, state: State) -> None:
    """A method that releases what it is called of: which one it is, only its holder can tell."""
    for resource in sorted(state.reachable([state.read((captured.symbol,))])):
        acquired = run.log(Recorder).of(resource)
        model = run.models.lookup_method(name, acquired.family) if acquired is not None else None
        if model is not None and model.releases and model.receiver is not None:
            state.escape([resource])
