"""Lowers what iterates: the operand of a ``for``, and comprehensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

import libcst as cst

from cudalint.frontends.python.bindings import Bindings
from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.lowering.branches import branch_on
from cudalint.frontends.python.lowering.state import FunctionState
from cudalint.frontends.python.lowering.targets import lower_into, store_to
from cudalint.frontends.python.scopes import Dotted, Scope
from cudalint.program.expressions import Binary, Expression, Index, Tuple, Unary, Unknown
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


def iterate(state: FunctionState, node: cst.BaseExpression) -> Iteration:
    """Lower the operand of a ``for``."""
    if isinstance(node, cst.Call) and not any(argument.star for argument in node.args):
        found = _known(state, node)
        if found is not None:
            return found
    value = state.lower(node)
    if isinstance(value, Binary):  # lists joined to one
        value = state.keep(value, state.span(node))
    return Iteration(value, Index(value, EACH))


def _known(state: FunctionState, node: cst.Call) -> Iteration | None:
    arguments = [argument.value for argument in node.args if argument.keyword is None]
    meaning = state.scope.meaning(node.func)
    if isinstance(meaning, Dotted):
        if meaning.name == "builtins.enumerate" and arguments:
            inner = iterate(state, arguments[0])
            return Iteration(inner.over, [Unknown("index"), inner.element])
        if meaning.name == "builtins.zip" and arguments:
            parts = [iterate(state, argument) for argument in arguments]
            return Iteration(parts[0].over, [part.element for part in parts])
        if meaning.name in _SAME_ELEMENTS and arguments and meaning.name != "tqdm.trange":
            return iterate(state, arguments[0])
        return None
    if isinstance(node.func, cst.Attribute) and not node.args and meaning is None:
        name = node.func.attr.value
        if name not in ("items", "values", "keys"):
            return None
        mapping = state.lower(node.func.value)
        key, value = Unknown("key", (mapping,)), Index(mapping, EACH)
        if name == "items":
            return Iteration(mapping, [key, value])
        return Iteration(mapping, value if name == "values" else key)
    return None


def bind(state: FunctionState, target: cst.CSTNode, element: Element, span: Span) -> None:
    """Store one turn's element to the loop's target."""
    if not isinstance(element, list):
        store_to(state, target, element, span)
        return
    targets = target.elements if isinstance(target, cst.Tuple | cst.List) else ()
    starred = any(isinstance(item, cst.StarredElement) for item in targets)
    if len(targets) == len(element) and not starred:
        for item, part in zip(targets, element, strict=True):
            bind(state, item.value, part, span)
        return
    store_to(state, target, _packed(element), span)


# -- comprehensions --------------------------------------------------------------------------


def lower_comprehension(state: FunctionState, node: cst.BaseComp) -> Expression:
    """Lower a comprehension to loops that fill a temporary. (A generator, too: what it makes
    is mostly used up at once.)"""
    span = state.span(node)
    result = state.temporary()
    outer = state.scope
    inner = Scope("comprehension", Bindings(), state.module, outer)
    kind = "dict" if isinstance(node, cst.DictComp) else "list"
    if isinstance(node, cst.SetComp):
        kind = "set"
    # The first iterable is evaluated outside.
    first = iterate(state, node.for_in.iter)
    state.store(result, Tuple((), kind), span)
    state.scope = inner
    try:
        _clauses(state, node, node.for_in, result, first)
    finally:
        state.scope = outer
    return result


def _clauses(
    state: FunctionState,
    node: cst.BaseComp,
    clause: cst.CompFor,
    result: Expression,
    iteration: Iteration,
) -> None:
    span = state.span(clause.iter)
    header, after = start_loop(state, iteration.over, span)
    for name in _names(clause.target):
        state.scope.declare(name)
    bind(state, clause.target, iteration.element, state.span(clause.target))
    for test in clause.ifs:
        passed = state.graph.block()
        branch_on(state, test.test, passed, header)
        state.graph.start(passed)
    if clause.inner_for_in is not None:
        inner = clause.inner_for_in
        _clauses(state, node, inner, result, iterate(state, inner.iter))
    else:
        _element(state, node, result)
    state.graph.jump(header)
    state.graph.start(after)


def start_loop(state: FunctionState, over: Expression, span: Span) -> tuple[OpenBlock, OpenBlock]:
    """Start a loop over an iterable: its header and the block behind it."""
    header, body, after = state.graph.block(), state.graph.block(), state.graph.block()
    header.loop = True
    state.graph.jump(header)
    state.graph.start(header)
    state.graph.branch(Unary("more", over), body, after, span)
    state.graph.start(body)
    return header, after


def _element(state: FunctionState, node: cst.BaseComp, result: Expression) -> None:
    if isinstance(node, cst.DictComp):
        key = state.lower(node.key)
        lower_into(state, node.value, Index(result, key), state.span(node.value))
    elif isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp):
        value = state.lower(node.elt)
        name = ".add" if isinstance(node, cst.SetComp) else ".append"
        state.method_call(name, result, state.span(node.elt), (Argument(value),), may_throw=False)


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
