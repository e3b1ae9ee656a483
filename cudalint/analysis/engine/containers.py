"""What is put into containers and taken out of them, element by element as long as their number is
known; the iterators that go over them."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.analysis.engine.state import State
from cudalint.analysis.values.addresses import element_at, is_element
from cudalint.analysis.values.arithmetic import apply
from cudalint.analysis.values.elements import (
    BEHIND,
    KEYS,
    LENGTH,
    OTHER_LENGTH,
    count,
    is_index,
    keys,
    only,
)
from cudalint.analysis.values.values import (
    Address,
    Bag,
    Const,
    Location,
    Value,
    bag,
    integer,
)

Element = Iterable[tuple[Location, Value]]
"""What an element holds: itself, and in its members."""
MOST_ELEMENTS = 16
MOST_TURNS = 2
"""The elements of a container that is gone over one by one."""


def begin(state: State, container: Location, elements: list[Element] | None, keyed: bool) -> None:
    """A container is made of some elements; of nobody knows what for ``None``."""
    state.forget(container)
    if elements is None or len(elements) > MOST_ELEMENTS or (keyed and elements):
        for element in elements or ():
            _put(state, (*container, "[]"), element)
        return
    state.values[(*container, LENGTH)] = KEYS if keyed else Const(0)
    for element in elements:
        append(state, container, element)


def append(state: State, container: Location, element: Element) -> bool:
    """Put an element at the end; false where nobody knows where that is."""
    number = integer(state.values.get((*container, LENGTH)))
    if number is None or number >= MOST_ELEMENTS:
        return False
    _put(state, (*container, f"[{number}]"), element)
    state.values[(*container, LENGTH)] = Const(number + 1)
    return True


def prepend(state: State, container: Location, element: Element) -> bool:
    """Put an element before the others; false where nobody knows how many these are."""
    number = integer(state.values.get((*container, LENGTH)))
    if number is None or number >= MOST_ELEMENTS:
        return False
    for index in reversed(range(number)):
        moved = list(state.below((*container, f"[{index}]")))
        state.forget((*container, f"[{index}]"))
        for key, value in moved:
            state.values[(*container, f"[{index + 1}]", *key[len(container) + 1 :])] = value
    _put(state, (*container, "[0]"), element)
    state.values[(*container, LENGTH)] = Const(number + 1)
    return True


def _put(state: State, place: Location, element: Element) -> None:
    if place[-1] == "[]":
        held = state.reachable(value for _, value in element)
        if held:
            state.write(place, bag(held))
        return
    for rest, value in element:
        state.write((*place, *rest), value)


def blur(state: State, container: Location) -> None:
    """Nobody knows any more which element is which, and how many there are."""
    parts = keys(state.values, container)
    held = state.reachable(value for part in parts for _, value in state.below((*container, part)))
    for part in parts:
        state.forget((*container, part))
    state.values[(*container, LENGTH)] = OTHER_LENGTH
    if held:
        state.write((*container, "[]"), bag(held))


def remove(state: State, container: Location, which: str) -> None:
    """Take the ``first``, the ``last``, ``all`` or some elements out."""
    length = state.values.get((*container, LENGTH))
    number = integer(length)
    if which == "all":
        state.forget(container)
        state.values[(*container, LENGTH)] = KEYS if length == KEYS else Const(0)
    elif number is not None and number > 0 and (which == "last" or number == 1):
        state.forget((*container, f"[{number - 1}]"))
        state.values[(*container, LENGTH)] = Const(number - 1)
    elif is_index(which) and length == KEYS and which != "[]":
        state.forget((*container, which))
    elif length is not None:
        blur(state, container)


def out_of_sight(state: State, location: Location) -> None:
    """Somebody may put elements in and take them out."""
    for key in [key for key, _ in state.below(location) if key[-1] == LENGTH]:
        state.values[key] = OTHER_LENGTH


# Iterators --------------------------------------------------------------------------------------


def first(state: State, container: Location) -> Location:
    """What an iterator points to that begins."""
    number = count(state.values, container)
    if number is None or number > MOST_TURNS:
        return (*container, "[]")
    if state.values[(*container, LENGTH)] == KEYS:
        part = only(state.values, container) or (BEHIND if number == 0 else "[]")
        return (*container, part)
    return (*container, "[0]")


def end(state: State, container: Location) -> Location | None:
    """What an iterator points to that has arrived; ``None`` where that cannot be compared."""
    number = count(state.values, container)
    if number is None or number > MOST_TURNS:
        return None
    if state.values[(*container, LENGTH)] == KEYS:
        return (*container, BEHIND) if number < MOST_TURNS else None
    return (*container, f"[{number}]")


def advanced(state: State, value: Value, steps: Value) -> Value:
    """What an iterator is after some steps: where nobody knows what it goes over, a sum."""
    if isinstance(value, Bag):
        return value
    if not is_element(value):
        return apply("+", value, steps)
    *container, part = value.location
    length, number = state.values.get((*container, LENGTH)), integer(steps)
    if length == KEYS and part not in ("[]", BEHIND) and number == 1:
        return Address((*container, BEHIND))
    known = length not in (None, KEYS) and number is not None
    return Address(element_at(value.location, f"[{number}]" if known else "[]"))
