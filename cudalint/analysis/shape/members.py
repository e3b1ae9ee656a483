"""Of which class an expression is, and which class declares a member."""

from __future__ import annotations

from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.walk import plain
from cudalint.program import (
    AddressOf,
    Binary,
    Dereference,
    Expression,
    Function,
    Index,
    Member,
    Program,
    Type,
    Variable,
)


def member_in(
    expression: Expression, function: Function, program: Program, symbols: Symbols
) -> tuple[str | None, str] | None:
    """The class that declares the member that an expression names, ``None`` if nobody can tell,
    and its name."""
    expression = plain(expression)
    if isinstance(expression, Index | Dereference):
        inner = expression.base if isinstance(expression, Index) else expression.pointer
        return member_in(inner, function, program, symbols)
    if not isinstance(expression, Member):
        return None
    key = _class_of(expression.base, function, program, symbols)
    return declaring(key, expression.field, function.filename, symbols), expression.field


def class_given(
    argument: Expression, function: Function, program: Program, symbols: Symbols
) -> str | None:
    """The class of the object that an argument is, or points to."""
    argument = plain(argument)
    if isinstance(argument, AddressOf):
        return _class_of(argument.place, function, program, symbols)
    return _class_of(argument, function, program, symbols) or _class_of(
        Dereference(argument), function, program, symbols
    )


def declaring(key: str | None, field: str, filename: str, symbols: Symbols) -> str | None:
    """The class, or base of it, that declares a member; in Python each may that sets it, and it is
    one and the same."""
    program = symbols.programs.get(filename)
    python = program is not None and program.language == "python"
    for record in symbols.classes(key, filename)[:: -1 if python else 1]:
        if any(one.name == field for one in record.fields):
            return record.key
    return None


def referred(kind: Type | None) -> Type | None:
    """A type, or what it is a reference to."""
    while kind is not None and kind.kind == "reference":
        kind = kind.pointee
    return kind


def _class_of(
    expression: Expression, function: Function, program: Program, symbols: Symbols
) -> str | None:
    if isinstance(expression, Variable) and expression.symbol == "this":
        return function.record
    kind = referred(type_of(expression, function, program, symbols))
    return kind.record if kind is not None and kind.kind == "record" else None


def type_of(
    expression: Expression, function: Function, program: Program, symbols: Symbols
) -> Type | None:
    """The declared type of a variable, a member, or what one of these points to."""
    match expression:
        case Variable(symbol=symbol):
            info = function.variables.get(symbol) or program.variables.get(symbol)
            return info.type if info is not None else None
        case Member(base=base, field=name):
            key = _class_of(base, function, program, symbols)
            return symbols.fields(key, function.filename).get(name)
        case Binary(operator="+" | "-", left=left):
            return type_of(left, function, program, symbols)  # of a pointer
        case Dereference(pointer=inner) | Index(base=inner):
            declared = type_of(inner, function, program, symbols)
            kind = referred(declared)
            if kind is not None and kind.kind == "record":
                whole = isinstance(expression, Dereference) and kind is not declared
                return kind if whole else None  # an element has another type
            return kind.pointee if kind is not None else None
        case _:
            return None
