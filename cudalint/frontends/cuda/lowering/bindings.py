"""Lowers structured bindings and the variable of a range-for."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.graph import can_own
from cudalint.frontends.cuda.lowering.initialization import initialize, is_referable, refer
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    children,
    initializer,
    name_of,
    referenced,
)
from cudalint.frontends.cuda.lowering.objects import is_plain
from cudalint.frontends.cuda.lowering.products import part
from cudalint.frontends.cuda.lowering.syntax import construction_in
from cudalint.program import (
    Argument,
    Assign,
    Call,
    Expression,
    Type,
    Unknown,
)
from cudalint.source import Span


def bindings(context: Context, cursor: Cursor) -> None:
    """``auto [a, b] = value``: each name is a member or an element of the value."""
    parts = children(cursor)
    names = [part for part in parts if part._kind_id == Kind.UNEXPOSED_DECL]
    values = [part for part in parts if Kind.UNEXPOSED <= part._kind_id < 200]
    if not names:
        return
    span = context.positions.span(cursor)
    type_ = context.types.of(cursor)
    value: Expression = Unknown("uninitialized")
    if values:
        value = _bound_value(context, values[0], type_, span)
    bind(context, names, value, type_)


def _bound_value(context: Context, initial: Cursor, type_: Type, span: Span) -> Expression:
    if type_.kind == "array":
        parts = children(initial)
        initial = parts[0] if parts and initial._kind_id == Kind.UNEXPOSED else initial
        return context.expression(initial)
    if type_.kind == "reference":
        value = context.expression(initial)
        return refer(context, value, type_, span) if is_referable(value) else value
    held = context.temporary(type_)
    initialize(context, held, initial, span, declares=True)
    return held


def bind(context: Context, names: list[Cursor], value: Expression, type_: Type) -> None:
    """Bind the names of a structured binding to the parts of a value."""
    for number, binding in enumerate(names):
        context.stand_for(binding, part(context, value, type_, number))


def declare_element(context: Context, variable: Cursor, element: Expression, span: Span) -> None:
    """The variable of a range-for: a copy of the element, or another name for it."""
    name, type_ = name_of(variable), context.types.of(variable)
    if variable._kind_id == Kind.UNEXPOSED_DECL:
        names = [part for part in children(variable) if part._kind_id == Kind.UNEXPOSED_DECL]
        bind(context, names, element, type_)
        return
    if type_.kind == "reference":
        refer(context, element, type_, span, variable)
        return
    place = context.declare(variable, name, type_)
    if can_own(type_):
        context.scopes.declare(place.symbol)
    initial = initializer(variable)
    copy = construction_in(context, initial) if initial is not None else None
    function = referenced(copy) if copy is not None else None
    if function is not None and context.library.is_copy_constructor(function):
        facts = context.names.function(function)
        if not is_plain(context, function, facts):
            record = type_.record
            context.graph.emit(
                Call(
                    facts.name.rpartition("::")[0],
                    (Argument(element),),
                    span,
                    key=facts.key,
                    receiver=place,
                    kind="copy",
                    may_throw=facts.may_throw,
                    record=record,
                )
            )
            return
    context.graph.emit(Assign(place, element, span, declares=True))
