"""``dim3`` values, as three items."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import name_of
from cudalint.frontends.cuda.lowering.names import FunctionFacts
from cudalint.frontends.cuda.lowering.syntax import is_default
from cudalint.program import Cast, Constant, Expression, Tuple

DIM3 = "dim3"


def is_dim3(context: Context, facts: FunctionFacts) -> bool:
    """Whether a function is a member of ``dim3``."""
    return facts.record is not None and name_of(facts.record) == DIM3 and facts.is_system


def new_dim3(context: Context, operands: list[Cursor], copies: bool) -> Expression:
    """The value of a constructor's call."""
    if copies:
        return as_dim3(context.expression(operands[0]))
    items: list[Expression] = []
    for operand in operands[:3]:
        if is_default(context, operand):
            items.append(Constant(1))
        else:
            items.append(without_cast(context.expression(operand)))
    items += [Constant(1)] * (3 - len(items))
    return Tuple(tuple(items), DIM3)


def as_dim3(value: Expression) -> Expression:
    """A value assigned to a ``dim3``, with its three items."""
    if isinstance(value, Tuple):
        items = [without_cast(item) for item in value.items]
        items += [Constant(1)] * (3 - len(items))
        return Tuple(tuple(items), DIM3)
    return value


def without_cast(value: Expression) -> Expression:
    """A launch's number without its conversion to ``unsigned`` or ``size_t``."""
    return value.operand if isinstance(value, Cast) and value.to.kind == "integer" else value
