"""What the analyses of lifetimes ask of a function's operations."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.program import (
    Call,
    Constant,
    Expression,
    Index,
    Member,
    Variable,
    walk,
)
from cudalint.source import Span


def is_within(span: Span, outer: Span) -> bool:
    """Whether a part of a file lies inside another."""
    return (outer.row, outer.column) <= (span.row, span.column) and (
        span.end_row,
        span.end_column,
    ) <= (outer.end_row, outer.end_column)


def texts(expression: Expression) -> Iterator[str]:
    """The string constants in an expression."""
    for part in walk(expression):
        if isinstance(part, Constant) and isinstance(part.value, str):
            yield part.value


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
