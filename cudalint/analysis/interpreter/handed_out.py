"""What a callee hands out to its caller."""

from __future__ import annotations

from cudalint.analysis.domains.ownership.objects import is_own
from cudalint.analysis.domains.ownership.recorder import Acquired, Recorder, live
from cudalint.analysis.domains.ownership.releases import is_provided
from cudalint.analysis.engine.state import Holding, State, Status
from cudalint.analysis.engine.summary import RETURN, HandedOut
from cudalint.analysis.facts import Site
from cudalint.analysis.interpreter.exits import is_outside
from cudalint.analysis.interpreter.fitting import Fitting
from cudalint.analysis.values.values import Location, Pointer, Symbol


def take_over(at: Fitting, item: HandedOut, resource: Symbol, state: State) -> None:
    """A callee leaves its caller with something that it has acquired."""
    run = at.run
    target = at.locate(item.location, state)
    if item.location[0] == RETURN and at.call.target is not None:
        base = run.evaluator.location(at.call.target, state)
        target = None if base is None else (*base, *item.location[1:])
    returned = item.location[0] == RETURN
    family = run.models.family_of(item.api, item.family)
    elsewhere = item.location[0] == "this" and not (
        target
        and (target[0] == "this" or is_own(run, target, state))
        and not _is_owner_inside(at, item.location, target)
    )
    on_heap = target is not None and target[0] == "@" and isinstance(target[1], Pointer)
    contained = on_heap and (item.contained or (elsewhere and not item.escaped))
    thrown_away = item.location[0] == RETURN and at.call.target is None
    shown = at.shown(target) if target else f"the result of {at.definition.name}"
    run.log(Recorder).acquired(
        Acquired(
            origin=resource.origin,
            name=shown,
            api=item.api,
            family=item.family,
            info=family,
            filename=run.filename,
            span=at.call.span,
            bytes=None if item.bytes is None else at.translate(item.bytes, state),
            through=at.definition.name,
            in_loop=run.repeats(run.position.block),
            managed=item.managed or item.escaped or elsewhere,
            location=target,
            from_callee=(item.filename, item.span),
            ambiguous=_is_ambiguous(at, item),
            kept_by_callee=not (returned or at.is_named_by_caller(item.location)),
            contained=contained,
        )
    )
    condition = None if item.condition is None else at.translate(item.condition, state)
    status = Status.REQUESTED if item.requested else Status.OWNED
    if item.escaped or elsewhere or (target is None and not thrown_away):
        status = Status.ESCAPED
    elif any(is_provided(at, item.family) for at in state.values):
        status = Status.ESCAPED  # it is what an earlier call was given, as far as one can see
    if item.released is not None:
        state.hold(resource, Holding(Status.RELEASED, released=item.released))
        return
    if isinstance(condition, Symbol):
        run.log(Recorder).statuses[resource.origin] = condition.origin
    state.hold(resource, Holding(status, condition, lent=item.lent))
    if target is not None and is_outside(run, target) and live(status):
        # The caller's own input keeps it: the class or struct rule looks at that.
        run.log(Recorder).handed_over(
            resource.origin, Site(run.filename, at.call.span, "is stored")
        )


def _is_owner_inside(at: Fitting, written: Location, target: Location) -> bool:
    """Whether the callee is a method of a member that has a destructor of its own."""
    record = at.run.symbols.record(at.definition.record, at.run.filename)
    inside = target[0] == "this" and len(target) > len(written)
    return inside and record is not None and record.destructor in ("declared", "defined")


def _is_ambiguous(at: Fitting, item: HandedOut) -> bool:
    """Whether another outcome hands out something of another family in the same place."""
    return item.ambiguous or any(
        other.location == item.location and other.family != item.family
        for outcome in at.summary.outcomes
        for other in outcome.handed_out
    )
