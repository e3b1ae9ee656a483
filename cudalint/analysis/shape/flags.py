"""Members that tell what an object has done already: ``if (!ready) { ...; ready = true; }``, or is
doing: ``if (running) throw ...; running = true;``."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from cudalint.analysis.shape.callgraph import CallGraph, Site, only_side
from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.members import declaring, member_in
from cudalint.analysis.shape.operations import At, operations, successors
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.program import (
    THIS,
    Assign,
    Branch,
    Call,
    Constant,
    Dereference,
    Expression,
    Function,
    Member,
    Program,
    Return,
    Variable,
    render,
    walk,
)


class _Setting(NamedTuple):
    function: Function
    block: int
    value: Constant | None


_Settings = dict[tuple[str | None, str], list[_Setting]]


class Flags:
    """What sets the members of a run, as their objects are made and after that."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._settings: _Settings = defaultdict(list)
        self._initial: _Settings = defaultdict(list)
        for function, program in symbols.functions():
            found = self._initial if function.kind == "constructor" else self._settings
            for at in operations(function):
                target, value = _set(at)
                member = member_in(target, function, program, symbols) if target else None
                if member is not None:
                    found[member].append(_Setting(function, at.block, value))

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

    def is_lowered(self, record: str, name: str, filename: str) -> bool:
        """Whether a member is false unless a function runs that has had it set: all that call what
        sets it then call, of the same object, what sets it back, before they return."""
        member = declaring(record, name, filename, self._symbols), name
        settings, initial = self._settings.get(member, []), self._initial.get(member, [])
        if not all(_is_truth(one.value) for one in (*settings, *initial)):
            return False
        raising, lowering = (
            {identity(one.function) for one in settings if one.value and one.value.value == truth}
            for truth in (True, False)
        )
        raised = any(one.value and one.value.value for one in initial)
        sites = [one for key in raising for one in self._symbols.memo(CallGraph).sites(key)]
        return (
            bool(sites)
            and not raised
            and not raising & lowering
            and all(self._is_followed(site, lowering) for site in sites)
        )

    def _is_followed(self, site: Site, lowering: set[Identity]) -> bool:
        """Whether its caller calls one of some functions of the same object, after a call and
        before it returns."""
        caller, graph = site.caller, self._symbols.memo(CallGraph)
        flow = self._symbols.flow(caller)
        ends = [
            other.at
            for key in lowering
            for other in graph.sites(key)
            if other.caller is caller and _object(other.call, flow) == _object(site.call, flow)
        ]
        start = site.at.block
        if any(at.block == start and at.position > site.at.position for at in ends):
            return True
        ended = {at.block for at in ends}
        blocks = caller.blocks
        reached = closure(
            successors(blocks[start]),
            lambda one: () if one in ended else successors(blocks[one]),
        )
        return not any(
            isinstance(blocks[one].terminator, Return) for one in {start, *reached - ended}
        )


def _is_truth(value: Constant | None) -> bool:
    return value is not None and value.value in (True, False)


def _object(call: Call, flow: Flow) -> str | None:
    """The object that a method is called of, as it is written, or the function that gives it."""
    match call.receiver:
        case None:
            return None
        case Variable(symbol=symbol) | Dereference(pointer=Variable(symbol=symbol)):
            made = flow.only(symbol)
            if isinstance(made, Call) and made.receiver is None and not made.arguments:
                return f"{made.name}()"
    return render(call.receiver)


def _set(at: At) -> tuple[Expression | None, Constant | None]:
    """The member that an operation sets, and to which constant, if to one."""
    match at.operation:
        case Assign(target=Member() as target, value=Constant() as value, augmented=False):
            return target, value
        case Assign(target=Member() as target) | Call(target=Member() as target):
            return target, None
        case _:
            return None, None
