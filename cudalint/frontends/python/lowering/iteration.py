"""Lowers what iterates: the operand of a ``for``, and comprehensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

import libcst as cst

from cudalint.frontends.python.bindings import Bindings
from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.lowering.branches import branch_on
from cudalint.frontends.python.lowering.context import Context
from cudalint.frontends.python.lowering.targets import lower_into, store_to
from cudalint.frontends.python.scopes import Dotted, Scope
from cudalint.program.expressions import EACH, Binary, Expression, Index, Tuple, Unary, Unknown
from cudalint.program.functions import Argument
from cudalint.source import Span

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


def iterate(context: Context, node: cst.BaseExpression) -> Iteration:
    """Lower the operand of a ``for``."""
    if isinstance(node, cst.Call) and not any(argument.star for argument in node.args):
        found = _known(context, node)
        if found is not None:
            return found
    value = context.lower(node)
    if isinstance(value, Binary):  # lists joined to one
        value = context.keep(value, context.span(node))
    return Iteration(value, Index(value, EACH))


def _known(context: Context, node: cst.Call) -> Iteration | None:
    arguments = [argument.value for argument in node.args if argument.keyword is None]
    meaning = context.scope.meaning(node.func)
    if isinstance(meaning, Dotted):
        if meaning.name == "builtins.enumerate" and arguments:
            inner = iterate(context, arguments[0])
            return Iteration(inner.over, [Unknown("index"), inner.element])
        if meaning.name == "builtins.zip" and arguments:
            parts = [iterate(context, argument) for argument in arguments]
            return Iteration(parts[0].over, [part.element for part in parts])
        if meaning.name in _SAME_ELEMENTS and arguments and meaning.name != "tqdm.trange":
            return iterate(context, arguments[0])
        return None
    if isinstance(node.func, cst.Attribute) and not node.args and meaning is None:
        name = node.func.attr.value
        if name not in ("items", "values", "keys"):
            return None
        mapping = context.lower(node.func.value)
        key, value = Unknown("key", (mapping,)), Index(mapping, EACH)
        if name == "items":
            return Iteration(mapping, [key, value])
        return Iteration(mapping, value if name == "values" else key)
    return None


def bind(context: Context, target: cst.CSTNode, element: Element, span: Span) -> None:
    """Store one turn's element to the loop's target."""
    if not isinstance(element, list):
        store_to(context, target, element, span)
        return
    targets = target.elements if isinstance(target, cst.Tuple | cst.List) else ()
    starred = any(isinstance(item, cst.StarredElement) for item in targets)
    if len(targets) == len(element) and not starred:
        for item, part in zip(targets, element, strict=True):
            bind(context, item.value, part, span)
        return
    store_to(context, target, _packed(element), span)


# -- comprehensions --------------------------------------------------------------------------


def lower_comprehension(context: Context, node: cst.BaseComp) -> Expression:
    """Lower a comprehension to loops that fill a temporary. (A generator, too: what it makes
    is mostly used up at once.)"""
    span = context.span(node)
    result = context.temporary()
    outer = context.scope
    inner = Scope("comprehension", Bindings(), context.module, outer)
    kind = "dict" if isinstance(node, cst.DictComp) else "list"
    if isinstance(node, cst.SetComp):
        kind = "set"
    # The first iterable is evaluated outside.
    first = iterate(context, node.for_in.iter)
    context.store(result, Tuple((), kind), span)
    context.scope = inner
    try:
        _clauses(context, node, node.for_in, result, first)
    finally:
        context.scope = outer
    return result


def _clauses(
    context: Context,
    node: cst.BaseComp,
    clause: cst.CompFor,
    result: Expression,
    iteration: Iteration,
) -> None:
    span = context.span(clause.iter)
    header, after = start_loop(context, iteration.over, span)
    for name in _names(clause.target):
        context.scope.declare(name)
    bind(context, clause.target, iteration.element, context.span(clause.target))
    for test in clause.ifs:
        passed = context.graph.block()
        branch_on(context, test.test, passed, header)
        context.graph.start(passed)
    if clause.inner_for_in is not None:
        inner = clause.inner_for_in
        _clauses(context, node, inner, result, iterate(context, inner.iter))
    else:
        _element(context, node, result)
    context.graph.jump(header)
    context.graph.start(after)


def start_loop(context: Context, over: Expression, span: Span) -> tuple[OpenBlock, OpenBlock]:
    """Start a loop over an iterable: its header and the block behind it."""
    header, body, after = context.graph.block(), context.graph.block(), context.graph.block()
    header.loop = True
    context.graph.jump(header)
    context.graph.start(header)
    context.graph.branch(Unary("more", over), body, after, span)
    context.graph.start(body)
    return header, after


def _element(context: Context, node: cst.BaseComp, result: Expression) -> None:
    if isinstance(node, cst.DictComp):
        key = context.lower(node.key)
        lower_into(context, node.value, Index(result, key), context.span(node.value))
    elif isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp):
        value = context.lower(node.elt)
        name = ".add" if isinstance(node, cst.SetComp) else ".append"
        context.method_call(
            name, result, context.span(node.elt), (Argument(value),), may_throw=False
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
