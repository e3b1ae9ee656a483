"""Where values are kept: operations that add one to a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cudalint.analysis.shape.arguments import given
from cudalint.analysis.shape.places import ELEMENT, holder, place
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.tensors.lattice import Kind, Recording, Value
from cudalint.analysis.tensors.passes import may_have_graph
from cudalint.analysis.tensors.records import Form
from cudalint.analysis.tensors.view import View
from cudalint.program import Assign, Binary, Call, Expression, Function, Index, Member, Tuple, walk
from cudalint.source import Span


@dataclass(frozen=True)
class Keeping:
    """An operation that adds a value to a place."""

    origin: int
    block: int
    place: Expression
    value: Expression
    how: str
    span: Span
    through: str = ""

    @property
    def name(self) -> str:
        """The place, by its name; empty where it has none."""
        return place(self.place) or ""

    @property
    def symbol(self) -> str:
        """The variable, or member of the receiver, that the place is in."""
        return holder(self.place) or ""

    def is_recorded(self, view: View) -> bool:
        """Whether what is kept may have a graph: a sum that is not recorded has none."""
        record = view.records.get(self.origin)
        return self.how != "added" or record is None or bool(record.recording & Recording.ON)


def keepings(view: View, through_calls: bool = True) -> Iterator[Keeping]:
    """All operations of a function that add values to a place, its calls of other functions that do
    so included."""
    for origin, block, operation in view.operations():
        match operation:
            case Assign(target=target, value=value):
                name = place(target)
                if name is None or name.startswith("%"):
                    continue
                added = _added(name, value)
                if added is not None:
                    how = "appended" if isinstance(added, Tuple) else "added"
                    for item in added.items if isinstance(added, Tuple) else (added,):
                        yield Keeping(origin, block, target, item, how, operation.span)
                elif isinstance(target, Index) and name.endswith(ELEMENT):
                    yield Keeping(origin, block, target.base, value, "stored", operation.span)
            case Call(receiver=receiver) if receiver is not None and operation.arguments:
                effect = view.effect(operation)
                value = operation.arguments[-1].value
                if effect is not None and effect.accumulates and operation.target is None:
                    added_to = _added_to(view, receiver)
                    if added_to is not None:
                        yield Keeping(origin, block, added_to, value, "added", operation.span)
                elif effect is not None and effect.inserts:
                    for item in _held_by(value):
                        yield Keeping(origin, block, receiver, item, "appended", operation.span)
                elif through_calls:
                    yield from _kept_by_callee(view, origin, block, operation, receiver)


def _added_to(view: View, receiver: Expression) -> Expression | None:
    """What an accumulation in place adds to: what a getter hands out is a part of its receiver.
    Of a detached view nothing is recorded."""
    for _ in range(4):
        if any(_is_detaching(view, "." + p.field) for p in walk(receiver) if isinstance(p, Member)):
            return None
        call = view.defining_call(receiver)
        if call is None or call.receiver is None or not (place(receiver) or "").startswith("%"):
            return receiver
        if view.effect(call) is None:
            return Member(call.receiver, call.name.removeprefix("."))
        if _is_detaching(view, call.name):
            return None
        receiver = call.receiver
    return receiver


def _is_detaching(view: View, name: str) -> bool:
    effect = view.run.models.tensor_effect(name)
    return effect is not None and effect.gradient == "detached"


def _held_by(value: Expression) -> tuple[Expression, ...]:
    """The values of a dictionary or list that is written where it is kept; else the value."""
    if not isinstance(value, Tuple) or value.kind == "tuple" or not value.items:
        return (value,)
    return value.items[1::2] if value.kind == "dict" else value.items


def _added(name: str, value: Expression) -> Expression | None:
    """What ``place = place + added`` adds."""
    if not isinstance(value, Binary) or value.operator not in ("+", "-"):
        return None
    if _is_share_of(name, value.left):
        return value.right
    if _is_share_of(name, value.right) and value.operator == "+":
        return value.left
    inner = _added(name, value.left)
    return value if inner is not None else None


def _is_share_of(name: str, value: Expression) -> bool:
    """The place itself, or a share of it: ``0.9 * smooth``."""
    if isinstance(value, Binary) and value.operator in ("*", "/"):
        parts = (value.left, value.right) if value.operator == "*" else (value.left,)
        return any(place(part) == name for part in parts)
    return place(value) == name


def _kept_by_callee(
    view: View, origin: int, block: int, call: Call, receiver: Expression
) -> Iterator[Keeping]:
    """A method of the run that adds its argument to a member (``meter.update(loss)``)."""
    records = view.value(origin, receiver).records
    callee = view.run.callee(view.function, call, records)
    if callee is None or callee.record is None:
        return
    arguments = given(call)
    for number, member in kept_parameters(view, callee):
        value = arguments.at(number, callee.parameters[number].name)
        if value is not None:
            target = Member(receiver, member)
            yield Keeping(origin, block, target, value, "added", call.span, callee.name)


def kept_parameters(view: View, callee: Function) -> list[tuple[int, str]]:
    """The parameters that a method adds to a member without detaching them: which, and where."""
    inner = view.of(callee)
    if inner is None:
        return []
    found: list[tuple[int, str]] = []
    for keeping in keepings(inner, through_calls=False):
        name = keeping.name
        if not name.startswith("this.") or name.count(".") != 1 or keeping.how == "stored":
            continue
        value = inner.value(keeping.origin, keeping.value)
        if value.is_number or value.is_detached or not keeping.is_recorded(inner):
            continue
        found.extend(
            (-origin - 1, name.removeprefix("this."))
            for origin in _sources(inner, value)
            if origin < 0
        )
    return found


def _sources(view: View, value: Value) -> set[int]:
    """The origins of a value, through copies, arithmetic and functions of tensors."""

    def computed_from(origin: int) -> Iterable[int]:
        record = view.records.get(origin)
        if record is None or not may_have_graph(record):
            return ()
        passed = isinstance(record.operation, Assign) or record.form is Form.FUNCTION
        return record.sources if passed else ()

    return closure(value.origins, computed_from)


def is_container(view: View, keeping: Keeping) -> bool:
    """Whether the place can keep values: not an object with an ``append`` of its own, not a NumPy
    array, which takes a number out of the tensor."""
    name, symbol = keeping.name, keeping.symbol
    if not name:
        return False
    scans = [view.run.scan(view.function)]
    if symbol.startswith("this.") and view.function.record:
        scans.append(view.run.class_scan(view.function.record, view.function.filename))
    if any(symbol in scan.bounded or name in scan.bounded for scan in scans):
        return False
    if keeping.through or keeping.how == "added":
        return True
    held = view.value(keeping.origin, keeping.place)
    known = view.run.kind_of(view.function, name)
    if keeping.how == "stored":
        return bool((held if known is None else held.join(known)).kind & Kind.LIST)
    is_object = held.kind & (Kind.TENSOR | Kind.MODULE) and not held.kind & Kind.LIST
    return not (held.records or is_object)
