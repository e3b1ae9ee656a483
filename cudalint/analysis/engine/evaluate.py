"""Expressions to values and places to locations, in one state."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import TypeGuard

from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.flow import Counter
from cudalint.analysis.values.addresses import element_at, pointed_element
from cudalint.analysis.values.arithmetic import apply, wrap
from cudalint.analysis.values.element_types import item_bytes
from cudalint.analysis.values.elements import element_part, is_any_element, is_index, only
from cudalint.analysis.values.projection import project
from cudalint.analysis.values.values import (
    NULL,
    ZERO,
    Address,
    Array,
    Bag,
    Const,
    FunctionValue,
    Input,
    Location,
    Operation,
    Pointer,
    Sequence,
    Symbol,
    Value,
    bag,
    constant,
    integer,
    resources_in,
)
from cudalint.program import (
    THIS,
    AddressOf,
    Binary,
    Cast,
    Conditional,
    Constant,
    Dereference,
    Expression,
    Function,
    FunctionReference,
    Index,
    Member,
    Slice,
    Tuple,
    Type,
    Unary,
    Unknown,
    Variable,
    VariableInfo,
    render,
    variables,
)

MOST_ITERATIONS = 2
"""Iterations of a loop that are followed."""
STATUS = "status:"
"""How the origin of a status value starts."""


class Evaluator:
    """Evaluates the expressions of one function."""

    def __init__(
        self,
        function: Function,
        language: str,
        file_variables: dict[str, VariableInfo],
        enumerators: Mapping[str, int],
    ) -> None:
        self.function = function
        self.enumerators = enumerators
        self.python = language == "python"
        self.file_variables = file_variables
        self.constants: dict[str, Value] = {}
        """Parameters bound to the constants of a call."""
        self.inducing: frozenset[str] = frozenset()
        """What the loops around the current block count with: an element that it selects stands
        for every element."""
        self.counters: Mapping[str, Counter] = {}
        """Of these, those that are compared with a bound."""

    # Places -----------------------------------------------------------------------------------

    def location(self, place: Expression, state: State) -> Location | None:
        """Where a place is stored; ``None`` for what is not a place."""
        match place:
            case Variable(symbol=symbol):
                return (symbol,)
            case Member(base=base):
                return self._member(base, f".{place.place}", state)
            case Dereference(pointer=Binary(operator="+" | "-") as sum_) if (
                table := self._table(sum_)
            ) is not None:
                single = sum_.operator == "+" and sum_.left == table
                return (
                    self.location(Index(table, sum_.right), state)
                    if single
                    else (self.element(table, "[]", state))
                )
            case Dereference(pointer=pointer):
                return self.pointed(self.value(pointer, state))
            case Index(base=base, index=index):
                which = self.value(index, state)
                if isinstance(which, FunctionValue) and not self.python:
                    return self._member(base, f".{which.name.rpartition('::')[2]}", state)
                if isinstance(index, Unknown) and not self.python:
                    return self._each(base, state)
                part = element_part(which)
                for symbol in variables(index) & self.inducing if self.inducing else ():
                    if not self.is_last(symbol, state):
                        part = "[]"
                return self.element(base, part, state)
            case Slice(base=base):
                return self.element(base, "[]", state)
            case Cast(operand=operand):
                return self.location(operand, state)
            case _:
                return None

    def _member(self, base: Expression, part: str, state: State) -> Location | None:
        if isinstance(base, Variable) and base.symbol == "this":
            return ("this", part)
        if isinstance(base, FunctionReference) and base.key is not None:
            return (f"::{base.key}", part)  # of a class: it lasts as a global does
        if isinstance(base, Dereference):
            return self.pointed(self.value(base.pointer, state), (part,))
        location = self.location(base, state)
        if self.python:
            value = self.value(base, state)
            known = isinstance(value, Symbol | Input | Operation | Pointer | Array)
            if known and not is_any_element(value):
                return ("@", value, part)
        return None if location is None else (*location, part)

    def _each(self, base: Expression, state: State) -> Location | None:
        """The element of an iteration: the only one, or any."""
        location = self.element(base, "[]", state)
        part = None if location is None else only(state.values, location[:-1])
        return location if location is None or part is None else (*location[:-1], part)

    def is_last(self, symbol: str, state: State) -> bool:
        """Whether a variable that a loop counts with is known in all iterations that are left:
        these are no more than are followed."""
        counter = self.counters.get(symbol)
        now = integer(state.values.get((symbol,)))
        if counter is None or now is None or self.python:
            return False
        bound = self.value(counter.bound, state)
        left = MOST_ITERATIONS - state.visits.get(counter.header, 0)
        later = [Const(now + number * counter.step) for number in range(1, left + 1)]
        goes_on = [apply(counter.operator, one, bound) for one in later]
        return any(isinstance(one, Const) and not one.value for one in goes_on)

    def element(self, base: Expression, part: str, state: State) -> Location | None:
        """Where an element of an array, of a container or behind a pointer is stored."""
        location = self.location(base, state)
        stored = state.values.get(location) if location else None
        of_unknown = isinstance(stored, Symbol | Input) and not self.python
        if location is not None and of_unknown and self.kind(base) == "record":
            return (*location, part)
        if location is None or (
            isinstance(stored, Pointer | Symbol | Input | Address | Array) and not self.python
        ):
            value = stored if stored is not None else self.value(base, state)
            if isinstance(value, Address):
                return element_at(value.location, part)
            if part == "[0]" and not self.python:
                return ("@", value)
            return ("@", value, part)
        if stored is None and not self.python and self._is_pointer(base):
            inner_value = state.read(location)
            return ("@", inner_value) if part == "[0]" else ("@", inner_value, part)
        return (*location, part)

    def _is_pointer(self, place: Expression) -> bool:
        """Whether a variable, or an element of the table that it is, is a pointer."""
        steps = 0
        while isinstance(place, Index | Dereference):
            place = place.base if isinstance(place, Index) else place.pointer
            steps += 1
        declared = self.type_of(place)
        for _ in range(steps):
            declared = declared.pointee if declared is not None else None
        return declared is not None and declared.kind == "pointer"

    def _table(self, pointer: Expression) -> Variable | None:
        """The pointer to pointers that ``table + i - 1`` starts from."""
        while isinstance(pointer, Binary) and pointer.operator in ("+", "-"):
            pointer = pointer.left
        if self.python or not isinstance(pointer, Variable):
            return None
        return pointer if self._is_pointer(Dereference(pointer)) else None

    def pointed(self, value: Value, below: Location = ()) -> Location:
        """What a pointer value points to; ``below``: the part of it that is meant."""
        table, part = pointed_element(value)
        if isinstance(value, Pointer) and integer(value.offset) is None:
            table, part = ("@", Pointer(value.resource, Const(0))), "[]"
            below = below[1:] if below and is_index(below[0]) else below
        if table is None:
            return ("@", value, *below)
        if part is None and below and below[0].startswith("["):
            part, below = below[0], below[1:]
        elif part is None and self.kind(table) == "array":
            part = "[0]"
        return (*(table if part is None else element_at(table, part)), *below)

    def variable(self, symbol: str) -> VariableInfo | None:
        """The declaration of a variable of the function or of the file."""
        return self.function.variables.get(symbol) or self.file_variables.get(symbol)

    def is_local(self, location: Location) -> bool:
        """Whether a location is in a local variable of the function, or in a temporary."""
        info = self.function.variables.get(location[0])
        return info is not None and info.storage in ("local", "temporary")

    def type_of(self, variable: Expression | Location | None) -> Type | None:
        """The type of a variable; ``None`` for a part of one, and for what is none."""
        symbol = variable.symbol if isinstance(variable, Variable) else None
        if isinstance(variable, tuple) and len(variable) == 1:
            symbol = variable[0]
        info = self.variable(symbol) if symbol is not None else None
        return info.type if info is not None else None

    def kind(self, variable: Expression | Location | None) -> str:
        """The kind of a variable's type: of a reference, the pointer to what it is bound to, that
        is ``reference``. Empty for what is no variable."""
        declared = self.type_of(variable)
        return declared.kind if declared is not None else ""

    # Values -----------------------------------------------------------------------------------

    def value(self, expression: Expression, state: State) -> Value:
        """The value of an expression."""
        value = self._value(expression, state)
        known = state.equal.get(value) if state.equal else None
        return known if known is not None else value

    def _value(self, expression: Expression, state: State) -> Value:
        match expression:
            case Constant(value=None):
                return NULL
            case Constant(value=value):
                return Const(value)
            case Variable():
                return self._variable(expression, state)
            case Member(base=base, field=field):
                return self._field(base, field, expression, state)
            case Dereference(pointer=Index() as one) if isinstance(
                some := self.value(one, state), Bag
            ):
                found = state.in_blocks(some.resources)
                return bag(found) if found else Operation("place:" + render(expression), ())
            case Index() | Dereference():
                location = self.location(expression, state)
                return (
                    Operation("place:" + render(expression), ())
                    if location is None
                    else self._read(location, state)
                )
            case Slice(base=base):
                return self._slice(self.value(base, state), expression, state)
            case AddressOf(place=place):
                return self.address(place, state)
            case Unary(operator=operator, operand=operand):
                return apply(operator, self.value(operand, state))
            case Binary():
                return self._binary(expression, state)
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                decided = self.value(condition, state)
                first, second = self.value(then, state), self.value(otherwise, state)
                if isinstance(decided, Const) or decided in state.conditions:
                    holds = state.conditions.get(decided, constant(decided))
                    return first if holds else second
                return first if first == second else Operation("?:", (decided, first, second))
            case Cast(to=to, operand=operand):
                return self._cast(to, operand, state)
            case Tuple(items=items, kind=kind):
                return Sequence(tuple(self.value(item, state) for item in items), kind)
            case FunctionReference(name=name, key=key):
                worth = self.enumerators.get(name.rpartition(".")[2])
                return FunctionValue(name, key) if worth is None else Const(worth)
            case Unknown(text="uninitialized"):
                return Operation("uninitialized", ())
            case Unknown(text=text, reads=reads):
                return Operation(
                    "unknown:" + text, tuple(self.value(part, state) for part in reads)
                )
            case _:
                return Operation("unknown", ())

    def inside(self, expression: Expression, state: State) -> Iterator[tuple[Location, Value]]:
        """What the members and elements of a value hold, where they are stored apart from it."""
        if isinstance(expression, Tuple):
            for field, item in expression.fields:
                for rest, value in self.inside(item, state):
                    yield (f".{field}", *rest), value
            return
        location = self.location(expression, state)
        if location is not None:
            yield from (part for part in state.parts_of(location) if part[0])

    def _variable(self, variable: Variable, state: State) -> Value:
        symbol = variable.symbol
        location = (symbol,)
        stored = state.values.get(location)
        if stored is not None:
            return stored
        if variable == THIS and not self.python:
            return Address(location)
        bound = self.constants.get(symbol)
        if bound is not None:
            return bound
        info = self.variable(symbol)
        if info is not None:
            if info.constant is not None and not isinstance(info.constant, Variable):
                return self.value(info.constant, state)
            if info.type.kind == "array":
                return Address(location)
        return state.read(location)

    def _read(self, location: Location, state: State) -> Value:
        if location[0] == "@" and isinstance(location[-1], Bag):
            return location[-1]  # an iterator over a container stands for its elements
        value = state.read(location)
        info = self.variable(location[0]) if value == Input(location) else None
        if info is not None and isinstance(info.constant, Tuple):
            return project(self.value(info.constant, state), location[1:])
        return value

    def _field(self, base: Expression, field: str, whole: Expression, state: State) -> Value:
        if self.python and not (isinstance(base, Variable) and base.symbol == "this"):
            value = self.value(base, state)
            if field == "itemsize" and (size := _element_size(value)) is not None:
                return Const(size)
            if isinstance(value, FunctionValue):
                return self._value(FunctionReference(f"{value.name}.{field}", value.key), state)
            if isinstance(value, Array):
                return array_attribute(value, field)
            if isinstance(value, Pointer) and field in ("ptr", "value"):
                # A structure around the pointer (cudaPitchedPtr), or the number of a ctypes one.
                held = self.location(whole, state)
                return value if held is None else state.values.get(held, value)
            if field == "value" and is_status(value):
                return value
            if isinstance(value, Const) and field in ("value", "real"):
                return value
        location = self.location(whole, state)
        if location is None:
            return Operation("place:" + render(whole), ())
        return self._read(location, state)

    def _slice(self, base: Value, expression: Slice, state: State) -> Value:
        if isinstance(base, Array):
            return self._array_slice(base, expression, state)
        if expression.step is not None:
            found = frozenset(resources_in(base))
            return bag(found) if found else Operation("slice", (base,))
        lower = self.value(expression.lower, state) if expression.lower else NULL
        upper = self.value(expression.upper, state) if expression.upper else NULL
        return apply("slice", base, lower, upper)

    def _array_slice(self, base: Array, expression: Slice, state: State) -> Value:
        shape = None
        if base.shape:
            lower = self.value(expression.lower, state) if expression.lower else ZERO
            upper = self.value(expression.upper, state) if expression.upper else base.shape[0]
            shape = (apply("-", upper, lower), *base.shape[1:]) if not expression.step else None
        return Array(base.space, shape, base.item_bytes, base.origin, owner=False)

    def address(self, place: Expression, state: State) -> Value:
        """The value of ``&place``; an element of a resource is a pointer with an offset."""
        location = self.location(place, state)
        if location is None:
            return Operation("address", (self.value(place, state),))
        if location[0] == "@" and not isinstance(location[1], str):
            pointer: Value = location[1]
            if len(location) == 2:
                return pointer
            if isinstance(pointer, Pointer) and isinstance(place, Index) and len(location) == 3:
                return apply("+", pointer, self.value(place.index, state))
        if isinstance(place, Index) and location[-1] == "[]" and not self.python:
            index = self.value(place.index, state)
            if isinstance(index, Input):  # the caller knows which element
                return Operation("&[]", (Address(location[:-1]), index))
        return Address(location)

    def _binary(self, expression: Binary, state: State) -> Value:
        left = self.value(expression.left, state)
        right = self.value(expression.right, state)
        operator = expression.operator
        if self.python and operator == "/":
            operator = "true/"
        if self.python and operator == "is":
            operator = "=="
        if operator in ("==", "!=") and _null_text(expression.right):
            right = NULL
        if operator in ("==", "!=") and _null_text(expression.left):
            left = NULL
        if operator in ("==", "!=") and (
            self._was_asked(expression.left, left, right, state)
            or self._was_asked(expression.right, right, left, state)
        ):
            return Const(operator == "!=")
        result = apply(operator, left, right)
        if expression.result is not None and isinstance(result, Const):
            return self._fit(result, expression.result, expression)
        return result

    def _was_asked(self, asked: Expression, known: Value, named: Value, state: State) -> bool:
        """Whether a value that was found equal to a number is compared with a name that nothing
        declares: who asks one value for both means two things by them."""
        if not is_undeclared(named, self.file_variables):
            return False
        value = self._value(asked, state)
        return value != known and not is_status(value)

    def _cast(self, to: Type, operand: Expression, state: State) -> Value:
        value = self.value(operand, state)
        if isinstance(value, Const) and to.kind in ("integer", "enumeration"):
            if isinstance(value.value, float) and abs(value.value) < 1e30:
                value = Const(int(value.value), value.overflow)
            return self._fit(value, to, operand)
        if isinstance(value, Const) and to.kind == "float" and isinstance(value.value, int):
            return Const(float(value.value), value.overflow)
        if isinstance(value, Const) and to.kind == "bool" and value.value is not None:
            return Const(bool(value.value))
        if isinstance(value, Pointer) and to.kind == "bool":
            return Operation("!=", (value, NULL))
        if to.kind == "pointer" and value == ZERO:
            return NULL
        return value

    @staticmethod
    def _fit(value: Const, to: Type, expression: Expression) -> Const:
        if to.kind != "integer" or not to.bytes or isinstance(value.value, bool | float):
            return value
        return wrap(value, render(expression), 8 * to.bytes, to.signed, to.text)


def _element_size(value: Value) -> int | None:
    """The size of an element type: of ``numpy.dtype("f4")``, ``torch.float32``."""
    return item_bytes(value) if isinstance(value, FunctionValue | Const) else None


def is_status(value: Value) -> TypeGuard[Symbol]:
    """Whether a value is the status that some API call returned."""
    return isinstance(value, Symbol) and value.origin.startswith(STATUS)


def is_undeclared(value: Value, declared: Container[str]) -> TypeGuard[Input]:
    """Whether a value is that of a name which nothing declares: of a header that is missing."""
    return (
        isinstance(value, Input)
        and len(value.location) == 1
        and value.location[0].startswith("::")
        and value.location[0] not in declared
    )


def array_attribute(array: Array, field: str) -> Value:
    """The attributes of array objects that carry sizes."""
    match field:
        case "shape":
            if array.shape is not None:
                return Sequence(array.shape)
        case "nbytes":
            return nbytes(array)
        case "size":
            return count(array.shape)
        case "itemsize":
            if array.item_bytes is not None:
                return Const(array.item_bytes)
        case "T":
            return Array(array.space, array.shape and array.shape[::-1], array.item_bytes,
                         array.origin, owner=False)  # fmt: skip
    return Operation("." + field, (array,))


def count(shape: tuple[Value, ...] | None) -> Value:
    """The number of elements of a shape."""
    if shape is None:
        return Operation("unknown:shape", ())
    total: Value = Const(1)
    for extent in shape:
        total = apply("*", total, extent)
    return total


def nbytes(array: Array) -> Value:
    """The size of an array in bytes."""
    if array.item_bytes is None or array.shape is None:
        return Operation("nbytes", (array,))
    return apply("*", count(array.shape), Const(array.item_bytes))


def _null_text(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.text in ("NULL", "nullptr", "__null")
