"""Lowers what is stored, and the places that it is stored to."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.lowering.branches import choice
from cudalint.frontends.python.lowering.context import Context
from cudalint.frontends.python.lowering.expressions import subscript
from cudalint.frontends.python.lowering.launches import opt_in
from cudalint.frontends.python.scopes import ClassInfo, ClassMember, Local
from cudalint.program.expressions import (
    Constant,
    Expression,
    FunctionReference,
    Index,
    Member,
    Slice,
    Variable,
)
from cudalint.program.functions import Use
from cudalint.source import Span


def lower_into(context: Context, node: cst.BaseExpression, target: Expression, span: Span) -> None:
    """Lower an expression and store it: a call writes to the target itself."""
    match node:
        case cst.Call():
            value = context.call(node, target)
        case cst.IfExp():
            value = choice(context, node, target)
        case cst.Await(expression=cst.Call() as call):
            value = context.call(call, target)
            context.graph.emit(Use(value, context.span(node), "await"))
        case _:
            value = context.lower(node)
    if value is not target:
        context.store(target, value, span)


def walrus(context: Context, node: cst.NamedExpr) -> Expression:
    """``(name := value)``."""
    assign(context, node.target, node.value, context.span(node))
    return context.lower(node.target)


def place_of(context: Context, node: cst.CSTNode) -> Expression | None:
    """The place that a simple target names; ``None`` for a name that is not stored to,
    because every use of it resolves to what it stands for."""
    match node:
        case cst.Name():
            meaning = context.scope.lookup(node.value)
            if isinstance(meaning, Local):
                return context.note(meaning)
            if isinstance(meaning, ClassMember):
                owner = FunctionReference(meaning.owner.key, meaning.owner.key)
                return Member(owner, meaning.attribute)
            return None
        case cst.Attribute():
            base = context.scope.meaning(node.value)
            if isinstance(base, ClassInfo):
                return Member(FunctionReference(base.key, base.key), node.attr.value)
            return Member(context.lower(node.value), node.attr.value)
        case cst.Subscript():
            return subscript(context, node)
    return None


def store_to(context: Context, target: cst.CSTNode, value: Expression, span: Span) -> None:
    """Store a value to a target, which may nest."""
    if isinstance(target, cst.Tuple | cst.List):
        count = len(target.elements)
        star: int | None = None
        for position, element in enumerate(target.elements):
            if isinstance(element, cst.StarredElement):
                star = position
                rest = count - 1 - position
                upper = Constant(-rest) if rest else None
                part: Expression = Slice(value, Constant(position), upper)
            else:
                index = position if star is None else position - count
                part = Index(value, Constant(index))
            store_to(context, element.value, part, span)
        return
    place = place_of(context, target)
    if place is not None:
        context.store(place, value, span)
        opt_in(context, target, place, span)


def assign(
    context: Context, target: cst.BaseExpression, value: cst.BaseExpression, span: Span
) -> None:
    """Lower ``target = value``."""
    if isinstance(target, cst.Tuple | cst.List):
        _unpack(context, target, value, span)
        return
    place = place_of(context, target)
    if place is not None:
        lower_into(context, value, place, span)
        opt_in(context, target, place, span)
    else:
        context.lower(value)


def _unpack(
    context: Context, target: cst.Tuple | cst.List, value: cst.BaseExpression, span: Span
) -> None:
    if isinstance(value, cst.Tuple | cst.List) and len(value.elements) == len(target.elements):
        elements = [*value.elements, *target.elements]
        if not any(isinstance(element, cst.StarredElement) for element in elements):
            _pairwise(context, target, value, span)
            return
    lowered = context.lower(value)
    if not isinstance(lowered, Variable) or len(target.elements) > 1:
        lowered = context.keep(lowered, span)
    store_to(context, target, lowered, span)


def _pairwise(
    context: Context, target: cst.Tuple | cst.List, value: cst.Tuple | cst.List, span: Span
) -> None:
    """``a, b = c, d``: all values first, each to its own target then."""
    values: list[Expression] = []
    last = len(value.elements) - 1
    for position, element in enumerate(value.elements):
        lowered = context.lower(element.value)
        fixed = isinstance(lowered, Constant | FunctionReference) or position == last == 0
        values.append(lowered if fixed else context.keep(lowered, span))
    for element, item in zip(target.elements, values, strict=True):
        store_to(context, element.value, item, span)
