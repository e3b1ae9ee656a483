"""Addresses of elements: which element of which table a pointer points to."""

from __future__ import annotations

from collections.abc import Mapping

from cudalint.analysis.values.arithmetic import apply
from cudalint.analysis.values.values import Address, Location, Polynomial, Value, integer


def element_at(location: Location, part: str) -> Location:
    """An element behind a pointer to some place; that to the first one reaches all of them, and
    from some element it is some element."""
    if location[-1] == "[]":
        return location
    return (*location[:-1], part) if location[-1] == "[0]" else (*location, part)


def pointed_element(value: Value) -> tuple[Location | None, str | None]:
    """The place that a pointer points to, and for a sum (``table + i``) which element of it;
    nothing where it points out of sight."""
    if isinstance(value, Address):
        return value.location, None
    if not isinstance(value, Polynomial):
        return None, None
    tables = [
        factors[0].location
        for factors, number in value.terms
        if number == 1 and len(factors) == 1 and isinstance(factors[0], Address)
    ]
    if len(tables) != 1:
        return None, None
    offset = integer(apply("-", value, Address(tables[0])))
    return tables[0], "[]" if offset is None else f"[{offset}]"


def past_tables(location: Location, values: Mapping[Location, Value]) -> Location:
    """The location past each pointer on its way that is known to point to a table: what was
    ``lane.inputs[2]`` is ``inputs[2]`` after ``lane.inputs = inputs``."""
    for end in range(1, len(location)):
        held, part = values.get(location[:end]), location[end]
        if isinstance(held, Address) and isinstance(part, str) and part.startswith("["):
            return (*element_at(held.location, part), *location[end + 1 :])
    return location
