"""Host data that every iteration of a loop copies to the device again, unchanged."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.facts import Transfer
from cudalint.analysis.facts.loops import RepeatedTransfer
from cudalint.analysis.queries.loops.uses import Uses, shared_names
from cudalint.analysis.shape.arguments import given, given_at, named
from cudalint.analysis.shape.loops import innermost
from cudalint.analysis.shape.operations import At, operands, targets
from cudalint.analysis.shape.places import names, names_in
from cudalint.apis.paths import parse_path
from cudalint.program import (
    Assign,
    Call,
    Constant,
    Expression,
    Launch,
    Variable,
)

_HOST = ("host", "pinned")
_IMPLICIT = frozenset({"numba"})
"""Dialects whose launches copy host arrays to the device and back."""


def repeated(uses: Uses) -> Iterator[RepeatedTransfer]:
    """The copies of a function that its loops repeat, those that a launch makes too."""
    for place in uses.places:
        header = innermost(uses.flow, place.block)
        if header is None or not uses.in_each_iteration(place.block, header):
            continue
        if _selects_device(uses, header):
            continue
        found: RepeatedTransfer | None = None
        if isinstance(place.operation, Call):
            found = _transfer(uses, place, place.operation, header)
        elif isinstance(place.operation, Launch) and uses.python:
            found = _launch(uses, place.operation, header)
        if found is not None:
            yield found


def _transfer(uses: Uses, place: At, call: Call, header: int) -> RepeatedTransfer | None:
    transfer = uses.transfer(call)
    model = uses.model(call)
    if transfer is None or model is None or model.copies is None or _is_timed(uses, header):
        return None
    source = given_at(call, parse_path(model.copies.source, model.parameters))
    if source is None or not _from_host(uses, transfer, source):
        return None
    if not _is_unchanged(uses, place, call, header, source):
        return None
    if model.copies.to == "return":
        fits = goes_to_device(uses, call, transfer) and _result_is_read(uses, place, call, header)
    else:
        to = given_at(call, parse_path(model.copies.to, model.parameters))
        fits = to is not None and _only_read_there(uses, place, header, to)
    shown = (uses.run.show(source),)
    return (
        RepeatedTransfer(transfer.api, call.span, shown, uses.loop_span(header)) if fits else None
    )


def _from_host(uses: Uses, transfer: Transfer, source: Expression) -> bool:
    if transfer.direction not in ("host-to-device", "default", None):
        return False
    space = transfer.source.space if transfer.source is not None else None
    if space is None:
        space = declared_space(uses, source)
    if space is None:
        return transfer.direction == "host-to-device" and not uses.python
    return space in _HOST


def declared_space(uses: Uses, expression: Expression) -> str | None:
    """Where the arrays of a variable's declared class live (``table: np.ndarray``)."""
    if not isinstance(expression, Variable):
        return None
    declared = next(
        (p.type for p in uses.run.function.parameters if p.symbol == expression.symbol), None
    )
    model = uses.run.models.lookup(declared.text) if declared is not None else None
    return model.returns.space if model is not None and model.returns is not None else None


def goes_to_device(uses: Uses, call: Call, transfer: Transfer) -> bool:
    """Whether a call whose result is the copy moves it to the device, as far as one can tell."""
    if transfer.to.space == "host":
        return False
    if transfer.direction == "host-to-device" or transfer.to.space == "device":
        return True
    places = [named(call, "device"), given(call).at(0, None) if call.receiver is not None else None]
    found = (uses.run.placements.device(place) for place in places if place is not None)
    return any(place in ("device", "asked") for place in found)


def _selects_device(uses: Uses, header: int) -> bool:
    """Whether the iterations of a loop belong to different devices."""
    return any(
        isinstance(place.operation, Call)
        and (model := uses.model(place.operation)) is not None
        and model.selects_device
        for place in uses.inside(header)
    )


def _is_timed(uses: Uses, header: int) -> bool:
    """Whether a loop measures its own iterations by events on the device: a benchmark."""
    records = [
        place
        for place in uses.inside(header)
        if isinstance(place.operation, Call)
        and (model := uses.model(place.operation)) is not None
        and model.order is not None
        and model.order.records is not None
    ]
    return len(records) > 1


