"""Lowers the declarations of locals."""

from __future__ import annotations

import re

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.bindings import bindings
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.graph import can_own
from cudalint.frontends.cuda.lowering.initialization import bound, initialize, is_referable, refer
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    Storage,
    initializer,
    name_of,
    values_of,
)
from cudalint.frontends.cuda.lowering.names import RECORDS
from cudalint.frontends.cuda.lowering.objects import construct_dependent
from cudalint.frontends.cuda.lowering.reader import APIS
from cudalint.frontends.cuda.lowering.recovery import recover_statement
from cudalint.frontends.cuda.lowering.starts import start
from cudalint.frontends.cuda.lowering.text import recover_arguments
from cudalint.frontends.cuda.lowering.types import is_changeable
from cudalint.frontends.cuda.lowering.variables import is_global
from cudalint.program import (
    AddressOf,
    Argument,
    Assign,
    Branch,
    Call,
    Constant,
    Dereference,
    Type,
    Unknown,
    Variable,
    VariableInfo,
)
from cudalint.source import Span

_KNOWN_TYPE = re.compile(r"\b(?:int|auto|signed|long|short|decltype|enum)\b|_t\b.*\bint\b")


_TAKEN_FOR_INT = re.compile(r"int\b[\s*&()]*(?:\[|$)")
"""What clang makes of a type that it does not know."""

_CALL = re.compile(r"(?:\w+\s*::\s*)+(?!int\b)\w+\s*\(\s*[*&]*\s*\w+")


def declaration(context: Context, cursor: Cursor) -> None:
    """Lower one declaration of a declaration statement."""
    kind: int = cursor._kind_id
    if kind == Kind.VARIABLE:
        _variable(context, cursor)
    elif kind == Kind.UNEXPOSED_DECL:
        bindings(context, cursor)
    elif kind in RECORDS:
        context.unit.local_record(cursor)


def _variable(context: Context, cursor: Cursor) -> None:
    name = name_of(cursor)
    storage = context.library.storage(cursor)
    if storage == Storage.EXTERN:
        context.stand_for(cursor, context.unit.global_variable(cursor))
        return
    type_ = _declared_type(context, cursor, name)
    if _is_call(context, cursor) or (
        type_.kind == "other" and _is_call_after_macro(context, cursor, name, type_)
    ):
        return
    initial = _in_braces(context, cursor, type_, initializer(cursor))
    span = context.positions.span(cursor)
    if storage == Storage.STATIC:
        _static(context, cursor, name, type_, initial, span)
        return
    if type_.kind == "reference":
        _reference(context, cursor, name, type_, initial, span)
        return
    variable = context.declare(cursor, name, type_)
    if can_own(type_):
        context.scopes.declare(variable.symbol)
    if initial is None and _has_lost_value(context, cursor, name):
        context.graph.emit(Assign(variable, Unknown(f"value of {name}"), span, declares=True))
    elif initial is None:
        _uninitialized(context, variable, type_, span)
    elif type_.kind == "other" and _is_unknown_class(context, cursor, name, type_):
        _unknown_object(context, variable, type_, cursor, name, initial)
    else:
        initialize(context, variable, initial, span, declares=True)


def _in_braces(
    context: Context, cursor: Cursor, type_: Type, initial: Cursor | None
) -> Cursor | None:
    """What a variable begins with: ``auto p{make<T>()}`` is what stands in the braces, of which
    clang does not know the type in a template (C++17, [dcl.type.auto.deduct]/4)."""
    if initial is None or initial._kind_id != Kind.INITIALIZERS or context.types.of(initial).record:
        return initial
    values = values_of(initial)
    is_auto = type_.text.removeprefix("const ") == "auto"
    if len(values) != 1 or not (is_auto or type_.kind == "pointer"):
        return initial
    written = context.positions.text(cursor).partition("{")[0]
    return initial if is_auto and "=" in written else values[0]


def _has_lost_value(context: Context, cursor: Cursor, name: str) -> bool:
    """Whether a value is written there that clang could not make sense of."""
    if not context.unit.has_errors or context.positions.from_macro(cursor):
        return False
    file, start, stop = context.positions.offsets(cursor)
    # The declaration may end before the value that it has lost.
    text = context.positions.text_of(file, start, stop + 16) if start >= 0 else ""
    return re.search(rf"\b{re.escape(name)}\s*=[^=]", text) is not None


def _declared_type(context: Context, cursor: Cursor, name: str) -> Type:
    """The type; clang takes a type that it does not know for ``int``."""
    type_ = context.types.of(cursor)
    if (
        context.unit.has_errors
        and type_.text in ("int", "const int", "int *", "int **")
        and not context.positions.from_macro(cursor)
    ):
        whole = context.positions.text(cursor)
        written = whole.partition(name)[0].strip()
        if written and not _KNOWN_TYPE.search(written):
            pointer = type_.text.endswith("*")
            return Type(written, "pointer" if pointer else "other", 8 if pointer else None)
    return type_


