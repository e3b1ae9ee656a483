"""What one operation does to the values of places."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from cudalint.analysis.flow import Flow
from cudalint.analysis.tensors.lattice import (
    NOTHING,
    NUMBER,
    OBJECT,
    UNKNOWN,
    Device,
    Gradient,
    Kind,
    Recording,
    State,
    Value,
    computed,
    join_all,
)
from cudalint.analysis.tensors.places import ELEMENT, is_inside, place, places_read, root_of
from cudalint.apis.model import TensorEffect
from cudalint.program import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Constant,
    Delete,
    Expression,
    Function,
    FunctionReference,
    Index,
    Member,
    Operation,
    Slice,
    Tuple,
    Unary,
    Unknown,
    Variable,
)

PARTS = 10**12
"""Numbers of operations end here; those of the parts that they make begin."""

_TESTS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "is"})


class Form(enum.Enum):
    """How an operation's result depends on its operands."""

    COPY = "copy"
    ELEMENT = "element"
    """An element of something unknown: of a loader's batch, of a data set."""
    ARITHMETIC = "arithmetic"
    FUNCTION = "function"
    """A tensor function that gradients pass through."""
    MODEL = "model"
    CALL = "call"
    """A call of something unknown."""
    LEAF = "leaf"


@dataclass(frozen=True)
class Record:
    """What an operation did when it was last followed."""

    operation: Operation
    block: int
    form: Form
    operands: tuple[Value, ...]
    result: Value
    recording: Recording
    reads: frozenset[str] = frozenset()
    effect: TensorEffect | None = None
    callee: str = ""
    """The place that is called, of a call of an object."""
    part: str = ""
    """Of a part of what a function of the run returns: which (``[0]``, ``['loss']``)."""
    differentiated: bool = False
    """The function of the run that made it has already computed its gradient."""


@dataclass(frozen=True)
class Outcome:
    """What a call of a function of the run gives back."""

    value: Value
    parts: Mapping[str, Value]
    resets: frozenset[str] = frozenset()
    """Members of its receiver that it empties or replaces."""
    differentiated: frozenset[str] = frozenset()
    """The parts whose gradient it has computed itself; empty text: the whole."""


class Surroundings(Protocol):
    """What the analysis of a function asks of the rest of the run."""

    def flow(self, function: Function) -> Flow:
        """The loops of a function."""

    def entry(self, function: Function) -> Recording:
        """Whether operations are recorded when it is called."""

    def effect(self, name: str) -> TensorEffect | None:
        """What an API function does to tensors."""

    def outcome(self, function: Function, call: Call, records: frozenset[str]) -> Outcome | None:
        """What a call of a function of the run gives back."""

    def kind_of(self, function: Function, name: str) -> Value | None:
        """What the whole class or function says of a place: that it is a module, a list."""

    def is_attached(self, function: Function, origin: int) -> bool:
        """Evidence found before: the gradient of this operation's result is computed."""

    def is_on_device(self, function: Function, origin: int) -> bool:
        """Evidence found before: this operation's result is brought to the host later."""


