"""Source frames: the lines that a finding speaks of, with carets and numbered notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cudalint.reports.style import Style, cell, escaped
from cudalint.source import Source, Span

_TAB = 4
_LEFT_MARGIN = 24


@dataclass(frozen=True)
class Note:
    """An underlined place. ``color`` paints the mark; the primary place is marked ``^``."""

    span: Span
    text: str
    color: str
    primary: bool = False


def frame(source: Source, notes: Sequence[Note], style: Style, *, context: int = 0) -> list[str]:
    """The lines of a source around its notes, each note below its line, in order of rows."""
    rows = shown_rows(source, [note.span for note in notes], context)
    gutter = max((len(str(source.place(row)[1])) for row in rows), default=1)
    empty = style.paint(f"{'':>{gutter}} |", "cyan")
    result = [empty]
    previous = rows[0] if rows else 0
    cell_number: int | None = None
    for row in rows:
        number, shown = source.place(row)
        if number is not None and number != cell_number:
            result.append(style.paint(f"{'':>{gutter}} : cell {number}", "cyan"))
        elif row > previous + 1:
            result.append(style.paint("...", "cyan"))
        previous, cell_number = row, number
        here = [note for note in notes if note.span.row == row]
        window = _Window(source.shown_line(row), here[0].span.column if here else 1, style.width)
        margin = style.paint(f"{shown:>{gutter}} |", "cyan")
        result.append(f"{margin} {window.text}".rstrip())
        for note in here:
            start, length = window.columns(note.span, row)
            mark = ("^" if note.primary else "-") * length
            text = f"{mark} {style.message(note.text)}" if note.text else mark
            painted = style.paint(mark, note.color) + text[len(mark) :]
            result.append(f"{empty} {' ' * start}{painted}")
    result.append(empty)
    return result


def shown_rows(source: Source, spans: Sequence[Span], context: int) -> list[int]:
    """The rows to show: the spans' own, the context, and single rows between two of them."""
    last = len(source.lines)
    rows = {
        row
        for span in spans
        for row in range(span.row - context, span.row + context + 1)
        if 1 <= row <= last and source.cell_at(row) == source.cell_at(span.row)
    }
    rows |= {
        row + 1
        for row in rows
        if row + 2 in rows and source.cell_at(row) == source.cell_at(row + 2)
    }
    shown = sorted(rows)
    own = {span.row for span in spans}
    # Blank context at the edges says nothing:
    while shown and shown[0] not in own and not source.line(shown[0]).strip():
        shown.pop(0)
    while shown and shown[-1] not in own and not source.line(shown[-1]).strip():
        shown.pop()
    return shown


class _Window:
    """The part of a line that is shown, with each character's column on the screen."""

    def __init__(self, line: str, column: int, width: int) -> None:
        first = 0
        if len(line) > width and column > width - _LEFT_MARGIN:
            first = max(0, column - 1 - _LEFT_MARGIN)
        self.first = first
        self.line = line
        shown, starts, position = [], [], 0
        if first:
            shown.append("…")
            position = 1
        for index in range(first, len(line)):
            starts.append(position)
            character = line[index]
            if character == "\t":
                size = _TAB - position % _TAB
                text = " " * size
            else:
                text, size = cell(character)
            shown.append(text)
            position += size
            if position >= width:
                if index + 1 < len(line):
                    shown.append("…")
                break
        starts.append(position)
        self.starts = starts
        self.text = "".join(shown)

    def _at(self, column: int) -> int:
        return self.starts[min(max(column - 1 - self.first, 0), len(self.starts) - 1)]

    def columns(self, span: Span, row: int) -> tuple[int, int]:
        """Where a span's underline starts on the screen, and how long it is (at least 1)."""
        end = span.end_column if span.end_row == row else len(self.line.rstrip()) + 1
        start = self._at(span.column)
        return start, max(self._at(end) - start, 1)


def location(filename: str, span: Span, sources: Mapping[str, Source]) -> str:
    """``path:row:column``, in a notebook ``path:cell 3:row:column``; safe to print."""
    source = sources.get(filename)
    number, row = source.place(span.row) if source else (None, span.row)
    cell_part = "" if number is None else f"cell {number}:"
    return f"{escaped(filename)}:{cell_part}{row}:{span.column}"


def has_lines(sources: Mapping[str, Source], filename: str, span: Span) -> bool:
    """Whether the text at a place is at hand."""
    source = sources.get(filename)
    return source is not None and 1 <= span.row <= len(source.lines)
