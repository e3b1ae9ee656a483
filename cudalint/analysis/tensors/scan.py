"""What the text of a function, class or module says of its places, whatever the order: that one is
called as a module is, is a list, has its weights frozen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cudalint.analysis.shape.arguments import argument, named, named_constant
from cudalint.analysis.shape.operations import operations
from cudalint.analysis.shape.places import place, root_of
from cudalint.analysis.shape.walk import texts
from cudalint.analysis.tensors.lattice import LIST, MODULE, Device, Gradient, Kind, Value
from cudalint.analysis.tensors.records import is_off, made_by
from cudalint.apis.model import TensorEffect
from cudalint.program import THIS, Assign, Call, Constant, Function, Member, Tuple, walk

Effects = Callable[[str], TensorEffect | None]


@dataclass
class Scan:
    """What is said of the places of one function."""

    values: dict[str, Value] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    """Places that are emptied, cut, replaced or assigned."""
    bounded: set[str] = field(default_factory=set)
    """Lists that hold no more than so many."""
    buffers: set[str] = field(default_factory=set)
    """Members that modules save with their weights, and do not train."""
    calls_backward: bool = False
    inserts: bool = False
    joins: bool = False
    """It joins something with others, in its place."""
    adds: bool = False
    """It adds to something, in place or not."""
    lets_go: bool = False
    """It makes numbers or detached tensors of something."""
    detaches: bool = False
    """It lets go of a graph, by what is there to do that."""
    steps: bool = False
    evaluates: set[str] = field(default_factory=set)
    freezes: bool = False
    switches: bool = False
    makes_unrecorded: bool = False
    """It makes tensors of which nothing is recorded (``Variable(x, volatile=True)``)."""
    switches_for_good: bool = False
    """By a call, not by a block: ``torch.set_grad_enabled(False)``."""
    methods: set[str] = field(default_factory=set)
    """Those that it calls, by name (``.predict``), or that it may give a name of their own
    (``step = self.predict``)."""
    runs_module: bool = False
    """It may run the module that it is a method of, or one in it."""
    calls_model: bool = False
    """It calls what a keyword argument says to be a model."""
    needs_gradient: bool = False
    """It asks for the gradient of something other than weights."""


def scan(function: Function, effects: Effects, is_module: Callable[[str], bool]) -> Scan:
    """Read one function."""
    found = Scan()
    made: dict[str, Value] = {}
    for _, _, operation in operations(function):
        if isinstance(operation, Call):
            _scan_call(operation, found, made, effects, is_module)
        elif isinstance(operation, Assign):
            _scan_assign(operation, found, made)
    if found.freezes:
        found.values = {
            name: Value(value.kind, value.gradient | Gradient.DETACHED, value.device)
            if value.kind == Kind.MODULE
            else value
            for name, value in found.values.items()
        }
    return found


def _scan_call(
    call: Call,
    found: Scan,
    made: dict[str, Value],
    effects: Effects,
    is_module: Callable[[str], bool],
) -> None:
    effect = effects(call.name)
    target = place(call.target)
    receiver = place(call.receiver)
    if call.name.startswith("."):
        found.methods.add(call.name)
    found.calls_model |= any(one.keyword and effects(f"{one.keyword}=") for one in call.arguments)
    found.runs_module |= receiver == "this" or place(call.callee) == "this"
    value: Value | None = None
    if call.kind == "constructor" and call.key and is_module(call.key):
        value = MODULE
    elif effect is not None:
        if effect.result in ("module", "function", "list") and not effect.module:
            value = made_by(effect)
        elif effect.device in ("device", "host", "argument") and receiver in made:
            value = made[receiver]
            if effect.device == "device" and value.kind == Kind.MODULE:
                value = Value(value.kind, value.gradient, Device.DEVICE)
        found.calls_backward |= effect.backward is not None
        found.steps |= effect.steps
        found.adds |= effect.accumulates
        parts = call.arguments[0].value if effect.concatenates and call.arguments else None
        found.joins |= isinstance(parts, Tuple) and target in map(place, parts.items)
        found.lets_go |= receiver is not None and effect.gradient == "detached"
        found.detaches |= effect.detaches
        found.inserts |= bool(effect.inserts) and not (receiver or "%").startswith("%")
        found.makes_unrecorded |= named(call, effect.unrecorded) is not None
        found.switches |= bool(effect.mode) or found.makes_unrecorded
        found.switches_for_good |= bool(effect.mode) and effect.immediate
        if receiver is not None:
            if effect.module:
                found.values.setdefault(receiver, MODULE)
            buffer = argument(call, effect.buffers) if effect.buffers else None
            if buffer is not None:
                found.buffers |= {f"{receiver}.{name}" for name in texts(buffer)}
            if effect.evaluates:
                found.evaluates.add(receiver)
            if effect.clears:
                found.changed.add(receiver)
            if effect.freezes:
                found.freezes |= is_off(call)
                found.needs_gradient |= not is_off(call)
        limited = named(call, effect.bound) is not None or len(call.arguments) > 1
        if effect.bound and target is not None and limited:
            found.bounded.add(target)
    found.needs_gradient |= bool(named_constant(call, "requires_grad"))
    fields = (one.value.field for one in call.arguments if isinstance(one.value, Member))
    parts_read = (effects(f".{field}") for field in fields)
    found.detaches |= any(one is not None and one.detaches for one in parts_read)
    if target is not None:
        _give(found, made, target, value)


def _scan_assign(operation: Assign, found: Scan, made: dict[str, Value]) -> None:
    target = place(operation.target)
    if target is None:
        return
    found.adds |= operation.augmented
    found.methods |= {
        f".{one.field}"
        for one in walk(operation.value)
        if isinstance(one, Member) and one.base == THIS
    }
    source = place(operation.value)
    value: Value | None = made.get(source) if source is not None else None
    if source in found.bounded:
        found.bounded.add(target)
    if isinstance(operation.value, Tuple):
        value = LIST if operation.value.kind != "tuple" or not operation.value.items else None
    if isinstance(operation.target, Member) and operation.target.field == "requires_grad":
        off = operation.value == Constant(False)
        found.freezes |= off
        found.needs_gradient |= not off
    _give(found, made, target, value)


def _give(found: Scan, made: dict[str, Value], target: str, value: Value | None) -> None:
    found.changed.add(target)
    if value is not None:
        made[target] = value
        if root_of(target) != target or target.startswith("::"):
            found.values[target] = value
