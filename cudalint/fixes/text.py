"""What edits are made with: places, indentation and line ends of one text."""

from __future__ import annotations

import functools
import re

from cudalint.findings.fix import Edit
from cudalint.source import Source, Span

LONGEST_LINE = 100
_INDENTATION = re.compile(r"[ \t]*")
_PLACE = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*)*")


class GiveUp(Exception):  # noqa: N818  (nothing is wrong: there is just no fix)
    """What should be done cannot be written here with certainty."""


def demand(condition: object) -> None:
    """Give up unless something holds."""
    if not condition:
        raise GiveUp


def name_of_result(function: str) -> str:
    """A name for what a function returns that nothing in it has."""
    for name in ("result", "returned", "outcome"):
        if name not in function:
            return name
    raise GiveUp


def is_place(name: str) -> bool:
    """Whether a name is that of a variable or member, as code can write it anywhere."""
    return _PLACE.fullmatch(name) is not None


class Text:
    """One file's text, with edits by character offsets."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.filename = source.filename

    @functools.cached_property
    def newline(self) -> str:
        """How its lines end."""
        return "\r\n" if "\r\n" in self.text else "\n"

    def offset(self, row: int, column: int) -> int:
        """The offset of a place."""
        demand(0 < row <= len(self.source.line_starts))
        return min(self.source.line_starts[row - 1] + column - 1, len(self.text))

    def bounds(self, span: Span) -> tuple[int, int]:
        """The offsets of a span."""
        return self.offset(span.row, span.column), self.offset(span.end_row, span.end_column)

    def at(self, span: Span) -> str:
        """What stands at a span."""
        start, end = self.bounds(span)
        return self.text[start:end]

    def edit(self, start: int, end: int, text: str) -> Edit:
        """What stands between two offsets gives way to a text."""
        span = self.source.span(start, end)
        for row in range(span.row, span.end_row + 1):
            # What a notebook shows there is no Python: a magic, say.
            demand(
                self.source.shown is None or self.source.shown_line(row) == self.source.line(row)
            )
        return Edit(self.filename, span, text.replace("\n", self.newline))

    def insert(self, offset: int, text: str) -> Edit:
        """A text is put at an offset."""
        return self.edit(offset, offset, text)

    def line_start(self, offset: int) -> int:
        """Where the line of an offset begins."""
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Where the line of an offset ends, before its end of line."""
        end = self.text.find("\n", offset)
        end = len(self.text) if end < 0 else end
        return end - 1 if end > offset and self.text[end - 1] == "\r" else end

    def indentation(self, offset: int) -> str:
        """The white space that the line of an offset begins with."""
        match = _INDENTATION.match(self.text, self.line_start(offset))
        return match[0] if match else ""

    def leads(self, offset: int) -> bool:
        """Whether nothing but white space stands before an offset in its line."""
        return not self.text[self.line_start(offset) : offset].strip()
