"""How many elements a container has, where that is known, and which of them is the only one."""

from __future__ import annotations

from collections.abc import Mapping

from cudalint.analysis.values.values import (
    Const,
    Input,
    Location,
    Operation,
    Value,
    constant,
    inside,
    integer,
)

LENGTH = "#"
"""The part of a container that holds the number of its elements, or ``KEYS``."""
KEYS = Const("keys")
"""There are as many elements as keys are known."""
OTHER_LENGTH = Operation("length", ())
"""The number of elements has changed to an unknown one."""
BEHIND = "[end]"
"""What an iterator behind the last entry points to."""


def is_index(part: object) -> bool:
    """Whether a part of a location is an element."""
    return isinstance(part, str) and part.startswith("[")


def is_of_elements(location: Location) -> bool:
    """Whether a location is some element, or behind what some element points to."""
    return any(isinstance(one, Input) and "[]" in one.location for one in inside(Input(location)))


def is_any_element(value: Value) -> bool:
    """Whether a value is what some element holds, nobody knows which."""
    return isinstance(value, Operation) and (
        value.operator == "element" or (value.operator == "[]" and len(value.operands) == 1)
    )


def element_part(index: Value) -> str:
    """The part of a location that an index or a key selects; ``[]`` where it is not known."""
    number = integer(index)
    if number is not None:
        return f"[{number}]"
    key = constant(index)
    return f"[{key!r}]" if isinstance(key, str) else "[]"


def keys(values: Mapping[Location, Value], container: Location) -> list[str]:
    """The parts under which the elements of a container are stored, in order."""
    depth = len(container)
    found = (key[depth] for key in values if len(key) > depth and key[:depth] == container)
    return list(dict.fromkeys(part for part in found if is_index(part)))


def count(values: Mapping[Location, Value], container: Location) -> int | None:
    """The number of elements of a container, where it is known."""
    length = values.get((*container, LENGTH))
    if length == KEYS:
        found = keys(values, container)
        return None if "[]" in found else len(found)
    return integer(length)


def only(values: Mapping[Location, Value], container: Location) -> str | None:
    """The part of a container's one element, where it has no other."""
    if count(values, container) != 1:
        return None
    length = values.get((*container, LENGTH))
    return keys(values, container)[0] if length == KEYS else "[0]"


def exactly(values: Mapping[Location, Value], location: Location) -> Location:
    """The location, some element of a container being its only one. An entry of an unknown key is
    a new one maybe."""
    for end, part in enumerate(location):
        if part == "[]" and values.get((*location[:end], LENGTH)) == Const(1):
            location = (*location[:end], "[0]", *location[end + 1 :])
    return location