def _uninitialized(context: Context, variable: Variable, type_: Type, span: Span) -> None:
    if type_.kind == "record" and type_.record is not None and type_.bytes is None:
        # A class that depends on a template's parameters: its default constructor runs.
        construct_dependent(context, variable, type_, (), span)
        return
    context.graph.emit(Assign(variable, Unknown("uninitialized"), span, declares=True))


def _is_call(context: Context, cursor: Cursor) -> bool:
    """``library::release(p);`` reads as a declaration where nobody has declared ``release``."""
    if not context.unit.has_errors or context.positions.from_macro(cursor):
        return False
    text = context.positions.text(cursor)
    if not _TAKEN_FOR_INT.match(context.types.of(cursor).text) or not _CALL.match(text):
        return False
    recover_statement(context, text, context.positions.span(cursor))
    return True


def _is_call_after_macro(context: Context, cursor: Cursor, name: str, type_: Type) -> bool:
    """``UNKNOWN_MACRO release(p);`` reads as a declaration, but is a call."""
    if type_.text == context.types.of(cursor).text:
        return False
    if APIS.match(name) is None and context.unit.key_of_function(name) is None:
        return False
    text = context.positions.text(cursor).removeprefix(type_.text).strip()
    if not text.removeprefix(name).lstrip().startswith("("):
        return False
    recover_statement(context, text, context.positions.span(cursor))
    return True


def _is_unknown_class(context: Context, cursor: Cursor, name: str, type_: Type) -> bool:
    """Whether ``Type name(...)`` constructs an object of a class that clang does not know."""
    if type_.text == context.types.of(cursor).text:
        return False
    rest = context.positions.text(cursor).removeprefix(type_.text).strip().removeprefix(name)
    return rest.strip()[:1] in ("(", "{")


def _unknown_object(
    context: Context, variable: Variable, type_: Type, cursor: Cursor, name: str, initial: Cursor
) -> None:
    text = context.positions.text(cursor).removeprefix(type_.text).strip()
    span = context.positions.span(cursor)
    arguments = recover_arguments(context, text.replace("{", "(").replace("}", ")"), [], span)
    if arguments is None:
        arguments = (Argument(context.expression(initial)),)
    context.graph.emit(Call(type_.text, arguments, span, receiver=variable, kind="constructor"))


def _static(
    context: Context, cursor: Cursor, name: str, type_: Type, initial: Cursor | None, span: Span
) -> None:
    variable = context.unit.static_variable(cursor, context.name, name, type_)
    refers = type_.kind == "reference"
    context.variables[variable.symbol] = VariableInfo(name, type_, "static", span)
    context.stand_for(cursor, Dereference(variable, implicit=True) if refers else variable)
    value = start(context.parts, context.unit, cursor)
    if value is not None:
        context.unit.starts[variable.symbol] = value
    if initial is None or context.library.evaluate(initial) is not None:
        return
    # Initialised the first time only.
    before, first, after = context.graph.current, context.graph.block(), context.graph.block()
    context.graph.current = first
    if refers:
        context.graph.emit(Assign(variable, bound(context, initial), span, declares=True))
    else:
        initialize(context, variable, initial, span, declares=True)
    if (
        context.graph.current is first
        and len(first.operations) == 1
        and isinstance(only := first.operations[0], Assign)
    ):
        context.graph.current = before
        if refers and isinstance(only.value, AddressOf) and is_global(only.value.place):
            context.stand_for(cursor, only.value.place)
        return  # A value that is not constant, but acquires nothing.
    made = Variable(f"first call of {context.name} made {name}", f"{variable.symbol}:made")
    context.graph.emit(Assign(made, Constant(True), span))
    context.graph.jump(after)
    context.graph.current = before
    context.graph.finish(Branch(made, after.number, first.number, span))
    context.graph.current = after


def _reference(
    context: Context, cursor: Cursor, name: str, type_: Type, initial: Cursor | None, span: Span
) -> None:
    """A reference: to a place, or to a value whose life it prolongs."""
    value = context.expression(initial) if initial is not None else Unknown("uninitialized")
    if is_referable(value) or is_changeable(type_):
        refer(context, value, type_, span, cursor)
        return
    of = type_.pointee or type_
    variable = context.declare(cursor, name, of)
    if can_own(of):
        context.scopes.declare(variable.symbol)
    context.graph.emit(Assign(variable, value, span, declares=True))


def declare_caught(context: Context, variable: Cursor) -> None:
    """The variable of a handler."""
    place = context.declare(variable, name_of(variable), context.types.of(variable))
    context.graph.emit(
        Assign(place, Unknown("exception"), context.positions.span(variable), declares=True)
    )
