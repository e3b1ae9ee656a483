"""What is asked of expressions, and of where they stand."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Literal

from cudalint.program import (
    Cast,
    Constant,
    Expression,
    Member,
    Variable,
    children,
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


def names_device(text: str) -> bool:
    """Whether a text names a device with memory of its own (``cuda:0``)."""
    return text.startswith(("cuda", "gpu"))


def space_of_device(device: object) -> Literal["device", "host"] | None:
    """Where the memory of a device is, by its name or number; ``None`` for what is neither."""
    if isinstance(device, str):
        if names_device(device):
            return "device"
        return "host" if device.partition(":")[0] == "cpu" else None
    return "device" if isinstance(device, int) and not isinstance(device, bool) else None


def holds(expression: Expression, symbols: Container[str]) -> bool:
    """Whether an expression is one of some variables or holds it, rather than something read from
    it."""
    if isinstance(expression, Variable):
        return expression.symbol in symbols
    if isinstance(expression, Member):
        return False
    return any(holds(part, symbols) for part in children(expression))


def plain(expression: Expression) -> Expression:
    """The expression without the conversions around it."""
    while isinstance(expression, Cast):
        expression = expression.operand
    return expression
