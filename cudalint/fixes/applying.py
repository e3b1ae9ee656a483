"""Makes edits: of a text, and of the bytes of a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from cudalint.findings.fix import Edit
from cudalint.project.reading import Language
from cudalint.project.writing import UnwritableError, apply_edits, encode
from cudalint.source import Cell, Source, Span

_LAYOUT = "the layout of the notebook could not be kept"


def edited_bytes(data: bytes, source: Source, language: Language, edits: Sequence[Edit]) -> bytes:
    """A file's content with edits made, and nothing else changed. Raises ``UnwritableError``."""
    if source.cells:
        return _notebook(data, source, edits)
    return encode(apply_edits(source.text, edits), data, language)


def cell_texts(source: Source, edits: Sequence[Edit]) -> dict[int, tuple[str, str]]:
    """By the numbers of the cells that edits change: their code before and after."""
    found: dict[int, tuple[str, str]] = {}
    for cell in source.cells:
        rows = range(cell.first_row, cell.first_row + cell.rows)
        own = [_in_cell(edit, cell) for edit in edits if edit.span.row in rows]
        if own:
            code = "\n".join(source.shown_line(row) for row in rows)
            found[cell.number] = code, apply_edits(code, own)
    return found


def _in_cell(edit: Edit, cell: Cell) -> Edit:
    above = cell.first_row - 1
    span = edit.span
    moved = Span(span.row - above, span.column, span.end_row - above, span.end_column)
    return Edit(edit.filename, moved, edit.text)


def _notebook(data: bytes, source: Source, edits: Sequence[Edit]) -> bytes:
    try:
        text = data.decode("utf-8")
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise UnwritableError(_LAYOUT) from None
    layout = next((one for one in _layouts(text) if _dumped(content, *one) == text), None)
    cells = content.get("cells")
    if layout is None or not isinstance(cells, list):
        raise UnwritableError(_LAYOUT)
    for number, (before, after) in cell_texts(source, edits).items():
        written = cells[number - 1].get("source")
        code = "".join(written) if isinstance(written, list) else written
        if not isinstance(code, str) or code.removesuffix("\n") != before:
            raise UnwritableError(_LAYOUT)
        code = after + code[len(before) :]
        cells[number - 1]["source"] = (
            code.splitlines(keepends=True) if isinstance(written, list) else code
        )
    return _dumped(content, *layout).encode()


def _layouts(text: str) -> Iterable[tuple[int | None, bool, str]]:
    """The ways in which notebooks are written: indentation, escapes and end."""
    ends = text[len(text.rstrip()) :]
    for indentation in (1, 2, 4, None):
        for escapes in (False, True):
            yield indentation, escapes, ends


def _dumped(content: object, indentation: int | None, escapes: bool, ends: str) -> str:
    return json.dumps(content, indent=indentation, ensure_ascii=escapes) + ends
