"""Builds the control-flow graph of one function: blocks, scopes, symbols."""

from __future__ import annotations

from dataclasses import dataclass, field

from cudalint.program import (
    Block,
    Branch,
    Expression,
    Jump,
    Operation,
    ScopeEnd,
    Terminator,
    Type,
    Variable,
    VariableInfo,
)
from cudalint.source import Span


@dataclass(eq=False)
class Node:
    """A block under construction."""

    number: int
    operations: list[Operation] = field(default_factory=list)
    terminator: Terminator | None = None
    unwind: int | None = None
    loop: bool = False


class Graph:
    """Blocks under construction. Code after a terminator goes to a block that nothing reaches."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.unwind: int | None = None
        self.current = self.block()

    def block(self, loop: bool = False) -> Node:
        """A new block, not yet entered; it unwinds as the code here does."""
        node = Node(len(self.nodes), unwind=self.unwind, loop=loop)
        self.nodes.append(node)
        return node

    def emit(self, operation: Operation) -> None:
        """Append an operation to the current block."""
        if self.current.terminator is not None:
            self.current = self.block()
        self.current.operations.append(operation)

    def finish(self, terminator: Terminator) -> None:
        """End the current block."""
        if self.current.terminator is not None:
            self.current = self.block()
        self.current.terminator = terminator

    def jump(self, target: Node) -> None:
        """End the current block with a jump, if it has not ended."""
        if self.current.terminator is None:
            self.current.terminator = Jump(target.number)

    def enter(self, node: Node) -> None:
        """Go on in ``node``, falling into it from the current block."""
        self.jump(node)
        self.current = node

    def branch(self, condition: Expression, then: Node, otherwise: Node, span: Span) -> None:
        """End the current block with two ways."""
        self.finish(Branch(condition, then.number, otherwise.number, span))

    @property
    def is_open(self) -> bool:
        """Whether the current block can be fallen out of."""
        return self.current.terminator is None

    def finished(self) -> tuple[Block, ...]:
        """The blocks that can be reached, renumbered; empty ones are jumped over."""
        targets = {node.number: self._through(node) for node in self.nodes}
        self._merge(targets)
        order: list[int] = []
        seen: set[int] = set()
        pending = [targets[0]]
        while pending:
            number = pending.pop()
            if number in seen:
                continue
            seen.add(number)
            order.append(number)
            node = self.nodes[number]
            ways = [targets[way] for way in _ways(node.terminator)]
            if node.unwind is not None:
                ways.insert(0, targets[node.unwind])
            pending.extend(reversed(ways))
        order.sort(key=lambda number: (number != targets[0], number))
        places = {number: place for place, number in enumerate(order)}
        numbers = {old: places[new] for old, new in targets.items() if new in places}
        return tuple(
            Block(
                numbers[old],
                tuple(self.nodes[old].operations),
                _renumbered(self.nodes[old].terminator, numbers),
                None if self.nodes[old].unwind is None else numbers[self.nodes[old].unwind or 0],
                self.nodes[old].loop,
            )
            for old in order
        )

    def _merge(self, targets: dict[int, int]) -> None:
        """Join a block to the only one that jumps to it."""
        origins = dict.fromkeys(range(len(self.nodes)), 0)
        origins[targets[0]] += 1
        for number in set(targets.values()):
            node = self.nodes[number]
            for way in _ways(node.terminator):
                origins[targets[way]] += 1
            if node.unwind is not None:
                origins[targets[node.unwind]] += 2
        for number in sorted(set(targets.values())):
            node = self.nodes[number]
            while isinstance(node.terminator, Jump):
                following = self.nodes[targets[node.terminator.target]]
                if (
                    origins[following.number] != 1
                    or following.loop
                    or following.unwind != node.unwind
                    or following is node
                ):
                    break
                node.operations += following.operations
                node.terminator = following.terminator
                following.operations = []
                origins[following.number] = 0

    def _through(self, node: Node) -> int:
        passed = set()
        while (
            not node.operations
            and not node.loop
            and isinstance(node.terminator, Jump)
            and node.number not in passed
        ):
            passed.add(node.number)
            node = self.nodes[node.terminator.target]
        return node.number


def _ways(terminator: Terminator | None) -> tuple[int, ...]:
    if isinstance(terminator, Jump):
        return (terminator.target,)
    if isinstance(terminator, Branch):
        return (terminator.then, terminator.otherwise)
    return ()


def _renumbered(terminator: Terminator | None, numbers: dict[int, int]) -> Terminator:
    if isinstance(terminator, Jump):
        return Jump(numbers[terminator.target])
    if isinstance(terminator, Branch):
        then, otherwise = numbers[terminator.then], numbers[terminator.otherwise]
        if then == otherwise:
            return Jump(then)
        return Branch(terminator.condition, then, otherwise, terminator.span)
    if terminator is None:
        raise ValueError("a block without an end")
    return terminator


@dataclass(eq=False)
class Scope:
    """The locals of one pair of braces."""

    symbols: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    """Locals of scopes inside this one, which have ended already."""


class Symbols:
    """The symbols of a function and of the lambdas in it: unique over all of them."""

    def __init__(self) -> None:
        self.places: dict[int, Expression] = {}
        """What stands for a declaration: a variable, or the place that a reference names."""
        self.infos: dict[str, VariableInfo] = {}
        self._used: dict[str, int] = {}
        self._temporaries = 0

    def fresh(self, name: str) -> Variable:
        """A variable whose symbol no other has."""
        shown = name or "unnamed"
        count = self._used.get(shown, 0) + 1
        self._used[shown] = count
        return Variable(shown, shown if count == 1 else f"{shown}#{count}")

    def temporary(self) -> Variable:
        """The next of ``%1``, ``%2``..."""
        self._temporaries += 1
        symbol = f"%{self._temporaries}"
        return Variable(symbol, symbol)


class Scopes:
    """The scopes around the code that is being lowered."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.stack: list[Scope] = [Scope()]

    @property
    def depth(self) -> int:
        """How many scopes are open."""
        return len(self.stack)

    def declare(self, symbol: str) -> None:
        """A local that ends with the innermost scope."""
        self.stack[-1].symbols.append(symbol)

    def open(self) -> None:
        """Open a scope."""
        self.stack.append(Scope())

    def close(self, span: Span) -> Scope:
        """Close the innermost scope; its locals end if the code can get here."""
        scope = self.stack.pop()
        if scope.symbols and self._graph.is_open:
            self._graph.emit(ScopeEnd(tuple(reversed(scope.symbols)), span))
        self.stack[-1].ended += scope.ended + scope.symbols
        return scope

    def end_above(self, depth: int, span: Span) -> None:
        """The locals end that a jump out to ``depth`` scopes leaves behind."""
        symbols = [symbol for scope in self.stack[depth:] for symbol in scope.symbols]
        if symbols:
            self._graph.emit(ScopeEnd(tuple(reversed(symbols)), span))


_PLAIN = frozenset(
    (
        "int", "unsigned", "unsigned int", "long", "unsigned long", "long long",
        "unsigned long long", "short", "unsigned short", "char", "unsigned char", "signed char",
        "size_t", "std::size_t", "ssize_t", "ptrdiff_t", "int8_t", "int16_t", "int32_t", "int64_t",
        "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint", "uchar", "ushort", "ulong",
    )
)  # fmt: skip


def can_own(type_: Type) -> bool:
    """Whether a variable of the type can hold a resource or an owner."""
    if type_.kind == "integer":
        # Handles may be integers by another name: CUdeviceptr, cudaTextureObject_t.
        return type_.text.removeprefix("const ") not in _PLAIN
    return type_.kind in ("pointer", "array", "record", "other")
