"""The shapes and element types that API models give to the results of calls."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from cudalint.analysis.engine.binding import Amounts
from cudalint.analysis.footprint.arrays import (
    Shape,
    accumulated,
    broadcast,
    count,
    floating,
    item_bytes,
    joined,
    multiplied,
    promote,
    reduced,
    reshaped,
    with_scalar,
)
from cudalint.analysis.footprint.objects import (
    NOTHING,
    Array,
    Items,
    Name,
    Plain,
    Range,
    flat,
    texts_of,
)
from cudalint.analysis.shape.arguments import Given
from cudalint.analysis.values.element_types import dtype_of
from cudalint.analysis.values.values import (
    NULL,
    Const,
    FunctionValue,
    Symbol,
    Value,
    integer,
)
from cudalint.analysis.values.values import Array as ValueArray
from cudalint.analysis.values.values import Sequence as ValueSequence
from cudalint.apis.paths import Path, parse_dtype, parse_path, parse_shape

_Thing = TypeVar("_Thing")
_SYNONYMS = {"axis": "dim", "keepdims": "keepdim", "dim": "axis", "keepdim": "keepdims",
             "b": "other", "reps": "dims"}  # fmt: skip
"""What one library calls an argument and another library otherwise."""


class Arguments(Amounts):
    """The evaluated arguments of one call, by the paths of its model."""

    def __init__(self, receiver: Any, given: Given[Any]) -> None:
        super().__init__(())
        self.receiver = receiver
        self.given = given

    def all(self) -> list[Any]:
        """The receiver and every argument."""
        first = [] if self.receiver is None else [self.receiver]
        return [*first, *self.given.positional, *self.given.named.values()]

    def value(self, text: str) -> Any:
        """What is given at a path; ``None`` where it is left out."""
        return self.found(parse_path(text, self.parameters))

    def array(self, text: str | None) -> Array | None:
        """The array at a path, if one is there."""
        value = self.value(text) if text else None
        return value if isinstance(value, Array) else None

    def found(self, path: Path) -> Any:
        """What is given at a parsed path."""
        if path.root == "this":
            found = self.receiver
        elif path.root == "argument":
            named = self.given.named
            name = path.name if path.name in named else _SYNONYMS.get(path.name or "")
            found = self.given.at(path.index, name)
        else:
            return None
        for step in path.steps:
            if not (isinstance(found, Items) and isinstance(step, int)):
                return None
            found = found.items[step] if step < len(found.items) else None
        return found

    # Amounts, shapes and element types ---------------------------------------------------------

    def at(self, path: Path) -> Value | None:
        """The value at a path; ``None`` where the call leaves the argument out."""
        return as_value(self.found(path))

    def listed(self) -> tuple[Value, ...]:
        """The positional arguments."""
        return tuple(as_value(value) or _UNKNOWN for value in self.given.positional)

    def bytes(self, text: str | None) -> int | None:
        """The number that an amount comes to."""
        return integer(self.amount(text)) if text else None

    def shape(self, text: str, base: Array | None) -> tuple[Shape | None, str]:
        """A shape, and what it depends on where it is not wholly known."""
        shape = parse_shape(text, self.parameters)
        amounts = [a for one in shape.dimensions for a in (one.amount, one.default)]
        paths = [shape.like, *shape.paths, *(a for a in amounts if isinstance(a, Path))]
        values = [self.found(path) for path in paths if path is not None]
        found: Shape | None = None
        if shape.kind == "like":
            found = shape_of(values[0])
        elif shape.kind == "function":
            with contextlib.suppress(_OpenError):
                found = _SHAPES[shape.function](_Operands(values))
        else:
            values = values or list(self.given.positional)
            unknown = shape.kind != "range" and list(map(as_value, values)) == [_UNKNOWN]
            found = None if unknown else as_shape(self.extents(shape))
        if found is not None and base is not None:
            found = reshaped(found, count(base.shape))
        missing = found is None or None in found
        return found, texts_of(*flat(values)) if missing else ""

    def dtype(self, text: str, torch: bool) -> str | None:
        """An element type."""
        parsed = parse_dtype(text, self.parameters)
        value = self.found(parsed.path) if parsed.path is not None else None
        if parsed.like:
            return value.dtype if isinstance(value, Array) else items_dtype(value, torch)
        named = named_dtype(value)
        if named is not None:
            return named
        if value is not None and not (isinstance(value, Plain) and value.value is None):
            return None  # given, and not known
        if parsed.function:
            operands = [self.found(path) for path in parsed.paths]
            return combine(parsed.function, operands, torch)
        return parsed.default


_UNKNOWN = Symbol("unknown")


def as_value(value: Any) -> Value | None:
    """What amounts make of a value; ``None`` where it is left out."""
    match value:
        case None:
            return None
        case Plain(value=constant, known=True):
            return Const(constant)
        case Name(name=name):
            return FunctionValue(name)
        case Items(items=items):
            return ValueSequence(tuple(as_value(item) or _UNKNOWN for item in items))
        case Array(space=space, shape=shape, dtype=dtype):
            known: list[Value] = [_UNKNOWN if e is None else Const(e) for e in shape or ()]
            return ValueArray(
                space, None if shape is None else tuple(known), item_bytes(dtype), _UNKNOWN
            )
        case _:
            return _UNKNOWN


def as_shape(extents: tuple[Value, ...] | None) -> Shape | None:
    """A shape from its extents."""
    if extents is None:
        return None
    if len(extents) == 1 and isinstance(extents[0], ValueSequence):
        return as_shape(extents[0].items)
    return () if extents == (NULL,) else tuple(map(integer, extents))


def combine(function: str, operands: Sequence[Any], torch: bool) -> str | None:
    """The element type of an operation on arrays and numbers."""
    values = flat(operands)
    arrays = [value for value in values if isinstance(value, Array)]
    if any(array.dtype is None for array in arrays) or not arrays:
        return None
    strong = [a for a in arrays if not (torch and a.shape == ())] or arrays
    result = strong[0].dtype or ""
    for array in strong[1:]:
        result = promote(result, array.dtype or "", torch)
    for value in values:
        if isinstance(value, Plain) and value.known and value.value is not None:
            result = with_scalar(result, value.value, torch)
    if function == "floating":
        return floating(result, torch)
    if function == "accumulated":
        return accumulated(result)
    if function == "real":
        return {"complex64": "float32", "complex128": "float64"}.get(result, result)
    return result


def whole(value: Any) -> int | None:
    """The integer that a value is known to be."""
    return integer(Const(value.value)) if isinstance(value, Plain) and value.known else None


def extents(value: Any) -> Shape | None:
    """A shape that is given as a number or a sequence of numbers."""
    known = as_value(value)
    return as_shape((known,)) if isinstance(known, Const | ValueSequence) else None


def named_dtype(value: Any) -> str | None:
    """The element type that a value names."""
    if isinstance(value, Name):
        return dtype_of(value.name)
    if isinstance(value, Plain) and isinstance(value.value, str):
        return dtype_of(value.value)
    return None


def shape_of(value: Any) -> Shape | None:
    """The shape of an array, or of an array made of nested lists."""
    if isinstance(value, Array):
        return value.shape
    if isinstance(value, Items):
        inner = shape_of(value.items[0]) if value.items else ()
        return None if inner is None else (len(value.items), *inner)
    if isinstance(value, Range) and value.known:
        return (len(value),)
    return () if isinstance(value, Plain) and value.known else None


def items_dtype(value: Any, torch: bool) -> str | None:
    """The element type of an array that is made of nested lists."""
    while isinstance(value, Items) and value.items:
        value = value.items[0]
    if isinstance(value, Plain) and isinstance(value.value, float):
        return "float32" if torch else "float64"
    return "int64" if isinstance(value, Plain) and isinstance(value.value, int) else None


# Shape functions --------------------------------------------------------------------------------


class _OpenError(Exception):
    """Something that a shape depends on is not known."""


class _Operands:
    """What a shape function is applied to."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values
        self.given = [value for value in values[1:] if value is not None]

    def at(self, position: int) -> Any:
        """One of them; ``None`` where it is left out."""
        return self.values[position] if position < len(self.values) else None

    def shape(self, position: int = 0) -> Shape:
        """The shape of an array."""
        return _known(shape_of(self.at(position)))

    def axis(self, position: int, default: int = 0) -> int:
        """An axis, or how many times."""
        value = self.at(position)
        return default if value is None else _known(whole(value))

    def axes(self, position: int) -> list[int] | None:
        """Axes that are given as a number or several; ``None`` where none are."""
        value = self.at(position)
        if value is None or value == NOTHING:
            return None
        return [
            _known(whole(one)) for one in (value.items if isinstance(value, Items) else [value])
        ]

    def parts(self) -> list[Any]:
        """The arrays of a sequence."""
        return self.values[0].items if isinstance(self.values[0], Items) else []


