"""What a cursor is, without lowering it."""

from __future__ import annotations

import re

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    arguments_of,
    children,
    name_of,
    referenced,
    related,
    values_of,
)

CASTS = frozenset(
    {
        Kind.C_CAST,
        Kind.STATIC_CAST,
        Kind.REINTERPRET_CAST,
        Kind.CONST_CAST,
        Kind.FUNCTIONAL_CAST,
        Kind.DYNAMIC_CAST,
    }
)

_VALUE_CASTS = (Kind.C_CAST, Kind.STATIC_CAST)

MEMBER_NAME = re.compile(
    r"(->|\.)\s*(?:template\s+)?(~?[A-Za-z_]\w*|operator\W+)\s*(?:<.*>)?\s*\Z", re.S
)

_WRAPPERS = (
    Kind.UNEXPOSED,
    Kind.PARENTHESES,
    Kind.FUNCTIONAL_CAST,
    Kind.C_CAST,
    Kind.STATIC_CAST,
)


def bare(context: Context, cursor: Cursor) -> Cursor:
    """The condition without parentheses, conversions to bool and ``__builtin_expect``."""
    while True:
        kind: int = cursor._kind_id
        if kind not in (Kind.PARENTHESES, Kind.UNEXPOSED, Kind.CALL) and kind not in CASTS:
            return cursor
        operands = values_of(cursor)
        if kind == Kind.CALL:
            if len(operands) < 2 or name_of(cursor) != "__builtin_expect":
                return cursor
            cursor = operands[1]
            continue
        if len(operands) != 1 or is_recovery(context, cursor, operands):
            return cursor
        if kind in CASTS and context.types.of(cursor).kind != "bool":
            return cursor
        if kind == Kind.UNEXPOSED and context.types.of(cursor).kind != "bool":
            inner = context.types.of(operands[0])
            if inner.kind in ("float", "pointer") and context.types.of(cursor).kind != inner.kind:
                return cursor
        cursor = operands[0]


def two(cursor: Cursor) -> tuple[Cursor, Cursor]:
    """The operands of a binary operator."""
    operands = values_of(cursor)
    if len(operands) < 2:
        raise ValueError("an operator without its operands")
    return operands[0], operands[1]


def unwrapped(cursor: Cursor) -> Cursor:
    """The expression without parentheses and implicit conversions."""
    while cursor._kind_id in (Kind.UNEXPOSED, Kind.PARENTHESES):
        operands = children(cursor)
        if len(operands) != 1:
            break
        cursor = operands[0]
    return cursor


def is_default(context: Context, operand: Cursor) -> bool:
    """Whether an argument is not written: the default takes its place."""
    return bool(context.library.extent(operand).begin_int_data == 0)


def is_trapped(context: Context, left: Cursor, right: Cursor) -> bool:
    """Whether the compiler put a trap where the argument stands: what it takes for an object cannot
    be passed to ``...`` (a type whose header was not read)."""
    first, second = context.library.extent(left), context.library.extent(right)
    return name_of(left) == "__builtin_trap" and first.begin_int_data == second.begin_int_data


def is_implicit(context: Context, member: Cursor) -> bool:
    """Whether the compiler wrote the member function: it stands where its class does."""
    parent = related("parent", member)
    if parent is None:
        return False
    here = context.library.location(member).int_data
    return bool(here == context.library.location(parent).int_data)


def is_construction(cursor: Cursor) -> bool:
    """Whether a call is that of a constructor."""
    function = referenced(cursor)
    return function is not None and function._kind_id == Kind.CONSTRUCTOR


def construction_in(context: Context, value: Cursor) -> Cursor | None:
    """The constructor's call that an initialiser consists of."""
    while value._kind_id in _WRAPPERS:
        parts = values_of(value)
        if len(parts) != 1:
            return None
        value = parts[0]
    if value._kind_id != Kind.CALL:
        return None
    function = referenced(value)
    if function is not None and function._kind_id == Kind.CONSTRUCTOR:
        return value
    return None


def cast_to_unknown(context: Context, cursor: Cursor) -> Cursor | None:
    """What is cast to a type that no header declares: that is a handle, which has to be taken for a
    class, and no object is made."""
    operands = values_of(cursor) if cursor._kind_id in _VALUE_CASTS else []
    made = construction_in(context, operands[-1]) if operands else None
    if made is None or not context.positions.is_made_up(made):
        return None
    arguments = arguments_of(made)
    return arguments[0] if len(arguments) == 1 else None


def is_dependent_construction(cursor: Cursor) -> bool:
    """``T(x)`` where ``T`` depends on a template."""
    named = (one for one in children(cursor) if one._kind_id != Kind.NAMESPACE_REFERENCE)
    first = next(named, None)
    return first is not None and first._kind_id in (Kind.TYPE_REFERENCE, Kind.TEMPLATE_REFERENCE)


def is_recovery(context: Context, cursor: Cursor, operands: list[Cursor]) -> bool:
    """Whether clang kept only the parts of an expression that it could not resolve."""
    if cursor._kind_id != Kind.UNEXPOSED:
        return False
    first = operands[0]
    outer, inner = context.library.extent(cursor), context.library.extent(first)
    if outer.begin_int_data == inner.begin_int_data and outer.end_int_data == inner.end_int_data:
        return False
    if first._kind_id == Kind.NAME:
        declaration = referenced(first)
        return declaration is not None and (
            declaration._kind_id == Kind.OVERLOADED or _is_wider(context, cursor, first)
        )
    return (
        context.types.of(cursor).text == "<dependent type>"
        and len(operands) == 1
        and first._kind_id != Kind.PACK_EXPANSION
        and context.types.of(first).text != "<dependent type>"
        and _is_wider(context, cursor, first)
    )


def _is_wider(context: Context, outer: Cursor, inner: Cursor) -> bool:
    name, start, end = context.positions.offsets(outer)
    _, inner_start, inner_end = context.positions.offsets(inner)
    if start < 0 or (start == inner_start and end == inner_end):
        return False
    around = context.positions.text_of(name, start, inner_start)
    around += context.positions.text_of(name, inner_end, end)
    return bool(around.strip(" \t\r\n()")) or "(" in context.positions.text_of(name, inner_end, end)
