"""What stands for the names of a function: its variables, those around it, and constants."""

from __future__ import annotations

import re

from clang.cindex import Cursor

from cudalint.apis.loader import load
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.graph import Symbols, can_own
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    Storage,
    address,
    evaluate,
    initializer,
    related,
)
from cudalint.frontends.cuda.lowering.types import as_parameter
from cudalint.program import (
    THIS,
    Constant,
    Expression,
    Member,
    Type,
    Unknown,
    Variable,
    VariableInfo,
    children,
)
from cudalint.source import Span

IDENTIFIER = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*\Z")

_WORD = re.compile(r"[A-Za-z_]\w*")

_KEYWORDS = frozenset(
    (
        "sizeof", "alignof", "return", "if", "else", "for", "while", "do", "new", "delete", "this",
        "nullptr", "true", "false", "const", "static", "int", "float", "double", "char", "long",
        "short", "unsigned", "signed", "void", "bool", "auto", "struct", "class", "typename",
        "template", "operator", "throw", "reinterpret_cast", "static_cast", "const_cast",
        "dynamic_cast",
    )
)  # fmt: skip


def place_of(context: Context, declaration: Cursor, name: str) -> Expression:
    """What stands for a declared variable, parameter or constant."""
    if declaration._kind_id == Kind.VARIABLE:
        constant = constant_of(context, declaration, name)
        if constant is not None:
            return constant
        known = context.names.qualified(declaration)
        if (worth := load("cuda").constants.get(known)) is not None and "::" in known:
            return Constant(worth, known)
    return variable_of(context, declaration, name)


def variable_of(context: Context, declaration: Cursor, name: str) -> Expression:
    """What stands for a declared variable or parameter, constant or not."""
    place = context.symbols.places.get(address(declaration))
    if place is not None:
        _note_captured(context, place)
        return place
    if declaration._kind_id == Kind.VARIABLE and (
        context.library.storage(declaration) != Storage.STATIC
        or not _is_local(context, declaration)
    ):
        return _elsewhere(context, declaration)
    # A parameter that no list names, or a static that is used before we met it.
    type_ = context.types.of(declaration)
    if declaration._kind_id == Kind.VALUE_PARAMETER:
        return context.declare(declaration, name, as_parameter(type_), "parameter")
    return context.declare(declaration, name, type_)


def _elsewhere(context: Context, declaration: Cursor) -> Expression:
    """A variable outside of functions; what a reference among them is bound to."""
    variable = context.unit.global_variable(declaration)
    initial = initializer(declaration)
    if initial is None or context.types.of(declaration).kind != "reference":
        return variable
    outside = Context(context.parts, context.unit, "", "", Symbols())
    place = outside.expression(initial)
    return place if is_global(place) else variable


def is_global(place: Expression) -> bool:
    """Whether a place is a variable outside of functions, or a part of one."""
    while isinstance(place, Member):
        place = place.base
    return isinstance(place, Variable) and place.symbol.startswith("::")


def constant_of(context: Context, declaration: Cursor, name: str) -> Constant | None:
    """The value of a ``const`` or ``constexpr`` variable, where it folds."""
    identity = address(declaration)
    constants = context.unit.constants
    if identity not in constants:
        constants[identity] = None
        type_ = context.types.of(declaration)
        if type_.constant and type_.kind in ("integer", "float", "bool", "enumeration"):
            initial = initializer(declaration)
            value = evaluate(initial) if initial is not None else None
            if value is not None:
                folded = bool(value) if type_.kind == "bool" else value
                constants[identity] = Constant(folded, name)
    return constants[identity]


def _is_local(context: Context, declaration: Cursor) -> bool:
    parent = related("parent", declaration)
    return parent is not None and parent._kind_id in (
        Kind.FUNCTION,
        Kind.METHOD,
        Kind.CONSTRUCTOR,
        Kind.DESTRUCTOR,
        Kind.FUNCTION_TEMPLATE,
    )


def _note_captured(context: Context, place: Expression) -> None:
    pending: list[Expression] = [place]
    while pending:
        part = pending.pop()
        if isinstance(part, Variable):
            info = context.symbols.infos.get(part.symbol)
            if info is not None and part.symbol not in context.variables:
                context.variables[part.symbol] = VariableInfo(
                    info.name, info.type, "captured", info.span, info.constant
                )
        else:
            pending.extend(children(part))


def own_member(context: Context, name: str) -> Member:
    """A data member of the class that the function is a method of."""
    return Member(THIS, name, context.unit.own_place(context.record, name))


def named(context: Context, text: str) -> Expression:
    """A variable by its name alone: where clang did not resolve it."""
    known = context.by_name.get(text)
    if known is not None:
        return known
    if context.record is not None and context.unit.has_field(context.record, text):
        return own_member(context, text)
    known = context.unit.globals_by_name.get(text)
    if known is not None:
        return known
    return Variable(text, f"::{text.removeprefix('::')}")


def mentioned(context: Context, text: str) -> tuple[Expression, ...]:
    """The variables in sight that a text mentions."""
    found: dict[Expression, None] = {}
    for word in _WORD.findall(text):
        if word not in _KEYWORDS:
            place = context.by_name.get(word) or context.unit.globals_by_name.get(word)
            if place is not None:
                found[place] = None
    return tuple(found)


def unknown(context: Context, cursor: Cursor) -> Unknown:
    """What cannot be lowered, with the variables that its text mentions."""
    text = context.positions.text(cursor)
    return Unknown(text[:200], mentioned(context, text))


def declare_text(context: Context, name: str, type_: Type, span: Span) -> Variable:
    """A local whose declaration clang dropped."""
    variable = context.symbols.fresh(name)
    info = VariableInfo(name, type_, "local", span)
    context.variables[variable.symbol] = context.symbols.infos[variable.symbol] = info
    context.by_name[name] = variable
    if can_own(type_):
        context.scopes.declare(variable.symbol)
    return variable