def _known(value: _Thing | None) -> _Thing:
    if value is None:
        raise _OpenError
    return value


def _inserted(shape: Shape, axis: int, extent: int) -> Shape:
    axis %= len(shape) + 1
    return (*shape[:axis], extent, *shape[axis:])


def _replaced(shape: Shape, axis: int, extent: int | None) -> Shape:
    axis %= len(_known(shape or None))
    return (*shape[:axis], extent, *shape[axis + 1 :])


def _times(extent: int | None, times: int | None) -> int | None:
    return None if extent is None or times is None else extent * times


def _reduce(of: _Operands) -> Shape | None:
    keep = of.at(2)
    return reduced(of.shape(), of.axes(1), isinstance(keep, Plain) and bool(keep.value))


def _transpose(of: _Operands) -> Shape | None:
    if isinstance(of.values[0], Array) and of.values[0].torch and len(of.given) == 2:
        return _swap(_Operands([of.values[0], *of.given]))
    return _permute(of)


def _permute(of: _Operands) -> Shape | None:
    shape, given = of.shape(), of.given
    if len(given) == 1 and isinstance(given[0], Items):
        given = given[0].items
    if not given or given[0] == NOTHING:
        return shape[::-1]
    order = [number % len(shape) for one in given if (number := whole(one)) is not None and shape]
    return tuple(shape[number] for number in order) if len(order) == len(shape) else None


