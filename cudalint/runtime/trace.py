"""The trace file that the ledger writes, and its reader.

The file is a header of 64 bytes and records, all little-endian and padded to 8 bytes. The ledger
writes it through shared memory, so that what it wrote is there however the process died; the size
of a record is stored last, and a size of 0 is where a process that was killed stopped. The numbers
of definitions (strings, stacks) count from 1; 0 is none.

==========  =====================================================================================
header      ``CUDALTRC``, u32 version, u32 process, u64 memory of the device, u64 bytes used (0
            while the process lives), u32 mode (1 observe, 2 simulate), the rest 0
record      u32 size with this head, u8 kind, u8 flags, u16 detail, then by kind:
string 100  u32 number, u32 length, UTF-8
stack 101   u32 number, u32 count, u64 return addresses, innermost first
module 102  u64 load bias, u64 first address, u64 end, u32 path (string), u32 0
events      see ``_EVENT``; a launch has ``_LAUNCH`` after it
==========  =====================================================================================
"""

from __future__ import annotations

import bisect
import enum
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from cudalint.runtime.events import Event, EventKind, Frame, Launch

MAGIC = b"CUDALTRC"
VERSION = 1

_HEADER = struct.Struct("<8sIIQQI28x")
_HEAD = struct.Struct("<IBBH")
_EVENT = struct.Struct("<IBBHQqQQQQIIIIIiII")
_LAUNCH = struct.Struct("<3I3IiI")
_DEFINITION = struct.Struct("<II")
_MODULE = struct.Struct("<QQQII")

_STRING, _STACK, _MODULE_KIND = 100, 101, 102
_INJECTED, _ASYNCHRONOUS, _ORDER_ASSUMED = 1, 2, 4


class TraceError(ValueError):
    """A trace that cannot be read; says which, where and why."""


class Mode(enum.IntEnum):
    """What the ledger was for the program."""

    OBSERVE = 1
    SIMULATE = 2


@dataclass(frozen=True)
class Module:
    """A loaded executable or library."""

    path: str
    bias: int
    start: int
    end: int


@dataclass(frozen=True)
class Trace:
    """What one process did."""

    process: int
    mode: Mode
    memory: int
    """Of the device, in bytes."""
    events: tuple[Event, ...]
    modules: tuple[Module, ...]
    complete: bool
    """Whether the process came to its end by itself: a killed one has no END event."""


