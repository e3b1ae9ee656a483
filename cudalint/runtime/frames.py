"""Resolves the frames of a trace to functions, files and lines, by the DWARF of the binaries."""

from __future__ import annotations

import bisect
import functools
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from cudalint.runtime.demangle import function_name
from cudalint.runtime.events import Event, Frame


class Resolver:
    """Resolves frames; keeps what it read of each binary."""

    def __init__(self) -> None:
        self._binaries: dict[str, _Binary | None] = {}
        self._frames: dict[Frame, tuple[Frame, ...]] = {}
        self._stacks: dict[tuple[Frame, ...], tuple[Frame, ...]] = {}

    def resolve(self, stack: tuple[Frame, ...]) -> tuple[Frame, ...]:
        """The stack with function, file and line where they are known. A frame whose code was
        inlined becomes several, the innermost first."""
        known = self._stacks.get(stack)
        if known is None:
            known = tuple(part for frame in stack for part in self._frame(frame))
            self._stacks[stack] = known
        return known

    def resolve_events(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """The events with their stacks resolved."""
        return tuple(
            msgspec.structs.replace(event, stack=self.resolve(event.stack))
            if event.stack
            else event
            for event in events
        )

    def _frame(self, frame: Frame) -> tuple[Frame, ...]:
        if frame.line or not frame.module:
            return (frame,)
        known = self._frames.get(frame)
        if known is None:
            binary = self._binary(frame.module)
            # A return address may be the first of the next line: the call is before it.
            known = binary.frames(frame.offset - 1) if binary is not None else ()
            known = tuple(
                msgspec.structs.replace(part, module=frame.module, offset=frame.offset)
                for part in known
            ) or (frame,)
            self._frames[frame] = known
        return known

    def _binary(self, path: str) -> _Binary | None:
        if path not in self._binaries:
            self._binaries[path] = _known(path)
        return self._binaries[path]


def user_frame(stack: tuple[Frame, ...], sources: Iterable[Path] = ()) -> Frame | None:
    """The innermost frame in the target's own sources (without ``sources``: in anything but the
    headers of the system and of CUDA)."""
    number = next(user_frames(stack, sources), None)
    return None if number is None else stack[number]


def user_frames(stack: tuple[Frame, ...], sources: Iterable[Path] = ()) -> Iterator[int]:
    """Which frames of a stack are in the target's own sources, the innermost first."""
    own = {os.path.realpath(source) for source in sources}
    folders = {str(Path(name).parent) + os.sep for name in own}
    for number, frame in enumerate(stack):
        if not frame.line or frame.function.startswith(_STUBS):
            continue
        real = _real(frame.filename)
        if own:
            if real in own or any(real.startswith(folder) for folder in folders):
                yield number
        elif not real.startswith(("/usr/", "/opt/")) and "/nvidia/cu" not in real:
            yield number


_STUBS = ("__device_stub__", "__wrapper__device_stub_", "__sti____cudaRegisterAll")


@functools.lru_cache(maxsize=4096)
def _real(name: str) -> str:
    return os.path.realpath(name)


@dataclass(frozen=True)
class _Row:
    address: int
    file: str
    line: int


@dataclass(frozen=True)
class _Scope:
    """A function, or code that was inlined into it."""

    ranges: tuple[tuple[int, int], ...]
    name: str
    call_file: str = ""
    call_line: int = 0
    children: tuple[_Scope, ...] = ()

    def covers(self, address: int) -> bool:
        return any(low <= address < high for low, high in self.ranges)


@dataclass
class _Unit:
    unit: Any
    dwarf: Any
    rows: list[_Row] | None = None
    ends: frozenset[int] = frozenset()
    scopes: list[_Scope] = field(default_factory=list)


class _Binary:
    """The debug information of one executable or library. Units are read when asked for."""

    def __init__(self, dwarf: Any, symbols: list[tuple[int, int, str]]) -> None:
        self._dwarf = dwarf
        self._symbols = symbols
        self._units: list[tuple[int, int, _Unit]] | None = None
        self._reading = threading.Lock()

    def frames(self, address: int) -> tuple[Frame, ...]:
        """The frames of an address, the innermost first; from any thread."""
        with self._reading:  # pyelftools moves about in one open file
            unit = self._unit(address)
        if unit is None:
            name = self._symbol(address)
            return (Frame(function=name),) if name else ()
        row = self._row(unit, address)
        filename, line = (row.file, row.line) if row is not None else ("", 0)
        found: list[Frame] = []
        chain: list[_Scope] = []
        scopes: Iterable[_Scope] = unit.scopes
        while True:
            inner = next((scope for scope in scopes if scope.covers(address)), None)
            if inner is None:
                break
            chain.append(inner)
            scopes = inner.children
        for scope in reversed(chain):
            inlined = scope is not chain[0]
            found.append(Frame(function=scope.name, filename=filename, line=line, inlined=inlined))
            filename, line = scope.call_file, scope.call_line
        if not found:
            found.append(Frame(function=self._symbol(address), filename=filename, line=line))
        return tuple(found)

    def _symbol(self, address: int) -> str:
        at = bisect.bisect_right(self._symbols, (address, 1 << 63, "")) - 1
        if at < 0:
            return ""
        start, end, name = self._symbols[at]
        return function_name(name) if start <= address < max(end, start + 1) else ""

    def _unit(self, address: int) -> _Unit | None:
        if self._dwarf is None:
            return None
        if self._units is None:
            self._units = []
            for unit in self._dwarf.iter_CUs():
                kept = _Unit(unit, self._dwarf)
                for low, high in _ranges(unit.get_top_DIE(), unit, self._dwarf):
                    self._units.append((low, high, kept))
        for low, high, kept in self._units:
            if low <= address < high:
                if kept.rows is None:
                    _read_unit(kept)
                return kept
        return None

    def _row(self, unit: _Unit, address: int) -> _Row | None:
        rows = unit.rows or []
        at = bisect.bisect_right(rows, address, key=lambda row: row.address) - 1
        if at < 0 or rows[at].line == 0:
            return None
        return rows[at]


def _known(path: str) -> _Binary | None:
    """A binary; the system's are read once, whatever resolvers there are."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return _read(path, (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size))


@functools.lru_cache(maxsize=16)
def _read(path: str, version: tuple[int, ...]) -> _Binary | None:
    """What one version of a binary holds."""
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
        from elftools.elf.sections import SymbolTableSection
    except ImportError:
        return None
    try:
        # The file stays open: pyelftools reads units when they are asked for.
        file = open(path, "rb")  # noqa: SIM115, PTH123
        elf = ELFFile(file)
        symbols: list[tuple[int, int, str]] = []
        for name in (".symtab", ".dynsym"):
            section = elf.get_section_by_name(name)
            if isinstance(section, SymbolTableSection):
                symbols += [
                    (int(s["st_value"]), int(s["st_value"] + s["st_size"]), str(s.name))
                    for s in section.iter_symbols()
                    if s["st_info"]["type"] == "STT_FUNC" and s["st_value"]
                ]
                break
        dwarf = elf.get_dwarf_info() if elf.has_dwarf_info() else None
        return _Binary(dwarf, sorted(symbols))
    except (OSError, ELFError, ValueError, KeyError):
        return None


def _ranges(die: Any, unit: Any, dwarf: Any) -> tuple[tuple[int, int], ...]:
    attributes = die.attributes
    low = attributes.get("DW_AT_low_pc")
    high = attributes.get("DW_AT_high_pc")
    if low is not None and high is not None:
        end = high.value if high.form == "DW_FORM_addr" else low.value + high.value
        return ((low.value, end),) if end > low.value else ()
    listed = attributes.get("DW_AT_ranges")
    if listed is None:
        return ()
    lists = dwarf.range_lists()
    if lists is None:
        return ()
    base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    start = base.value if base is not None else 0
    found: list[tuple[int, int]] = []
    for entry in lists.get_range_list_at_offset(listed.value, cu=unit):
        if hasattr(entry, "base_address"):
            start = entry.base_address
            continue
        offset = 0 if getattr(entry, "is_absolute", False) else start
        if entry.end_offset > entry.begin_offset:
            found.append((offset + entry.begin_offset, offset + entry.end_offset))
    return tuple(found)


def _read_unit(kept: _Unit) -> None:
    program = kept.dwarf.line_program_for_CU(kept.unit)
    top = kept.unit.get_top_DIE()
    files = _files(program, top) if program is not None else {}
    rows: list[_Row] = []
    if program is not None:
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if state.end_sequence:
                rows.append(_Row(state.address, "", 0))
            else:
                rows.append(_Row(state.address, files.get(state.file, ""), state.line))
        # Stable, and an end comes before a beginning at the same address.
        rows.sort(key=lambda row: (row.address, row.line != 0))
    kept.rows = rows
    kept.scopes = list(_scopes(top, kept, files))


def _files(program: Any, top: Any) -> dict[int, str]:
    header = program.header
    version = header["version"]
    working = _text(top, "DW_AT_comp_dir")
    directories = [_decode(getattr(d, "name", d)) for d in _entries(header, "include_directory")]
    if version < 5:
        directories = [working, *directories]
    files: dict[int, str] = {}
    for index, entry in enumerate(_entries(header, "file_entry"), 0 if version >= 5 else 1):
        folder = directories[entry.dir_index] if entry.dir_index < len(directories) else ""
        name = os.path.join(working, folder, _decode(entry.name))  # noqa: PTH118
        files[index] = os.path.normpath(name)
    return files


def _entries(header: Any, name: str) -> list[Any]:
    return list(header.get(name) or ())


def _decode(text: Any) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def _text(die: Any, name: str) -> str:
    attribute = die.attributes.get(name)
    return _decode(attribute.value) if attribute is not None else ""


_FUNCTIONS = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine")
_NESTS = (
    "DW_TAG_lexical_block", "DW_TAG_namespace", "DW_TAG_class_type", "DW_TAG_structure_type",
    "DW_TAG_try_block", "DW_TAG_catch_block",
)  # fmt: skip


def _scopes(die: Any, kept: _Unit, files: dict[int, str]) -> Iterable[_Scope]:
    for child in die.iter_children():
        if child.tag in _FUNCTIONS:
            ranges = _ranges(child, kept.unit, kept.dwarf)
            if not ranges:
                continue
            file = child.attributes.get("DW_AT_call_file")
            line = child.attributes.get("DW_AT_call_line")
            yield _Scope(
                ranges,
                _name(child),
                files.get(file.value, "") if file is not None else "",
                int(line.value) if line is not None else 0,
                tuple(_scopes(child, kept, files)),
            )
        elif child.tag in _NESTS:
            yield from _scopes(child, kept, files)


def _name(die: Any) -> str:
    """Its own name; where only its clone is named, as for constructors, that name demangled."""
    linkage = ""
    for _ in range(4):
        name = _text(die, "DW_AT_name")
        if name:
            return name
        linkage = linkage or _text(die, "DW_AT_linkage_name")
        for reference in ("DW_AT_abstract_origin", "DW_AT_specification"):
            if reference in die.attributes:
                die = die.get_DIE_from_attribute(reference)
                break
        else:
            break
    return function_name(linkage).rpartition("::")[2]
