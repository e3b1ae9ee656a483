"""Lowers expressions from their text, where clang gave up on them: the last resort.

What the small grammar does not cover becomes ``Unknown`` with the variables that the text
mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.reader import Beyond, Reader
from cudalint.frontends.cuda.lowering.variables import mentioned
from cudalint.program import AddressOf, Argument, Call, Dropped, Expression, Unknown
from cudalint.source import Span

_OPENING, _CLOSING = "([{", ")]}"
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'")
_TEMPLATE_ARGUMENTS = re.compile(r"(?<=\w)\s*<(?:[^<>;(){}]|<(?:[^<>;(){}]|<[^<>;(){}]*>)*>)*>")
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
        # What is beyond us has its place among the others.
        written = list(_separated(text[found.end() :]))
        if len(written) <= len(operands):
            return None
        return tuple(Argument(recover(context, one, span, wanted=True)) for one in written)
    if len(values) <= len(operands):
        return None
    reader.flush()
    return tuple(Argument(value) for value in values)


def _separated(text: str) -> Iterator[str]:
    """What stands between commas, up to the bracket that closes."""
    depth = begin = place = 0
    while place < len(text):
        passed = _STRING.match(text, place) or _TEMPLATE_ARGUMENTS.match(text, place)
        if passed is not None:
            place = passed.end()
            continue
        character = text[place]
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth < 0 or (character == "," and depth == 0):
            yield text[begin:place].strip()
            begin = place + 1
        if depth < 0:
            return
        place += 1


def lost(context: Context, text: str, span: Span) -> None:
    """Nothing is known of a statement but the variables that it mentions."""
    context.unit.dropped.append(Dropped(span, text[:120], "it could not be parsed"))
    out_of_sight(context, text, span)


def out_of_sight(context: Context, text: str, span: Span) -> None:
    """A statement that is not followed: the variables that it mentions may go anywhere."""
    reads = tuple(Argument(AddressOf(place)) for place in mentioned(context, text))
    context.graph.emit(Call("", reads, span, kind="macro"))
