"""Where cursors stand: spans, the text below them, the macro that they come from."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path

from clang import cindex
from clang.cindex import Cursor, TranslationUnit

from cudalint.frontends.cuda.lowering.libclang import library, referenced
from cudalint.frontends.cuda.toolchain import MADE_UP, OWN_HEADERS, find_toolchain
from cudalint.source import Span

_MACRO_BIT = 0x80000000
_OWN_HEADERS = str(OWN_HEADERS)
_NAME = re.compile(r"[A-Za-z_]\w*")


class _File:
    """One file's bytes, with rows and columns in characters."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.is_ascii = data.isascii()
        self.starts = [0]
        position = data.find(b"\n")
        while position >= 0:
            self.starts.append(position + 1)
            position = data.find(b"\n", position + 1)

    def position(self, offset: int) -> tuple[int, int]:
        row = bisect_right(self.starts, offset)
        start = self.starts[row - 1]
        if self.is_ascii:
            return row, offset - start + 1
        return row, len(self.data[start:offset].decode("utf-8", "replace")) + 1


class Positions:
    """The positions of one translation unit.

    What a macro's body writes stands at the macro's use; an argument of a macro keeps its own
    place in the file.
    """

    def __init__(
        self,
        unit: TranslationUnit,
        filename: str,
        text: str,
        unsaved: Mapping[str, bytes] | None = None,
    ) -> None:
        self._library = library()
        self._unit = unit
        self.filename = filename
        self._file = _File(text.encode("utf-8", "surrogatepass"))
        self._files: dict[str, _File] = {filename: self._file}
        self._unsaved = {os.path.realpath(name): data for name, data in (unsaved or {}).items()}
        self._names: dict[int, str] = {}
        self._shown: dict[str, str] = {}
        self._header_bases: list[int] = []
        self._headers: list[tuple[int, int, str]] = []
        self._handle = ctypes.c_void_p()
        self._numbers = (ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint())
        self._places = (
            ctypes.byref(self._handle),
            *(ctypes.byref(number) for number in self._numbers),
        )
        main = unit.get_file(filename)
        start = cindex.conf.lib.clang_getLocationForOffset(unit, main, 0)
        self._base: int = start.int_data
        self._limit = self._base + len(self._file.data)

    def in_main_file(self, cursor: Cursor) -> bool:
        """Whether the cursor's name stands in the file itself (or in a macro used there)."""
        location = self._library.location(cursor)
        raw = location.int_data
        if raw & _MACRO_BIT:
            return self._place(location)[0] == self.filename
        return bool(self._base <= raw <= self._limit)

    def is_system(self, cursor: Cursor) -> bool:
        """Whether the cursor stands in a system header, a CUDA wheel or nowhere at all."""
        location = self._library.location(cursor)
        raw = location.int_data
        if raw == 0 or self._base <= raw <= self._limit:
            return not raw
        if self._library.in_system_header(location):
            return True
        return self._place(location)[0].startswith(_OWN_HEADERS)

    def is_made_up(self, cursor: Cursor) -> bool:
        """Whether what the cursor names or calls is declared by no header, but by us."""
        declaration = referenced(cursor)
        if declaration is None:
            return False
        return self._place(self._library.location(declaration))[0] == MADE_UP

    def filename_of(self, cursor: Cursor) -> str:
        """The file in which the cursor stands, as a person names it."""
        location = self._library.location(cursor)
        if self._base <= location.int_data <= self._limit:
            return self.filename
        return self.shown(self._place(location)[0])

    def shown(self, name: str) -> str:
        """A header's name without detours, relative below the working directory."""
        if name == self.filename:
            return name
        shown = self._shown.get(name)
        if shown is None:
            shown = os.path.normpath(name)
            if Path(shown).is_absolute():
                with contextlib.suppress(ValueError):
                    shown = str(Path(shown).relative_to(Path.cwd()))
            self._shown[name] = shown
        return shown

    def project_files(self) -> tuple[str, ...]:
        """The included files that belong to the project."""
        found: dict[str, None] = {}
        seen: set[str] = set()
        toolchain = find_toolchain()
        # Asking clang loads a precompiled header's file: only for those that are not known.
        folders = tuple(
            str(folder)
            for folder in (toolchain.resource, *toolchain.cuda, *toolchain.cxx, *toolchain.c)
        )
        for inclusion in self._unit.get_includes():
            name = inclusion.include.name
            if name in seen:
                continue
            seen.add(name)
            if name.startswith((*folders, _OWN_HEADERS)):
                continue
            start = cindex.conf.lib.clang_getLocationForOffset(self._unit, inclusion.include, 0)
            if not self._library.in_system_header(start):
                found[self.shown(name)] = None
        return tuple(found)

    def offsets(self, cursor: Cursor) -> tuple[str, int, int]:
        """The file, and the byte offsets of start and end; -1 where it stands nowhere."""
        extent = self._library.extent(cursor)
        begin, end = extent.begin_int_data, extent.end_int_data
        if self._base <= begin <= self._limit and self._base <= end <= self._limit:
            return self.filename, begin - self._base, end - self._base
        if begin == 0:
            return "", -1, -1
        header = self._header(begin, end)
        if header is not None:
            return header
        name, start = self._place(self._library.range_start(extent))
        other, stop = self._place(self._library.range_end(extent))
        if not begin & _MACRO_BIT and name and name != self.filename:
            self._note_header(begin, name, start)
        if other != name or stop < start:
            stop = start
        if begin & _MACRO_BIT and stop == start:
            stop = self._end_of_use(name, start)
        return name, start, stop

    def offset_at(self, row: int, column: int) -> int:
        """The byte offset in the main file of clang's row and column (which counts bytes)."""
        starts = self._file.starts
        return starts[min(row, len(starts)) - 1] + column - 1

    def name_offset(self, cursor: Cursor) -> tuple[str, int]:
        """The file, and the byte offset at which the cursor's name starts."""
        location = self._library.location(cursor)
        if self._base <= location.int_data <= self._limit:
            return self.filename, location.int_data - self._base
        return self._place(location)

    def span(self, cursor: Cursor) -> Span:
        """The span of the cursor; 1:1 where it stands nowhere."""
        name, start, stop = self.offsets(cursor)
        return self.span_of(name, start, stop)

    def span_of(self, name: str, start: int, stop: int) -> Span:
        """The span between two byte offsets of a file."""
        if start < 0:
            return Span(1, 1, 1, 1)
        file = self._file if name == self.filename else self._open(name)
        row, column = file.position(start)
        end_row, end_column = file.position(stop)
        return Span(row, column, end_row, end_column)

    def text(self, cursor: Cursor) -> str:
        """The source text of the cursor (of the macro's use, where it comes from a macro)."""
        name, start, stop = self.offsets(cursor)
        return self.text_of(name, start, stop) if start >= 0 else ""

    def text_of(self, name: str, start: int, stop: int) -> str:
        """The text between two byte offsets of a file."""
        file = self._file if name == self.filename else self._open(name)
        return file.data[start:stop].decode("utf-8", "replace")

    def from_macro(self, cursor: Cursor) -> bool:
        """Whether the cursor starts in the expansion of a macro."""
        return bool(self._library.extent(cursor).begin_int_data & _MACRO_BIT)

    def is_argument_of_macro(self, cursor: Cursor) -> bool:
        """Whether the cursor starts in what a macro's use writes between its parentheses."""
        return self.from_macro(cursor) and not self._is_of_body(cursor)

    def own_text(self, cursor: Cursor) -> str:
        """The text of the cursor itself; empty where the body of a macro writes it."""
        if self.from_macro(cursor) and self._is_of_body(cursor):
            return ""
        return self.text(cursor)

    def _is_of_body(self, cursor: Cursor) -> bool:
        start = self._library.range_start(self._library.extent(cursor))
        self._library.expansion_location(start, *self._places)
        use = self._read()
        return use == self._place(start)

    def macro(self, cursor: Cursor) -> str | None:
        """The outermost macro whose expansion holds the start of the cursor."""
        extent = self._library.extent(cursor)
        if not extent.begin_int_data & _MACRO_BIT:
            return None
        location = self._library.range_start(extent)
        self._library.expansion_location(location, *self._places)
        name, start = self._read()
        found = _NAME.match(self.text_of(name, start, start + 200))
        return found.group() if found else None

    def _header(self, begin: int, end: int) -> tuple[str, int, int] | None:
        """A place in a header that was met before, without asking the library."""
        number = bisect_right(self._header_bases, begin) - 1
        if number < 0:
            return None
        base, limit, name = self._headers[number]
        if begin > limit or not base <= end <= limit:
            return None
        return name, begin - base, end - base

    def _note_header(self, raw: int, name: str, offset: int) -> None:
        base = raw - offset
        if base not in self._header_bases:
            number = bisect_right(self._header_bases, base)
            self._header_bases.insert(number, base)
            self._headers.insert(number, (base, base + len(self._open(name).data), name))

    def _place(self, location: object) -> tuple[str, int]:
        self._library.file_location(location, *self._places)
        return self._read()

    def _read(self) -> tuple[str, int]:
        handle = self._handle.value
        if not handle:
            return "", -1
        name = self._names.get(handle)
        if name is None:
            file = cindex.File(ctypes.cast(handle, cindex.c_object_p))
            name = self._names[handle] = file.name
        return name, int(self._numbers[2].value)

    def _open(self, name: str) -> _File:
        file = self._files.get(name)
        if file is None:
            data = self._unsaved.get(os.path.realpath(name)) if self._unsaved else None
            try:
                data = Path(name).read_bytes() if data is None else data
            except OSError:
                data = b""
            file = self._files[name] = _File(data)
        return file

    def _end_of_use(self, name: str, start: int) -> int:
        """The end of a macro's use: its name, and its arguments in balanced parentheses."""
        text = (self._file if name == self.filename else self._open(name)).data
        found = re.compile(rb"[A-Za-z_]\w*").match(text, start)
        if not found:
            return start
        position = found.end()
        opened = re.compile(rb"\s*\(").match(text, position)
        if not opened:
            return position
        depth = 0
        for token in re.compile(rb'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[()]').finditer(
            text, position, position + 20_000
        ):
            if token.group() == b"(":
                depth += 1
            elif token.group() == b")":
                depth -= 1
                if depth == 0:
                    return token.end()
        return position
