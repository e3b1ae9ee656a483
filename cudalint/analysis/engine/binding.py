"""An API model's paths and amounts, bound to one call in one state."""

from __future__ import annotations

from cudalint.analysis.engine.evaluate import Evaluator, count, nbytes
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.arguments import given_at
from cudalint.analysis.values.arithmetic import apply, divide
from cudalint.analysis.values.element_types import ITEM_BYTES, item_bytes
from cudalint.analysis.values.projection import project
from cudalint.analysis.values.values import (
    Array,
    Const,
    Location,
    Operation,
    Sequence,
    Value,
    constant,
    integer,
)
from cudalint.apis.paths import (
    Amount,
    Apply,
    Arithmetic,
    Number,
    Path,
    parse_amount,
    parse_dtype,
    parse_path,
    parse_shape,
)
from cudalint.program import AddressOf, Call, Dereference, Expression, render


class Binding:
    """One call, its model's parameter names, and the state to read from."""

    def __init__(
        self, call: Call, parameters: tuple[str, ...], evaluator: Evaluator, state: State
    ) -> None:
        self.call = call
        self.parameters = parameters
        self.evaluator = evaluator
        self.state = state

    def expression(self, text: str) -> Expression | None:
        """The argument, receiver or target that a path starts at, if the call gives it."""
        return self.root(parse_path(text, self.parameters))

    def amount_expression(self, text: str | None) -> Expression | None:
        """The argument that is an amount; ``None`` where none is it alone."""
        try:
            return self.expression(text) if text is not None else None
        except ValueError:
            return None

    def text(self, amount: str | None) -> str:
        """How an amount's argument is written; empty where it is no single argument."""
        expression = self.amount_expression(amount)
        return render(expression) if expression is not None else ""

    def root(self, path: Path) -> Expression | None:
        """The argument, receiver or target that a path starts at."""
        return given_at(self.call, path)

    def value(self, text: str) -> Value | None:
        """The value at a path; ``None`` where the call leaves the argument out."""
        return self._value(parse_path(text, self.parameters))

    def _value(self, path: Path) -> Value | None:
        root = self.root(path)
        if root is None:
            return None
        steps = _location_steps(path)
        if path.dereference:
            pointed = self.evaluator.pointed(self.evaluator.value(root, self.state))
            return self.state.read((*pointed, *steps))
        value = self.evaluator.value(root, self.state)
        return project(value, steps) if steps else value

    def location(self, text: str) -> Location | None:
        """Where a path's value is stored."""
        path = parse_path(text, self.parameters)
        root = self.root(path)
        if root is None:
            return None
        steps = _location_steps(path)
        if path.dereference:
            place = root.place if isinstance(root, AddressOf) else Dereference(root)
            pointed = self.evaluator.location(place, self.state)
            return None if pointed is None else (*pointed, *steps)
        location = self.evaluator.location(root, self.state)
        return None if location is None else (*location, *steps)

    def place(self, text: str) -> Expression | None:
        """The place at a path, as the source names it."""
        path = parse_path(text, self.parameters)
        root = self.root(path)
        if root is None or not path.dereference:
            return root
        return root.place if isinstance(root, AddressOf) else Dereference(root)

    # Amounts ----------------------------------------------------------------------------------

    def amount(self, text: str) -> Value | None:
        """The value of an amount; ``None`` if an argument that it needs is left out."""
        return self._amount(parse_amount(text, self.parameters))

    def _amount(self, amount: Amount) -> Value | None:
        match amount:
            case Number(value=value):
                return Const(value)
            case Path(root="template_bytes"):
                size = self.call.template_bytes
                return None if size is None else Const(size)
            case Path():
                return self._value(amount)
            case Arithmetic(operator=operator, left=left, right=right):
                first, second = self._amount(left), self._amount(right)
                return None if first is None or second is None else apply(operator, first, second)
            case Apply(function="sizeof", arguments=(Path() as path,)):
                return self._sizeof(path)
            case Apply(function=function, arguments=arguments):
                values = [self._amount(argument) for argument in arguments]
                return _function(function, [value for value in values if value is not None])

    def _sizeof(self, path: Path) -> Value | None:
        root = self.root(path)
        if isinstance(root, AddressOf) and path.dereference:
            root = root.place
        symbol = getattr(root, "symbol", None)
        info = self.evaluator.variable(symbol) if symbol else None
        size = info.type.bytes if info else None
        return None if size is None else Const(size)

    def shape(self, text: str | None, base: Value | None = None) -> tuple[Value, ...] | None:
        """The shape that a call gives its array; ``base`` is the array that it shows anew."""
        found = self._shape(text) if text is not None else None
        return _inferred(found, base) if found and Const(-1) in found else found

    def _shape(self, text: str) -> tuple[Value, ...] | None:
        shape = parse_shape(text, self.parameters)
        if shape.kind == "function":
            return None  # the path engine does not follow arithmetic on arrays
        if shape.kind == "like" and shape.like is not None:
            array = self._value(shape.like)
            return _shape_of(array)
        if shape.kind == "arguments":
            values = [
                self.evaluator.value(argument.value, self.state)
                for argument in self.call.arguments
                if argument.keyword is None
            ]
            if any(argument.starred for argument in self.call.arguments):
                return None
            if len(values) == 1 and isinstance(values[0], Sequence):
                return values[0].items
            return tuple(values)
        extents: list[Value] = []
        for dimension in shape.dimensions:
            value = self._amount(dimension.amount)
            if value is None and dimension.default is not None:
                value = self._amount(dimension.default)
            if value is None and shape.kind == "range":
                continue
            if isinstance(value, Sequence) and len(shape.dimensions) == 1:
                return value.items
            if value is None:
                return None
            extents.append(value)
        return _range(extents) if shape.kind == "range" else tuple(extents)

    def item_bytes(self, text: str) -> int | None:
        """Bytes of one element of the array that a call returns."""
        dtype = parse_dtype(text, self.parameters)
        value = self._value(dtype.path) if dtype.path is not None else None
        if value is not None and constant(value) is None and isinstance(value, Const):
            value = None  # dtype=None: the default
        if value is None or (dtype.like and not isinstance(value, Array)):
            return ITEM_BYTES.get(dtype.default) if dtype.default else None
        return item_bytes(value)


