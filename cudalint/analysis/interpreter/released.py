"""What a callee releases of its inputs, in the state of its caller."""

from __future__ import annotations

from cudalint.analysis.domains.ownership import objects
from cudalint.analysis.domains.ownership.objects import is_own
from cudalint.analysis.domains.ownership.recorder import Recorder, live
from cudalint.analysis.domains.ownership.releases import (
    CURRENT,
    Release,
    is_too_late,
    may_run_later,
    note_members,
    release_current,
)
from cudalint.analysis.engine.state import InputRelease, State, Status
from cudalint.analysis.engine.summary import is_later
from cudalint.analysis.facts import Site
from cudalint.analysis.interpreter.fitting import Fitting
from cudalint.analysis.shape.destruction import Destruction
from cudalint.analysis.values.values import (
    Bag,
    Input,
    Location,
    Operation,
    Pointer,
    Value,
    bag,
    resources_in,
)
from cudalint.apis.model import ReleaseEffect


def release_input(at: Fitting, release: InputRelease, state: State) -> None:
    """A callee releases something that it was given."""
    effect = ReleaseEffect(handle="arg0", families=release.families)
    name, span = at.call.name, at.call.span
    if release.location == CURRENT:
        release_current(at.run, effect, name, span, state)
        return
    if is_later(release.location):
        # Whichever object of a list that is: all that the callee may release is out of sight.
        for root in sorted(at.summary.effects.released):
            place = at.locate((root,), state)
            below = [inner for _, inner in state.below(place)] if place is not None else []
            state.escape(state.reachable([at.translate(Input((root,)), state), *below]))
        return
    value = at.translate(Input(release.location), state)
    location = at.locate(release.location, state)
    _, expression = at.arguments.get(release.location[0], (None, None))
    if expression is not None and len(release.location) == 1:
        note_members(at.run, expression, value)
    if isinstance(value, Operation) and location is not None:
        value = state.read(location)
    shown = at.written(location) or release.api
    if at.ends:
        remaining = _to_end(at, value, shown, release, state)
        if remaining is None:
            return
        value = remaining
    if is_own(at.run, location, state) and isinstance(value, Pointer | Bag):
        held = [one for one in resources_in(value) if live(state.status(one))]
        objects.released(state, held, at.call, release.step)
    earlier = state.inputs.get(value.location) if isinstance(value, Input) else None
    if earlier is not None and earlier.step.span == at.call.span:
        return  # in a loop: much may have become of it out of sight since the last iteration
    cut = release.cut or not at.summary.complete or _renews_otherwise(at, release.location)
    cut = cut or may_run_later(at.run)
    told = _is_of_class(at, release, value)
    asked = release.asked
    passed = Release(at.run, state, shown, name, span, effect, cut=cut, asked=asked, told=told)
    passed.value(value, location)
    if _is_of_copy(at, release):
        objects.copy_ended(state, resources_in(value))
    if isinstance(value, Input) and value.location in state.inputs:
        # Keep the original step: messages name the API call, not each wrapper around it.
        entry: Location = value.location
        state.inputs[entry] = state.inputs[entry]._replace(api=release.api, cut=cut)


def _to_end(
    at: Fitting, value: Value, shown: str, release: InputRelease, state: State
) -> Value | None:
    """What the end of an object releases; what is out of sight may not be its own any more."""
    ended = sorted(resources_in(value)) if isinstance(value, Pointer | Bag) else []
    for resource in ended:
        if state.status(resource) is Status.RELEASED and not at.undecided:
            objects.released_before(at.run, at.call, resource, shown, release, state)
    remaining = []
    end = Site(at.run.filename, at.call.span, at.call.name)
    for resource in ended:
        if is_too_late(at.run, state, resource, end) or not live(state.status(resource)):
            continue
        if objects.does_not_fit(at.run, at.call, resource, shown, release):
            state.escape([resource])
        else:
            remaining.append(resource)
    if ended and not remaining:
        return None
    return bag(remaining) if isinstance(value, Bag) else value


def _is_of_class(at: Fitting, release: InputRelease, value: Value) -> bool:
    """Whether a method of the class acquired what another releases, or its destructor where a
    copy that was given ends: if the two do not fit, that is told there."""
    known = map(at.run.log(Recorder).of, resources_in(value))
    makers = [one.through for one in known if one is not None and one.kept_by_callee]
    root, definition = release.location[0], at.definition
    copies = (one.type.record for one in definition.parameters if one.symbol == root)
    of = definition.record if root == "this" else next(copies, None)
    scopes = {one.name for one in at.run.symbols.classes(of, definition.filename)}
    return any(maker is not None and maker.rpartition("::")[0] in scopes for maker in makers)


def _is_of_copy(at: Fitting, release: InputRelease) -> bool:
    """Whether what releases it belongs to an object that the callee was given by value."""
    given = [one for one in at.definition.parameters if one.symbol == release.location[0]]
    return any(
        (one.type.kind, one.by) == ("record", "value")
        and at.run.symbols.memo(Destruction).of(one.type, at.definition.filename)
        for one in given
    )


def _renews_otherwise(at: Fitting, location: Location) -> bool:
    """Whether the callee may, for all that is known at the call, as well put something new in
    place of what it releases (``resize(n)``, but for 0): the caller may know which."""
    if at.before is None or at.outcome.failure or at.outcome.renews(location):
        return False
    before = at.before
    return any(
        at.other(number).fit(before)
        for number, other in enumerate(at.summary.outcomes)
        if other.kind == "return" and other.releases(location) and other.renews(location)
    )
