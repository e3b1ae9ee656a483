"""Of which class an expression is, and which class declares a member."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.shape.symbols import Symbols
from cudalint.program import (
    Cast,
    Dereference,
    Expression,
    Function,
    Index,
    Member,
    Program,
    Record,
    Type,
    Variable,
)


def member_in(
    expression: Expression, function: Function, program: Program, symbols: Symbols
) -> tuple[str | None, str] | None:
    """The class that declares the member that an expression names, ``None`` if nobody can tell,
    and its name."""
    while isinstance(expression, Cast):
        expression = expression.operand
    if isinstance(expression, Index | Dereference):
        inner = expression.base if isinstance(expression, Index) else expression.pointer
        return member_in(inner, function, program, symbols)
    if not isinstance(expression, Member):
        return None
    key = _class_of(expression.base, function, program, symbols)
    return declaring(key, expression.field, function.filename, symbols), expression.field


def declaring(key: str | None, field: str, filename: str, symbols: Symbols) -> str | None:
    """The class, or base of it, that declares a member."""
    for record in bases(key, filename, symbols):
        if any(one.name == field for one in record.fields):
            return record.key
    return None


def bases(key: str | None, filename: str, symbols: Symbols) -> Iterator[Record]:
    """A class and all that it is derived from, as far as they are in the run."""
    pending, seen = [key], set()
    while pending:
        record = symbols.record(pending.pop(0), filename)
        if record is not None and record.key not in seen:
            seen.add(record.key)
            yield record
            pending += record.bases


def _class_of(
    expression: Expression, function: Function, program: Program, symbols: Symbols
) -> str | None:
    if isinstance(expression, Variable) and expression.symbol == "this":
        return function.record
    kind = _type_of(expression, function, program, symbols)
    while kind is not None and kind.kind == "reference":
        kind = kind.pointee
    return kind.record if kind is not None and kind.kind == "record" else None


def _type_of(
    expression: Expression, function: Function, program: Program, symbols: Symbols
) -> Type | None:
    match expression:
        case Variable(symbol=symbol):
            info = function.variables.get(symbol) or program.variables.get(symbol)
            return info.type if info is not None else None
        case Member(base=base, field=name):
            key = _class_of(base, function, program, symbols)
            for record in bases(key, function.filename, symbols):
                for field in record.fields:
                    if field.name == name:
                        return field.type
            return None
        case Dereference(pointer=inner) | Index(base=inner):
            kind = _type_of(inner, function, program, symbols)
            while kind is not None and kind.kind == "reference":
                kind = kind.pointee
            return kind.pointee if kind is not None and kind.kind != "record" else None
        case _:
            return None
