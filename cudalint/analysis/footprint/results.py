"""The shapes and element types that API models give to the results of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from cudalint.analysis.footprint.objects import Array, Items, Name, Plain, Range, text_of
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
        found: Shape | None
        if shape.kind == "like":
            found = shape_of(values[0])
        elif shape.kind == "function":
            found = _SHAPES[shape.function](values)
        else:
            values = values or list(self.given.positional)
            unknown = shape.kind != "range" and list(map(as_value, values)) == [_UNKNOWN]
            found = None if unknown else as_shape(self.extents(shape))
        if found is not None and base is not None:
            found = reshaped(found, count(base.shape))
        missing = found is None or None in found
        return found, _reason(values) if missing else ""

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


def _reason(values: Sequence[Any]) -> str:
    texts: list[str] = []
    for value in values:
        parts = value.items if isinstance(value, Items) else [value]
        texts += [text for part in parts if (text := text_of(part))]
    return ", ".join(dict.fromkeys(texts))


def combine(function: str, operands: Sequence[Any], torch: bool) -> str | None:
    """The element type of an operation on arrays and numbers."""
    flat: list[Any] = []
    for operand in operands:
        flat += operand.items if isinstance(operand, Items) else [operand]
    arrays = [value for value in flat if isinstance(value, Array)]
    if any(array.dtype is None for array in arrays) or not arrays:
        return None
    strong = [a for a in arrays if not (torch and a.shape == ())] or arrays
    result = strong[0].dtype or ""
    for array in strong[1:]:
        result = promote(result, array.dtype or "", torch)
    for value in flat:
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
    number = _number(value)
    if isinstance(number, float):
        return int(number) if number.is_integer() else None
    return number if isinstance(number, int) else None


def _number(value: Any) -> Any:
    if isinstance(value, Plain) and value.known and isinstance(value.value, int | float):
        return value.value
    return None


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


def _axes(value: Any) -> list[int] | bool | None:
    """Axes that are given as a number or several; ``False`` where they are not known."""
    if value is None or (isinstance(value, Plain) and value.known and value.value is None):
        return None
    numbers = [whole(item) for item in value.items] if isinstance(value, Items) else [whole(value)]
    return False if None in numbers else [number for number in numbers if number is not None]


def _get(values: Sequence[Any], position: int) -> Any:
    return values[position] if position < len(values) else None


def _reduce(values: list[Any]) -> Shape | None:
    axes = _axes(_get(values, 1))
    keep = _get(values, 2)
    keeping = isinstance(keep, Plain) and bool(keep.value)
    if isinstance(axes, bool):
        return None
    return reduced(shape_of(values[0]), axes, keeping)


def _sequence(value: Any) -> list[Any]:
    return value.items if isinstance(value, Items) else []


def _axis(values: list[Any], position: int, default: int = 0) -> int | None:
    value = _get(values, position)
    return default if value is None else whole(value)


def _concatenate(values: list[Any]) -> Shape | None:
    axis = _axis(values, 1)
    parts = _sequence(values[0])
    return None if axis is None else joined([shape_of(part) for part in parts], axis)


def _stack(values: list[Any]) -> Shape | None:
    axis, parts = _axis(values, 1), _sequence(values[0])
    first = shape_of(parts[0]) if parts else None
    if axis is None or first is None:
        return None
    axis %= len(first) + 1
    return (*first[:axis], len(parts), *first[axis:])


def _transpose(values: list[Any]) -> Shape | None:
    given = [value for value in values[1:] if value is not None]
    if isinstance(values[0], Array) and values[0].torch and len(given) == 2:
        return _swap([values[0], *given])
    return _permute(values)


def _permute(values: list[Any]) -> Shape | None:
    shape = shape_of(values[0])
    given = [value for value in values[1:] if value is not None]
    if len(given) == 1 and isinstance(given[0], Items):
        given = given[0].items
    if shape is None or not given or _axes(given[0]) is None:
        return None if shape is None else shape[::-1]
    numbers = [whole(value) for value in given]
    order = [number % len(shape) for number in numbers if number is not None] if shape else []
    return tuple(shape[number] for number in order) if len(order) == len(shape) else None


def _swap(values: list[Any]) -> Shape | None:
    shape, one, other = shape_of(values[0]), _axis(values, 1), _axis(values, 2)
    if not shape or one is None or other is None:
        return None
    if not all(-len(shape) <= axis < len(shape) for axis in (one, other)):
        return None  # a method of that name, of something else
    changed = list(shape)
    if not all(-len(changed) <= axis < len(changed) for axis in (one, other)):
        return None
    changed[one], changed[other] = changed[other], changed[one]
    return tuple(changed)


def _squeeze(values: list[Any]) -> Shape | None:
    shape, axes = shape_of(values[0]), _axes(_get(values, 1))
    if shape is None or isinstance(axes, bool):
        return None
    gone = {axis % len(shape) for axis in axes} if axes is not None and shape else None
    return tuple(
        extent
        for axis, extent in enumerate(shape)
        if extent != 1 or (gone is not None and axis not in gone)
    )


def _unsqueeze(values: list[Any]) -> Shape | None:
    shape, axis = shape_of(values[0]), _axis(values, 1)
    if shape is None or axis is None:
        return None
    axis %= len(shape) + 1
    return (*shape[:axis], 1, *shape[axis:])


def _flatten(values: list[Any]) -> Shape | None:
    return (count(shape_of(values[0])),)


def _outer(values: list[Any]) -> Shape | None:
    return (count(shape_of(values[0])), count(shape_of(values[1])))


def _repeat(values: list[Any]) -> Shape | None:
    shape, times = shape_of(values[0]), whole(_get(values, 1))
    axes = _axes(_get(values, 2))
    if shape is None or times is None or isinstance(axes, bool):
        return None
    if axes is None:
        total = count(shape)
        return (None if total is None else total * times,)
    return _scaled(shape, axes[0], times)


def _scaled(shape: Shape, axis: int, times: int) -> Shape:
    axis %= len(shape)
    extent = shape[axis]
    return (*shape[:axis], None if extent is None else extent * times, *shape[axis + 1 :])


def _tile(values: list[Any]) -> Shape | None:
    shape, times = shape_of(values[0]), extents(_get(values, 1))
    if shape is None or times is None:
        return None
    rank = max(len(shape), len(times))
    padded = (1,) * (rank - len(shape)) + shape
    factors = (1,) * (rank - len(times)) + times
    return tuple(
        None if a is None or b is None else a * b for a, b in zip(padded, factors, strict=True)
    )


def _resize(values: list[Any]) -> Shape | None:
    shape, extent, axis = shape_of(values[0]), whole(_get(values, 1)), _axis(values, 2, -1)
    if not shape or axis is None:
        return None
    axis %= len(shape)
    return (*shape[:axis], extent, *shape[axis + 1 :])


def _expand(values: list[Any]) -> Shape | None:
    given = [value for value in values[1:] if value is not None]
    wanted = extents(Items(given))
    shape = shape_of(values[0])
    if wanted is None or shape is None:
        return None
    padded = (1,) * (len(wanted) - len(shape)) + shape
    return tuple(b if a == -1 else a for a, b in zip(wanted, padded, strict=False))


def _select(values: list[Any]) -> Shape | None:
    return broadcast(map(shape_of, values)) if None not in values else None


_SHAPES = {
    "broadcast": lambda values: broadcast(shape_of(v) for v in values if v is not None),
    "reduce": _reduce,
    "matmul": lambda values: multiplied(shape_of(values[0]), shape_of(_get(values, 1))),
    "concatenate": _concatenate,
    "stack": _stack,
    "transpose": _transpose,
    "permute": _permute,
    "swap": _swap,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "flatten": _flatten,
    "outer": _outer,
    "repeat": _repeat,
    "tile": _tile,
    "resize": _resize,
    "expand": _expand,
    "select": _select,
}
