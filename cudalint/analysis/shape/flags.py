"""Members that tell what an object has done already: ``if (!ready) { ...; ready = true; }``."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from cudalint.analysis.shape.callgraph import only_side
from cudalint.analysis.shape.members import member_in
from cudalint.analysis.shape.operations import At, operations
from cudalint.analysis.shape.symbols import Symbols
from cudalint.program import (
    THIS,
    Assign,
    Branch,
    Call,
    Constant,
    Expression,
    Function,
    Member,
    Program,
    walk,
)


class _Setting(NamedTuple):
    function: Function
    block: int
    value: Constant | None


class Flags:
    """What sets the members of a run once their objects are made."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._settings: dict[tuple[str | None, str], list[_Setting]] = defaultdict(list)
        for function, program in symbols.functions():
            for at in operations(function) if function.kind != "constructor" else ():
                target, value = _set(at)
                member = member_in(target, function, program, symbols) if target else None
                if member is not None:
                    self._settings[member].append(_Setting(function, at.block, value))

    def keep_from(self, function: Function, program: Program, number: int) -> bool:
        """Whether a method runs a block once for each object: it asks a member, which it then sets
        to the one constant that everybody sets."""
        for block in function.blocks:
            if not isinstance(block.terminator, Branch):
                continue
            asked = {
                member_in(part, function, program, self._symbols)
                for part in walk(block.terminator.condition)
                if isinstance(part, Member) and part.base == THIS
            }
            set_by = [self._settings[flag] for flag in asked if flag in self._settings]
            inside = only_side(function, block.number, number) if set_by else set()
            for settings in set_by:
                own = any(one.function is function and one.block in inside for one in settings)
                values = {one.value for one in settings}
                if own and None not in values and len(values) == 1:
                    return True
        return False


def _set(at: At) -> tuple[Expression | None, Constant | None]:
    """The member that an operation sets, and to which constant, if to one."""
    match at.operation:
        case Assign(target=Member() as target, value=Constant() as value, augmented=False):
            return target, value
        case Assign(target=Member() as target) | Call(target=Member() as target):
            return target, None
        case _:
            return None, None
