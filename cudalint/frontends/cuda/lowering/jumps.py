"""Where ``break``, ``continue``, ``goto`` and ``case`` of one function go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cudalint.frontends.cuda.lowering.graph import Graph, Node, Scope, Scopes
from cudalint.program import Expression, Return, ScopeEnd
from cudalint.source import Span


@dataclass(eq=False)
class _Target:
    """Where ``break`` and ``continue`` go."""

    after: Node
    again: Node | None
    break_depth: int
    """How many scopes a ``break`` leaves open."""
    continue_depth: int


@dataclass(frozen=True)
class Case:
    """A label of a ``switch``: one value, the ends of a range, or none for ``default``."""

    values: tuple[Expression, ...]
    node: Node
    span: Span


class Jumps:
    """The loops and switches around the code that is being lowered, and the labels in it."""

    def __init__(self, graph: Graph, scopes: Scopes) -> None:
        self._graph = graph
        self._scopes = scopes
        self._targets: list[_Target] = []
        self._cases: list[list[Case]] = []
        self._labels: dict[str, Node] = {}
        self._label_scopes: dict[str, list[Scope]] = {}
        self._gotos: list[tuple[Node, str, list[Scope], Span]] = []

    @contextmanager
    def loop(self, after: Node, again: Node, around: int = 0) -> Iterator[None]:
        """The body of a loop; ``around``: scopes of the loop itself that ``break`` leaves too."""
        depth = self._scopes.depth
        self._targets.append(_Target(after, again, depth - around, depth))
        yield
        self._targets.pop()

    @contextmanager
    def switch(self, after: Node) -> Iterator[list[Case]]:
        """The body of a ``switch``; its labels are collected."""
        self._targets.append(_Target(after, None, self._scopes.depth, 0))
        self._cases.append([])
        yield self._cases[-1]
        self._cases.pop()
        self._targets.pop()

    def case(self, values: tuple[Expression, ...], span: Span) -> None:
        """A label of the ``switch`` around it."""
        node = self._graph.block()
        if self._cases:
            self._cases[-1].append(Case(values, node, span))
        self._graph.enter(node)

    def leave(self, word: str, span: Span) -> None:
        """``break`` or ``continue``."""
        for target in reversed(self._targets):
            if word == "break":
                self._scopes.end_above(target.break_depth, span)
                self._graph.jump(target.after)
                break
            if target.again is not None:
                self._scopes.end_above(target.continue_depth, span)
                self._graph.jump(target.again)
                break
        self._graph.current = self._graph.block()

    def goto(self, name: str, span: Span) -> None:
        """``goto``: which scopes it leaves is known at the end of the function."""
        node = self._graph.block()
        self._graph.enter(node)
        self._gotos.append((node, name, list(self._scopes.stack), span))
        label = self._label(name)
        label.loop = label.loop or name in self._label_scopes
        self._graph.jump(label)
        self._graph.current = self._graph.block()

    def label(self, name: str) -> None:
        """A label: the code goes on in its block."""
        node = self._label(name)
        node.unwind = self._graph.unwind
        self._label_scopes[name] = list(self._scopes.stack)
        self._graph.enter(node)

    def _label(self, name: str) -> Node:
        node = self._labels.get(name)
        if node is None:
            node = self._labels[name] = self._graph.block()
        return node

    def finish(self, span: Span) -> None:
        """End the function: the closing brace, and jumps that are still open."""
        if self._graph.is_open:
            self._graph.finish(Return(None, span, implicit=True))
        for node, name, scopes, place in self._gotos:
            kept = self._label_scopes.get(name)
            target = self._labels[name]
            if kept is None:
                if target.terminator is None:
                    target.terminator = Return(None, place, implicit=True)
                continue
            left = [scope for scope in scopes if scope not in kept]
            symbols = [symbol for scope in left for symbol in scope.symbols]
            if symbols:
                node.operations.append(ScopeEnd(tuple(reversed(symbols)), place))
        for node in self._graph.nodes:
            if node.terminator is None:
                node.terminator = Return(None, span, implicit=True)
