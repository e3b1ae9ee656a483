"""Lowers expressions whose value nobody wants: they may branch."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.blocks import statement_expression
from cudalint.frontends.cuda.lowering.calls import call
from cudalint.frontends.cuda.lowering.casts import recover_call
from cudalint.frontends.cuda.lowering.conditions import condition
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    binary_operator,
    children,
    unary_operator,
    values_of,
)
from cudalint.frontends.cuda.lowering.operators import assign, step
from cudalint.frontends.cuda.lowering.syntax import CASTS, is_recovery, two
from cudalint.program import Constant, FunctionReference, Use, Variable


def discard(context: Context, cursor: Cursor) -> None:
    """Lower an expression whose value nobody wants."""
    kind: int = cursor._kind_id
    if kind == Kind.CALL:
        call(context, cursor, wanted=False)
        return
    if kind in (Kind.PARENTHESES, Kind.UNEXPOSED) or kind in CASTS:
        operands = values_of(cursor)
        if len(operands) == 1 and not is_recovery(context, cursor, operands):
            context.discard(operands[0])
            return
    elif kind == Kind.UNARY and unary_operator(cursor) in ("x++", "x--", "++x", "--x"):
        step(context, cursor, unary_operator(cursor), wanted=False)
        return
    elif kind == Kind.BINARY:
        if _discard_binary(context, cursor):
            return
    elif kind == Kind.CONDITIONAL:
        _discard_conditional(context, cursor)
        return
    elif kind == Kind.STATEMENT_EXPRESSION:
        statement_expression(context, cursor, wanted=False)
        return
    elif kind == Kind.COMPOUND_ASSIGNMENT:
        context.expression(cursor)
        return
    if kind == Kind.UNEXPOSED and recover_call(context, cursor, wanted=False) is not None:
        return
    value = context.expression(cursor)
    if kind in (Kind.DELETE, Kind.THROW):
        return
    if not isinstance(value, Constant | FunctionReference) and not (
        isinstance(value, Variable) and value.symbol.startswith("%")
    ):
        context.graph.emit(Use(value, context.positions.span(cursor)))


def _discard_binary(context: Context, cursor: Cursor) -> bool:
    operator = binary_operator(cursor)
    left, right = two(cursor)
    if operator == ",":
        context.discard(left)
        context.discard(right)
    elif operator in ("&&", "||"):
        rest, after = context.graph.block(), context.graph.block()
        if operator == "&&":
            condition(context, left, rest, after)
        else:
            condition(context, left, after, rest)
        context.graph.current = rest
        context.discard(right)
        context.graph.enter(after)
    elif operator == "=":
        assign(context, left, right, cursor)
    else:
        return False
    return True


def _discard_conditional(context: Context, cursor: Cursor) -> None:
    test, first, second = children(cursor)[:3]
    then, otherwise, after = (context.graph.block() for _ in range(3))
    condition(context, test, then, otherwise)
    context.graph.current = then
    context.discard(first)
    context.graph.jump(after)
    context.graph.current = otherwise
    context.discard(second)
    context.graph.enter(after)
