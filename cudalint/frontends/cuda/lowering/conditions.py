"""Lowers conditions: branches, split at ``&&``, ``||``, ``!`` and ``?:``."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.graph import Node
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    binary_operator,
    children,
    unary_operator,
)
from cudalint.frontends.cuda.lowering.syntax import bare, two
from cudalint.program import (
    AddressOf,
    Binary,
    Branch,
    Constant,
    Expression,
    FunctionReference,
    Unary,
)
from cudalint.source import Span


def branch_on(context: Context, value: Expression, then: Node, otherwise: Node, span: Span) -> None:
    """Branch on a lowered condition, split at ``&&``, ``||`` and ``!``."""
    match value:
        case Constant(value=constant) if not isinstance(constant, str):
            context.graph.jump(then if constant else otherwise)
        case Unary(operator="!", operand=operand):
            branch_on(context, operand, otherwise, then, span)
        case Binary(operator="&&", left=left, right=right):
            middle = context.graph.block()
            branch_on(context, left, middle, otherwise, span)
            context.graph.current = middle
            branch_on(context, right, then, otherwise, span)
        case Binary(operator="||", left=left, right=right):
            middle = context.graph.block()
            branch_on(context, left, then, middle, span)
            context.graph.current = middle
            branch_on(context, right, then, otherwise, span)
        case FunctionReference():
            context.graph.jump(then)
        case AddressOf():
            context.graph.jump(then)
        case _:
            if context.graph.is_open:
                context.graph.finish(Branch(value, then.number, otherwise.number, span))


def condition(context: Context, cursor: Cursor, then: Node, otherwise: Node) -> None:
    """Branch on a condition, split at ``&&``, ``||``, ``!`` and ``?:``."""
    cursor = bare(context, cursor)
    kind: int = cursor._kind_id
    if kind == Kind.BINARY:
        operator = binary_operator(cursor)
        if operator in ("&&", "||", ","):
            left, right = two(cursor)
            if operator == ",":
                context.discard(left)
            else:
                middle = context.graph.block()
                ways = (middle, otherwise) if operator == "&&" else (then, middle)
                condition(context, left, *ways)
                context.graph.current = middle
            condition(context, right, then, otherwise)
            return
    elif kind == Kind.UNARY and unary_operator(cursor) == "!":
        condition(context, children(cursor)[0], otherwise, then)
        return
    elif kind == Kind.CONDITIONAL:
        parts = children(cursor)
        if len(parts) == 3:
            first, second = context.graph.block(), context.graph.block()
            condition(context, parts[0], first, second)
            for node, part in ((first, parts[1]), (second, parts[2])):
                context.graph.current = node
                condition(context, part, then, otherwise)
            return
    span = context.positions.span(cursor)
    branch_on(context, context.expression(cursor), then, otherwise, span)
