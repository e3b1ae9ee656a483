"""Lowers the making of objects: constructors, copies, aggregates."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.apis.loader import load
from cudalint.frontends.cuda.lowering.arguments import item, kept_arguments
from cudalint.frontends.cuda.lowering.context import Context, is_place
from cudalint.frontends.cuda.lowering.dimensions import is_dim3, new_dim3
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    arguments_of,
    is_lambda,
    referenced,
    values_of,
)
from cudalint.frontends.cuda.lowering.names import FunctionFacts
from cudalint.frontends.cuda.lowering.products import build, is_product
from cudalint.frontends.cuda.lowering.syntax import is_implicit, unwrapped
from cudalint.frontends.cuda.lowering.unknowns import other
from cudalint.program import (
    FIELDS,
    NUMBERS,
    AddressOf,
    Argument,
    Assign,
    Call,
    Constant,
    Expression,
    Record,
    Tuple,
    Type,
    Unknown,
)
from cudalint.source import Span

_MOST_ELEMENTS = 16
"""Elements of an array that are written out."""


def is_plain(context: Context, function: Cursor, facts: FunctionFacts) -> bool:
    """A lambda or a C struct of a system header (``float4``): copied as a value."""
    if facts.record is not None and is_lambda(facts.record):
        return True
    return (
        facts.is_system
        and "::" not in facts.name.rpartition("::")[0]
        and not facts.name.startswith(("std::", "thrust::", "cub::", "cuda::"))
        and is_implicit(context, function)
    )


def construct(
    context: Context, cursor: Cursor, receiver: Expression | None, declares: bool = False
) -> Expression:
    """Lower a constructor's call into the receiver, or into a new temporary."""
    operands = arguments_of(cursor)
    function = referenced(cursor)
    span = context.positions.span(cursor)
    if function is None:
        return other(context, cursor)
    facts = context.names.function(function)
    copies = bool(context.library.is_copy_constructor(facts.declaration)) and len(operands) > 0
    moves = bool(context.library.is_move_constructor(facts.declaration)) and len(operands) > 0
    if is_dim3(context, facts):
        value = new_dim3(context, operands, copies or moves)
        if receiver is not None:
            context.graph.emit(Assign(receiver, value, span, declares))
            return receiver
        return value
    type_ = context.types.of(cursor)
    if (copies or moves) and is_plain(context, function, facts):
        value = context.expression(operands[0])
        if receiver is not None:
            context.graph.emit(Assign(receiver, value, span, declares))
            return receiver
        return value
    literal = _literal(context, facts, operands, copies)
    if literal is not None and receiver is None:
        return literal
    if not operands and is_implicit(context, function):
        if _is_trivial(context, facts):
            place = receiver if receiver is not None else context.temporary(type_)
            context.graph.emit(Assign(place, Unknown("uninitialized"), span, declares))
            return place
        context.unit.use_implicit(facts)
    place = receiver if receiver is not None else context.temporary(type_)
    record = None
    name = facts.name.rpartition("::")[0]
    if facts.record is not None:
        record = context.types.record_key(facts.record)
        name = context.names.qualified(facts.record)
    if is_product(name, len(operands)):
        values = [item(context, operand) for operand in operands]
        build(context, place, type_, values, span, declares)
        return place
    context.graph.emit(
        Call(
            name,
            kept_arguments(context, operands, function, facts),
            span,
            key=facts.key,
            receiver=place,
            kind="copy" if copies else "constructor",
            may_throw=facts.may_throw,
            record=record,
            expansion=context.positions.macro(cursor),
        )
    )
    return place


def _literal(
    context: Context, facts: FunctionFacts, operands: list[Cursor], copies: bool
) -> Constant | None:
    """The constant that a temporary object is made of."""
    if not operands or not facts.is_system:
        return None
    inner = unwrapped(operands[0])
    model = load("cuda").lookup(facts.name.rpartition("::")[0])
    if not (copies and inner._kind_id == Kind.NAME) and not (
        model is not None and model.literal and inner._kind_id == Kind.STRING
    ):
        return None
    value = context.expression(inner)
    return value if isinstance(value, Constant) else None


def construct_dependent(
    context: Context, place: Expression, type_: Type, arguments: tuple[Argument, ...], span: Span
) -> None:
    """Construct an object of a class that depends on a template's parameters."""
    facts = context.unit.constructor_with(type_.record or "", len(arguments))
    name = facts.name.rpartition("::")[0] if facts else type_.text.partition("<")[0]
    context.graph.emit(
        Call(
            name,
            arguments,
            span,
            key=facts.key if facts else None,
            receiver=place,
            kind="constructor",
            may_throw=facts.may_throw if facts else None,
            record=type_.record,
        )
    )


def _is_trivial(context: Context, facts: FunctionFacts) -> bool:
    """Whether default construction leaves the object without values."""
    record = facts.record
    if record is None:
        return False
    if facts.is_system:
        return "::" not in context.names.qualified(record)
    return context.unit.is_plain(context.types.record_key(record))


SCALARS = NUMBERS | {"pointer"}
"""Kinds of types of which braces hold one value."""


def scalar(context: Context, type_: Type, braces: Cursor) -> Expression:
    """The value in braces around one."""
    values = values_of(braces)
    if not values:
        return Constant(None if type_.kind == "pointer" else 0)
    return context.expression(values[0])


def initializers(context: Context, cursor: Cursor) -> Expression:
    """Lower the braces around the values of an aggregate."""
    type_ = context.types.of(cursor)
    if type_.kind in SCALARS:
        return scalar(context, type_, cursor)
    items = tuple(item(context, value) for value in values_of(cursor))
    if type_.text == "dim3":
        return Tuple(items, "dim3")
    record = context.unit.records.get(type_.record or "")
    return Tuple(items, "initializer") if record is None else _aggregate(context, record, items)


def _aggregate(context: Context, record: Record, items: tuple[Expression, ...]) -> Expression:
    """The fields of a class by name: those that the list leaves out have their default, or zero."""
    if record.bases or len(items) > len(record.fields):
        return Tuple(items, "initializer")
    defaults = {name: value for name, value, _ in context.unit.defaults_of(record.key)}
    parts: list[Expression] = []
    for number, field in enumerate(record.fields):
        if number < len(items):
            value = items[number]
            if field.type.kind == "reference" and is_place(value):
                value = AddressOf(value)
        elif record.is_union:
            break
        elif field.name in defaults:
            value = context.expression(defaults[field.name])
        else:
            value = _zero(context, field.type)
        parts += [Constant(field.name), value]
    return Tuple(tuple(parts), FIELDS)


def fields_by_default(context: Context, key: str) -> Expression | None:
    """The fields of a class of which no constructor was written; ``None`` where one was."""
    record = context.unit.records[key]
    if record.bases or context.unit.has_constructors(key):
        return None
    return _aggregate(context, record, ())


def _zero(context: Context, type_: Type) -> Expression:
    """What an object of a type is where no value is given."""
    record = context.unit.records.get(type_.record or "")
    if record is not None and context.unit.is_plain(record.key):
        return _aggregate(context, record, ())
    if type_.kind == "array" and type_.pointee is not None:
        if not 0 < (type_.elements or 0) <= _MOST_ELEMENTS:
            return Unknown("zeros")
        zero = _zero(context, type_.pointee)
        return Tuple((zero,) * (type_.elements or 0), "initializer")
    if type_.kind == "pointer":
        return Constant(None)
    if type_.kind in ("integer", "enumeration", "float"):
        return Constant(0)
    return Constant(False) if type_.kind == "bool" else Unknown(type_.text)
