"""Which functions an exception handler guards, and which functions end the process."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import calls, expressions, operands, successors
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.program import (
    Block,
    Call,
    Expression,
    Function,
    FunctionReference,
    Return,
    Throw,
    Unreachable,
    walk,
)

_BY_POINTER: Identity = ("", "by pointer")
"""Stands for all functions that are called by pointer: they are many, and so are such calls."""


class Handling:
    """What may run while a call is made: also what is called by pointer, and the patterns of the
    templates whose instances are called."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._graph = symbols.memo(CallGraph)
        self._patterns: dict[str, set[Identity]] = defaultdict(set)
        self._referring: dict[str, set[Identity]] = defaultdict(set)
        """By the key of a function: those that refer to it."""
        self._by_key: dict[str, set[Identity]] = defaultdict(set)
        self._functions: dict[Identity, Function] = {}
        for function, _ in symbols.functions():
            one = identity(function)
            self._functions[one] = function
            self._by_key[function.key].add(one)
            if function.named_by == "instances":
                self._patterns[function.name].add(one)
            for key in _referred(expressions(function)):
                self._referring[key].add(one)

    def run_by(self, function: Function, made: Iterable[Call]) -> set[Identity]:
        """The functions of the run that some calls of a function may run, or give to what does."""
        found = self._run_by(function, made)
        return (found | self._pointed_at) - {_BY_POINTER} if _BY_POINTER in found else found

    def _run_by(self, function: Function, made: Iterable[Call]) -> set[Identity]:
        found: set[Identity] = set()
        for call in made:
            if call.kind == "indirect" and self._pointed_at:
                found |= {_BY_POINTER, *self._named(function, call)}
            else:
                found |= self._named(function, call) or self._patterns.get(call.name, set())
        return found

    def _named(self, function: Function, call: Call) -> set[Identity]:
        found = {identity(one) for one, _ in self._symbols.callees(call, function.filename)}
        for key in _referred(operands(call)):
            found |= self._by_key.get(key, set())
        return found

    @property
    def referred(self) -> Set[str]:
        """The keys of the functions that somebody may call whom no call names."""
        return self._referring.keys()

    @functools.cached_property
    def _pointed_at(self) -> set[Identity]:
        return {one for key in self._referring for one in self._by_key.get(key, ())}

    def reached(self, functions: Iterable[Identity]) -> set[Identity]:
        """Some functions, and all that may run while they do."""
        return closure(functions, self._following) - {_BY_POINTER}

    def _following(self, one: Identity) -> Iterable[Identity]:
        return self._pointed_at if one == _BY_POINTER else self._running.get(one, ())

    @functools.cached_property
    def _running(self) -> dict[Identity, set[Identity]]:
        """By function: those that it may run itself, with ``_BY_POINTER`` for all that are called
        so."""
        return {
            one: self._graph.callees(one)
            | self._run_by(function, (call for _, call in calls(function)))
            for one, function in self._functions.items()
        }

    def linked(self, filenames: Iterable[str]) -> set[str]:
        """Some files, and all whose functions those of them call or refer to, or include."""
        needed: dict[str, set[str]] = defaultdict(set)
        for one, called in self._running.items():
            needed[one[0]].update(name for name, _ in called)
        needed[_BY_POINTER[0]].update(name for name, _ in self._pointed_at)
        for program in self._symbols.programs.values():
            needed[program.filename].update(program.includes)
        return closure(filenames, lambda name: needed.get(name, ())) - {_BY_POINTER[0]}

    def bound(self, running: set[Identity]) -> set[Identity]:
        """The functions that others than those which run in the programs of the run refer to: what
        tells another language of them."""
        return {
            one
            for key, referring in self._referring.items()
            if not referring <= running
            for one in self._by_key.get(key, ())
        }

    @functools.cached_property
    def ending(self) -> set[Identity]:
        """The functions that end the process, whatever happens: they neither return nor throw."""
        found: set[Identity] = set()
        pending = list(self._functions)
        while pending:
            one = pending.pop()
            if one not in found and self._ends(self._functions[one], found):
                found.add(one)
                pending.extend(self._graph.callers(one))
        return found

    def _ends(self, function: Function, ending: set[Identity]) -> bool:
        reached = self._onward(function, [0], ending) if function.blocks else []
        stops = [block for block in reached if self._stops(function, block, ending)]
        leaves = (block.terminator for block in reached if block not in stops)
        return bool(stops) and not any(isinstance(one, Return | Throw) for one in leaves)

    def _stops(self, function: Function, block: Block, ending: set[Identity]) -> bool:
        if isinstance(block.terminator, Unreachable):
            return True
        for _, call in calls([block]):
            callees = self._symbols.callees(call, function.filename)
            if callees and all(identity(one) in ending for one, _ in callees):
                return True
        return False

    def _onward(
        self, function: Function, start: Iterable[int], ending: set[Identity]
    ) -> list[Block]:
        def following(number: int) -> Iterable[int]:
            block = function.blocks[number]
            return () if self._stops(function, block, ending) else successors(block)

        return [function.blocks[number] for number in sorted(closure(start, following))]

    def after(self, function: Function, unwind: int) -> Iterator[Block]:
        """The blocks that run once a handler has taken an exception."""
        yield from self._onward(function, [unwind], self.ending)

    def returns(self, function: Function, unwind: int) -> bool:
        """Whether a function returns after a handler has taken an exception."""
        return any(
            isinstance(block.terminator, Return) and not self._stops(function, block, self.ending)
            for block in self.after(function, unwind)
        )


def _referred(whole: Iterable[Expression]) -> set[str]:
    return {
        part.key
        for one in whole
        for part in walk(one)
        if isinstance(part, FunctionReference) and part.key
    }
