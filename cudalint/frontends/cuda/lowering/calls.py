"""Lowers calls."""

from __future__ import annotations

from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.arguments import kept_arguments, lower_arguments
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.emission import emit_indirect, emit_resolved
from cudalint.frontends.cuda.lowering.forwarding import forwarded
from cudalint.frontends.cuda.lowering.launches import is_configuration, launch
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    children,
    is_value,
    referenced,
    values_of,
)
from cudalint.frontends.cuda.lowering.names import FUNCTIONS, FunctionFacts
from cudalint.frontends.cuda.lowering.objects import construct
from cudalint.frontends.cuda.lowering.operator_calls import operator_call
from cudalint.frontends.cuda.lowering.owned import made_with_new
from cudalint.frontends.cuda.lowering.references import member_base
from cudalint.frontends.cuda.lowering.syntax import is_dependent_construction, unwrapped
from cudalint.frontends.cuda.lowering.unknowns import other
from cudalint.frontends.cuda.lowering.unresolved import dependent_construction, unresolved_call
from cudalint.program import THIS, Dereference, Expression, FunctionReference


def call(context: Context, cursor: Cursor, wanted: bool = True) -> Expression:
    """Lower a call, construction or launch: once in a row where a macro repeats its argument.

    ``CHECK_EQ((code), cudaSuccess) << text((code))`` comes to its second one after a failure only.
    """
    if not wanted or not context.positions.is_argument_of_macro(cursor):
        return _call(context, cursor, wanted)
    place = (context.graph.current, *context.positions.offsets(cursor))
    value = context.expanded.get(place)
    if value is None:
        value = _call(context, cursor, wanted)
        context.expanded[(context.graph.current, *place[1:])] = value
    return value


def _call(context: Context, cursor: Cursor, wanted: bool) -> Expression:
    operands = values_of(cursor)
    function = referenced(cursor)
    kind = function._kind_id if function is not None else 0
    if function is not None and kind == Kind.CONSTRUCTOR:
        return construct(context, cursor, None)
    if not operands and not (function is None and is_dependent_construction(cursor)):
        return other(context, cursor)
    if operands and is_configuration(context, operands):
        return launch(context, cursor, operands)
    if function is not None and kind in FUNCTIONS:
        facts = context.names.function(function)
        if facts.name.rpartition("::")[2].startswith("operator") and kind != Kind.CONVERSION:
            return operator_call(context, cursor, operands, function, facts, wanted)
        return _named_call(context, cursor, operands, function, facts, wanted)
    if function is None and is_dependent_construction(cursor):
        return dependent_construction(context, cursor, operands)
    if function is None or kind == Kind.OVERLOADED:
        return unresolved_call(context, cursor, operands, wanted, "")
    return _indirect(context, cursor, operands, wanted)


def _named_call(
    context: Context,
    cursor: Cursor,
    operands: list[Cursor],
    function: Cursor,
    facts: FunctionFacts,
    wanted: bool,
) -> Expression:
    meant = forwarded(context, cursor, facts.name, operands[1:], function)
    if meant is not None:
        return meant
    receiver: Expression | None = None
    callee = unwrapped(operands[0])
    if facts.record is not None and not facts.is_static:
        receiver = member_base(context, callee) if callee._kind_id == Kind.MEMBER else THIS
    elif callee._kind_id == Kind.MEMBER:
        for base in children(callee):
            if is_value(base):
                context.discard(base)
    if (
        facts.kind == Kind.CONVERSION
        and receiver is not None
        and (facts.is_system or isinstance(receiver, FunctionReference))
    ):
        # A smart pointer tested, a lambda as a function pointer, an iterator's reference.
        return receiver
    arguments = kept_arguments(context, operands[1:], function, facts)
    owner = made_with_new(context, cursor, facts, function, arguments)
    if owner is not None:
        return owner
    kind: Any = "function"
    if facts.kind == Kind.DESTRUCTOR:
        kind = "destructor"
    elif facts.record is not None:
        kind = "method"
    return emit_resolved(context, cursor, facts, function, arguments, kind, receiver, wanted)


def _indirect(context: Context, cursor: Cursor, operands: list[Cursor], wanted: bool) -> Expression:
    callee = context.expression(operands[0])
    while isinstance(callee, Dereference):
        callee = callee.pointer
    arguments = lower_arguments(context, operands[1:])
    returns = context.types.result(operands[0])
    return emit_indirect(context, cursor, callee, arguments, wanted, returns)