class Transfer:
    """The transfer functions of one function's operations."""

    def __init__(self, function: Function, around: Surroundings) -> None:
        self.function = function
        self.around = around
        self.records: dict[int, Record] = {}
        self._effects = around.effect

    # Values -----------------------------------------------------------------------------------

    def value(self, state: State, expression: Expression) -> Value:
        """The value of an expression."""
        match expression:
            case Constant(value=constant):
                return NUMBER if isinstance(constant, int | float) else OBJECT
            case Variable() | Member() | Index():
                return self._read(state, expression)
            case Slice(base=base):
                value = self.value(state, base)
                if value.kind & Kind.LIST:
                    return value
                return self._viewed(state, value)
            case Cast(operand=operand):
                return self.value(state, operand)
            case Unary(operator=operator, operand=operand):
                if operator in ("!", "len", "more"):
                    return NUMBER
                return self._computed(state, [self.value(state, operand)])
            case Binary(operator=operator, left=left, right=right):
                values = [self.value(state, left), self.value(state, right)]
                if operator in _TESTS:
                    device = computed(values, state.recording)[1]
                    return Value(join_all(values).kind, Gradient.DETACHED, device, large=True)
                if operator in ("&&", "||"):
                    return join_all(values)
                return self._computed(state, values)
            case Conditional(then=then, otherwise=otherwise):
                return self.value(state, then).join(self.value(state, otherwise))
            case Tuple(items=items):
                joined = join_all(self.value(state, item) for item in items)
                if expression.kind == "tuple":
                    return replace(joined, kind=joined.kind | Kind.LIST) if items else OBJECT
                return Value(Kind.LIST, joined.gradient | Gradient.DETACHED, joined.device)
            case FunctionReference():
                return OBJECT
            case Unknown(text=text, reads=reads):
                if text[:2] in ('f"', "f'") or text in ("index", "key"):
                    return NUMBER
                values = [self.value(state, read) for read in reads]
                like = any(value.tensorlike for value in values)
                origins = join_all(values).origins
                return replace(UNKNOWN, tensorlike=like, origins=origins)
            case _:
                return UNKNOWN

    def _read(self, state: State, expression: Expression) -> Value:
        name = place(expression)
        if name is None:
            inside = expression.base if isinstance(expression, Member | Index) else expression
            return self._viewed(state, self.value(state, inside))
        if isinstance(expression, Member):
            effect = self._effects("." + expression.field)
            if effect is not None and effect.gradient and name not in state.values:
                base_value = self.value(state, expression.base)
                return self._effect_value(state, effect, [base_value])
        if name in state.values:
            found = state.values[name]
            contents = self._contents(state, name) if found.kind & Kind.LIST else NOTHING
            if contents != NOTHING:
                return replace(
                    found.join(contents), kind=found.kind, origins=found.origins | contents.origins
                )
            return found
        known = self.around.kind_of(self.function, name)
        if known is not None:
            return known
        if isinstance(expression, Variable):
            variable = self.function.variables.get(name)
            if variable is not None and variable.storage in ("local", "temporary"):
                return NOTHING
            return UNKNOWN
        if isinstance(expression, Index):
            inner = place(expression.base) or ""
            element = inner + ELEMENT
            if element in state.values:
                return state.values[element]
            if name == element:
                parts = self._contents(state, inner)
                if parts != NOTHING:
                    return parts
            outer = self.value(state, expression.base)
            if outer.kind == Kind.NUMBER:
                return NUMBER
            if outer.is_detached and outer.kind == Kind.LIST:
                return NOTHING
            item = replace(self._viewed(state, outer), tensorlike=True)
            is_part = isinstance(expression.index, Constant) and not outer.kind & Kind.TENSOR
            if is_part and not outer.may_attach:
                # `loss, count = criterion(...)`: what is said of one says nothing of the other.
                return item.of()
            return item
        if not isinstance(expression, Member):
            return UNKNOWN
        outer = self.value(state, expression.base)
        if place(expression.base) == "this" or not outer.may_attach:
            return replace(UNKNOWN, tensorlike=outer.tensorlike)
        return replace(outer, kind=Kind.OTHER)

    def _contents(self, state: State, name: str) -> Value:
        return join_all(
            value
            for other, value in state.values.items()
            if other.startswith(name + "[") and is_inside(other, name)
        )

    def _viewed(self, state: State, value: Value) -> Value:
        kind = value.kind & ~Kind.LIST or Kind.OTHER
        return replace(value, kind=kind)

    def _computed(self, state: State, values: list[Value]) -> Value:
        gradient, device = computed(values, state.recording)
        kind = join_all(values).kind & ~Kind.NUMBER
        if all(value.kind & Kind.NUMBER for value in values) or not kind:
            kind |= Kind.NUMBER
        known = [value for value in values if value.kind != Kind.OTHER or value.tensorlike]
        if known and all(value.is_number for value in known):
            # A number times an unknown argument: a number, as far as anybody can see.
            return NUMBER
        return Value(
            kind,
            gradient,
            device,
            Recording.NOTHING,
            frozenset().union(*(value.origins for value in values)),
            any(value.tensorlike for value in values),
            any(value.large for value in values),
        )

    def parts(self, state: State, expression: Expression) -> Iterator[tuple[str, Value]]:
        """What a tuple, a dictionary or a place with known parts holds, by place within it."""
        if isinstance(expression, Tuple):
            if expression.kind == "dict":
                items = expression.items
                for key, item in zip(items[::2], items[1::2], strict=False):
                    name = f"[{key.value!r}]" if isinstance(key, Constant) else ELEMENT
                    yield from self._part(state, name, item)
            else:
                for number, item in enumerate(expression.items):
                    yield from self._part(state, f"[{number}]", item)
            return
        whole = place(expression)
        if whole is not None:
            for other, value in state.values.items():
                if other.startswith(whole) and other != whole and is_inside(other, whole):
                    yield other.removeprefix(whole), value

    def _part(self, state: State, name: str, item: Expression) -> Iterator[tuple[str, Value]]:
        yield name, self.value(state, item)
        for inner, value in self.parts(state, item):
            yield name + inner, value

    # Operations -------------------------------------------------------------------------------

    def operation(self, state: State, operation: Operation, block: int, index: int) -> State:
        """The state after an operation; what it did is recorded."""
        origin = block * 100_000 + index + 1
        if isinstance(operation, Assign):
            return self._assign(state, operation, block, origin)
        if isinstance(operation, Call):
            return self._call(state, operation, block, origin)
        if isinstance(operation, Delete):
            return self._forget(state, operation.place)
        return state

    def _evidence(self, value: Value, origin: int, recording: Recording) -> Value:
        if recording & Recording.ON and self.around.is_attached(self.function, origin):
            gradient = value.gradient & ~Gradient.UNKNOWN | Gradient.ATTACHED
            value = replace(value, kind=value.kind | Kind.TENSOR, gradient=gradient)
        if self.around.is_on_device(self.function, origin) and not value.device & Device.HOST:
            value = replace(value, device=Device.DEVICE)
        return value

    def _assign(self, state: State, operation: Assign, block: int, origin: int) -> State:
        source = operation.value
        value = self.value(state, source)
        match source:
            case Binary(operator=operator) if operator not in _TESTS:
                form = Form.ARITHMETIC
            case Unary() | Binary():
                form = Form.ARITHMETIC
            case Index(base=base) if place(source) not in state.values:
                known = self.value(state, base)
                form = Form.COPY if known.kind & Kind.LIST and known.may_attach else Form.ELEMENT
            case _:
                form = Form.COPY
        operands = tuple(self.value(state, operand) for operand in _operands(source))
        value = self._evidence(
            value, origin, Recording.ON if form == Form.COPY else state.recording
        )
        self.records[origin] = Record(
            operation, block, form, operands, value, state.recording, _reads(source)
        )
        parts = dict(self.parts(state, source))
        return self._store(state, operation.target, value, origin, parts)

    def _store(
        self,
        state: State,
        target: Expression,
        value: Value,
        origin: int,
        parts: Mapping[str, Value] | None = None,
    ) -> State:
        name = place(target)
        if name is None:
            return state
        values = dict(state.values)
        if not name.endswith(ELEMENT):
            for other in [o for o in values if o.startswith(name) and is_inside(o, name)]:
                del values[other]
            values[name] = value.of(origin) if not value.is_number else value
        else:
            values[name] = values.get(name, NOTHING).join(value.of(origin))
        for part, held in (parts or {}).items():
            values[name + part] = held
        return replace(state, values=values)

    def _forget(self, state: State, target: Expression) -> State:
        name = place(target)
        if name is None or (root_of(name) == name and name.startswith("::")):
            return state
        values = {key: value for key, value in state.values.items() if not is_inside(key, name)}
        return replace(state, values=values)

    # Calls ------------------------------------------------------------------------------------

    def _call(self, state: State, call: Call, block: int, origin: int) -> State:
        receiver = NOTHING if call.receiver is None else self.value(state, call.receiver)
        arguments = [self.value(state, argument.value) for argument in call.arguments]
        operands = [receiver, *arguments] if call.receiver is not None else arguments
        callee, callable_value = self._callee(state, call)
        effect = self._effects(call.name) if call.name else None
        if effect is not None and effect.without_arguments and call.arguments:
            effect = None
        outcome = self.around.outcome(self.function, call, receiver.records)
        parts: Mapping[str, Value] = {}
        form = Form.CALL
        if call.name in (".__enter__", ".__exit__"):
            return self._context(state, call, receiver, origin)
        if effect is not None and effect.calls_module:
            effect, callable_value = None, receiver
            callee = (place(call.receiver) if call.receiver is not None else "") or ""
        if outcome is not None:
            result = outcome.value.of(origin)
            parts = {
                name: value.of(part_origin(origin, number))
                for number, (name, value) in enumerate(outcome.parts.items())
            }
            if result.gradient & Gradient.UNKNOWN or result.may_attach:
                result = replace(result, tensorlike=result.tensorlike or _like(arguments))
        elif effect is not None and effect.mode:
            return self._switch(state, call, effect, origin)
        elif effect is not None and (effect.result or effect.gradient):
            result = self._effect_value(state, effect, operands, call)
            form = Form.LEAF if effect.gradient == "detached" else Form.FUNCTION
            if effect.result in ("module", "function", "other", "list", "number"):
                form = Form.LEAF
        elif callable_value.kind & Kind.MODULE:
            form, result = Form.MODEL, self._model_call(state, callable_value, callee, arguments)
        elif callable_value.kind & Kind.FUNCTION:
            form = Form.FUNCTION
            gradient, device = computed(arguments, state.recording)
            result = Value(
                Kind.TENSOR, gradient, device, tensorlike=True, large=callable_value.large
            )
        elif call.kind == "constructor" and call.record is not None:
            result = replace(OBJECT, records=frozenset({call.record or ""}))
        else:
            result = self._unknown_call(state, operands)
        result = self._evidence(result, origin, state.recording)
        if call.key and call.kind == "constructor":
            result = self._constructed(call, result)
        self.records[origin] = Record(
            call,
            block,
            form,
            tuple(operands),
            result,
            state.recording,
            frozenset().union(*(places_read(argument.value) for argument in call.arguments), ()),
            effect,
            callee,
        )
        if outcome is not None:
            whole = replace(self.records[origin], differentiated="" in outcome.differentiated)
            self.records[origin] = whole
            for number, (name, value) in enumerate(parts.items()):
                inner = part_origin(origin, number)
                value = self._evidence(value, inner, state.recording)
                parts = {**parts, name: value}
                self.records[inner] = replace(
                    whole,
                    result=value,
                    part=name,
                    differentiated=name in outcome.differentiated,
                )
        state = self._change_receiver(state, call, effect, arguments, outcome, origin)
        if call.target is not None:
            state = self._store(state, call.target, result, origin, parts)
        return state

    def _callee(self, state: State, call: Call) -> tuple[str, Value]:
        """The object that is called: a variable, or what looks like a method and is a member."""
        if call.callee is not None:
            name = place(call.callee) or ""
            value = self.value(state, call.callee)
            known = self.around.kind_of(self.function, name)
            return name, value if known is None else value.join(known)
        if call.name.startswith(".") and call.receiver is not None:
            inner = place(call.receiver)
            if inner is not None:
                name = inner + call.name
                known = self.around.kind_of(self.function, name)
                found = state.values.get(name) or known
                if found is not None:
                    return name, found
                return name, NOTHING
        return "", NOTHING

    def _constructed(self, call: Call, result: Value) -> Value:
        known = self.around.kind_of(self.function, "new " + (call.key or ""))
        records = frozenset({call.key or ""})
        return replace(known or result, records=records)

    def _model_call(self, state: State, model: Value, name: str, arguments: list[Value]) -> Value:
        gradient = Gradient.NOTHING
        if state.recording & Recording.OFF:
            gradient |= Gradient.DETACHED
        if state.recording & Recording.ON:
            frozen = model.gradient & Gradient.DETACHED
            gradient |= Gradient.UNKNOWN if frozen else Gradient.ATTACHED
        device = join_all(arguments).device | model.device
        if device & Device.DEVICE:
            device = Device.DEVICE
        return Value(Kind.OTHER, gradient, device or Device.UNKNOWN, tensorlike=True, large=True)

    def _unknown_call(self, state: State, operands: list[Value]) -> Value:
        gradient = Gradient.UNKNOWN if state.recording & Recording.ON else Gradient.NOTHING
        if state.recording & Recording.OFF:
            gradient |= Gradient.DETACHED
        return replace(UNKNOWN, gradient=gradient, tensorlike=_like(operands))

    def _effect_value(
        self,
        state: State,
        effect: TensorEffect,
        operands: list[Value],
        call: Call | None = None,
    ) -> Value:
        if effect.result == "number":
            return NUMBER
        if effect.result == "list":
            return Value(Kind.LIST, Gradient.DETACHED)
        gradient, device = computed(operands, state.recording)
        kinds = join_all(operands).kind
        if effect.gradient == "follows" and kinds and kinds & (Kind.MODULE | Kind.FUNCTION):
            # `.to`, `.cuda`, `.half` of a module give the module.
            moved = self._device(effect, call, device)
            return replace(operands[0], device=moved) if moved else operands[0]
        if effect.gradient == "attached" and kinds & Kind.MODULE:
            return operands[0]
        if effect.result == "module":
            return Value(Kind.MODULE, Gradient.UNKNOWN, Device.NOTHING)
        if effect.result == "function":
            return Value(Kind.FUNCTION, Gradient.UNKNOWN, large=effect.scalar is None)
        if effect.result == "other":
            return replace(OBJECT, tensorlike=False)
        if effect.gradient == "detached":
            gradient = Gradient.DETACHED
        elif effect.gradient == "attached":
            off = call is not None and any(
                isinstance(argument.value, Constant) and argument.value.value is False
                for argument in call.arguments
            )
            gradient = Gradient.DETACHED if off else Gradient.ATTACHED
        if call is not None and _argument(call, "requires_grad") is True:
            gradient = Gradient.ATTACHED
        if operands and all(value.is_number for value in operands) and effect.device == "follows":
            return NUMBER
        large = effect.scalar is None or call is None or len(call.arguments) > effect.scalar
        if call is not None and effect.scalar and _argument(call, "reduction") == "none":
            large = True
        return Value(
            Kind.TENSOR,
            gradient,
            self._device(effect, call, device),
            tensorlike=True,
            large=large
            and (
                not operands or any(value.large for value in operands) or effect.device != "follows"
            ),
        )

    def _device(self, effect: TensorEffect, call: Call | None, device: Device) -> Device:
        if effect.device == "device":
            return Device.DEVICE
        if effect.device == "host":
            return Device.HOST
        if effect.device == "argument" and call is not None:
            given = [
                argument.value
                for argument in call.arguments
                if argument.keyword == "device" or (call.name == ".to" and not argument.keyword)
            ]
            for expression in given:
                if isinstance(expression, Constant) and isinstance(expression.value, str):
                    return Device.DEVICE if expression.value[:4] == "cuda" else Device.HOST
                return Device.UNKNOWN
            return Device.HOST if call.name != ".to" else device
        return device

    def _change_receiver(
        self,
        state: State,
        call: Call,
        effect: TensorEffect | None,
        arguments: list[Value],
        outcome: Outcome | None,
        origin: int,
    ) -> State:
        name = place(call.receiver) if call.receiver is not None else None
        if name is None:
            return state
        if effect is not None and effect.inserts and arguments:
            values = dict(state.values)
            element = name + ELEMENT
            values[element] = values.get(element, NOTHING).join(arguments[-1])
            return replace(state, values=values)
        held = state.values.get(name, UNKNOWN)
        if effect is not None and (
            effect.detaches_receiver or (effect.backward == "this" and not is_engine(call, held))
        ):
            values = dict(state.values)
            if effect.detaches_receiver:
                values[name] = replace(held, gradient=Gradient.DETACHED).of(origin)
            elif state.recording & Recording.ON:
                gradient = held.gradient & ~(Gradient.UNKNOWN | Gradient.DETACHED)
                values[name] = replace(
                    held,
                    kind=Kind.TENSOR,
                    gradient=gradient | Gradient.ATTACHED,
                    origins=held.origins or frozenset({origin}),
                )
            return replace(state, values=values)
        if outcome is not None and outcome.resets:
            values = {
                key: value
                for key, value in state.values.items()
                if not any(is_inside(key, f"{name}.{member}") for member in outcome.resets)
            }
            return replace(state, values=values)
        return state

    # Recording --------------------------------------------------------------------------------

    def _switch(self, state: State, call: Call, effect: TensorEffect, origin: int) -> State:
        switched = _switched(call, effect)
        value = Value(Kind.CONTEXT, Gradient.DETACHED, recording=switched)
        saved = dict(state.saved or {})
        name = place(call.target) if call.target is not None else None
        if effect.immediate:
            if name is not None:
                saved[f"!{name}"] = state.recording
            state = replace(state, recording=switched, saved=saved)
        if call.target is not None:
            state = self._store(state, call.target, value, origin)
        return state

    def _context(self, state: State, call: Call, receiver: Value, origin: int) -> State:
        name = place(call.receiver) if call.receiver is not None else None
        saved = dict(state.saved or {})
        if name is not None and call.name == ".__exit__":
            if name in saved:
                state = replace(state, recording=saved[name])
            return state
        if name is not None:
            saved[name] = saved.get(f"!{name}", state.recording)
            recording = state.recording
            if receiver.recording:
                recording = receiver.recording
                if receiver.kind & ~Kind.CONTEXT:
                    recording |= state.recording
            elif self._may_switch(receiver):
                recording |= Recording.EITHER
            state = replace(state, recording=recording, saved=saved)
        if call.target is not None:
            state = self._store(state, call.target, receiver, origin)
        return state

    def _may_switch(self, context: Value) -> bool:
        """Whether an object of unknown making may switch recording off while it is entered."""
        if not context.origins:
            return bool(context.gradient & Gradient.UNKNOWN)
        for origin in context.origins:
            record = self.records.get(origin)
            if record is None or not (record.effect is not None and record.effect.harmless):
                return True
        return False


