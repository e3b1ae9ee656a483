"""Elements of a checkpoint that take the place of tensors on a device (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts.lifetimes import NeededOnDevice
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.shape.arguments import named
from cudalint.analysis.shape.operations import At, operations
from cudalint.analysis.shape.placement import Placements
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.symbols import Symbols
from cudalint.program import (
    Assign,
    Call,
    Constant,
    Expression,
    Function,
    Index,
    Member,
    Variable,
    render,
)


def needed_on_device(function: Function, load: At, symbols: Symbols) -> NeededOnDevice | None:
    """The first element of what is read that replaces a tensor which the function moved to a device
    before, and that nothing moves there afterwards: read to the host, it would be missing there."""
    assert isinstance(load.operation, Call)
    flow, placements = symbols.flow(function), Placements(function, symbols)
    source = place(load.operation.target)
    for at in operations(function) if source is not None else ():
        taken = at.operation
        if not isinstance(taken, Assign) or not isinstance(taken.value, Index):
            continue
        name = place(taken.target)
        if name is None or place(taken.value.base) != source:
            continue
        moves = list(_moves(function, name, placements))
        device = next(
            (text for one, text in moves if text and flow.reaches(*one.place, *load.place)), ""
        )
        if device and not any(flow.reaches(*at.place, *one.place) for one, _ in moves):
            site = Site(function.filename, taken.span, render(taken.target))
            return NeededOnDevice(site, device)
    return None


def _moves(function: Function, name: str, placements: Placements) -> Iterator[tuple[At, str]]:
    """The calls that move what a place holds to a device, or put there what they moved; how each
    says which, empty where that is no name."""
    for at in operations(function):
        call = at.operation
        if not isinstance(call, Call) or not placements.moves(call):
            continue
        if name in (place(call.target), place(call.receiver)):
            yield at, _device(call)


def _device(call: Call) -> str:
    """The device of a call that moves something, as the code names it."""
    first = call.arguments[0].value if call.arguments else Constant("cuda")
    asked: Expression = named(call, "device") or first
    match asked:
        case Constant(value=str() as text):
            return f'"{text}"'
        case Variable() | Member():
            return render(asked)
        case _:
            return ""
