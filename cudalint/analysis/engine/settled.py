"""Disjuncts that owe the same go on as one: null, absent, released and out of sight are all the
same to a debtor.

``if (p) cudaFree(p);`` makes two disjuncts, of which neither owes anything for ``p``: on one it is
released, on the other there is nothing. Twenty of these in one clean-up function would be a
million. What stays apart is what one disjunct still has to release and the other has not.
"""

from __future__ import annotations

from cudalint.analysis.engine.state import Holding, InputRelease, State, Status, common, is_lent
from cudalint.analysis.values.values import (
    NULL,
    ZERO,
    Bag,
    Input,
    Location,
    Operation,
    Pointer,
    Symbol,
    Value,
    bag,
)

_GONE = (Status.RELEASED, Status.ESCAPED)
_SETTLED = (*_GONE, Status.ABSENT)
_LIVE = (Status.OWNED, Status.REQUESTED)


def settle(one: State, other: State) -> bool:
    """Let ``one`` stand for both, if they owe the same; else leave it as it is."""
    if (
        one.visits != other.visits
        or one.called != other.called
        or (one.thrown and one.thrown.kind) != (other.thrown and other.thrown.kind)
    ):
        return False
    resources = _resources(one, other)
    inputs = _inputs(one, other) if resources is not None else None
    values = _values(one, other) if inputs is not None else None
    if resources is None or inputs is None or values is None:
        return False
    if _settled(other) > _settled(one):
        one.trace = other.trace  # the path that releases explains more
    for location, value in values.items():
        one.values[location] = value
    one.resources.update(resources)
    one.inputs = inputs
    one.conditions = common(one.conditions, other.conditions)
    one.equal = common(one.equal, other.equal)
    one.among = {value: few for value, few in one.among.items() if other.among.get(value) == few}
    one.join_uses(other)
    one.skipped &= other.skipped
    one.stored |= other.stored
    one.lent |= other.lent
    one.guards |= other.guards
    for kind, mine in one.parts.items():
        one.keep(mine.join(other.parts.get(kind, kind())))
    if other.failure is None:
        one.failure = None
    return True


def _settled(state: State) -> int:
    released = sum(holding.status is Status.RELEASED for holding in state.resources.values())
    return released + len(state.inputs)


def _resources(one: State, other: State) -> dict[Symbol, Holding] | None:
    """What stands otherwise with the one than with the other; ``None`` where one of the two has to
    release more."""
    found: dict[Symbol, Holding] = {}
    for resource, mine in one.resources.items():
        theirs = other.resources.get(resource)
        if theirs is not None and mine.status is theirs.status:
            if is_lent(mine) != is_lent(theirs):
                return None
            continue
        if mine.status not in _SETTLED or (theirs is not None and theirs.status not in _SETTLED):
            return None
        if theirs is not None and theirs.status in _GONE:
            if mine.status in _GONE:
                return None
            found[resource] = theirs
    for resource, theirs in other.resources.items():
        if resource not in one.resources:
            if theirs.status not in _SETTLED:
                return None
            found[resource] = theirs
    return found


def _inputs(one: State, other: State) -> dict[Location, InputRelease] | None:
    """What of the caller's is released, where it is not null."""
    found = dict(one.inputs)
    for entry in {**one.inputs, **other.inputs}:
        mine, theirs = one.inputs.get(entry), other.inputs.get(entry)
        if mine is not None and theirs is not None:
            if mine.families != theirs.families:
                return None
            continue
        without = other if theirs is None else one
        given = Input(entry)
        if not (is_null(without, given) or is_null(without, Operation("element", (given,)))):
            return None
        present = mine or theirs
        assert present is not None
        found[entry] = present
    return found


def _values(one: State, other: State) -> dict[Location, Value] | None:
    """What the places hold in which the two differ; ``None`` where it matters."""
    found: dict[Location, Value] = {}
    shared = 0
    # What was written last is where disjuncts differ, mostly.
    for location in reversed(one.values):
        mine, theirs = one.values[location], other.values.get(location)
        shared += theirs is not None
        if mine is theirs or mine == theirs:
            continue
        both = _either(one, mine, other, theirs or Input(location))
        if both is None:
            return None
        found[location] = both
    if shared == len(other.values):
        return found
    for location, theirs in other.values.items():
        if location not in one.values:
            both = _either(one, Input(location), other, theirs)
            if both is None:
                return None
            found[location] = both
    return found


def _either(one: State, mine: Value, other: State, theirs: Value) -> Value | None:
    if is_null(one, mine):
        if is_null(other, theirs):
            return NULL
        return theirs if _is_gone(other, theirs) else None
    if is_null(other, theirs):
        return mine if _is_gone(one, mine) else None
    if isinstance(mine, Bag) and isinstance(theirs, Bag):
        alike = set(mine.resources) & set(theirs.resources)
        extra = [(one, entry) for entry in mine.resources] + [
            (other, entry) for entry in theirs.resources
        ]
        if all(at.status(entry) is Status.ESCAPED for at, entry in extra if entry not in alike):
            return bag((*mine.resources, *theirs.resources))
    return None


def _is_gone(state: State, value: Value) -> bool:
    """Whether what a pointer points to is released, or somebody else's."""
    if isinstance(value, Pointer):
        return state.status(value.resource) in _GONE
    return isinstance(value, Input) and value.location in state.inputs


def is_null(state: State, value: Value) -> bool:
    """Whether a value is known to be null on this path."""
    if value == NULL:
        return True
    if isinstance(value, Pointer):
        return state.status(value.resource) is Status.ABSENT
    known = state.equal.get(value)
    if known is not None:
        return known in (NULL, ZERO)
    return (
        state.conditions.get(value) is False
        or state.conditions.get(Operation("==", (value, NULL))) is True
    )
