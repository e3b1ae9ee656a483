"""The parts of a value."""

from __future__ import annotations

from cudalint.analysis.values.arithmetic import bounded
from cudalint.analysis.values.elements import is_index
from cudalint.analysis.values.values import (
    Array,
    Bag,
    Const,
    Input,
    Location,
    Operation,
    Sequence,
    Uninitialized,
    Value,
    bag,
    resources_in,
)

_DIMENSIONS = (".x", ".y", ".z")


def project(value: Value, path: Location) -> Value:
    """The part of a value at a path below it."""
    for part in path:
        if isinstance(value, Sequence) and is_index(part):
            if part == "[]":
                found = frozenset(resources_in(value))
                value = bag(found) if found else Operation("element", (value,))
                continue
            number = int(str(part)[1:-1]) if str(part)[1:-1].lstrip("-").isdigit() else -1 << 31
            if -len(value.items) <= number < len(value.items):
                value = value.items[number]
            else:
                value = Operation(f"item {number}", ())
            continue
        if isinstance(value, Sequence) and value.kind == "dim3" and part in _DIMENSIONS:
            position = _DIMENSIONS.index(part)
            value = value.items[position] if position < len(value.items) else Const(1)
            continue
        if isinstance(value, Sequence) and part in (known := dict(value.fields)):
            value = known[part]
            continue
        if isinstance(value, Bag):
            continue  # what holds several gives access to each of them
        if isinstance(value, Array) and is_index(part):
            value = Array(value.space, value.shape[1:] if value.shape else None,
                          value.item_bytes, value.origin, owner=False)  # fmt: skip
            continue
        if isinstance(value, Array) and part == ".T":
            continue
        if isinstance(value, Input):
            below = value.location[0] != "@" or str(part).startswith(".")
            value = Input((*value.location, part)) if below else Operation(str(part), (value,))
            continue
        if isinstance(value, Uninitialized):
            return Uninitialized(value.name)
        value = bounded(Operation(str(part), (value,)))
    return value
