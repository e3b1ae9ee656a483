"""Addresses: which element of which table a pointer points to, and whether two are the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from cudalint.analysis.values.elements import element_part, is_index
from cudalint.analysis.values.values import (
    NULL,
    Address,
    Location,
    Operation,
    Pointer,
    Polynomial,
    Value,
)


def is_element(value: Value) -> TypeGuard[Address]:
    """Whether a value is an iterator, or the address of an element."""
    return isinstance(value, Address) and is_index(value.location[-1])


def element_at(location: Location, part: str) -> Location:
    """An element behind a pointer to some place: of a table, or so far behind an element of it."""
    if not is_index(location[-1]):
        return (*location, part)
    first, steps = str(location[-1])[1:-1], part[1:-1]
    if part == "[0]" or not first:
        return location
    known = first.isdigit() and steps.removeprefix("-").isdigit()
    return (*location[:-1], f"[{int(first) + int(steps)}]" if known else "[]")


def pointed_element(value: Value) -> tuple[Location | None, str | None]:
    """The place that a pointer points to, and for ``table + i`` and ``&table[i]`` which element of
    it; nothing where it points out of sight."""
    if isinstance(value, Address):
        return value.location, None
    if isinstance(value, Operation) and value.operator == "&[]":
        table, index = value.operands
        return (table.location, element_part(index)) if isinstance(table, Address) else (None, None)
    if not isinstance(value, Polynomial):
        return None, None
    tables = [
        factors[0].location
        for factors, number in value.terms
        if number == 1 and len(factors) == 1 and isinstance(factors[0], Address)
    ]
    if len(tables) != 1:
        return None, None
    steps = [number for factors, number in value.terms if not factors]
    return tables[0], f"[{sum(steps)}]" if len(value.terms) == 1 + len(steps) else "[]"


def is_same(left: Value, right: Value) -> bool | None:
    """Whether two pointers are the same, where that is certain without knowing a status."""
    if isinstance(left, Pointer) and isinstance(right, Pointer):
        if left.resource != right.resource:
            return False
        return True if left.offset == right.offset else None
    if NULL in (left, right):
        return False if isinstance(left, Address) or isinstance(right, Address) else None
    places = [
        table if part is None or table is None else element_at(table, part)
        for table, part in (pointed_element(left), pointed_element(right))
    ]
    one, other = places
    if one is None or other is None or one[:-1] != other[:-1]:
        return None
    if not (is_index(one[-1]) and is_index(other[-1])):
        return True if one == other else None
    return None if "[]" in one or "[]" in other else one == other


def past_tables(location: Location, values: Mapping[Location, Value]) -> Location:
    """The location past each pointer on its way that is known to point to a table: what was
    ``lane.inputs[2]`` is ``inputs[2]`` after ``lane.inputs = inputs``."""
    for end in range(1, len(location)):
        held, part = values.get(location[:end]), location[end]
        if isinstance(held, Address) and isinstance(part, str) and part.startswith("["):
            return (*element_at(held.location, part), *location[end + 1 :])
    return location
