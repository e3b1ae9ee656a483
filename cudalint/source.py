"""Text, spans and line maps: the floor that everything stands on."""

from __future__ import annotations

import functools
from bisect import bisect_right
from dataclasses import dataclass

import msgspec

_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc", ".ipp", ".tcc")
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What ``ast.parse`` raises of a text that is no Python, or that nests too deep for it (where its
own stack ends, a ``MemoryError``)."""


def is_header(filename: str) -> bool:
    """Whether other files include a file, by its name."""
    return filename.lower().endswith(_HEADERS)


class Span(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A range of a file; rows and columns are 1-based, columns count characters, the end is
    exclusive (``end_column`` is one past the last character)."""

    row: int
    column: int
    end_row: int
    end_column: int


@dataclass(frozen=True)
class Cell:
    """A notebook's cell: where it stands in the text that its code cells make together."""

    number: int
    """Its position among all cells of the notebook, 1-based."""
    first_row: int
    rows: int


@dataclass(frozen=True)
class Source:
    """The text of one file. ``filename`` is as the user gave it (relative below the working
    directory)."""

    filename: str
    text: str
    cells: tuple[Cell, ...] = ()
    """A notebook's code cells, in order; rows of ``text`` count through all of them."""
    shown: str | None = None
    """What reports show in place of ``text``, row for row: a notebook's magics as written."""

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

    @functools.cached_property
    def _shown_lines(self) -> list[str]:
        return self.lines if self.shown is None else Source("", self.shown).lines

    def shown_line(self, row: int) -> str:
        """Line ``row`` as its author wrote it."""
        return self._shown_lines[row - 1] if 0 < row <= len(self._shown_lines) else ""

    def cell_at(self, row: int) -> Cell | None:
        """The cell that a row belongs to; ``None`` where there are no cells."""
        if not self.cells:
            return None
        position = bisect_right(self.cells, row, key=lambda cell: cell.first_row)
        return self.cells[max(position - 1, 0)]

    def place(self, row: int) -> tuple[int | None, int]:
        """The number of the cell that a row belongs to (``None``: no notebook), and the row as a
        reader counts it."""
        cell = self.cell_at(row)
        if cell is None:
            return None, row
        return cell.number, min(max(row - cell.first_row + 1, 1), max(cell.rows, 1))

    def position(self, offset: int) -> tuple[int, int]:
        """Row and column (1-based) of a character offset."""
        row = bisect_right(self.line_starts, offset)
        return row, offset - self.line_starts[row - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """The span between two character offsets."""
        return Span(*self.position(start), *self.position(end))