def _switched(call: Call, effect: TensorEffect) -> Recording:
    if effect.mode == "disabled":
        return Recording.OFF
    if effect.mode == "enabled":
        return Recording.ON
    given = call.arguments[0].value if call.arguments else None
    if isinstance(given, Constant) and isinstance(given.value, bool):
        return Recording.ON if given.value else Recording.OFF
    return Recording.EITHER


def part_origin(origin: int, number: int) -> int:
    """The number of a part of what an operation makes."""
    return PARTS + origin * 100 + min(number, 99)


def is_engine(call: Call, receiver: Value) -> bool:
    """Whether ``receiver.backward(x)`` computes the gradient of ``x``: the receiver is a
    framework's engine (``accelerator.backward(loss)``), not a tensor."""
    if not call.arguments or call.arguments[0].keyword:
        return False
    if isinstance(call.arguments[0].value, Constant):
        return False
    return not (receiver.tensorlike or receiver.may_attach or receiver.kind & Kind.TENSOR)


def _like(values: list[Value]) -> bool:
    return any(value.tensorlike or value.kind & Kind.TENSOR for value in values)


def _argument(call: Call, keyword: str) -> object:
    for argument in call.arguments:
        if argument.keyword == keyword and isinstance(argument.value, Constant):
            return argument.value.value
    return None


def _operands(expression: Expression) -> list[Expression]:
    """The values that an expression is computed of, down to places."""
    match expression:
        case Binary(left=left, right=right):
            return [*_operands(left), *_operands(right)]
        case Unary(operand=operand) | Cast(operand=operand):
            return _operands(operand)
        case Conditional(then=then, otherwise=otherwise):
            return [*_operands(then), *_operands(otherwise)]
        case Tuple(items=items):
            return [operand for item in items for operand in _operands(item)]
        case _:
            return [expression]


def _reads(expression: Expression) -> frozenset[str]:
    return frozenset(places_read(expression))
