"""Which functions of a run call which."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cudalint.analysis.shape.operations import At, calls, operations, successors
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.apis.loader import ApiModels
from cudalint.program import Assign, Branch, Call, Function, variables


class Site(NamedTuple):
    """A call of a function of the run."""

    caller: Function
    at: At
    call: Call


def following(site: Site) -> list[At]:
    """The operations of the caller that may run after a call has returned."""
    blocks = site.caller.blocks
    onward = ways(blocks, range(len(blocks)))
    reached = [blocks[number] for number in sorted(closure(onward(site.at.block), onward))]
    own = [at for at in operations([blocks[site.at.block]]) if at.position > site.at.position]
    return [*own, *operations(reached)]


def only_side(function: Function, test: int, number: int) -> set[int]:
    """The blocks that follow on the side of a test that leads to a block, and on that side only."""
    onward = ways(function.blocks, set(range(len(function.blocks))) - {test})
    sides = [closure([side], onward) for side in successors(function.blocks[test])]
    for side in sides:
        only = side.difference(*(other for other in sides if other is not side))
        if number in only:
            return only
    return set()


class CallGraph:
    """All calls whose callee is known without following paths."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._sites: dict[Identity, list[Site]] = defaultdict(list)
        self._callees: dict[Identity, set[Identity]] = defaultdict(set)
        self._models: dict[str, ApiModels] = {}
        for caller, program in symbols.functions():
            self._models[caller.filename] = symbols.models(program.language)
            for at, call in calls(caller):
                for callee in self._called_by(call, caller.filename):
                    self._sites[callee].append(Site(caller, at, call))
                    self._callees[identity(caller)].add(callee)

    @functools.cached_property
    def repeated(self) -> set[Identity]:
        """The functions that run more than once: called in a loop, by themselves, or twice on one
        way through a function, or by one that runs more than once."""
        again = (one for one, sites in self._sites.items() if any(map(self._comes_again, sites)))
        return self.reached(again)

    @functools.cached_property
    def looping(self) -> set[Identity]:
        """Those of them that run as often as a loop goes round, or as they call themselves."""
        again = (one for one, sites in self._sites.items() if any(map(self._goes_round, sites)))
        return self.reached(again)

    def _goes_round(self, site: Site) -> bool:
        in_loop = bool(self._symbols.flow(site.caller).enclosing.get(site.at.block))
        called = self._called_by(site.call, site.caller.filename)
        return in_loop or identity(site.caller) in called

    def _called_by(self, call: Call, filename: str) -> list[Identity]:
        """The functions that a call may run; where a library makes an object, its constructors."""
        made = call.kind == "function" and call.record is not None
        model = self._models[filename].lookup(call.name) if made else None
        if model is not None and model.makes_one:
            return [
                identity(one)
                for one in self._symbols.methods(call.record)
                if one.kind == "constructor" and len(one.parameters) >= len(call.arguments)
            ]
        return [identity(one) for one, _ in self._symbols.callees(call, filename)]

    def _comes_again(self, site: Site) -> bool:
        """Whether a call, or another one of the same function by the same caller, comes after
        it."""
        if self._goes_round(site):
            return True
        later = following(site)
        return any(
            other.at in later
            for callee in self._called_by(site.call, site.caller.filename)
            for other in self.sites(callee)
            if other.caller is site.caller and other.call is not site.call
        )

    def is_flagged(self, site: Site) -> bool:
        """Whether a call is made once in a process, or once for each element of a static table:
        ``if (!ready) { set_up(); ready = true; }``, and nobody else in the file sets that."""
        function = site.caller
        for block in function.blocks:
            if not isinstance(block.terminator, Branch):
                continue
            asked = [(function.filename, one) for one in variables(block.terminator.condition)]
            set_by = [self._settings[flag] for flag in asked if flag in self._settings]
            inside = only_side(function, block.number, site.at.block) if set_by else set()
            if any(all(one is function and at.block in inside for one, at in s) for s in set_by):
                return True
        return False

    @functools.cached_property
    def _settings(self) -> dict[tuple[str, str], list[tuple[Function, At]]]:
        """By file and global or static variable: what sets it, or an element of it."""
        found = defaultdict(list)
        for function, _ in self._symbols.functions():
            for at in operations(function):
                if isinstance(at.operation, Assign) and not at.operation.declares:
                    for symbol in variables(at.operation.target):
                        if symbol.startswith("::"):
                            found[function.filename, symbol].append((function, at))
        return found

    def sites(self, function: Identity) -> Sequence[Site]:
        """The calls of a function."""
        return self._sites.get(function, ())

    def callers(self, function: Identity) -> set[Identity]:
        """The functions that call one."""
        return {identity(site.caller) for site in self.sites(function)}

    def callees(self, function: Identity) -> set[Identity]:
        """The functions that one calls."""
        return self._callees.get(function, set())

    def reaching(self, functions: Iterable[Identity]) -> set[Identity]:
        """Some functions, and all that call them, themselves or through others."""
        return closure(functions, self.callers)

    def reached(self, functions: Iterable[Identity]) -> set[Identity]:
        """Some functions, and all that they call, themselves or through others."""
        return closure(functions, self.callees)
