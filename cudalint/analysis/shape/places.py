"""Names of places, for what asks of functions without following their paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cudalint.program import (
    Cast,
    Constant,
    Expression,
    Index,
    Member,
    Variable,
    children,
    walk,
)

ELEMENT = "[*]"
"""An element that cannot be told from the others."""


def place(expression: Expression | None) -> str | None:
    """The name of a place; ``None`` for what is not one. Elements at a constant index are places of
    their own, all others are one."""
    match expression:
        case Variable(symbol=symbol):
            return symbol
        case Member(base=base, field=field):
            inner = place(base)
            return None if inner is None else f"{inner}.{field}"
        case Index(base=base, index=Constant(value=value)):
            inner = place(base)
            return None if inner is None else f"{inner}[{value!r}]"
        case Index(base=base):
            inner = place(base)
            return None if inner is None else inner + ELEMENT
        case Cast(operand=operand):
            return place(operand)
        case _:
            return None


def root(expression: Expression) -> str | None:
    """The variable that a place is in."""
    while isinstance(expression, Member | Index | Cast):
        expression = expression.operand if isinstance(expression, Cast) else expression.base
    return expression.symbol if isinstance(expression, Variable) else None


def holder(expression: Expression) -> str | None:
    """The variable that a place is in; a member of the receiver (``this.table``) counts as one."""
    name = place(expression)
    if name is not None and name.startswith("this."):
        return "this." + root_of(name.removeprefix("this."))
    return root(expression)


def root_of(name: str) -> str:
    """The variable that a place is in, by its name."""
    end = name.find(".")
    bracket = name.find("[")
    if bracket > 0 and (end <= 0 or bracket < end):
        end = bracket
    return name[:end] if end > 0 else name


def is_inside(name: str, outer: str) -> bool:
    """Whether a place is another one or a part of it."""
    return name == outer or (name.startswith(outer) and name[len(outer)] in ".[")


def places_read(expression: Expression) -> set[str]:
    """All places that an expression reads, with those they are in."""
    return {name for part in walk(expression) if (name := place(part)) is not None}


def names_in(expressions: Iterable[Expression]) -> set[str]:
    """The ``names`` of several expressions."""
    return {name for expression in expressions for name in names(expression)}


def names(expression: Expression) -> Iterator[str]:
    """The variables of an expression; a member of the receiver counts as one (``this.table``)."""
    match expression:
        case Member(base=Variable(symbol="this"), field=field):
            yield f"this.{field}"
        case Variable(symbol=symbol):
            yield symbol
        case _:
            for child in children(expression):
                yield from names(child)
