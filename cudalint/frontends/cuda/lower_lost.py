"""Finds the statements that clang dropped because of an error in them."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lower_positions import Positions
from cudalint.frontends.cuda.parse import ParsedUnit
from cudalint.source import Span


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
            if first in lost or last <= first:
                continue
            text = self._positions.text_of(name, first, last)
            lost[first] = (first, text, self._positions.span_of(name, first, last))
        return list(lost.values())

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
