"""What the analyses of lifetimes ask of a function's operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cudalint.analysis.shape.flow import defined
from cudalint.program import (
    Call,
    Constant,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Variable,
    children,
)
from cudalint.source import Span


class At(NamedTuple):
    """An operation, and where it stands."""

    block: int
    position: int
    operation: Operation


def operations(function: Function) -> Iterator[At]:
    """All operations of a function, in the order of its blocks."""
    for block in function.blocks:
        for index, operation in enumerate(block.operations):
            yield At(block.number, index, operation)


def calls(function: Function) -> Iterator[tuple[At, Call]]:
    """All calls of a function."""
    for at in operations(function):
        if isinstance(at.operation, Call):
            yield at, at.operation


def definitions(function: Function) -> dict[str, list[Operation]]:
    """For each variable: the operations that give it a value."""
    found: dict[str, list[Operation]] = {}
    for at in operations(function):
        symbol = defined(at.operation)
        if symbol is not None:
            found.setdefault(symbol, []).append(at.operation)
    return found


def is_within(span: Span, outer: Span) -> bool:
    """Whether a part of a file lies inside another."""
    return (outer.row, outer.column) <= (span.row, span.column) and (
        span.end_row,
        span.end_column,
    ) <= (outer.end_row, outer.end_column)


def texts(expression: Expression) -> Iterator[str]:
    """The string constants in an expression."""
    pending = [expression]
    while pending:
        current = pending.pop()
        if isinstance(current, Constant) and isinstance(current.value, str):
            yield current.value
        pending.extend(children(current))


def root(expression: Expression) -> Expression:
    """The variable, or the member of ``this``, that a place is in."""
    while isinstance(expression, Member | Index):
        if (
            isinstance(expression, Member)
            and isinstance(expression.base, Variable)
            and expression.base.symbol == "this"
        ):
            return expression
        expression = expression.base
    return expression


def argument(call: Call, path: str) -> Expression | None:
    """The argument at a path such as ``arg1|map_location`` (a position, a keyword, or both)."""
    for part in path.split("|"):
        if part.startswith("arg") and part[3:].isdigit():
            positional = [a.value for a in call.arguments if a.keyword is None and not a.starred]
            if int(part[3:]) < len(positional):
                return positional[int(part[3:])]
        for given in call.arguments:
            if given.keyword == part:
                return given.value
    return None


def unpacks(call: Call) -> bool:
    """Whether some of the arguments are out of sight: ``f(*args, **options)``."""
    return any(given.starred for given in call.arguments)
