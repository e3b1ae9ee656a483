"""The values of expressions, and of what API functions return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from cudalint.analysis.shape.arguments import named_constant
from cudalint.analysis.shape.places import ELEMENT, is_inside, place
from cudalint.analysis.shape.subjects import packages
from cudalint.analysis.shape.walk import space_of_device
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
from cudalint.analysis.tensors.records import Record, Surroundings, is_off, made_by
from cudalint.apis.model import TensorEffect
from cudalint.program import (
    EACH,
    Argument,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Constant,
    Expression,
    Function,
    FunctionReference,
    Index,
    Member,
    Slice,
    Tuple,
    Unary,
    Unknown,
    Variable,
)

_DEVICES: dict[str | None, Device] = {"device": Device.DEVICE, "host": Device.HOST}
TESTS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "is"})
BITS = frozenset({"&", "|", "^", "<<", ">>"})
"""Of integers, which have no gradients; ``|`` may also join dictionaries, which keep theirs."""


class Values:
    """What expressions are worth in a state of one function."""

    def __init__(self, function: Function, around: Surroundings) -> None:
        self.function = function
        self.around = around
        self.records: dict[int, Record] = {}
        self._effects = around.models.tensor_effect

    # Values -----------------------------------------------------------------------------------

    def told_by_keyword(self, call: Call) -> Value:
        """What is called, where a keyword argument says so, in a file of the library's."""
        found = (self._effects(f"{one.keyword}=") for one in call.arguments if one.keyword)
        meant = (e for e in found if e is not None and not self.packages.isdisjoint(e.packages))
        return next((value for effect in meant if (value := made_by(effect))), NOTHING)

    @cached_property
    def packages(self) -> frozenset[str]:
        """The packages that the file names."""
        program = self.around.symbols.programs.get(self.function.filename)
        return packages(program) if program is not None else frozenset()

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
                return self._viewed(value)
            case Cast(operand=operand):
                return self.value(state, operand)
            case Unary(operator=operator, operand=operand):
                if operator in ("!", "len", "more"):
                    return NUMBER
                return self._computed(state, [self.value(state, operand)])
            case Binary(operator=operator, left=left, right=right):
                values = [self.value(state, left), self.value(state, right)]
                if operator in TESTS or (operator in BITS and not any(map(_may_be_table, values))):
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
                return Value(
                    Kind.LIST,
                    joined.gradient | Gradient.DETACHED,
                    joined.device,
                    origins=joined.origins,
                )
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
            if isinstance(expression, Index) and isinstance(inside, FunctionReference):
                return replace(UNKNOWN, tensorlike=True)  # no function: what a module holds
            return self._viewed(self.value(state, inside))
        if isinstance(expression, Member):
            effect = self._effects("." + expression.field)
            if effect is not None and effect.gradient and name not in state.values:
                base_value = self.value(state, expression.base)
                return self._effect_value(state, effect, [base_value])
        if name in state.values:
            found = state.values[name]
            contents = self._contents(state, name) if found.kind & Kind.LIST else NOTHING
            return replace(found.join(contents), kind=found.kind)
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
                whole = state.values.get(inner, NOTHING)
                other = self._viewed(whole) if whole.kind & ~Kind.LIST else NOTHING
                return state.values[element].join(other)
            parts = self._picked(state, expression, inner) if name == element else NOTHING
            if parts != NOTHING:
                return parts
            outer = self.value(state, expression.base)
            if outer.kind == Kind.NUMBER:
                return NUMBER
            if outer.is_detached and outer.kind == Kind.LIST:
                return NOTHING
            item = replace(self._viewed(outer), tensorlike=True)
            is_part = isinstance(expression.index, Constant) and not outer.kind & Kind.TENSOR
            # `loss, count = criterion(...)`: what is said of one says nothing of the other.
            return item.of() if is_part and not outer.may_attach else item
        if not isinstance(expression, Member):
            return UNKNOWN
        outer = self.value(state, expression.base)
        if place(expression.base) == "this" or not outer.may_attach:
            return replace(UNKNOWN, tensorlike=outer.tensorlike)
        return replace(outer, kind=Kind.OTHER)

    def _picked(self, state: State, expression: Index, inner: str) -> Value:
        """Any of the parts of a place, or of those that a loop over known keys picks."""
        keys = self._keys(expression.index)
        found = [state.values.get(f"{inner}[{key!r}]") for key in keys]
        known = [one for one in found if one is not None]
        return join_all(known) if known and known == found else self._contents(state, inner)

    def _keys(self, index: Expression) -> list[object]:
        """The keys that a variable goes over: those of a dictionary, or of a list, that is written
        out."""
        flow = self.around.symbols.flow(self.function)
        made: object = flow.only(index.symbol) if isinstance(index, Variable) else None
        over = made.value if isinstance(made, Assign) else None
        table = over.base if isinstance(over, Index) and over.index == EACH else None
        if isinstance(table, Variable):
            written = flow.only(table.symbol)
            table = written.value if isinstance(written, Assign) else None
        items = table.items if isinstance(table, Tuple) else ()
        keys = items[::2] if isinstance(table, Tuple) and table.kind == "dict" else items
        constants: list[object] = [one.value for one in keys if isinstance(one, Constant)]
        return constants if len(constants) == len(keys) else []

    def _contents(self, state: State, name: str) -> Value:
        return join_all(
            value
            for other, value in state.values.items()
            if other.startswith(name + "[") and is_inside(other, name)
        )

    def _viewed(self, value: Value) -> Value:
        kind = value.kind & ~Kind.LIST or Kind.OTHER
        return replace(value, kind=kind)

    def _computed(self, state: State, values: list[Value]) -> Value:
        gradient, device = computed(values, state.recording)
        kind = join_all(values).kind & ~Kind.NUMBER
        if all(value.kind & Kind.NUMBER for value in values) or not kind:
            kind |= Kind.NUMBER
        origins = frozenset().union(*(value.origins for value in values))
        known = [value for value in values if value.kind != Kind.OTHER or value.tensorlike]
        if known and all(value.is_number for value in known):
            # A number times an unknown argument: a number, unless its gradient is computed.
            return replace(NUMBER, gradient=gradient, origins=origins)
        return Value(
            kind,
            gradient,
            device,
            Recording.NOTHING,
            origins,
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

    def _effect_value(
        self,
        state: State,
        effect: TensorEffect,
        operands: list[Value],
        call: Call | None = None,
    ) -> Value:
        fixed = made_by(effect)
        if fixed is not None:
            return fixed
        gradient, device = computed(operands, state.recording)
        kinds = join_all(operands).kind
        if effect.gradient == "follows" and kinds and kinds & (Kind.MODULE | Kind.FUNCTION):
            # `.to`, `.cuda`, `.half` of a module give the module.
            moved = self._device(effect, call, device)
            return replace(operands[0], device=moved) if moved else operands[0]
        if effect.gradient == "attached" and kinds & Kind.MODULE:
            return operands[0]
        if effect.gradient == "detached":
            gradient = Gradient.DETACHED
        elif effect.gradient == "attached":
            off = call is not None and is_off(call)
            gradient = Gradient.DETACHED if off else Gradient.ATTACHED
        if call is not None and "integer" in map(self._element_type, call.arguments):
            gradient = Gradient.DETACHED
        if call is not None and named_constant(call, "requires_grad") is True:
            gradient = Gradient.ATTACHED
        if operands and all(value.is_number for value in operands) and effect.device == "follows":
            return NUMBER
        large = effect.scalar is None or call is None or _counted(call, effect) > effect.scalar
        if call is not None and effect.scalar and named_constant(call, "reduction") == "none":
            large = True
        if operands and effect.device == "follows":
            large = large and any(value.large for value in operands)
        placed = self._device(effect, call, device)
        return Value(Kind.TENSOR, gradient, placed, tensorlike=True, large=large)

    def _element_type(self, argument: Argument) -> str:
        """``integer`` or ``floating`` for an argument that is the type of elements."""
        value = argument.value
        effect = self._effects(value.name) if isinstance(value, FunctionReference) else None
        return effect.element_type if effect is not None else ""

    def _device(self, effect: TensorEffect, call: Call | None, device: Device) -> Device:
        if effect.device in _DEVICES:
            return _DEVICES[effect.device]
        if effect.device != "argument" or call is None:
            return device
        moves = call.name == ".to"
        for argument in call.arguments:
            if self._element_type(argument):
                continue
            if argument.keyword == "device" or (moves and not argument.keyword):
                space = space_of_device(getattr(argument.value, "value", None))
                return _DEVICES.get(space, Device.UNKNOWN)
        return device if moves else Device.HOST


def _counted(call: Call, effect: TensorEffect) -> int:
    """How many arguments say that the result is more than one number."""
    keywords = (one.keyword for one in call.arguments)
    return sum(not one or not effect.along or one in effect.along for one in keywords)


def _may_be_table(value: Value) -> bool:
    """Whether a value may be a dictionary of tensors, as some models return."""
    return bool(value.kind & Kind.LIST or (value.tensorlike and not value.kind & Kind.TENSOR))


def operands_of(
    call: Call, receiver: Value, arguments: list[Value], effect: TensorEffect | None
) -> list[Value]:
    """What the result of a call is made of: its receiver and arguments; of those that say only what
    it is like, nothing but where it lives."""
    if call.receiver is None:
        return arguments
    if effect is not None and effect.lends:
        arguments = [replace(one, gradient=Gradient.DETACHED).of() for one in arguments]
    return [receiver, *arguments]
