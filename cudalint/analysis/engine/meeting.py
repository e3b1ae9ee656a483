"""Where many paths that own nothing meet, they go on as one: what they disagree on is unknown.

Which path was taken matters for who must release what, and for the sizes that one path knows. Code
that only passes arrays of a library around has no owner, and each of its conditions doubles the
disjuncts, so that a few of them are followed apart and the rest together: no path is cut, and every
block is still visited.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from cudalint.analysis.engine.state import State, common
from cudalint.analysis.values.values import Array, Location, Symbol, Value, bag, resources_in
from cudalint.program import Call, Launch

if TYPE_CHECKING:
    from cudalint.analysis.summaries import Linker
    from cudalint.apis.model import ApiFunction


Identity = tuple[str, str]
"""Of a function: its file and key."""

# Which functions --------------------------------------------------------------------------------


class Subjects:
    """What the Python functions of a run deal with, themselves or through what they call."""

    def __init__(self, linker: Linker) -> None:
        self._callers: dict[Identity, set[Identity]] = {}
        self._callees: dict[Identity, set[Identity]] = {}
        owning: set[Identity] = set()
        arrays: set[Identity] = set()
        for function, program in linker.functions():
            if program.language != "python":
                continue
            identity = (function.filename, function.key)
            for block in function.blocks:
                for operation in block.operations:
                    if isinstance(operation, Launch):
                        owning.add(identity)
                    elif isinstance(operation, Call):
                        model = linker.models("python").lookup(operation.name)
                        if model is not None and _owns(model):
                            owning.add(identity)
                        if model is not None and (model.returns or model.copies):
                            arrays.add(identity)
                        self._note_call(linker, identity, operation)
        self.owning = _closure(owning, self._callers)
        """Those that own, release or launch anything."""
        self.dealing = _closure(owning | arrays, self._callers)
        """Those, and those that make or copy arrays: all others have no facts of sizes."""
        self.telling = _closure(self.dealing, self._callees)
        """Those, and those that tell any of them something."""

    def _note_call(self, linker: Linker, caller: Identity, call: Call) -> None:
        callee = linker.function(call.key, caller[0]) if call.key else None
        if callee is not None:
            identity = (callee.filename, callee.key)
            self._callers.setdefault(identity, set()).add(caller)
            self._callees.setdefault(caller, set()).add(identity)


def _closure(start: set[Identity], following: dict[Identity, set[Identity]]) -> set[Identity]:
    found, pending = set(start), list(start)
    while pending:
        new = following.get(pending.pop(), set()) - found
        found |= new
        pending.extend(new)
    return found


def _owns(model: ApiFunction) -> bool:
    return bool(
        model.acquires or model.releases or model.sets or model.launches or model.opts_in
        or model.resets or model.status or model.reads_last_error or model.unwraps
    )  # fmt: skip


# Which paths ------------------------------------------------------------------------------------


def can_meet(one: State, other: State) -> bool:
    """Whether two paths to a block may go on as one: neither owns or has released anything, and
    both are in the same iteration, with the same work under way."""
    return not (one.resources or other.resources or one.inputs or other.inputs) and (
        one.visits == other.visits
        and one.order == other.order
        and (one.thrown and one.thrown.kind) == (other.thrown and other.thrown.kind)
    )


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