def _swap(of: _Operands) -> Shape | None:
    changed, one, other = list(of.shape()), of.axis(1), of.axis(2)
    if not all(-len(changed) <= axis < len(changed) for axis in (one, other)):
        return None  # a method of that name, of something else
    changed[one], changed[other] = changed[other], changed[one]
    return tuple(changed)


def _squeeze(of: _Operands) -> Shape | None:
    shape, axes = of.shape(), of.axes(1)
    gone = range(len(shape)) if axes is None else {axis % len(shape) for axis in axes if shape}
    return tuple(extent for axis, extent in enumerate(shape) if extent != 1 or axis not in gone)


def _repeat(of: _Operands) -> Shape | None:
    shape, times, axes = of.shape(), _known(whole(of.at(1))), of.axes(2)
    if axes is None:
        return (_times(count(shape), times),)
    axis = axes[0] % len(_known(shape or None))
    return _replaced(shape, axis, _times(shape[axis], times))


def _tile(of: _Operands) -> Shape | None:
    shape, times = of.shape(), _known(extents(of.at(1)))
    rank = max(len(shape), len(times))
    padded = (1,) * (rank - len(shape)) + shape
    return tuple(map(_times, padded, (1,) * (rank - len(times)) + times))


def _expand(of: _Operands) -> Shape | None:
    wanted, shape = _known(extents(Items(of.given))), of.shape()
    padded = (1,) * (len(wanted) - len(shape)) + shape
    return tuple(b if a == -1 else a for a, b in zip(wanted, padded, strict=False))


_SHAPES: dict[str, Callable[[_Operands], Shape | None]] = {
    "broadcast": lambda of: broadcast(shape_of(v) for v in of.values if v is not None),
    "reduce": _reduce,
    "matmul": lambda of: multiplied(of.shape(), of.shape(1)),
    "concatenate": lambda of: joined([shape_of(part) for part in of.parts()], of.axis(1)),
    "stack": lambda of: _inserted(
        _known(shape_of(next(iter(of.parts()), None))), of.axis(1), len(of.parts())
    ),
    "transpose": _transpose,
    "permute": _permute,
    "swap": _swap,
    "squeeze": _squeeze,
    "unsqueeze": lambda of: _inserted(of.shape(), of.axis(1), 1),
    "flatten": lambda of: (count(shape_of(of.values[0])),),
    "outer": lambda of: (count(shape_of(of.values[0])), count(shape_of(of.values[1]))),
    "repeat": _repeat,
    "tile": _tile,
    "resize": lambda of: _replaced(of.shape(), of.axis(2, -1), whole(of.at(1))),
    "expand": _expand,
    "select": lambda of: broadcast(map(shape_of, of.values)) if None not in of.values else None,
}
