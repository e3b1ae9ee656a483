"""Lowers literals and other constants."""

from __future__ import annotations

import ast
import re

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import Kind, children, evaluate, name_of
from cudalint.program import Constant, Expression, Unknown

_OBJECT_MACRO = re.compile(r"[A-Za-z_]\w*(?!\w|\s*\()")


def number(context: Context, cursor: Cursor) -> Expression:
    """Lower a number or a character."""
    value = evaluate(cursor)
    if value is None:
        return Unknown(context.positions.text(cursor))
    return Constant(value, macro_name(context, cursor))


def macro_name(context: Context, cursor: Cursor) -> str:
    """The object-like macro that writes an expression, or its start."""
    if not context.positions.from_macro(cursor):
        return ""
    name, start, _ = context.positions.offsets(cursor)
    found = _OBJECT_MACRO.match(context.positions.text_of(name, start, start + 120))
    return found.group() if found else ""


def string_literal(context: Context, cursor: Cursor) -> Expression:
    """Lower a string."""
    spelled = name_of(cursor)
    quote = spelled.find('"')
    if quote < 0:
        return Constant(spelled)
    try:
        return Constant(str(ast.literal_eval(spelled[quote:])))
    except (SyntaxError, ValueError):
        return Constant(spelled[quote:].strip('"'))


def boolean(context: Context, cursor: Cursor) -> Expression:
    """Lower ``true`` and ``false``."""
    return Constant(bool(evaluate(cursor)))


def null(context: Context, cursor: Cursor) -> Expression:
    """Lower ``nullptr`` and ``NULL``."""
    return Constant(None, "NULL" if cursor._kind_id == Kind.GNU_NULL else "nullptr")


def sizeof(context: Context, cursor: Cursor) -> Expression:
    """Lower ``sizeof``."""
    value = evaluate(cursor)
    text = context.positions.own_text(cursor)
    if value is None or any(context.positions.is_made_up(part) for part in children(cursor)):
        return Unknown(text or "sizeof")
    return Constant(value, text)