def _is_unchanged(uses: Uses, place: At, call: Call, header: int, source: Expression) -> bool:
    """Whether nothing in a loop changes what is copied, nor how much of it is copied and to
    where."""
    roots = set(names(_resolved(uses, header, source)))
    if not roots or _is_scalar(uses, source):
        return False
    others = names_in(_resolved(uses, header, operand) for operand in operands(call))
    if uses.rebinds(header, roots | others) or uses.written_elsewhere(roots):
        return False
    group = uses.group(set(shared_names(source, uses.python)))
    return not uses.writes(header, group, but=place)


def _resolved(uses: Uses, header: int, expression: Expression) -> Expression:
    """``v`` for the temporary that ``v.data()`` gives in the loop."""
    if not isinstance(expression, Variable) or not expression.symbol.startswith("%"):
        return expression
    made = [
        place.operation
        for place in uses.inside(header)
        if isinstance(place.operation, Call) and place.operation.target == expression
    ]
    if len(made) == 1 and not made[0].arguments and made[0].receiver is not None:
        model = uses.model(made[0])
        if model is not None and (model.elements or model.table):
            return _resolved(uses, header, made[0].receiver)
    return expression


def _is_scalar(uses: Uses, source: Expression) -> bool:
    """Whether what is copied was made of a single number."""
    return any(
        isinstance(place.operation, Assign)
        and place.operation.target == source
        and isinstance(place.operation.value, Constant)
        for place in uses.places
    )


def _result_is_read(uses: Uses, place: At, call: Call, header: int) -> bool:
    """Whether the loop works with the copy, only reads it, and does not keep it."""
    if not isinstance(call.target, Variable):
        return False
    group = uses.group({call.target.symbol})
    kept = any(not name.startswith("%") and "." in name for name in group)
    if kept or uses.writes(header, group, but=place, lent=True):
        return False
    if any(_stores(uses, other, group) for other in uses.inside(header)):
        return False
    return any(
        other != place and group & names_in(operands(other.operation))
        for other in uses.inside(header)
    )


def _stores(uses: Uses, place: At, group: frozenset[str]) -> bool:
    """``copies.append(copy)``, ``copies[device] = copy``."""
    match place.operation:
        case Assign(target=target, value=value):
            kept = not isinstance(target, Variable)
            return kept and bool(group & set(shared_names(value, uses.python)))
        case Call() as call:
            model = uses.model(call)
            inserts = model is not None and bool(model.inserts or model.takes)
            return inserts and bool(group & names_in(a.value for a in call.arguments))
        case _:
            return False


def _only_read_there(uses: Uses, place: At, header: int, to: Expression) -> bool:
    """Whether a loop's kernels read what is copied to, and nothing in the loop writes it."""
    roots = set(names(to))
    if not roots or uses.rebinds(header, roots) or uses.written_elsewhere(roots):
        return False
    group = uses.group(set(shared_names(to, uses.python)))
    read = False
    for other in uses.inside(header):
        operation = other.operation
        if other == place:
            continue
        if isinstance(operation, Launch):
            read = read or any(group & set(names(one.value)) for one in operation.arguments)
        if uses.changes(operation, group):
            return False
    return read


# Launches with host arrays ----------------------------------------------------------------------


def _launch(uses: Uses, launch: Launch, header: int) -> RepeatedTransfer | None:
    """A launch that copies host arrays to the device and back, although the host does nothing with
    them in between."""
    site = uses.run.log(Recorder).launches.get(launch.span)
    if site is None or site.kernel is None or site.kernel.dialect not in _IMPLICIT:
        return None
    spaces = site.argument_spaces or (None,) * len(launch.arguments)
    found = dict.fromkeys(
        uses.run.show(argument.value)
        for argument, space in zip(launch.arguments, spaces, strict=False)
        if (space or declared_space(uses, argument.value)) == "host"
        and _left_alone(uses, header, argument.value)
    )
    if not found:
        return None
    where = uses.loop_span(header)
    return RepeatedTransfer(launch.kernel, launch.span, tuple(found), where, implicit=True)


def _left_alone(uses: Uses, header: int, array: Expression) -> bool:
    """Whether a loop only launches kernels with an array that was made before it, and at most
    swaps it with another."""
    if not isinstance(array, Variable):
        return False
    group = uses.group({array.symbol})
    if uses.written_elsewhere(set(group)):
        return False
    for place in uses.inside(header):
        operation = place.operation
        match operation:
            case Launch():
                continue
            case Assign(target=Variable(), value=Variable()):
                continue
            case _:
                if group & names_in((*operands(operation), *targets(operation))):
                    return False
    return True
