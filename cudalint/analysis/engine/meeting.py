"""Where many paths that own nothing meet, they go on as one: what they disagree on is unknown.

Which path was taken matters for who must release what, and for the sizes that one path knows. Code
that only passes arrays of a library around has no owner, and each of its conditions doubles the
disjuncts, so that a few of them are followed apart and the rest together: no path is cut, and every
block is still visited.
"""

from __future__ import annotations

import zlib

from cudalint.analysis.engine.state import State, common
from cudalint.analysis.values.values import Array, Location, Symbol, Value, bag, resources_in


def can_meet(one: State, other: State) -> bool:
    """Whether two paths to a block may go on as one: neither owns or has released anything, and
    both are in the same iteration, with the same work under way."""
    return not (one.resources or other.resources or one.inputs or other.inputs) and (
        one.visits == other.visits
        and one.called == other.called
        and all(_same(one, other, kind) for kind in {**one.parts, **other.parts})
        and (one.thrown and one.thrown.kind) == (other.thrown and other.thrown.kind)
    )


def _same(one: State, other: State, kind: type) -> bool:
    mine, theirs = one.parts.get(kind), other.parts.get(kind)
    return bool((kind() if mine is None else mine) == (kind() if theirs is None else theirs))


def meet(one: State, other: State, block: int) -> State:
    """The state that stands for both paths from here on; ``one`` becomes it."""
    different: dict[Location, tuple[Value | None, Value | None]] = {
        location: (value, other.values.get(location))
        for location, value in one.values.items()
        if other.values.get(location) != value
    }
    for location, value in other.values.items():
        if location not in one.values:
            different[location] = (None, value)
    fresh = {location: _either(block, location) for location in different}
    one.refresh(*fresh.values())
    for location, (mine, theirs) in different.items():
        one.values[location] = _common(location, mine, theirs, fresh[location])
    one.conditions = common(one.conditions, other.conditions)
    one.equal = common(one.equal, other.equal)
    one.among = {value: few for value, few in one.among.items() if other.among.get(value) == few}
    one.stored |= other.stored
    one.lent |= other.lent
    one.skipped &= other.skipped
    one.guards |= other.guards
    if other.failure is None:
        one.failure = None
    return one


def _either(block: int, location: Location) -> Symbol:
    return Symbol(f"either{block}:{zlib.crc32(repr(location).encode()):x}")


def _common(location: Location, mine: Value | None, theirs: Value | None, fresh: Symbol) -> Value:
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
