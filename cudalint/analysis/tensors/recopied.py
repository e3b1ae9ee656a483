"""Tensors on the device that every iteration copies into a larger one (GPU603).

    total = torch.cat((total, part))

The old one and the new one are held at once, and no block that is freed is large enough for the
next.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts.tensors import DeviceListGrowth
from cudalint.analysis.shape.operations import operands
from cudalint.analysis.shape.places import place, places_read
from cudalint.analysis.tensors.lattice import Device
from cudalint.analysis.tensors.view import Loop, View
from cudalint.findings.finding import Step
from cudalint.program import Assign, Call, Expression, Operation, Tuple, Variable


def recopied(view: View) -> Iterator[DeviceListGrowth]:
    """The variables that a loop adds to by copying all that they hold, and does nothing else
    with."""
    for origin, block, operation in view.operations():
        parts = _joined(view, operation)
        target = operation.target if isinstance(operation, Call) else None
        loop = next(iter(view.loops_around(block)), None)
        if not parts or not isinstance(target, Variable) or loop is None or loop.bounded:
            continue
        added = [part for part in parts if place(part) != target.symbol]
        if len(added) == len(parts) or not _is_on_device(view, origin):
            continue
        if all(view.value(origin, part).large for part in added) and _only_grows(
            view, loop, target.symbol, origin, {place(part) for part in added}
        ):
            name = view.text(target)
            said = f"each iteration copies all of `{name}` into a larger one"
            yield DeviceListGrowth(
                name=", ".join(map(view.text, added)),
                place=name,
                span=operation.span,
                loop=loop.site,
                joined=view.site(operation.span),
                to_host="",
                copied=True,
                steps=(Step(view.function.filename, operation.span, said),),
            )


def _joined(view: View, operation: Operation) -> tuple[Expression, ...]:
    """The tensors that a call joins, where they are written out."""
    effect = view.effect(operation) if isinstance(operation, Call) else None
    if effect is None or not effect.concatenates or not isinstance(operation, Call):
        return ()
    given = operation.arguments[0].value if operation.arguments else None
    return given.items if isinstance(given, Tuple) else ()


def _is_on_device(view: View, origin: int) -> bool:
    device = view.records[origin].result.device
    return bool(device & Device.DEVICE) and not device & Device.HOST


def _only_grows(view: View, loop: Loop, name: str, origin: int, added: set[str | None]) -> bool:
    """Whether a loop does nothing else with a variable: the first part may be put there as it is,
    and whether there is one may be asked."""
    for other, block, operation in view.operations():
        if block not in loop.body or other == origin:
            continue
        if place(getattr(operation, "target", None)) == name:
            if not (isinstance(operation, Assign) and place(operation.value) in added):
                return False
        elif any(name in places_read(part) for part in operands(operation)):
            return False
    return True
