"""Lowers what gives an object its first value: initialisers, and the values of returns."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.arguments import lower_arguments
from cudalint.frontends.cuda.lowering.context import Context, is_place, stays
from cudalint.frontends.cuda.lowering.dimensions import as_dim3
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    Storage,
    TypeKind,
    arguments_of,
    name_of,
    referenced,
    values_of,
)
from cudalint.frontends.cuda.lowering.objects import (
    SCALARS,
    construct,
    construct_dependent,
    scalar,
)
from cudalint.frontends.cuda.lowering.syntax import construction_in, unwrapped
from cudalint.frontends.cuda.lowering.variables import variable_of
from cudalint.program import (
    AddressOf,
    Assign,
    Conditional,
    Dereference,
    Expression,
    Tuple,
    Type,
    Variable,
)
from cudalint.source import Span


def initialize(
    context: Context,
    place: Expression,
    value: Cursor,
    span: Span,
    declares: bool,
    type_: Type | None = None,
) -> None:
    """Give a new object its first value; ``type_``: its declared type, where nothing else says."""
    type_ = type_ or _type_of_place(context, place)
    construction = construction_in(context, value)
    if construction is not None:
        construct(context, construction, place, declares)
        return
    if _is_list(context, value) or _constructs(context, value, type_):
        arguments = values_of(value)
        if type_ is not None and type_.kind == "record":
            construct_dependent(context, place, type_, lower_arguments(context, arguments), span)
            return
        if len(arguments) == 1:
            initialize(context, place, arguments[0], span, declares, type_)
            return
    if value._kind_id == Kind.INITIALIZERS and type_ is not None and type_.kind in SCALARS:
        lowered = scalar(context, type_, value)  # of what type they are, a pattern does not say
    else:
        lowered = context.expression(value)
    if isinstance(lowered, Tuple) and lowered.kind == "dim3":
        lowered = as_dim3(lowered)
    context.graph.emit(Assign(place, lowered, span, declares=declares))


def bound(context: Context, value: Cursor) -> Expression:
    """What a reference is bound to: the address of a place, else what nothing is known of."""
    return _bound(context.expression(value))


def _bound(value: Expression) -> Expression:
    if isinstance(value, Conditional):
        return Conditional(value.condition, _bound(value.then), _bound(value.otherwise))
    if isinstance(value, Dereference):
        return value.pointer
    return AddressOf(value) if is_referable(value) else value


def is_referable(value: Expression) -> bool:
    """Whether an expression names an object that was there before."""
    if isinstance(value, Conditional):
        return is_referable(value.then) and is_referable(value.otherwise)
    return is_place(value) and not (isinstance(value, Variable) and value.symbol[0] == "%")


def refer(
    context: Context, place: Expression, type_: Type, span: Span, named: Cursor | None = None
) -> Expression:
    """What a reference to a place stands for: the place, where it is the same whatever becomes of
    the variables that lead to it, else what a pointer points to that is made here."""
    result = place
    if not (is_referable(place) and stays(place)):
        pointer = (
            context.temporary(type_)
            if named is None
            else context.declare(named, name_of(named), type_)
        )
        context.graph.emit(Assign(pointer, _bound(place), span, declares=True))
        result = Dereference(pointer, implicit=True)
    if named is not None:
        context.stand_for(named, result)
    return result


def _type_of_place(context: Context, place: Expression) -> Type | None:
    if isinstance(place, Variable):
        info = context.variables.get(place.symbol)
        return info.type if info is not None else None
    return None


def _is_list(context: Context, value: Cursor) -> bool:
    """``(a, b)`` that initialises something whose type depends on a template."""
    return bool(
        value._kind_id == Kind.UNEXPOSED
        and context.library.type(value)._kind_id == TypeKind.INVALID
    )


def _constructs(context: Context, value: Cursor, type_: Type | None) -> bool:
    """Whether braces hold the arguments of a constructor: of a library's class that depends on a
    template, as ``std::unique_ptr<T, Free> owner{pointer, free}``."""
    return (
        value._kind_id == Kind.INITIALIZERS
        and type_ is not None
        and type_.kind == "record"
        and type_.bytes is None
        and type_.record not in context.unit.records
        and bool(values_of(value))
    )


def returned(context: Context, cursor: Cursor) -> Expression:
    """The value of a return statement, without the copies that are elided; a place, where it is
    a reference."""
    if context.refers:
        return bound(context, cursor)
    construction = construction_in(context, cursor)
    if construction is None:
        return context.expression(cursor)
    function = referenced(construction)
    parts = arguments_of(construction)
    if function is None or len(parts) != 1:
        return construct(context, construction, None)
    if context.library.is_move_constructor(function):
        return context.expression(parts[0])
    if context.library.is_copy_constructor(function) or _is_same(context, construction, parts[0]):
        inner = unwrapped(parts[0])
        declaration = referenced(inner) if inner._kind_id == Kind.NAME else None
        if declaration is not None and _is_elided(context, declaration):
            return context.expression(parts[0])
    return construct(context, construction, None)


def _is_same(context: Context, construction: Cursor, source: Cursor) -> bool:
    """Whether an object is made of one of its own class, by whichever constructor: those of a class
    whose header was not read take anything."""
    made = context.types.of(construction).record
    return made is not None and made == context.types.of(source).record


def _is_elided(context: Context, declaration: Cursor) -> bool:
    """Whether a returned variable is the function's own local: its copy is elided."""
    if declaration._kind_id != Kind.VARIABLE:
        return False
    if context.library.storage(declaration) in (Storage.STATIC, Storage.EXTERN):
        return False
    place = variable_of(context, declaration, name_of(declaration))
    return isinstance(place, Variable) and not place.symbol.startswith("::")
