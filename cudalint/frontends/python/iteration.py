"""Lowers what iterates: the operand of a ``for``, and comprehensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

import libcst as cst

from cudalint.frontends.python.bindings import Bindings
from cudalint.frontends.python.calls import CallLowering
from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.scopes import Dotted, Scope
from cudalint.program.expressions import (
    Binary,
    Expression,
    Index,
    Tuple,
    Unary,
    Unknown,
)
from cudalint.program.functions import Argument
from cudalint.source import Span

EACH = Unknown("each")

_SAME_ELEMENTS = frozenset(
    [
        "builtins.reversed",
        "builtins.sorted",
        "builtins.list",
        "builtins.tuple",
        "builtins.set",
        "builtins.iter",
        "tqdm.tqdm",
        "tqdm.auto.tqdm",
        "tqdm.notebook.tqdm",
        "tqdm.trange",
        "rich.progress.track",
    ]
)
"""Functions whose result has their first argument's elements."""

Element = Union[Expression, "list[Element]"]


@dataclass(frozen=True, slots=True)
class Iteration:
    """``over`` is what has elements left or not; ``element`` what each turn gives: a value, or a
    list of values where the iterable makes tuples (``zip``, ``enumerate``, ``items``)."""

    over: Expression
    element: Element


class IterationLowering(CallLowering):
    """Lowers loops over iterables."""

    def iteration(self, node: cst.BaseExpression) -> Iteration:
        """Lower the operand of a ``for``."""
        if isinstance(node, cst.Call) and not any(argument.star for argument in node.args):
            found = self._known(node)
            if found is not None:
                return found
        value = self.lower(node)
        if isinstance(value, Binary):  # lists joined to one
            value = self.keep(value, self.reader.span(node))
        return Iteration(value, Index(value, EACH))

    def _known(self, node: cst.Call) -> Iteration | None:
        arguments = [argument.value for argument in node.args if argument.keyword is None]
        meaning = self.scope.meaning(node.func)
        if isinstance(meaning, Dotted):
            if meaning.name == "builtins.enumerate" and arguments:
                inner = self.iteration(arguments[0])
                return Iteration(inner.over, [Unknown("index"), inner.element])
            if meaning.name == "builtins.zip" and arguments:
                parts = [self.iteration(argument) for argument in arguments]
                return Iteration(parts[0].over, [part.element for part in parts])
            if meaning.name in _SAME_ELEMENTS and arguments and meaning.name != "tqdm.trange":
                return self.iteration(arguments[0])
            return None
        if isinstance(node.func, cst.Attribute) and not node.args and meaning is None:
            name = node.func.attr.value
            if name not in ("items", "values", "keys"):
                return None
            mapping = self.lower(node.func.value)
            key, value = Unknown("key", (mapping,)), Index(mapping, EACH)
            if name == "items":
                return Iteration(mapping, [key, value])
            return Iteration(mapping, value if name == "values" else key)
        return None

    def bind(self, target: cst.CSTNode, element: Element, span: Span) -> None:
        """Store one turn's element to the loop's target."""
        if not isinstance(element, list):
            self.store_to(target, element, span)
            return
        targets = target.elements if isinstance(target, cst.Tuple | cst.List) else ()
        starred = any(isinstance(item, cst.StarredElement) for item in targets)
        if len(targets) == len(element) and not starred:
            for item, part in zip(targets, element, strict=True):
                self.bind(item.value, part, span)
            return
        self.store_to(target, _packed(element), span)

    # -- comprehensions --------------------------------------------------------------------------

    def lower_comprehension(self, node: cst.BaseComp) -> Expression:
        """Lower a comprehension to loops that fill a temporary. (A generator, too: what it makes
        is mostly used up at once.)"""
        span = self.reader.span(node)
        result = self.temporary()
        outer = self.scope
        inner = Scope("comprehension", Bindings(), self.reader, outer)
        kind = "dict" if isinstance(node, cst.DictComp) else "list"
        if isinstance(node, cst.SetComp):
            kind = "set"
        # The first iterable is evaluated outside.
        first = self.iteration(node.for_in.iter)
        self.store(result, Tuple((), kind), span)
        self.scope = inner
        try:
            self._clauses(node, node.for_in, result, first)
        finally:
            self.scope = outer
        return result

    def _clauses(
        self, node: cst.BaseComp, clause: cst.CompFor, result: Expression, iteration: Iteration
    ) -> None:
        span = self.reader.span(clause.iter)
        header, after = self._loop(iteration.over, span)
        for name in _names(clause.target):
            self.scope.declare(name)
        self.bind(clause.target, iteration.element, self.reader.span(clause.target))
        for test in clause.ifs:
            passed = self.graph.block()
            self.condition(test.test, passed, header)
            self.graph.start(passed)
        if clause.inner_for_in is not None:
            inner = clause.inner_for_in
            self._clauses(node, inner, result, self.iteration(inner.iter))
        else:
            self._element(node, result)
        self.graph.jump(header)
        self.graph.start(after)

    def _loop(self, over: Expression, span: Span) -> tuple[OpenBlock, OpenBlock]:
        """Start a loop over an iterable: its header and the block behind it."""
        header, body, after = self.graph.block(), self.graph.block(), self.graph.block()
        header.loop = True
        self.graph.jump(header)
        self.graph.start(header)
        self.graph.branch(Unary("more", over), body, after, span)
        self.graph.start(body)
        return header, after

    def _element(self, node: cst.BaseComp, result: Expression) -> None:
        if isinstance(node, cst.DictComp):
            key = self.lower(node.key)
            self.lower_into(node.value, Index(result, key), self.reader.span(node.value))
        elif isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp):
            value = self.lower(node.elt)
            name = ".add" if isinstance(node, cst.SetComp) else ".append"
            self.method_call(
                name, result, self.reader.span(node.elt), (Argument(value),), may_throw=False
            )


def _packed(element: Element) -> Expression:
    if isinstance(element, list):
        return Tuple(tuple(_packed(part) for part in element))
    return element


def _names(target: cst.CSTNode) -> list[str]:
    """The names that a comprehension's target binds."""
    if isinstance(target, cst.Name):
        return [target.value]
    if isinstance(target, cst.Tuple | cst.List):
        return [name for element in target.elements for name in _names(element.value)]
    return []
