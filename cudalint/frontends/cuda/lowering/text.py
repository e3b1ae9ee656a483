"""Lowers expressions from their text, where clang gave up on them: the last resort.

What the small grammar does not cover becomes ``Unknown`` with the variables that the text
mentions.
"""

from __future__ import annotations

import re

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.brackets import Beyond, separated
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.reader import Reader
from cudalint.frontends.cuda.lowering.variables import mentioned
from cudalint.program import AddressOf, Argument, Call, Dropped, Expression, Unknown
from cudalint.source import Span

_CALLED = re.compile(r"\s*(?:::)?[A-Za-z_][\w:]*\s*(?:<[^<>;]*>)?\s*\(")


def recover(context: Context, text: str, span: Span, wanted: bool) -> Expression:
    """Lower an expression that clang gave up on, from its text."""
    try:
        reader = Reader(context, text, span)
        value = reader.whole(wanted)
    except (Beyond, IndexError):
        value = Unknown(text[:200], mentioned(context, text))
        if not wanted:
            lost(context, text, span)
    else:
        reader.flush()
    return value


def recover_arguments(
    context: Context, text: str, operands: list[Cursor], span: Span
) -> tuple[Argument, ...] | None:
    """The arguments from the text of a call; None where the text has no more than clang: calls
    inside have better positions from there."""
    found = _CALLED.match(text)
    if found is None:
        return None
    try:
        reader = Reader(context, text[found.end() :], span)
        values = reader.list_until(")")
    except (Beyond, IndexError):
        return _one_by_one(context, text[found.end() :], len(operands), span)
    if len(values) <= len(operands):
        return None
    reader.flush()
    return tuple(Argument(value) for value in values)


def _one_by_one(context: Context, text: str, fewer: int, span: Span) -> tuple[Argument, ...] | None:
    """The arguments in a text, if there are more: what is beyond us has its place among them."""
    try:
        written = list(separated(text))
    except Beyond:
        return None
    if len(written) <= fewer:
        return None
    return tuple(Argument(recover(context, one, span, wanted=True)) for one in written)


def lost(context: Context, text: str, span: Span) -> None:
    """Nothing is known of a statement but the variables that it mentions."""
    context.unit.dropped.append(Dropped(span, text[:120], "it could not be parsed"))
    out_of_sight(context, text, span)


def out_of_sight(context: Context, text: str, span: Span) -> None:
    """A statement that is not followed: the variables that it mentions may go anywhere."""
    reads = tuple(Argument(AddressOf(place)) for place in mentioned(context, text))
    context.graph.emit(Call("", reads, span, kind="macro"))
