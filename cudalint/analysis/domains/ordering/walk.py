"""Finds where an operation reads or writes memory through a pointer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cudalint.analysis.shape.operations import operands
from cudalint.program import (
    AddressOf,
    Assign,
    Binary,
    Call,
    Conditional,
    Constant,
    Delete,
    Dereference,
    Expression,
    Index,
    Launch,
    Member,
    Operation,
    ScopeEnd,
    Unary,
    Unknown,
    Use,
    Variable,
    children,
)


class Access(NamedTuple):
    """``base[...]`` or ``*base``, read or written."""

    place: Expression
    base: Expression
    writes: bool
    argument: int | None = None
    """The argument of a call of which it is the whole."""
    field: str | None = None
    """Of ``base->field``: the field."""
    conditional: bool = False
    """It stands in an arm of ``c ? a : b``, or behind ``&&`` or ``||``."""


def accesses_of(operation: Operation | Expression, python: bool) -> Iterator[Access]:
    """Every access of an operation, or of a condition or returned value."""
    match operation:
        case Assign(target=target, value=value, augmented=augmented):
            yield from _within(value, python)
            if not isinstance(target, Variable):
                yield from _within(target, python, writes=True)
                if augmented:
                    return
        case Call(arguments=arguments, target=target):
            for number, argument in enumerate(arguments):
                for access in _within(argument.value, python):
                    whole = access.place == argument.value
                    yield access._replace(argument=number) if whole else access
            if target is not None and not isinstance(target, Variable):
                yield from _within(target, python, writes=True)
        case Use(value=value):
            yield from _within(value, python)
        case Launch() | Delete() | ScopeEnd():
            return  # what a launch is given is looked at where it is put on its stream
        case _:
            yield from _within(operation, python)


def _within(
    expression: Expression, python: bool, writes: bool = False, addressed: bool = False
) -> Iterator[Access]:
    match expression:
        case AddressOf(place=place):
            yield from _within(place, python, addressed=True)
        case Index(base=base, index=index):
            if not addressed:
                yield Access(expression, base, writes)
            yield from _within(index, python)
            # Of a[i][j] the inner a[i] is read too where it is a pointer.
            yield from _within(base, python, addressed=addressed)
        case Dereference(pointer=pointer):
            if not addressed:
                yield Access(expression, pointer, writes)
            yield from _within(pointer, python)
        case Member(base=Dereference(pointer=pointer), field=field):
            if not addressed:
                yield Access(expression, pointer, writes, field=field)
            yield from _within(pointer, python)
        case Member(base=base):
            yield from _within(base, python, addressed=addressed)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            yield from _within(condition, python)
            for arm in (then, otherwise):
                yield from _perhaps(arm, python)
        case Binary(operator=operator, left=left, right=right):
            if python and operator not in ("is", "in", "&&", "||") and _is_value(left, right):
                for side in (left, right):
                    if isinstance(side, Variable | Member):
                        yield Access(expression, side, False)
            yield from _within(left, python)
            yield from (_perhaps if operator in ("&&", "||") else _within)(right, python)
        case Unary(operator="len" | "more") | Unknown():
            return
        case _:
            for part in children(expression):
                yield from _within(part, python)


def _perhaps(expression: Expression, python: bool) -> Iterator[Access]:
    return (access._replace(conditional=True) for access in _within(expression, python))


def _is_value(left: Expression, right: Expression) -> bool:
    """Not a comparison with ``None``."""
    return not any(isinstance(s, Constant) and s.value is None for s in (left, right))


def values_read(operation: Operation | Expression) -> Iterator[str]:
    """The variables whose value is read, not only their address."""
    pending: list[Expression]
    match operation:
        case Assign() | Call() | Launch() | Use() | Delete() | ScopeEnd():
            pending = [*operands(operation)]
        case _:
            pending = [operation]
    while pending:
        expression = pending.pop()
        if isinstance(expression, Variable):
            yield expression.symbol
        elif isinstance(expression, Conditional):
            pending.append(expression.condition)
        elif isinstance(expression, Binary) and expression.operator in ("&&", "||"):
            pending.append(expression.left)
        elif not isinstance(expression, AddressOf | Unknown):
            pending.extend(children(expression))
