"""Element types and shapes of array libraries: promotion, broadcasting, products."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cudalint.analysis.values.element_types import ITEM_BYTES

Extent = int | None
Shape = tuple[Extent, ...]


def item_bytes(dtype: str | None) -> int | None:
    """Bytes of one element."""
    return ITEM_BYTES.get(dtype) if dtype else None


def _kind(dtype: str) -> int:
    if dtype == "bool":
        return 0
    if dtype.startswith(("int", "uint")):
        return 1
    return 3 if dtype.startswith("complex") else 2


def promote(one: str, other: str, torch: bool) -> str:
    """The element type of an operation on two arrays, by NumPy's rules or by PyTorch's."""
    if one == other:
        return one
    low, high = sorted((one, other), key=lambda dtype: (_kind(dtype), ITEM_BYTES[dtype]))
    if _kind(low) == _kind(high):
        return _same_kind(low, high)
    if _kind(low) == 0 or (torch and _kind(high) < 3):
        return high
    return _mixed(low, high)


def _same_kind(low: str, high: str) -> str:
    if ITEM_BYTES[low] == ITEM_BYTES[high] and _kind(low) == 2:
        return "float32"  # float16 and bfloat16
    if _kind(low) != 1 or low.startswith("u") == high.startswith("u"):
        return high
    signed, unsigned = (low, high) if high.startswith("u") else (high, low)
    if ITEM_BYTES[signed] > ITEM_BYTES[unsigned]:
        return signed
    wider = 2 * ITEM_BYTES[unsigned]
    return f"int{8 * wider}" if wider <= 8 else "float64"


def _mixed(low: str, high: str) -> str:
    """An integer with a float, or either with a complex number: wide enough for both."""
    if _kind(high) == 3:
        return "complex128" if ITEM_BYTES[low] > 4 else high
    needed = {1: 2, 2: 4}.get(ITEM_BYTES[low], 8)
    return high if ITEM_BYTES[high] >= needed else f"float{8 * needed}"


def with_scalar(dtype: str, scalar: object, torch: bool) -> str:
    """The element type of an operation on an array and a Python number, which is weak."""
    if isinstance(scalar, bool):
        return dtype
    if isinstance(scalar, int):
        return "int64" if dtype == "bool" else dtype
    if isinstance(scalar, float):
        return dtype if _kind(dtype) >= 2 else floating(dtype, torch)
    if isinstance(scalar, complex):
        return {"float64": "complex128"}.get(dtype, "complex64") if _kind(dtype) < 3 else dtype
    return dtype


def floating(dtype: str, torch: bool) -> str:
    """What a division or a mean of these is: integers become the default float."""
    if _kind(dtype) >= 2:
        return dtype
    return "float32" if torch else "float64"


def accumulated(dtype: str) -> str:
    """What a sum of these is: small integers are added up in 64 bits."""
    if _kind(dtype) >= 2:
        return dtype
    return "uint64" if dtype.startswith("uint") and dtype != "uint8" else "int64"


# Shapes -----------------------------------------------------------------------------------------


def count(shape: Shape | None) -> int | None:
    """The number of elements."""
    if shape is None:
        return None
    total = 1
    for extent in shape:
        if extent is None:
            return None
        total *= extent
    return total


def broadcast(shapes: Iterable[Shape | None]) -> Shape | None:
    """The shape of an elementwise operation."""
    result: list[Extent] = []
    for shape in shapes:
        if shape is None:
            return None
        padded = [1] * (len(shape) - len(result)) + result
        for position in range(1, len(shape) + 1):
            mine, theirs = shape[-position], padded[-position]
            padded[-position] = mine if theirs == 1 else theirs if mine in (1, None) else mine
            if mine is None and theirs == 1:
                padded[-position] = None
        result = padded
    return tuple(result)


def reduced(shape: Shape | None, axes: Sequence[int] | None, keep: bool) -> Shape | None:
    """What a reduction over some axes (``None``: over all) leaves."""
    if shape is None:
        return None
    rank = len(shape)
    gone = set(range(rank)) if axes is None else {axis % rank for axis in axes} if rank else set()
    if keep:
        return tuple(1 if axis in gone else extent for axis, extent in enumerate(shape))
    return tuple(extent for axis, extent in enumerate(shape) if axis not in gone)


def multiplied(left: Shape | None, right: Shape | None) -> Shape | None:
    """The shape of ``left @ right``."""
    if left is None or right is None or not left or not right:
        return None
    if len(left) == 1 and len(right) == 1:
        return ()
    if len(left) == 1:
        return (*right[:-2], right[-1])
    if len(right) == 1:
        return left[:-1]
    batch = broadcast((left[:-2], right[:-2]))
    return None if batch is None else (*batch, left[-2], right[-1])


def joined(shapes: Sequence[Shape | None], axis: int) -> Shape | None:
    """The shape of a concatenation."""
    if not shapes or any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape]
    if not known or len(known) != len(shapes):
        return None
    axis %= len(known[0])
    along = [shape[axis] if axis < len(shape) else None for shape in known]
    total = None if None in along else sum(extent for extent in along if extent is not None)
    return (*known[0][:axis], total, *known[0][axis + 1 :])


def reshaped(shape: Shape, elements: int | None) -> Shape:
    """A new shape, with -1 for what the others leave."""
    if -1 not in shape:
        return shape
    known = count(tuple(extent for extent in shape if extent != -1))
    rest = elements // known if elements is not None and known else None
    return tuple(rest if extent == -1 else extent for extent in shape)
