"""Lowers ``new`` and ``delete``."""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import Kind, values_of
from cudalint.frontends.cuda.lowering.objects import construct
from cudalint.frontends.cuda.lowering.syntax import is_construction, is_default, unwrapped
from cudalint.frontends.cuda.lowering.text import recover
from cudalint.program import (
    Argument,
    Assign,
    Call,
    Constant,
    Dereference,
    Expression,
    Type,
    Unknown,
)


def new(context: Context, cursor: Cursor) -> Expression:
    """Lower ``new``: the allocation, then the constructor."""
    operands = values_of(cursor)
    type_ = context.types.of(cursor)
    element = type_.pointee or Type("")
    span = context.positions.span(cursor)
    text = _text(context, cursor)
    if not operands and text and context.unit.has_errors:
        # ``new T[UNKNOWN]``: clang keeps only the type.
        name, _, end = context.positions.offsets(cursor)
        rest = context.positions.text_of(name, end, end + _LONGEST)
        if rest.startswith("[") and "]" in rest:
            return recover(context, text + rest[: rest.index("]") + 1], span, wanted=True)
    is_array = _is_array_new(text, operands, element)
    place: Expression | None = None
    if _placement(text) and operands:
        where = operands.pop(0)
        if context.types.of(where).kind in ("pointer", "array"):
            place = context.expression(where)
    count = context.expression(operands.pop(0)) if is_array and operands else None
    if place is not None:  # nothing is allocated
        return _new_object(context, operands, place, element, span)
    may_throw = False if "nothrow" in text else None
    target = allocate(context, cursor, type_, count, "new[]" if is_array else "new", may_throw)
    return _new_object(context, operands, target, element, span)


def allocate(
    context: Context,
    cursor: Cursor,
    pointer: Type,
    count: Expression | None = None,
    keyword: str = "new",
    may_throw: bool | None = None,
) -> Expression:
    """Emit the call of the allocation function for what a type points to; the pointer to it."""
    element = pointer.pointee or Type("")
    target = context.temporary(pointer)
    size = Constant(element.bytes) if element.bytes else Unknown(f"sizeof({element.text})")
    context.graph.emit(
        Call(
            f"operator {keyword}",
            (Argument(count if count is not None else size),),
            context.positions.span(cursor),
            target,
            kind="operator",
            may_throw=may_throw,
            template_bytes=element.bytes,
            expansion=context.positions.macro(cursor),
        )
    )
    return target


def _new_object(
    context: Context, operands: list[Cursor], target: Expression, element: Type, span: Any
) -> Expression:
    for operand in operands[-1:]:
        if is_default(context, operand) and operand._kind_id != Kind.CALL:
            continue
        inner = unwrapped(operand)
        if inner._kind_id == Kind.CALL and is_construction(inner):
            construct(context, inner, Dereference(target))
        else:
            value = context.expression(operand)
            context.graph.emit(Assign(Dereference(target), value, span))
    return target


def delete(context: Context, cursor: Cursor) -> Expression:
    """Lower ``delete`` and ``delete[]``."""
    operands = values_of(cursor)
    if not operands:
        return Unknown("delete")
    value = context.expression(operands[0])
    pointee = context.types.of(operands[0]).pointee
    is_array = re.match(r"(?:::)?\s*delete\s*\[", context.positions.text(cursor)) is not None
    context.graph.emit(
        Call(
            "operator delete[]" if is_array else "operator delete",
            (Argument(value),),
            context.positions.span(cursor),
            kind="operator",
            may_throw=False,
            record=pointee.record if pointee is not None else None,
            expansion=context.positions.macro(cursor),
        )
    )
    return Unknown("delete")


def _text(context: Context, cursor: Cursor) -> str:
    """The text of a new expression. In an instance of a template clang has it end with its first
    word where no initialiser follows: there it is the rest of the statement."""
    name, start, end = context.positions.offsets(cursor)
    if start >= 0 and _KEYWORD.fullmatch(text := context.positions.text_of(name, start, end)):
        return text + context.positions.text_of(name, end, end + _LONGEST).partition(";")[0]
    return context.positions.text(cursor)


_KEYWORD = re.compile(r"(?:::\s*)?new")
_LONGEST = 400
_NEW = re.compile(r"(?:::\s*)?new\b\s*")


def _after_new(text: str) -> tuple[str, bool]:
    """The text of the type in a new expression, and whether a placement stands before it."""
    found = _NEW.match(text)
    if found is None:
        return "", False
    rest = text[found.end() :]
    if not rest.startswith("("):
        return rest, False
    depth = 0
    for position, character in enumerate(rest):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            after = rest[position + 1 :].lstrip()
            # ``new (int*)[n]`` has its type in parentheses, ``new (where) T`` a placement.
            return (
                (after, True)
                if after and (after[0].isalpha() or after[0] in "_:")
                else (rest, False)
            )
    return rest, False


def _placement(text: str) -> bool:
    return _after_new(text)[1]


def _is_array_new(text: str, operands: list[Cursor], element: Type) -> bool:
    rest, _ = _after_new(text)
    depth = 0
    for character in rest:
        if character == "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif depth == 0 and character == "[":
            return True
        elif depth == 0 and character in "({;":
            return False
    # From a macro the text does not show it.
    return not rest and bool(operands) and element.kind != "record"
