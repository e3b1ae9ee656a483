"""Lowers calls that clang could not resolve: in a template, or of an unknown name."""

from __future__ import annotations

import re

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.arguments import lower_arguments
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.emission import emit_call, emit_indirect
from cudalint.frontends.cuda.lowering.forwarding import forwarded
from cudalint.frontends.cuda.lowering.launches import is_configuration, launch
from cudalint.frontends.cuda.lowering.libclang import Kind, name_of, referenced, values_of
from cudalint.frontends.cuda.lowering.names import FUNCTIONS, FunctionFacts
from cudalint.frontends.cuda.lowering.objects import construct_dependent
from cudalint.frontends.cuda.lowering.operators import apply, step
from cudalint.frontends.cuda.lowering.references import member_base
from cudalint.frontends.cuda.lowering.syntax import MEMBER_NAME, unwrapped
from cudalint.frontends.cuda.lowering.text import recover_arguments
from cudalint.program import (
    THIS,
    Binary,
    Dereference,
    Expression,
    Member,
    Unknown,
    Variable,
    render,
)

_CALLED_NAME = re.compile(r"\s*((?:::)?[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*)")

_UNARY_OPERATORS = frozenset(["&", "*", "!", "+", "-", "~"])
_BINARY_OPERATORS = frozenset(
    ["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]
)


def unresolved_call(
    context: Context, cursor: Cursor, operands: list[Cursor], wanted: bool, text: str
) -> Expression:
    """Lower a call that clang could not resolve: in a template, or of an unknown name."""
    if is_configuration(context, operands):
        return launch(context, cursor, operands)
    simple = _dependent_operator(context, cursor, operands, wanted)
    if simple is not None:
        return simple
    callee = unwrapped(operands[0])
    method = context.positions.text(operands[0]).removeprefix(context.positions.text(callee))
    if method and (found := MEMBER_NAME.match(method)):
        # Clang keeps the object only: it does not know the class.
        value = context.expression(callee)
        receiver = Dereference(value) if found.group(1) == "->" else value
        arguments = lower_arguments(context, operands[1:])
        name = f".{found.group(2)}"
        return emit_call(context, cursor, name, arguments, wanted, kind="method", receiver=receiver)
    if callee._kind_id == Kind.MEMBER:
        return _unresolved_member(context, cursor, callee, operands, wanted)
    declaration = referenced(callee) if callee._kind_id == Kind.NAME else None
    if declaration is None or declaration._kind_id not in (Kind.OVERLOADED, *FUNCTIONS):
        value = context.expression(operands[0])
        scoped = isinstance(value, Variable) and "::" in value.name
        if scoped or (isinstance(value, Unknown) and not value.reads):
            found = _CALLED_NAME.match(context.positions.text(callee))
            name = found.group(1) if found else render(value)
            return _emit_unresolved(context, cursor, name, None, operands[1:], wanted, text)
        span = context.positions.span(cursor)
        recovered = recover_arguments(context, text, operands[1:], span) if text else None
        if recovered is None:
            recovered = lower_arguments(context, operands[1:])
        if isinstance(value, Member) and callee._kind_id != Kind.MEMBER:
            # A method of a class that clang does not know.
            name = f".{value.field}"
            return emit_call(
                context, cursor, name, recovered, wanted, kind="method", receiver=value.base
            )
        return emit_indirect(context, cursor, value, recovered, wanted)
    if declaration._kind_id != Kind.OVERLOADED:
        facts = context.names.function(declaration)
        return _emit_unresolved(context, cursor, facts.name, facts, operands[1:], wanted, text)
    candidates = context.names.overloads(declaration)
    if not candidates:
        return _emit_unresolved(
            context, cursor, name_of(declaration), None, operands[1:], wanted, text
        )
    facts = _best(context, candidates, len(operands) - 1)
    return _emit_unresolved(
        context, cursor, facts.name, facts, operands[1:], wanted, text, len(candidates) == 1
    )


def _dependent_operator(
    context: Context, cursor: Cursor, operands: list[Cursor], wanted: bool
) -> Expression | None:
    """``a != b``, ``&a`` on types that depend on a template or are not known: a call of the
    operands, the name of the operator behind the first or only written there."""
    symbol = _operator_named(operands[1]) if len(operands) > 1 else ""
    if symbol in ("++", "--"):
        return step(context, cursor, symbol + "x" if len(operands) == 2 else "x" + symbol, wanted)
    if symbol and len(operands) == 2 and symbol in _UNARY_OPERATORS:
        return apply(context, symbol, context.expression(operands[0]), cursor)
    if not symbol and len(operands) == 2:
        text, left, right = map(context.positions.text, (cursor, *operands))
        written = text.startswith(left) and text.endswith(right)
        symbol = text[len(left) : len(text) - len(right)].strip() if written else ""
    elif len(operands) != 3:
        return None
    if symbol not in _BINARY_OPERATORS:
        return None
    first = context.expression(operands[0])
    return Binary(symbol, first, context.expression(operands[-1]))


def _operator_named(operand: Cursor) -> str:
    """``&`` for the name ``operator&``."""
    declaration = referenced(operand) if operand._kind_id == Kind.NAME else None
    name = name_of(declaration) if declaration is not None else ""
    return name.removeprefix("operator").strip() if name.startswith("operator") else ""


def dependent_construction(context: Context, cursor: Cursor, operands: list[Cursor]) -> Expression:
    """Lower ``T(x)`` where ``T`` depends on a template."""
    type_ = context.types.of(cursor)
    if type_.kind != "record":
        if len(operands) == 1:
            return context.expression(operands[0])
        reads = tuple(context.expression(operand) for operand in operands)
        return Unknown(context.positions.text(cursor), reads)
    place = context.temporary(type_)
    construct_dependent(
        context, place, type_, lower_arguments(context, operands), context.positions.span(cursor)
    )
    return place


def _best(context: Context, candidates: list[Cursor], count: int) -> FunctionFacts:
    for candidate in candidates:
        if context.library.argument_count(candidate) == count:
            return context.names.function(candidate)
    return context.names.function(candidates[0])


def _emit_unresolved(
    context: Context,
    cursor: Cursor,
    name: str,
    facts: FunctionFacts | None,
    operands: list[Cursor],
    wanted: bool,
    text: str = "",
    resolved: bool = True,
) -> Expression:
    meant = forwarded(context, cursor, name, operands, None)
    if meant is not None:
        return meant
    if text and (
        facts is None or context.library.argument_count(facts.declaration) != len(operands)
    ):
        # Clang drops the arguments that it does not understand; the text has them all.
        recovered = recover_arguments(context, text, operands, context.positions.span(cursor))
    else:
        recovered = None
    arguments = recovered if recovered is not None else lower_arguments(context, operands)
    is_method = facts is not None and facts.record is not None and not facts.is_static
    kind = "method" if is_method else "function"
    if facts is None and "::" not in name:
        kind = "macro"
    key = facts.key if facts is not None and resolved else None
    receiver = THIS if is_method else None
    return emit_call(
        context, cursor, name, arguments, wanted, facts, kind=kind, key=key, receiver=receiver
    )


def _unresolved_member(
    context: Context, cursor: Cursor, callee: Cursor, operands: list[Cursor], wanted: bool
) -> Expression:
    receiver = member_base(context, callee)
    found = MEMBER_NAME.search(context.positions.text(callee))
    name = found.group(2).strip() if found else name_of(callee)
    bases = values_of(callee)
    record = None
    if receiver == THIS:
        record = context.record
    elif bases:
        type_ = context.types.of(bases[0])
        if type_.kind in ("pointer", "reference") and type_.pointee is not None:
            type_ = type_.pointee
        record = type_.record
    facts = context.unit.method_named(record, name) if record else None
    arguments = lower_arguments(context, operands[1:])
    return emit_call(
        context,
        cursor,
        facts.name if facts else f".{name}",
        arguments,
        wanted,
        facts,
        kind="method",
        key=facts.key if facts else None,
        receiver=receiver,
        record=record,
    )
