"""Reads notebooks: the code cells in order as the text of one module."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import msgspec

from cudalint.frontends.python.magics import python_of
from cudalint.project.reading import UnreadableError
from cudalint.source import Cell, Source

_SURROGATES = re.compile("[\ud800-\udfff]")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class _Cell(msgspec.Struct):
    """A cell of format 4 (``source``) or 3 (``input``). Outputs are skipped while decoding."""

    cell_type: Any = None
    source: Any = None
    input: Any = None
    language: Any = None
    metadata: Any = None


class _Worksheet(msgspec.Struct):
    cells: list[_Cell] = []


class _Notebook(msgspec.Struct):
    cells: list[_Cell] | None = None
    worksheets: list[_Worksheet] | None = None
    metadata: Any = None


@dataclass(frozen=True)
class Notebook:
    """The code of a notebook. ``python`` is false where its kernel speaks another language."""

    source: Source
    python: bool = True


def read_notebook(filename: str, data: bytes) -> Notebook:
    """The code cells of a notebook as one module; raises ``UnreadableError``."""
    content = _decode(data)
    cells = content.cells
    if cells is None and content.worksheets is not None:
        cells = [cell for sheet in content.worksheets for cell in sheet.cells]
    if cells is None:
        raise UnreadableError("is not a notebook (it has no `cells`)")
    python = _is_python(content.metadata)
    return Notebook(_source(filename, cells if python else []), python)


# JSON -------------------------------------------------------------------------------------------


def _decode(data: bytes) -> _Notebook:
    if data.startswith(_UTF16):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return msgspec.json.decode(data, type=_Notebook)
    except RecursionError:
        raise UnreadableError("is nested too deeply") from None
    except msgspec.ValidationError as error:
        raise UnreadableError(f"is not a notebook ({_first_lower(error)})") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decode_leniently(data)


def _decode_leniently(data: bytes) -> _Notebook:
    """With Python's own reader: Jupyter writes NaN into outputs, and lone surrogates."""
    try:
        content = json.loads(data.decode("utf-8"))
        return msgspec.convert(content, _Notebook)
    except RecursionError:
        raise UnreadableError("is nested too deeply") from None
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"is not valid UTF-8 (line {row})") from None
    except json.JSONDecodeError as error:
        reason = f"line {error.lineno}, column {error.colno}: {_first_lower(error.msg)}"
        raise UnreadableError(f"is not valid JSON ({reason})") from None
    except msgspec.ValidationError as error:
        raise UnreadableError(f"is not a notebook ({_first_lower(error)})") from None
    except ValueError as error:
        raise UnreadableError(f"is not valid JSON ({_first_lower(error)})") from None


def _first_lower(error: object) -> str:
    text = str(error)
    return text[:1].lower() + text[1:]


def _is_python(metadata: Any) -> bool:
    """Whether the kernel is Python's, or not named."""
    kernel, language = _entry(metadata, "kernelspec"), _entry(metadata, "language_info")
    named = _entry(kernel, "language") or _entry(language, "name") or "python"
    return not isinstance(named, str) or "python" in named.lower()


def _entry(table: Any, key: str) -> Any:
    return table.get(key) if isinstance(table, dict) else None


# Cells ------------------------------------------------------------------------------------------


def _code_of(cell: _Cell) -> str | None:
    """The code of a Python cell."""
    if cell.cell_type != "code":
        return None
    named = _entry(_entry(cell.metadata, "vscode"), "languageId") or cell.language or "python"
    if isinstance(named, str) and "python" not in named.lower():
        return None
    code = cell.input if cell.source is None else cell.source
    if isinstance(code, list):
        code = "".join(line for line in code if isinstance(line, str))
    return code if isinstance(code, str) else None


def _source(filename: str, cells: list[_Cell]) -> Source:
    texts: list[str] = []
    shown: list[str] = []
    places: list[Cell] = []
    row = 1
    for number, cell in enumerate(cells, start=1):
        code = _code_of(cell)
        if code is None or not code.strip():
            continue
        code = _SURROGATES.sub("\ufffd", code).removesuffix("\n")
        python = python_of(code)
        if python is None:
            continue
        if python.endswith("\\"):
            # It must not go on in the next cell.
            python = f"{python[:-1]} "
        if _is_indented(python):
            # IPython takes the indentation away; here columns stay.
            texts.append("if True:")
            shown.append("")
            row += 1
        rows = code.count("\n") + 1
        places.append(Cell(number, row, rows))
        texts.append(python)
        shown.append(code)
        row += rows
    text, original = "\n".join(texts), "\n".join(shown)
    return Source(filename, text, tuple(places), None if text == original else original)


def _is_indented(code: str) -> bool:
    """Whether the first line of code is."""
    for line in code.split("\n"):
        text = line.strip()
        if text and not text.startswith("#"):
            return line[0] in " \t"
    return False
