"""Which functions of a run call which."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cudalint.analysis.shape.operations import At, calls
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.program import Call, Function


class Site(NamedTuple):
    """A call of a function of the run."""

    caller: Function
    at: At
    call: Call


class CallGraph:
    """All calls whose callee is known without following paths."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._sites: dict[Identity, list[Site]] = defaultdict(list)
        self._callees: dict[Identity, set[Identity]] = defaultdict(set)
        for caller, _ in symbols.functions():
            for at, call in calls(caller):
                for callee, _ in symbols.callees(call, caller.filename):
                    self._sites[identity(callee)].append(Site(caller, at, call))
                    self._callees[identity(caller)].add(identity(callee))

    @functools.cached_property
    def repeated(self) -> set[Identity]:
        """The functions that run more than once: called in a loop, or twice by one function, or by
        one that runs more than once."""
        start: set[Identity] = set()
        for function, sites in self._sites.items():
            callers = [identity(site.caller) for site in sites]
            if len(set(callers)) < len(callers) or any(
                self._symbols.flow(site.caller).enclosing.get(site.at.block) for site in sites
            ):
                start.add(function)
        return self.reached(start)

    def sites(self, function: Identity) -> Sequence[Site]:
        """The calls of a function."""
        return self._sites.get(function, ())

    def callers(self, function: Identity) -> set[Identity]:
        """The functions that call one."""
        return {identity(site.caller) for site in self.sites(function)}

    def reaching(self, functions: Iterable[Identity]) -> set[Identity]:
        """Some functions, and all that call them, themselves or through others."""
        return closure(functions, self.callers)

    def reached(self, functions: Iterable[Identity]) -> set[Identity]:
        """Some functions, and all that they call, themselves or through others."""
        return closure(functions, lambda one: self._callees.get(one, ()))
