"""Finds the statements that clang dropped because of an error in them."""

from __future__ import annotations

import re

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.positions import Positions
from cudalint.frontends.cuda.parse import ParsedUnit
from cudalint.source import Span

_BOUNDARY = re.compile(r"[;{}]|\belse\b")
_HEAD = re.compile(r"\s*(?:if|for|while)\b[^()]*\(")


def _beginning(text: str) -> str:
    """The part of a statement that stands at the end of the text before it."""
    boundaries = list(_BOUNDARY.finditer(text))
    part = text[boundaries[-1].end() :] if boundaries else text
    head = _HEAD.match(part)
    depth = 0
    for place, character in enumerate(part):
        depth += (character == "(") - (character == ")")
        if depth < 0 or (depth == 0 and head and character == ")"):
            # The parentheses of the ``if``, or of a ``for`` that began before the text.
            return part[place + 1 :].lstrip()
    return part.lstrip()


class LostStatements:
    """The places of the errors; an error that no statement covers has cost one."""

    def __init__(self, positions: Positions, parsed: ParsedUnit) -> None:
        self._positions = positions
        self.offsets: list[tuple[int, str]] = sorted(
            (positions.offset_at(error.row, error.column), error.message)
            for error in parsed.errors
            if error.filename == positions.filename and error.row > 0
        )

    def inside(self, braces: Cursor, found: list[Cursor]) -> list[tuple[int, str, Span]]:
        """Of a compound statement: start, text and span of each statement that is missing."""
        name, start, end = self._positions.offsets(braces)
        if name != self._positions.filename:
            return []
        errors = [offset for offset, _ in self.offsets if start < offset < end]
        if not errors:
            return []
        covered = [self._positions.offsets(child)[1:] for child in found]
        lost: dict[int, tuple[int, str, Span]] = {}
        for offset in errors:
            if any(first <= offset < last for first, last in covered):
                continue
            before = max([start + 1, *(last for _, last in covered if last <= offset)])
            after = min([end - 1, *(first for first, _ in covered if first > offset)])
            first, last = self._bounds(before, offset, after)
            if first in lost or last <= first or self._continues(name, before, first):
                continue
            text = self._positions.text_of(name, first, last)
            lost[first] = (first, text, self._positions.span_of(name, first, last))
        return list(lost.values())

    def _continues(self, name: str, before: int, first: int) -> bool:
        """Whether the text goes on with the statement before it, which clang cut short."""
        between = self._positions.text_of(name, before - 1, first)
        return not any(mark in between for mark in ";{}")

    def branch(self, cursor: Cursor) -> tuple[str, Span] | None:
        """The text of a branch or loop body in whose place clang left an empty statement."""
        name, start, _ = self._positions.offsets(cursor)
        if name != self._positions.filename:
            return None
        text = self._positions.text_of(name, start, start + 2000)
        if text.startswith((";", "}")):
            return None
        first = text.partition(";")[0]
        end = start + len(first.encode("utf-8"))
        # Clang skips a part of the statement before it gives up.
        before = self._positions.text_of(name, max(0, start - 400), start)
        start -= len(_beginning(before).encode("utf-8"))
        if not any(start <= offset <= end for offset, _ in self.offsets):
            return None
        whole = self._positions.text_of(name, start, end)
        return whole, self._positions.span_of(name, start, end)

    def _bounds(self, before: int, offset: int, after: int) -> tuple[int, int]:
        """The statement around the error, between the statements before and after it."""
        text = self._positions.text_of(self._positions.filename, before, after)
        if not text.isascii():
            text = text.encode("utf-8").decode("latin-1")
        here = offset - before
        first = 0
        depth = 0
        for place, character in enumerate(text[:here]):
            depth += (character in "([") - (character in ")]")
            if character in ";{}" and depth <= 0:
                first = place + 1
        while first < len(text) and text[first].isspace():
            first += 1
        last = len(text)
        depth = 0
        for place in range(first, len(text)):
            character = text[place]
            depth += (character in "([{") - (character in ")]}")
            if character == ";" and depth <= 0 and place >= here:
                last = place
                break
            if character == "}" and depth <= 0 and place > here:
                last = place + 1
                break
        return before + first, before + last
