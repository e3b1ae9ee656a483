"""What no other part lowers."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import Kind, children, evaluate, is_value, values_of
from cudalint.frontends.cuda.lowering.variables import mentioned
from cudalint.program import Constant, Expression, Unknown


def other(context: Context, cursor: Cursor) -> Expression:
    """Anything else: constant, or unknown with what it reads."""
    value = evaluate(cursor)
    if value is not None:
        return Constant(value)
    reads = [
        context.expression(child)
        for child in children(cursor)
        if is_value(child) and Kind.UNEXPOSED <= child._kind_id < 200
    ]
    text = context.positions.text(cursor)
    return Unknown(text[:200], tuple(reads) or mentioned(context, text))


def only(context: Context, cursor: Cursor) -> Expression:
    """Lower what stands around one expression."""
    operands = values_of(cursor)
    return context.expression(operands[0]) if len(operands) == 1 else other(context, cursor)
