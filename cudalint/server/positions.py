"""Places as editors count them: from 0, in units of UTF-16 unless agreed otherwise."""

from __future__ import annotations

import re
from bisect import bisect_right

from lsprotocol import types

from cudalint.source import Source, Span

Encoding = types.PositionEncodingKind | str

# The protocol's line ends; Python's `splitlines` knows more, such as form feeds.
_LINE_END = re.compile(r"\r\n|\n|\r")


class Lines:
    """The lines of a text, for places in it."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text = text
        self.encoding = encoding
        self._ends = [match.span() for match in _LINE_END.finditer(text)]
        self._starts = [0, *(end for _, end in self._ends)]

    def offset(self, position: types.Position) -> int:
        """The character offset of a place; what lies beyond a line or the text is its end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start, end = self._bounds(position.line)
        return start + _characters(self.text[start:end], position.character, self.encoding)

    def position(self, offset: int) -> types.Position:
        """The place of a character offset."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        start, end = self._bounds(line)
        before = self.text[start : min(offset, end)]
        return types.Position(line, _units(before, self.encoding))

    def _bounds(self, line: int) -> tuple[int, int]:
        end = self._ends[line][0] if line < len(self._ends) else len(self.text)
        return self._starts[line], end

    def range(self, start: int, end: int) -> types.Range:
        """The range between two character offsets."""
        return types.Range(self.position(start), self.position(end))


def range_of(span: Span, source: Source, lines: Lines) -> types.Range:
    """A span of a source, in a text that has the same characters."""
    start = offset_of(source, span.row, span.column)
    end = offset_of(source, span.end_row, span.end_column)
    return lines.range(start, max(start, end))


def offset_of(source: Source, row: int, column: int) -> int:
    """The character offset of a row and a column; the nearest one where there is no such place."""
    starts = source.line_starts
    if row > len(starts):
        return len(source.text)
    row = max(row, 1)
    start = starts[row - 1]
    return min(start + max(column - 1, 0), start + len(source.line(row)))


def _units(text: str, encoding: Encoding) -> int:
    """How many units of an encoding some text takes."""
    if encoding == types.PositionEncodingKind.Utf32 or text.isascii():
        return len(text)
    if encoding == types.PositionEncodingKind.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _characters(line: str, units: int, encoding: Encoding) -> int:
    """How many characters of a line some units are; half a character does not count."""
    if encoding == types.PositionEncodingKind.Utf32 or line.isascii():
        return min(units, len(line))
    if encoding == types.PositionEncodingKind.Utf8:
        data = line.encode("utf-8", "surrogatepass")
        while 0 < units < len(data) and data[units] & 0xC0 == 0x80:
            units -= 1
        return len(data[:units].decode("utf-8", "surrogatepass"))
    data = line.encode("utf-16-le", "surrogatepass")
    found = len(data[: 2 * units].decode("utf-16-le", "surrogatepass"))
    # A pair of surrogates that the place cuts apart:
    return found - 1 if found > 0 and _units(line[:found], encoding) > units else found