def read_trace(path: Path) -> Trace:
    """Read a trace file. ``TraceError`` says what is wrong with it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if size < _HEADER.size:
                raise TraceError(f"{path}: no trace: {size} bytes, a header has {_HEADER.size}")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Reader(path, data, size).read()
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or error}") from error


class _Reader:
    def __init__(self, path: Path, data: mmap.mmap, size: int) -> None:
        self._path = path
        self._data = data
        self._size = size
        self._strings = [""]
        self._stacks: list[tuple[Frame, ...]] = [()]
        self._frames: dict[int, Frame] = {}
        self._modules: list[Module] = []
        self._starts: list[int] = []
        self._by_start: list[Module] = []

    def read(self) -> Trace:
        magic, version, process, memory, used, mode = _HEADER.unpack_from(self._data)
        if magic != MAGIC:
            raise TraceError(f"{self._path}: no trace of cudalint: it does not begin with CUDALTRC")
        if version != VERSION:
            raise TraceError(f"{self._path}: a trace of version {version}; this reads {VERSION}")
        if mode not in Mode.__members__.values():
            raise TraceError(f"{self._path}: corrupt: unknown mode {mode}")
        if used > self._size:
            raise TraceError(
                f"{self._path}: truncated: {self._size} bytes of {used}; was it copied whole?"
            )
        events = self._records(used or self._size, finished=bool(used))
        return Trace(
            process=process,
            mode=Mode(mode),
            memory=memory,
            events=tuple(events),
            modules=tuple(self._modules),
            complete=bool(events) and events[-1].kind is EventKind.END,
        )

    def _records(self, end: int, *, finished: bool) -> list[Event]:
        events: list[Event] = []
        kinds = {int(kind): kind for kind in EventKind}
        data, head, position = self._data, _HEAD.unpack_from, _HEADER.size
        while position + _HEAD.size <= end:
            size, kind, flags, detail = head(data, position)
            if size == 0:
                if finished:
                    raise self._corrupt(position, "a record of no size")
                break
            if size < _HEAD.size or size % 8:
                raise self._corrupt(position, f"a record of {size} bytes")
            if position + size > end:
                raise TraceError(
                    f"{self._path}: truncated at byte {position}: a record of {size} bytes, and"
                    f" only {end - position} are left"
                )
            try:
                known = kinds.get(kind)
                if known is not None:
                    events.append(self._event(known, flags, detail, position, size))
                else:
                    self._define(kind, position, size)
            except (struct.error, IndexError, UnicodeDecodeError) as error:
                raise self._corrupt(position, f"kind {kind}: {error}") from error
            position += size
        return events

    def _event(self, kind: EventKind, flags: int, detail: int, position: int, size: int) -> Event:
        if size < _EVENT.size:
            raise self._corrupt(position, f"an event of {size} bytes")
        (
            _, _, _, _, sequence, time, address, count, source, stream, thread, stack, api, family,
            text, status, call, device,
        ) = _EVENT.unpack_from(self._data, position)  # fmt: skip
        launch = None
        if kind is EventKind.LAUNCH and size >= _EVENT.size + _LAUNCH.size:
            gx, gy, gz, bx, by, bz, static, dynamic = _LAUNCH.unpack_from(
                self._data, position + _EVENT.size
            )
            launch = Launch((gx, gy, gz), (bx, by, bz), static, dynamic)
        strings = self._strings
        return Event(
            kind, sequence, time, thread, strings[api], strings[family], address, count, source,
            stream, status, call, device, detail, strings[text], bool(flags & _INJECTED),
            bool(flags & _ASYNCHRONOUS), bool(flags & _ORDER_ASSUMED), self._stacks[stack], launch,
        )  # fmt: skip

    def _define(self, kind: int, position: int, size: int) -> None:
        body = position + _HEAD.size
        if kind == _STRING:
            number, length = _DEFINITION.unpack_from(self._data, body)
            start = body + _DEFINITION.size
            if number != len(self._strings) or start + length > position + size:
                raise self._corrupt(position, f"string {number} of {length} bytes")
            self._strings.append(self._data[start : start + length].decode("utf-8", "replace"))
        elif kind == _STACK:
            number, count = _DEFINITION.unpack_from(self._data, body)
            start = body + _DEFINITION.size
            if number != len(self._stacks) or start + 8 * count > position + size:
                raise self._corrupt(position, f"stack {number} of {count} frames")
            addresses = struct.unpack_from(f"<{count}Q", self._data, start)
            self._stacks.append(tuple(self._frame(address) for address in addresses))
        elif kind == _MODULE_KIND:
            bias, start, end, path, _ = _MODULE.unpack_from(self._data, body)
            self._add(Module(self._strings[path], bias, start, end))
        else:
            raise self._corrupt(position, f"unknown kind {kind}")

    def _add(self, module: Module) -> None:
        self._modules.append(module)
        at = bisect.bisect_left(self._starts, module.start)
        self._starts.insert(at, module.start)
        self._by_start.insert(at, module)

    def _frame(self, address: int) -> Frame:
        frame = self._frames.get(address)
        if frame is None:
            at = bisect.bisect_right(self._starts, address) - 1
            module = self._by_start[at] if at >= 0 else None
            if module is not None and address < module.end:
                frame = Frame(module.path, address - module.bias)
            else:
                frame = Frame("", address)
            self._frames[address] = frame
        return frame

    def _corrupt(self, position: int, what: str) -> TraceError:
        return TraceError(f"{self._path}: corrupt at byte {position}: {what}")
