"""Lowers casts, written and implicit, and calls that clang could not resolve."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.conversions import convert
from cudalint.frontends.cuda.lowering.libclang import Kind, evaluate, referenced, values_of
from cudalint.frontends.cuda.lowering.syntax import cast_to_unknown, is_recovery
from cudalint.frontends.cuda.lowering.text import out_of_sight, recover
from cudalint.frontends.cuda.lowering.unknowns import other
from cudalint.frontends.cuda.lowering.unresolved import unresolved_call
from cudalint.frontends.cuda.lowering.variables import IDENTIFIER, named, unknown
from cudalint.program import Argument, Call, Constant, Expression, Unknown

_ARGUMENT_LIST = "__va_list"
"""In the names of the compiler's type for the arguments of an ellipsis."""


def cast(context: Context, cursor: Cursor) -> Expression:
    """Lower a cast."""
    operands = values_of(cursor)
    if not operands:
        constant = evaluate(cursor)
        return Constant(constant) if constant is not None else unknown(context, cursor)
    if (handle := cast_to_unknown(context, cursor)) is not None:
        return context.expression(handle)
    value = context.expression(operands[-1])
    source, target = context.types.of(operands[-1]), context.types.of(cursor)
    if cursor._kind_id == Kind.DYNAMIC_CAST and target.pointee and source.pointee:
        place = context.temporary(target)
        record, span = source.pointee.record, context.positions.span(cursor)
        cast = Call(
            "dynamic_cast",
            (Argument(value),),
            span,
            place,
            kind="cast",
            may_throw=False,
            record=record,
        )
        context.graph.emit(cast)
        return place
    return convert(value, source, target, explicit=True)


def unexposed(context: Context, cursor: Cursor) -> Expression:
    """Lower what clang has no kind for: an implicit conversion, a default, an unresolved call."""
    operands = values_of(cursor)
    if len(operands) == 1 and not is_recovery(context, cursor, operands):
        inner = operands[0]
        value = context.expression(inner)
        source, target = context.library.type(inner), context.library.type(cursor)
        if source.data[0] == target.data[0]:
            return value
        given, wanted = context.types.lower(source), context.types.lower(target)
        if _ARGUMENT_LIST in given.text and _ARGUMENT_LIST not in wanted.text:
            return Unknown(context.positions.text(cursor)[:200])  # va_arg(list, void *)
        return convert(value, given, wanted, False)
    recovered = recover_call(context, cursor, wanted=True)
    if recovered is not None:
        return recovered
    if not operands:
        return _leaf(context, cursor)
    return other(context, cursor)


def _leaf(context: Context, cursor: Cursor) -> Expression:
    """An expression without children: a default argument, a default value, a lost name."""
    value = evaluate(cursor)
    type_ = context.types.of(cursor)
    if value is not None and type_.kind in ("integer", "float", "enumeration", "bool"):
        return Constant(bool(value) if type_.kind == "bool" else value)
    text = context.positions.text(cursor)
    if not text:
        return Constant(None) if type_.kind == "pointer" else Unknown("")
    if IDENTIFIER.match(text):
        return named(context, text)
    if not context.positions.own_text(cursor):
        # Part of a macro's body: the text is the macro's use, calls in it are lowered already.
        return Unknown(text[:200])
    return recover(context, text, context.positions.span(cursor), wanted=True)


def recover_call(context: Context, cursor: Cursor, wanted: bool) -> Expression | None:
    """A call that clang could not resolve, from what it kept of it and from its text."""
    operands = values_of(cursor)
    text = context.positions.own_text(cursor)
    if operands and _is_callee(context, operands[0], text):
        return unresolved_call(context, cursor, operands, wanted, text)
    if operands and not text and _is_function(operands[0]):
        # Written in part by a macro, such as ``cuCtxCreate_v4``: what it changes is not known.
        whole = context.positions.text(cursor)
        out_of_sight(context, whole, context.positions.span(cursor))
        return Unknown(whole[:200])
    if text and (not operands or len(operands) > 1 or is_recovery(context, cursor, operands)):
        if not operands and (context.types.of(cursor).kind != "other" or IDENTIFIER.match(text)):
            return None
        return recover(context, text, context.positions.span(cursor), wanted)
    return None


def _is_function(cursor: Cursor) -> bool:
    """Whether an operand names a function, as only a call that is not understood begins with one:
    else it would be converted to a pointer."""
    declaration = referenced(cursor) if cursor._kind_id == Kind.NAME else None
    return declaration is not None and declaration._kind_id == Kind.FUNCTION


def _is_callee(context: Context, cursor: Cursor, text: str) -> bool:
    """Whether the first part of an unresolved expression is what it calls."""
    if cursor._kind_id not in (Kind.NAME, Kind.MEMBER):
        return False
    if not text:
        # From a macro: only a call leaves a name without a declaration.
        declaration = referenced(cursor)
        return declaration is not None and declaration._kind_id == Kind.OVERLOADED
    name, _, end = context.positions.offsets(cursor)
    following = context.positions.text_of(name, end, end + 40).lstrip()
    return following.startswith(("(", "<"))
