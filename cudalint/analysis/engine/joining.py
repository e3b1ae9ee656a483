"""Disjuncts that reach the same point and may go on as one, in three ways.

Equal ones are joined: they differ in remembered conditions only, or in whether a call failed
without any further effect. What a function was given and may release is not equal where it is null
on one: there nothing is owed for it.

Those that owe the same are settled: null, absent, released and out of sight are all the same to a
debtor.
``if (p) cudaFree(p);`` makes two disjuncts, of which neither owes anything for ``p``: on one it is
released, on the other there is nothing. Twenty of these in one clean-up function would be a
million. What stays apart is what one disjunct still has to release and the other has not.

Those that own the same meet, where there are many of them: what they disagree on is unknown. Each
condition of code that only computes, or passes arrays of a library around, doubles the disjuncts,
so that a few of them are followed apart and the rest together: no path is cut, and every block is
still visited.
"""

from __future__ import annotations

import zlib
from typing import Any, TypeGuard, TypeVar

from cudalint.analysis.engine.conditions import is_known, literal
from cudalint.analysis.engine.state import Holding, InputRelease, State, Status
from cudalint.analysis.values.arithmetic import bounded
from cudalint.analysis.values.elements import is_of_elements
from cudalint.analysis.values.values import (
    NULL,
    ZERO,
    Address,
    Array,
    Bag,
    Const,
    Input,
    Location,
    Operation,
    Pointer,
    Symbol,
    Value,
    bag,
    inside,
    parts,
    resources_in,
)

Known = TypeVar("Known")
_LIVE = (Status.OWNED, Status.REQUESTED)
_GONE = (Status.RELEASED, Status.ESCAPED)
_SETTLED = (*_GONE, Status.ABSENT)
_MOST_CHOICES = 16
_MOST_NEW = 3
"""Conditions of one of two paths that are remembered where they meet."""


def _agree(one: State, other: State) -> None:
    """Keep in ``one`` what both paths know."""
    one.conditions = _on_both(one.conditions, other.conditions)
    one.equal = common(one.equal, other.equal)
    one.among = common(one.among, other.among)
    if other.failure is None or (one.failure is not None and one.failure.sticky):
        one.failure = other.failure
    for resource, theirs in other.resources.items():
        mine = one.resources.get(resource)
        if mine and mine.passed_by and theirs.status in _LIVE and not theirs.passed_by:
            one.resources[resource] = mine._replace(passed_by=False)


def _add(one: State, other: State) -> None:
    """Note in ``one`` what either path has done."""
    differ = one.skipped != other.skipped
    one.used = {
        entry: use
        for entry, use in {**other.used, **one.used}.items()
        # A loop that uses all elements does so, however many there are.
        if (differ and "[]" in entry) or (entry in one.used and entry in other.used)
    }
    one.skipped &= other.skipped
    one.stored |= other.stored
    one.put |= other.put
    one.lent |= other.lent
    one.guards |= other.guards
    for kind, mine in one.parts.items():
        one.keep(mine.join(other.parts.get(kind, kind())))


def common(one: dict[Value, Known], other: dict[Value, Known]) -> dict[Value, Known]:
    """What two tables agree on, in the order of the first."""
    return {value: known for value, known in one.items() if other.get(value) == known}


def _thrown(state: State) -> tuple[str, ...]:
    return (state.thrown.kind, *state.thrown.thrown) if state.thrown is not None else ()


def _is_lent(holding: Holding) -> bool:
    """Whether somebody out of sight may own what is held."""
    return bool(holding.lent) and holding.status in _LIVE


# Equal ones -------------------------------------------------------------------------------------


def key(state: State, owing: bool) -> object:
    """Equal for disjuncts that may be joined; of a function that may be ``owing`` something."""
    unsure = (*_LIVE, Status.ABSENT)
    return (
        frozenset(state.values.items()),
        frozenset(
            (one, Status.OWNED if h.status in unsure else h.status, h.lent != () and _is_lent(h))
            for one, h in state.resources.items()
        ),
        frozenset((entry, release.families) for entry, release in state.inputs.items()),
        state.called,
        frozenset(state.visits.items()),
        _thrown(state),
        (_nulls(state), state.skipped) if owing else None,
    )


def _nulls(state: State) -> frozenset[Value]:
    """What the function was given that is null on this path."""
    found = set()
    for condition, truth in state.conditions.items():
        given = condition
        if isinstance(condition, Operation) and condition.operator == "==":
            given = condition.operands[0]
            truth = not truth or condition.operands[-1] != NULL
        if not truth and isinstance(_whole(given), Input):
            found.add(given)
    return frozenset(found)


def _whole(value: Value) -> Value:
    """What a value is some element of, or itself."""
    element = isinstance(value, Operation) and value.operator == "element"
    return parts(value)[0] if element else value


