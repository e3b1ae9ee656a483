"""Lowers the arguments of calls, and the copies of objects that are made for them."""

from __future__ import annotations

import msgspec
from clang.cindex import Cursor

from cudalint.apis.loader import load
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    TypeKind,
    arguments_of,
    evaluate,
    library,
    referenced,
    related,
)
from cudalint.frontends.cuda.lowering.names import FunctionFacts
from cudalint.frontends.cuda.lowering.syntax import is_default, is_trapped, two, unwrapped
from cudalint.program import Argument, Call, Constant, Expression

_TYPE = 1
_PLACES = (Kind.NAME, Kind.MEMBER, Kind.SUBSCRIPT)


def lower_arguments(context: Context, operands: list[Cursor]) -> tuple[Argument, ...]:
    """The arguments; a default that is not a constant ends them."""
    lowered = []
    for operand in operands:
        if operand._kind_id == Kind.UNEXPOSED and is_default(context, operand):
            value = evaluate(operand)
            type_ = context.types.of(operand)
            if value is None or type_.kind not in ("integer", "float", "enumeration", "bool"):
                if type_.kind != "pointer" or value not in (0, None):
                    break
                if value is None:
                    break
                lowered.append(Argument(Constant(None)))
                continue
            lowered.append(Argument(Constant(value)))
            continue
        lowered.append(Argument(context.expression(operand)))
    return tuple(lowered)


def item(context: Context, cursor: Cursor) -> Expression:
    """Lower an item of a list or a capture: an object is copied into it."""
    value = context.expression(cursor)
    if unwrapped(cursor)._kind_id not in _PLACES:
        return value
    return _copy(context, cursor, value)


def _copy(context: Context, cursor: Cursor, value: Expression) -> Expression:
    """A copy of an object of the project's classes; anything else is a value."""
    type_ = context.types.of(cursor)
    record = context.unit.records.get(type_.record or "") if type_.kind == "record" else None
    if record is None:
        return value  # A class of a library: nobody asks.
    place = context.temporary(type_)
    context.graph.emit(
        Call(
            record.name,
            (Argument(value),),
            context.positions.span(cursor),
            receiver=place,
            kind="copy",
            record=type_.record,
        )
    )
    return place


def kept_arguments(
    context: Context, operands: list[Cursor], function: Cursor, facts: FunctionFacts
) -> tuple[Argument, ...]:
    """The arguments of a function; what it keeps of the project's objects are copies."""
    operands = _converted(context, operands, function)
    arguments = lower_arguments(context, operands)
    model = load("cuda").lookup(facts.name) if facts.is_system else None
    kept = {*model.takes, *model.inserts} if model is not None else set()
    if model is not None and model.boxes:
        kept.add("arg0")
    if model is not None and model.makes_one and len(operands) > 1:
        kept = set()
    return tuple(
        msgspec.structs.replace(
            argument,
            value=_copy(context, operand, argument.value),
        )
        if f"arg{number}" in kept and _is_copied(context, operand, function)
        else argument
        for number, (argument, operand) in enumerate(zip(arguments, operands, strict=False))
    )


def _converted(context: Context, operands: list[Cursor], function: Cursor) -> list[Cursor]:
    """The arguments without the copies for ``...``, which takes no object: the declaration stands
    for one whose parameter is a handle, and the object converts itself to that."""
    named = max(0, context.library.argument_count(function))
    return [*operands[:named], *(_original(context, operand) for operand in operands[named:])]


def _original(context: Context, operand: Cursor) -> Cursor:
    """What an argument is a copy of, where it is one."""
    inner = unwrapped(operand)
    if inner._kind_id == Kind.BINARY and is_trapped(context, *two(inner)):
        inner = unwrapped(two(inner)[1])
    constructor = referenced(inner) if inner._kind_id == Kind.CALL else None
    if constructor is None or not context.library.is_copy_constructor(constructor):
        return operand
    copied = arguments_of(inner)
    return copied[0] if len(copied) == 1 else operand


def _is_copied(context: Context, operand: Cursor, function: Cursor) -> bool:
    record = context.types.of(operand).record
    if record is None or record not in context.unit.records:
        return False
    if _is_temporary(operand) and context.unit.is_movable(record):
        return False
    return record in _template_arguments(context, function)


def _is_temporary(operand: Cursor) -> bool:
    """Whether nobody else has the object: ``T(x)``, ``make()``, ``std::move(x)``."""
    inner = unwrapped(operand)
    if inner._kind_id == Kind.CALL:
        function = referenced(inner)
        result = library().result_type(function) if function is not None else None
        return result is None or result._kind_id != TypeKind.LVALUE_REFERENCE
    return inner._kind_id not in (*_PLACES, Kind.UNARY)


def _template_arguments(context: Context, function: Cursor) -> set[str]:
    """The classes that an instance, or the class that it is a member of, is made for."""
    functions = library()
    found = set()
    parent = related("parent", function)
    for instance in (function, parent):
        for number in range(functions.template_arguments(instance) if instance else 0):
            if functions.template_argument_kind(instance, number) == _TYPE:
                type_ = context.types.lower(functions.template_argument(instance, number))
                found.add(type_.record or "")
    return found
