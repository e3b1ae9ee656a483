"""An API model's paths and amounts, bound to one call in one state."""

from __future__ import annotations

from abc import ABC, abstractmethod

from cudalint.analysis.engine.evaluate import Evaluator, count, nbytes
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.arguments import given, given_at
from cudalint.analysis.values.arithmetic import apply, divide
from cudalint.analysis.values.element_types import item_bytes
from cudalint.analysis.values.projection import project
from cudalint.analysis.values.values import (
    NULL,
    Array,
    Const,
    Location,
    Operation,
    Sequence,
    Value,
    constant,
)
from cudalint.apis.paths import (
    Amount,
    Apply,
    Arithmetic,
    Number,
    Path,
    Shape,
    parse_amount,
    parse_dtype,
    parse_path,
    parse_shape,
)
from cudalint.program import (
    AddressOf,
    Call,
    Constant,
    Dereference,
    Expression,
    Index,
    render,
)

_ADDRESS_SPACE = 1 << 57
"""Bytes that a program can address at all."""


class Amounts(ABC):
    """What a model's amounts, shapes and element types come to, over the values at its paths."""

    def __init__(self, parameters: tuple[str, ...]) -> None:
        self.parameters = parameters

    @abstractmethod
    def at(self, path: Path) -> Value | None:
        """The value at a path; ``None`` where the call leaves the argument out."""

    @abstractmethod
    def listed(self) -> tuple[Value, ...] | None:
        """The positional arguments; ``None`` where some are out of sight."""

    def amount(self, text: str) -> Value | None:
        """The value of an amount; ``None`` if an argument that it needs is left out, and for what
        no machine could hold: that is the number of a failure (`-1`), on a way that is not taken
        on."""
        value = self._amount(parse_amount(text, self.parameters))
        if isinstance(value, Const) and isinstance(value.value, int):
            meant = value.overflow[1] if value.overflow is not None else value.value
            return value if 0 <= meant <= _ADDRESS_SPACE else None
        return value

    def _amount(self, amount: Amount) -> Value | None:
        match amount:
            case Number(value=value):
                return Const(value)
            case Path():
                return self.at(amount)
            case Arithmetic(operator=operator, left=left, right=right):
                first, second = self._amount(left), self._amount(right)
                return None if first is None or second is None else apply(operator, first, second)
            case Apply(function=function, argument=argument):
                return _function(function, self._amount(argument))

    def extents(self, shape: Shape) -> tuple[Value, ...] | None:
        """A shape that is given by its extents."""
        if shape.kind == "arguments":
            values = self.listed()
            one = values[0] if values is not None and len(values) == 1 else None
            return one.items if isinstance(one, Sequence) else values
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


class Binding(Amounts):
    """One call, its model's parameter names, and the state to read from."""

    def __init__(
        self, call: Call, parameters: tuple[str, ...], evaluator: Evaluator, state: State
    ) -> None:
        super().__init__(parameters)
        self.call = call
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
        return self.at(parse_path(text, self.parameters))

    def at(self, path: Path) -> Value | None:
        """The value at a parsed path."""
        if path.root == "template_bytes":
            size = self.call.template_bytes
            return None if size is None else Const(size)
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
            pointed = self.evaluator.location(self._behind(root), self.state)
            return None if pointed is None else (*pointed, *steps)
        location = self.evaluator.location(root, self.state)
        return None if location is None else (*location, *steps)

    def place(self, text: str) -> Expression | None:
        """The place at a path, as the source names it."""
        path = parse_path(text, self.parameters)
        root = self.root(path)
        if root is None or not path.dereference:
            return root
        return self._behind(root)

    def _behind(self, root: Expression) -> Expression:
        """What an argument points to: of an array, its first element."""
        if not isinstance(root, AddressOf):
            return Dereference(root)
        is_array = self.evaluator.kind(root.place) == "array"
        return Index(root.place, Constant(0)) if is_array else root.place

    def listed(self) -> tuple[Value, ...] | None:
        """The positional arguments; ``None`` where some are out of sight."""
        arguments = given(self.call)
        values = (self.evaluator.value(value, self.state) for value in arguments.positional)
        return None if arguments.cut else tuple(values)

    def shape(self, text: str | None, base: Value | None = None) -> tuple[Value, ...] | None:
        """The shape that a call gives its array; ``base`` is the array that it shows anew."""
        if text is None:
            return None
        shape = parse_shape(text, self.parameters)
        if shape.kind == "function":
            return None  # the path engine does not follow arithmetic on arrays
        found = _shape_of(self.at(shape.like)) if shape.like is not None else self.extents(shape)
        return _inferred(found, base) if found and Const(-1) in found else found

    def item_bytes(self, text: str) -> int | None:
        """Bytes of one element of the array that a call returns."""
        dtype = parse_dtype(text, self.parameters)
        value = self.at(dtype.path) if dtype.path is not None else None
        if value in (None, NULL) or (dtype.like and not isinstance(value, Array)):
            return item_bytes(Const(dtype.default))
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
    numbers = [number for one in bounds if isinstance(number := constant(one), int | float)]
    if len(numbers) < 3 or not numbers[2]:
        return None
    return (Const(max(0, -int((numbers[1] - numbers[0]) // -numbers[2]))),)


def _function(name: str, of: Value | None) -> Value | None:
    if of is None:
        return None
    if name == "product":
        return count(of.items if isinstance(of, Sequence) else (of,))
    if name == "itemsize":
        size = item_bytes(of)
        return None if size is None else Const(size)
    if not isinstance(of, Array):
        return Operation(name, (of,))
    return nbytes(of) if name == "nbytes" else count(of.shape)
