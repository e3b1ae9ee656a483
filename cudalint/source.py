"""Text, spans and line maps: the floor that everything stands on."""

from __future__ import annotations

import functools
from bisect import bisect_right
from dataclasses import dataclass

import msgspec


class Span(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A range of a file; rows and columns are 1-based, columns count characters, the end is
    exclusive (``end_column`` is one past the last character)."""

    row: int
    column: int
    end_row: int
    end_column: int


@dataclass(frozen=True)
class Source:
    """The text of one file. ``filename`` is as the user gave it (relative below the working
    directory)."""

    filename: str
    text: str

    @functools.cached_property
    def line_starts(self) -> list[int]:
        """Offsets (characters) at which each line starts."""
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    def line(self, row: int) -> str:
        """Line ``row`` (1-based) without its end; empty beyond the last."""
        return self.lines[row - 1] if 0 < row <= len(self.lines) else ""

    def position(self, offset: int) -> tuple[int, int]:
        """Row and column (1-based) of a character offset."""
        row = bisect_right(self.line_starts, offset)
        return row, offset - self.line_starts[row - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """The span between two character offsets."""
        return Span(*self.position(start), *self.position(end))
