"""Lowers calls of the operators of classes."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.apis.loader import load
from cudalint.frontends.cuda.lowering.arguments import lower_arguments
from cudalint.frontends.cuda.lowering.context import Context, is_place
from cudalint.frontends.cuda.lowering.dimensions import as_dim3, is_dim3
from cudalint.frontends.cuda.lowering.emission import emit_indirect, emit_resolved
from cudalint.frontends.cuda.lowering.libclang import Kind, referenced
from cudalint.frontends.cuda.lowering.names import FunctionFacts
from cudalint.frontends.cuda.lowering.objects import is_plain
from cudalint.frontends.cuda.lowering.products import REFERENCES, unpack
from cudalint.frontends.cuda.lowering.references import member_base
from cudalint.frontends.cuda.lowering.syntax import unwrapped
from cudalint.frontends.cuda.lowering.unknowns import other
from cudalint.program import (
    AddressOf,
    Argument,
    Assign,
    Binary,
    Dereference,
    Expression,
    FunctionReference,
    Index,
    Member,
    Tuple,
    Unary,
    Unknown,
)


def operator_call(
    context: Context,
    cursor: Cursor,
    operands: list[Cursor],
    function: Cursor,
    facts: FunctionFacts,
    wanted: bool,
) -> Expression:
    """Lower a call of an overloaded operator."""
    symbol = facts.name.rpartition("::")[2].removeprefix("operator").strip()
    callee = unwrapped(operands[0])
    if callee._kind_id == Kind.MEMBER and referenced(callee) == function:
        receiver: Expression = member_base(context, callee)
        rest = operands[1:]
    else:
        rest = _without_callee(context, operands, function)
        if not rest:
            return other(context, cursor)
        if symbol in ("=",) and is_dim3(context, facts):
            value = context.expression(rest[1]) if len(rest) > 1 else Unknown("dim3")
            place = context.expression(rest[0])
            context.graph.emit(Assign(place, as_dim3(value), context.positions.span(cursor)))
            return place
        receiver = context.expression(rest[0])
        rest = rest[1:]
    if symbol == "()":
        return _called_object(context, cursor, function, facts, receiver, rest, wanted)
    if isinstance(receiver, Tuple) and receiver.kind == REFERENCES and symbol == "=" and rest:
        type_, span = context.types.of(rest[0]), context.positions.span(cursor)
        return unpack(context, receiver, context.expression(rest[0]), type_, span)
    if symbol == "=" and facts.record is not None:
        return _assigned_object(context, cursor, function, facts, receiver, rest)
    if facts.is_system:
        simple = _simple_operator(context, cursor, facts, symbol, receiver, rest)
        if simple is not None:
            return simple
    arguments = lower_arguments(context, rest)
    if facts.record is None:
        arguments = (Argument(receiver), *arguments)
        return emit_resolved(context, cursor, facts, function, arguments, "operator", None, wanted)
    return emit_resolved(context, cursor, facts, function, arguments, "operator", receiver, wanted)


def _without_callee(context: Context, operands: list[Cursor], function: Cursor) -> list[Cursor]:
    """The operands of an operator's call: all children but the operator's own name."""
    rest, found = [], False
    for operand in operands:
        if not found:
            inner = unwrapped(operand)
            if inner._kind_id == Kind.NAME:
                declaration = referenced(inner)
                if declaration is not None and declaration.data[0] == function.data[0]:
                    found = True
                    continue
        rest.append(operand)
    return rest


def _simple_operator(
    context: Context,
    cursor: Cursor,
    facts: FunctionFacts,
    symbol: str,
    receiver: Expression,
    rest: list[Cursor],
) -> Expression | None:
    """Operators of the standard library's containers, iterators and smart pointers."""
    model = load("cuda").lookup(facts.name)
    if model is not None and model.unboxes:
        content = Member(receiver, "", "value")
        return AddressOf(content) if symbol == "->" else content
    if symbol == "[]" and len(rest) == 1:
        element = Index(receiver, context.expression(rest[0]))
        return Member(element, "", "second") if model is not None and model.entries else element
    if symbol == "->":
        return receiver
    if symbol == "*" and not rest:
        return receiver.place if isinstance(receiver, AddressOf) else Dereference(receiver)
    if symbol in ("==", "!=") and len(rest) == 1 and is_place(receiver):
        return Binary(symbol, receiver, context.expression(rest[0]))
    if symbol == "!" and not rest:
        return Unary("!", receiver)
    return None


def _called_object(
    context: Context,
    cursor: Cursor,
    function: Cursor,
    facts: FunctionFacts,
    receiver: Expression,
    rest: list[Cursor],
    wanted: bool,
) -> Expression:
    arguments = lower_arguments(context, rest)
    key = context.unit.lambda_of(function)
    if key is not None or facts.is_system or isinstance(receiver, FunctionReference):
        if key is not None and not isinstance(receiver, FunctionReference):
            context.unit.note_lambda(receiver, key)
        returns = context.types.result(function)
        return emit_indirect(context, cursor, receiver, arguments, wanted, returns)
    return emit_resolved(context, cursor, facts, function, arguments, "method", receiver, wanted)


def _assigned_object(
    context: Context,
    cursor: Cursor,
    function: Cursor,
    facts: FunctionFacts,
    receiver: Expression,
    rest: list[Cursor],
) -> Expression:
    arguments = lower_arguments(context, rest)
    if context.library.is_copy_assignment(facts.declaration):
        if is_plain(context, function, facts) and arguments:
            span = context.positions.span(cursor)
            context.graph.emit(Assign(receiver, arguments[0].value, span))
        else:
            emit_resolved(
                context, cursor, facts, function, arguments, "copy", receiver, wanted=False
            )
    elif is_plain(context, function, facts) and arguments:
        context.graph.emit(Assign(receiver, arguments[0].value, context.positions.span(cursor)))
    else:
        emit_resolved(
            context, cursor, facts, function, arguments, "operator", receiver, wanted=False
        )
    return receiver