def join(one: State, other: State) -> None:
    """Keep what holds on both; where a resource is absent on one side, the side that has it."""
    _add(one, other)
    missing = _absent(one) - _absent(other)
    if missing > 0:
        one.conditions, one.equal, one.among = other.conditions, other.equal, other.among
        one.resources, one.trace, one.failure = other.resources, other.trace, other.failure
    elif missing == 0:
        among = _either_of_few(one, other)
        _agree(one, other)
        one.among = among
        for resource, holding in other.resources.items():
            mine = one.resources.get(resource)
            if mine and mine.status is Status.OWNED and holding.status is Status.REQUESTED:
                one.resources[resource] = holding


def _absent(state: State) -> int:
    return sum(1 for holding in state.resources.values() if holding.status is Status.ABSENT)


def _on_both(one: dict[Value, bool], other: dict[Value, bool]) -> dict[Value, bool]:
    """What is remembered on both of two paths, and what follows from their difference: where
    `a` is false on one, and true on the other with `b` false, not both are true (`!(a && b)`); and
    where `a || b` is known on one, and on the other that neither is true but `c`, one of the three
    is."""
    found = common(one, other)
    for mine, theirs in ((one, other), (other, one)):
        new = [value for value in theirs if value not in mine and not _is_clause(value)]
        split = [v for v, truth in mine.items() if theirs.get(v, truth) != truth]
        if len(split) == 1 and 0 < len(new) <= _MOST_NEW and len(mine) < len(theirs):
            (decides,) = split
            for rest in new:
                either = (literal(decides, mine[decides]), literal(rest, theirs[rest]))
                found[bounded(Operation("||", either))] = True
        for clause, truth in mine.items():
            if truth and _is_any(clause) and all(is_known(theirs, o, False) for o in parts(clause)):
                spoken = {one.operands[0] if _is_not(one) else one for one in parts(clause)}
                rests = [rest for rest in new if rest not in spoken]
                for rest in rests if len(rests) <= _MOST_NEW else ():
                    any_of = (*parts(clause), literal(rest, theirs[rest]))
                    found[bounded(Operation("||", any_of))] = True
        for value, truth in theirs.items():
            if truth and _is_any(value) and any(is_known(mine, o, True) for o in parts(value)):
                found[value] = True
    return found


def _is_not(value: Value) -> TypeGuard[Operation]:
    return isinstance(value, Operation) and value.operator == "!"


def _is_any(value: Value) -> bool:
    return isinstance(value, Operation) and value.operator == "||"


def _is_clause(value: Value) -> bool:
    return isinstance(value, Operation) and value.operator in ("||", "&&")


def _either_of_few(one: State, other: State) -> dict[Value, frozenset[Const]]:
    """The values that are a constant on one side and another, or one of a few, on the other."""
    found: dict[Value, frozenset[Const]] = {}
    for value in {**one.equal, **one.among}:
        mine, theirs = one.choices(value), other.choices(value)
        if mine and theirs and len(mine | theirs) in range(2, _MOST_CHOICES + 1):
            found[value] = mine | theirs
    return found


# Those that owe the same ------------------------------------------------------------------------


def owed(state: State) -> object:
    """What differs in no two disjuncts of which one may stand for the other; it does not change
    where that one does."""
    owing = frozenset(
        (resource, holding.status, bool(holding.lent))
        for resource, holding in state.resources.items()
        if holding.status in _LIVE
    )
    return frozenset(state.visits.items()), state.called, _thrown(state), owing


def settle(one: State, other: State) -> bool:
    """Let ``one`` stand for both, if they owe the same; else leave it as it is."""
    if (one.visits, one.called, _thrown(one)) != (other.visits, other.called, _thrown(other)):
        return False
    # Most differ in what was written last.
    values = _values(one, other)
    resources = _resources(one, other) if values is not None else None
    inputs = _inputs(one, other) if resources is not None else None
    if values is None or resources is None or inputs is None:
        return False
    if settled(other) > settled(one):
        one.trace = other.trace  # the path that releases explains more
    one.values.update(values)
    one.resources.update(resources)
    one.inputs = inputs
    _agree(one, other)
    _add(one, other)
    return True


def settled(state: State) -> int:
    """How much a disjunct has released."""
    released = sum(holding.status is Status.RELEASED for holding in state.resources.values())
    return released + len(state.inputs)


