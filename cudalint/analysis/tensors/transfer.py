"""What one operation does to the values of places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cudalint.analysis.shape.places import ELEMENT, is_inside, place, places_read, root_of
from cudalint.analysis.tensors.lattice import (
    NOTHING,
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
from cudalint.analysis.tensors.records import (
    Form,
    Outcome,
    Record,
    gives_gradients,
    is_engine,
    origin_at,
    part_origin,
)
from cudalint.analysis.tensors.values import Values, operands_of
from cudalint.apis.model import TensorEffect
from cudalint.program import (
    THIS,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Constant,
    Delete,
    Expression,
    Index,
    Operation,
    Slice,
    Tuple,
    Unary,
    Variable,
)


class Transfer(Values):
    """The transfer functions of one function's operations."""

    # Operations -------------------------------------------------------------------------------

    def operation(self, state: State, operation: Operation, block: int, index: int) -> State:
        """The state after an operation; what it did is recorded."""
        origin = origin_at(block, index)
        if isinstance(operation, Assign):
            return self._assign(state, operation, block, origin)
        if isinstance(operation, Call):
            return self._call(state, operation, block, origin)
        if isinstance(operation, Delete):
            return self._forget(state, operation.place)
        return state

    def _evidence(self, value: Value, origin: int, recording: Recording) -> Value:
        evidence = self.around.evidence(self.function)
        if recording & Recording.ON and origin in evidence.attached:
            gradient = value.gradient & ~Gradient.UNKNOWN | Gradient.ATTACHED
            value = replace(value, kind=value.kind | Kind.TENSOR, gradient=gradient)
        if origin in evidence.moved and not value.device & Device.HOST:
            value = replace(value, device=Device.DEVICE)
        return value

    def _assign(self, state: State, operation: Assign, block: int, origin: int) -> State:
        source = operation.value
        value = self.value(state, source)
        match source:
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
            operation,
            block,
            form,
            operands,
            value,
            state.recording,
            frozenset(places_read(source)),
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
        state = self._written_into(state, target, value, origin)
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

    def _written_into(self, state: State, target: Expression, value: Value, origin: int) -> State:
        """A tensor that a part is written into has the part's graph from then on."""
        name = place(target.base) if isinstance(target, Index | Slice) else None
        whole = state.values.get(name or "")
        gradient = value.gradient & (Gradient.ATTACHED | Gradient.UNKNOWN)
        if name is None or whole is None or not gradient or not whole.kind & Kind.TENSOR:
            return state
        if not state.recording & Recording.ON:
            return state
        held = replace(whole, gradient=whole.gradient | gradient, origins=whole.origins | {origin})
        return replace(state, values={**state.values, name: held})

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
        callee, callable_value = self._callee(state, call)
        effect = self._effects(call.name)
        operands = operands_of(call, receiver, arguments, effect)
        if effect is not None and gives_gradients(call, effect):
            effect = None
        if effect is not None and effect.without_arguments and call.arguments:
            effect = None
        if effect is not None and effect.packages and not self._is_meant(effect, receiver):
            effect = None
        if call.receiver == THIS and callable_value.kind & Kind.MODULE:
            effect = None  # a member that is called like a method of tensors
        outcome = self.around.outcome(self.function, call, receiver.records)
        parts: dict[str, Value] = {}
        form = Form.CALL
        if call.name in (".__enter__", ".__exit__"):
            return self._context(state, call, receiver, origin)
        if effect is not None and effect.calls_module:
            effect, callable_value = None, receiver
            callee = place(call.receiver) or ""
        if self._is_factory(call, arguments):
            callable_value = UNKNOWN
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
            form, result = Form.MODEL, self._model_call(state, callable_value, arguments)
            parts = self._beside_numbers(callable_value, result, origin)
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
        done = outcome.differentiated if outcome is not None else ()
        record = self.records[origin] = Record(
            call,
            block,
            form,
            tuple(operands),
            result,
            state.recording,
            frozenset().union(*(places_read(argument.value) for argument in call.arguments), ()),
            effect,
            callee,
            differentiated="" in done,
        )
        for number, (name, value) in enumerate(parts.items()):
            inner = part_origin(origin, number)
            parts[name] = self._evidence(value, inner, state.recording)
            self.records[inner] = replace(
                record, result=parts[name], part=name, differentiated=name in done
            )
        state = self._change_receiver(state, call, effect, arguments, outcome, origin)
        if call.target is not None:
            state = self._store(state, call.target, result, origin, parts)
        return state

    def _callee(self, state: State, call: Call) -> tuple[str, Value]:
        """The object that is called: a variable, or what looks like a method and is a member."""
        if call.name.endswith(".__init__"):
            return place(call.receiver) or "", NOTHING
        if call.callee is not None:
            name = place(call.callee) or ""
            value = self.value(state, call.callee).join(self.told_by_keyword(call))
            known = self.around.kind_of(self.function, name)
            return name, value if known is None else value.join(known)
        if call.name.startswith(".") and call.receiver is not None:
            inner = place(call.receiver)
            if inner is not None:
                name = inner + call.name
                known = self.around.kind_of(self.function, name)
                held = state.values.get(name) or known or self.told_by_keyword(call)
                return name, held
        return "", NOTHING

    def _is_meant(self, effect: TensorEffect, receiver: Value) -> bool:
        """Whether a method that other objects have too is that of an array."""
        known = receiver.kind & Kind.TENSOR or receiver.device & Device.DEVICE
        return bool(known) or not self.packages.isdisjoint(effect.packages)

    def _is_factory(self, call: Call, arguments: list[Value]) -> bool:
        """Whether a parameter that is called is given sizes alone: it is a class then, whatever its
        annotation says, and what it makes a module."""
        given = {one.symbol for one in self.function.parameters}
        sizes = bool(arguments) and all(one.is_number for one in arguments)
        return sizes and isinstance(call.callee, Variable) and call.callee.symbol in given

    def _constructed(self, call: Call, result: Value) -> Value:
        known = self.around.kind_of(self.function, "new " + (call.key or ""))
        records = frozenset({call.key or ""})
        return replace(known or result, records=records)

    def _model_call(self, state: State, model: Value, arguments: list[Value]) -> Value:
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

    def _beside_numbers(self, model: Value, result: Value, origin: int) -> dict[str, Value]:
        """The parts of what a model of a known class gives, where some of them are numbers."""
        outcome = self.around.passed(self.function, model.records)
        parts = outcome.parts if outcome is not None else {}
        if not any(one.is_number for one in parts.values()):
            return {}
        return {
            name: one if one.is_number else result.of(part_origin(origin, number))
            for number, (name, one) in enumerate(parts.items())
        }

    def _unknown_call(self, state: State, operands: list[Value]) -> Value:
        gradient = Gradient.UNKNOWN if state.recording & Recording.ON else Gradient.NOTHING
        if state.recording & Recording.OFF:
            gradient |= Gradient.DETACHED
        return replace(UNKNOWN, gradient=gradient, tensorlike=_like(operands))

    def _change_receiver(
        self,
        state: State,
        call: Call,
        effect: TensorEffect | None,
        arguments: list[Value],
        outcome: Outcome | None,
        origin: int,
    ) -> State:
        name = place(call.receiver)
        if name is None:
            return state
        if effect is not None and effect.inserts and arguments:
            element = name + ELEMENT
            held = state.values.get(element, NOTHING).join(arguments[-1])
            return replace(state, values={**state.values, element: held})
        held = state.values.get(name, UNKNOWN)
        if effect is not None and (
            effect.detaches_receiver or (effect.backward == "this" and not is_engine(call, held))
        ):
            if effect.detaches_receiver:
                held = replace(held, gradient=Gradient.DETACHED).of(origin)
            elif state.recording & Recording.ON:
                held = replace(
                    held,
                    kind=Kind.TENSOR,
                    gradient=Gradient.ATTACHED,
                    origins=held.origins or frozenset({origin}),
                )
            return replace(state, values={**state.values, name: held})
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
        name = place(call.target)
        if effect.immediate:
            if name is not None:
                saved[f"!{name}"] = state.recording
            state = replace(state, recording=switched, saved=saved)
        if call.target is not None:
            state = self._store(state, call.target, value, origin)
        return state

    def _context(self, state: State, call: Call, receiver: Value, origin: int) -> State:
        name = place(call.receiver)
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
    match call.arguments[0].value if call.arguments else None:
        case Constant(value=bool() as on):
            return Recording.ON if on else Recording.OFF
    return Recording.EITHER


def _like(values: list[Value]) -> bool:
    return any(value.tensorlike or value.kind & Kind.TENSOR for value in values)


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
