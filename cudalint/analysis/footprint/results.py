"""The shapes and element types that API models give to the results of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from cudalint.analysis.values.element_types import dtype_of
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

_SYNONYMS = {"axis": "dim", "keepdims": "keepdim", "dim": "axis", "keepdim": "keepdims",
             "b": "other", "reps": "dims"}  # fmt: skip
"""What one library calls an argument and another library otherwise."""


class Arguments:
    """The evaluated arguments of one call, by the paths of its model."""

    def __init__(
        self,
        receiver: Any,
        positional: Sequence[Any],
        keywords: dict[str, Any],
        parameters: tuple[str, ...],
    ) -> None:
        self.receiver = receiver
        self.positional = list(positional)
        self.keywords = keywords
        self.parameters = parameters

    def all(self) -> list[Any]:
        """The receiver and every argument."""
        first = [] if self.receiver is None else [self.receiver]
        return [*first, *self.positional, *self.keywords.values()]

    def at(self, text: str) -> Any:
        """The value at a path; ``None`` where it is left out."""
        return self.value(parse_path(text, self.parameters))

    def value(self, path: Path) -> Any:
        """The value at a parsed path."""
        if path.root == "this":
            found = self.receiver
        elif path.root == "argument":
            found = self._argument(path)
        else:
            return None
        for step in path.steps:
            if isinstance(found, Items) and isinstance(step, int) and step < len(found.items):
                found = found.items[step]
            else:
                return None
        return found

    def _argument(self, path: Path) -> Any:
        if path.name is not None and path.name in self.keywords:
            return self.keywords[path.name]
        synonym = _SYNONYMS.get(path.name or "")
        if synonym in self.keywords:
            return self.keywords[synonym]
        if path.index is not None and path.index < len(self.positional):
            return self.positional[path.index]
        return None

    # Amounts ----------------------------------------------------------------------------------

    def amount(self, text: str) -> int | None:
        """The number that an amount comes to."""
        return self._amount(parse_amount(text, self.parameters))

    def _amount(self, amount: Amount) -> int | None:
        match amount:
            case Number(value=value):
                return int(value)
            case Path():
                return whole(self.value(amount))
            case Arithmetic(operator=operator, left=left, right=right):
                first, second = self._amount(left), self._amount(right)
                if first is None or second is None:
                    return None
                return _compute(operator, first, second)
            case Apply(function=function, arguments=arguments):
                return self._apply(function, arguments)
        return None

    def _apply(self, function: str, arguments: tuple[Amount, ...]) -> int | None:
        if function in ("max", "min"):
            numbers = [self._amount(argument) for argument in arguments]
            known = [number for number in numbers if number is not None]
            if len(known) < len(numbers):
                return None
            return max(known) if function == "max" else min(known)
        value = self.value(arguments[0]) if isinstance(arguments[0], Path) else None
        if function == "product":
            return count(extents(value))
        if function == "itemsize":
            return item_bytes(value.dtype if isinstance(value, Array) else named_dtype(value))
        if isinstance(value, Array):
            return value.nbytes() if function == "nbytes" else count(value.shape)
        return None

    # Shapes and element types -----------------------------------------------------------------

    def shape(self, text: str, base: Array | None) -> tuple[Shape | None, str]:
        """A shape, and what it depends on where it is not wholly known."""
        shape = parse_shape(text, self.parameters)
        values: list[Any] = []
        found: Shape | None
        if shape.kind == "like" and shape.like is not None:
            values = [self.value(shape.like)]
            found = shape_of(values[0])
        elif shape.kind == "arguments":
            values = list(self.positional)
            found = extents(Items(values) if len(values) != 1 else values[0])
        elif shape.kind == "function":
            values = [self.value(path) for path in shape.paths]
            found = _SHAPES[shape.function](values)
        else:
            values, found = self._dimensions(shape.kind, shape.dimensions)
        if found is not None and base is not None:
            found = reshaped(found, count(base.shape))
        missing = found is None or None in found
        return found, _reason(values) if missing else ""

    def _dimensions(self, kind: str, dimensions: Any) -> tuple[list[Any], Shape | None]:
        values: list[Any] = []
        for dimension in dimensions:
            amount = dimension.amount
            value = self.value(amount) if isinstance(amount, Path) else None
            if value is None and isinstance(dimension.default, Path):
                value = self.value(dimension.default)
            elif value is None and isinstance(dimension.default, Number):
                value = Plain(dimension.default.value)
            if value is None and kind == "range":
                continue
            values.append(value)
        if kind == "range":
            numbers = [_number(value) for value in values]
            if None in numbers or not numbers:
                return values, (None,)
            start, stop = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
            step = numbers[2] if len(numbers) > 2 else 1
            return values, (max(0, -int((stop - start) // -step)) if step else None,)
        if len(values) == 1:
            return values, extents(values[0])
        return values, tuple(whole(value) for value in values)

    def dtype(self, text: str, torch: bool) -> str | None:
        """An element type."""
        parsed = parse_dtype(text, self.parameters)
        value = self.value(parsed.path) if parsed.path is not None else None
        if parsed.like:
            return value.dtype if isinstance(value, Array) else _items_dtype(value, torch)
        named = named_dtype(value)
        if named is not None:
            return named
        if value is not None and not (isinstance(value, Plain) and value.value is None):
            return None  # given, and not known
        if parsed.function:
            operands = [self.value(path) for path in parsed.paths]
            return combine(parsed.function, operands, torch)
        return parsed.default


def _compute(operator: str, left: int, right: int) -> int | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return left // right if right else None


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
    if isinstance(value, Items):
        items = value.items
        if len(items) == 1 and isinstance(items[0], Items):
            items = items[0].items
        return tuple(whole(item) for item in items)
    if isinstance(value, Plain):
        if value.known and value.value is None:
            return ()
        return (whole(value),) if value.known else None
    return None


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


def _items_dtype(value: Any, torch: bool) -> str | None:
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