def _resources(one: State, other: State) -> dict[Symbol, Holding] | None:
    """What stands otherwise with the one than with the other; ``None`` where one of the two has to
    release more."""
    found: dict[Symbol, Holding] = {}
    for resource, mine in one.resources.items():
        theirs = other.resources.get(resource)
        if theirs is mine:
            continue
        if theirs is not None and mine.status is theirs.status:
            if mine.lent is not theirs.lent and _is_lent(mine) != _is_lent(theirs):
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
    """What of the caller's is released, where it is not null and there is any."""
    found = dict(one.inputs)
    for entry in {**one.inputs, **other.inputs}:
        mine, theirs = one.inputs.get(entry), other.inputs.get(entry)
        if mine is not None and theirs is not None:
            if mine.families != theirs.families:
                return None
            continue
        without, having = (other, one) if theirs is None else (one, other)
        given = Input(entry)
        if not (
            is_null(without, given)
            or is_null(without, Operation("element", (given,)))
            or (without.skipped - having.skipped and is_of_elements(entry))  # there are none
        ):
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
    for location, mine in reversed(one.values.items()):
        theirs = other.values.get(location)
        shared += theirs is not None
        if mine is theirs or mine == theirs:
            continue
        both = _owing(one, mine, other, theirs or Input(location))
        if both is None:
            return None
        found[location] = both
    if shared == len(other.values):
        return found
    for location, theirs in other.values.items():
        if location not in one.values:
            both = _owing(one, Input(location), other, theirs)
            if both is None:
                return None
            found[location] = both
    return found


def _owing(one: State, mine: Value, other: State, theirs: Value) -> Value | None:
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
    conditions = state.conditions
    return bool(conditions) and (
        conditions.get(value) is False or conditions.get(Operation("==", (value, NULL))) is True
    )


# Those that own the same -------------------------------------------------------------------------


def can_meet(one: State, other: State) -> bool:
    """Whether two paths to a block may go on as one: they own and have released the same, and
    both are in the same iteration, with the same work under way."""
    return (
        _own_the_same(one.resources, other.resources)
        and one.inputs == other.inputs
        and one.visits == other.visits
        and one.called == other.called
        and all(_same_part(one, other, kind) for kind in {**one.parts, **other.parts})
        and _thrown(one) == _thrown(other)
    )


def _own_the_same(one: dict[Symbol, Holding], other: dict[Symbol, Holding]) -> bool:
    """Whether resources stand the same, whatever loops either path went past."""
    return one.keys() == other.keys() and all(
        mine is theirs or mine == theirs._replace(passed_by=mine.passed_by)
        for resource, mine in one.items()
        for theirs in (other[resource],)
    )


def agrees_on_memory(one: State, other: State, computed: frozenset[str] | None = None) -> bool:
    """Whether nothing that two paths disagree on leads to memory: what either owns, what its caller
    does, or a variable. Of variables they may disagree on those that were ``computed``."""
    return all(
        mine == theirs
        or not (
            _leads_to_memory(mine)
            or _leads_to_memory(theirs)
            or (computed is not None and len(location) == 1 and location[0] not in computed)
        )
        for location in {**one.values, **other.values}
        for mine, theirs in [(one.values.get(location), other.values.get(location))]
    )


def _leads_to_memory(value: Value | None) -> bool:
    return value is not None and (bool(resources_in(value)) or leads_on(value))


def leads_on(value: Value) -> bool:
    """Whether a value leads to what was there when the function was entered, or to a variable."""
    return any(isinstance(part, Input | Address) for part in inside(value))


def _same_part(one: State, other: State, kind: Any) -> bool:
    return bool(one.part(kind()) == other.part(kind()))


def meet(one: State, other: State, block: int) -> State:
    """The state that stands for both paths from here on; ``one`` becomes it."""
    different: dict[Location, tuple[Value | None, Value | None]] = {
        location: (one.values.get(location), other.values.get(location))
        for location in {**one.values, **other.values}
        if one.values.get(location) != other.values.get(location)
    }
    fresh = {location: _unknown(block, location) for location in different}
    one.refresh(*fresh.values())
    for location, (mine, theirs) in different.items():
        one.values[location] = _shared(location, mine, theirs, fresh[location])
    _agree(one, other)
    _add(one, other)
    return one


def _unknown(block: int, location: Location) -> Symbol:
    return Symbol(f"either{block}:{zlib.crc32(repr(location).encode()):x}")


def _shared(location: Location, mine: Value | None, theirs: Value | None, fresh: Symbol) -> Value:
    if location[-1] == "[]":
        held = {r for value in (mine, theirs) if value is not None for r in resources_in(value)}
        return bag(held) if held else fresh
    if isinstance(mine, Array) and isinstance(theirs, Array) and mine.space == theirs.space:
        return Array(
            mine.space,
            mine.shape if mine.shape == theirs.shape else None,
            mine.item_bytes if mine.item_bytes == theirs.item_bytes else None,
            mine.origin,
            mine.owner and theirs.owner,
        )
    return fresh