def _location_steps(path: Path) -> Location:
    return tuple(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path.steps)


def _shape_of(value: Value | None) -> tuple[Value, ...] | None:
    if isinstance(value, Array):
        return value.shape
    if isinstance(value, Sequence):
        inner = _shape_of(value.items[0]) if value.items else ()
        return (Const(len(value.items)), *(inner or ()))
    return None


def _inferred(shape: tuple[Value, ...], base: Value | None) -> tuple[Value, ...] | None:
    """A shape with one extent of -1, which is what the others leave of the array's elements."""
    known = [extent for extent in shape if extent != Const(-1)]
    if not isinstance(base, Array) or len(known) != len(shape) - 1:
        return None
    rest = divide(count(base.shape), count(tuple(known)))
    return None if rest is None else tuple(rest if e == Const(-1) else e for e in shape)


def _range(bounds: list[Value]) -> tuple[Value, ...] | None:
    if len(bounds) == 1:
        return (bounds[0],)
    if len(bounds) == 2:
        return (apply("-", bounds[1], bounds[0]),)
    numbers = [integer(bound) for bound in bounds]
    if len(numbers) == 3 and None not in numbers and numbers[2]:
        return (Const(len(range(numbers[0], numbers[1], numbers[2]))),)  # type: ignore[arg-type]
    return None


def _function(name: str, values: list[Value]) -> Value | None:
    if not values:
        return None
    [first, *rest] = values
    match name:
        case "product":
            return count(first.items if isinstance(first, Sequence) else (first,))
        case "itemsize":
            size = item_bytes(first)
            return None if size is None else Const(size)
        case "nbytes":
            return nbytes(first) if isinstance(first, Array) else Operation("nbytes", (first,))
        case "count":
            return count(first.shape) if isinstance(first, Array) else Operation("count", (first,))
        case "max" | "min":
            total = first
            for value in rest:
                total = apply(name, total, value)
            return total
    return None
