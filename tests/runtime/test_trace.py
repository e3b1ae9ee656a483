"""The trace file: what is whole is read, what is not is told."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import pytest

from cudalint.runtime.events import EventKind
from cudalint.runtime.trace import Mode, Trace, TraceError, read_trace

HEADER = struct.Struct("<8sIIQQI28x")
EVENT = struct.Struct("<IBBHQqQQQQIIIIIiII")


def string(number: int, text: bytes) -> bytes:
    size = (16 + len(text) + 7) // 8 * 8
    return struct.pack("<IBBHII", size, 100, 0, 0, number, len(text)) + text.ljust(size - 16, b"\0")


def stack(number: int, *addresses: int) -> bytes:
    size = 16 + 8 * len(addresses)
    return struct.pack("<IBBHII", size, 101, 0, 0, number, len(addresses)) + struct.pack(
        f"<{len(addresses)}Q", *addresses
    )


def event(sequence: int, kind: int = 1) -> bytes:
    return EVENT.pack(88, kind, 0, 0, sequence, 5, 0x1000, 64, 0, 0, 0, 1, 1, 2, 0, 0, sequence, 0)


def trace(*records: bytes, used: int | None = None, pad: int = 0) -> bytes:
    body = b"".join(records)
    length = 64 + len(body) if used is None else used
    return HEADER.pack(b"CUDALTRC", 1, 42, 1 << 30, length, 2) + body + bytes(pad)


DEFINITIONS = (
    string(1, b"cudaMalloc"),
    string(2, b"device"),
    string(3, b"/tmp/program"),
    struct.pack("<IBBHQQQII", 40, 102, 0, 0, 0x400000, 0x400000, 0x500000, 3, 0),
    stack(1, 0x401234, 0x7F0000000000),
)


def read(tmp_path: Path, data: bytes) -> Trace:
    path = tmp_path / "trace.42"
    path.write_bytes(data)
    return read_trace(path)


def test_reads(tmp_path: Path) -> None:
    found = read(tmp_path, trace(*DEFINITIONS, event(1), event(2, 13)))
    assert (found.process, found.mode, found.memory, found.complete) == (
        42, Mode.SIMULATE, 1 << 30, True,
    )  # fmt: skip
    first = found.events[0]
    assert (first.kind, first.api, first.family, first.address, first.bytes) == (
        EventKind.ACQUIRE, "cudaMalloc", "device", 0x1000, 64,
    )  # fmt: skip
    assert [(f.module, f.offset) for f in first.stack] == [
        ("/tmp/program", 0x1234), ("", 0x7F0000000000),
    ]  # fmt: skip


def test_a_killed_process_leaves_what_it_wrote(tmp_path: Path) -> None:
    found = read(tmp_path, trace(*DEFINITIONS, event(1), used=0, pad=100_000))
    assert (len(found.events), found.complete) == (1, False)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no trace: 0 bytes"),
        (b"x" * 100, "does not begin with CUDALTRC"),
        (HEADER.pack(b"CUDALTRC", 9, 1, 0, 0, 1), "version 9"),
        (HEADER.pack(b"CUDALTRC", 1, 1, 0, 0, 7), "unknown mode 7"),
        (trace(*DEFINITIONS, event(1))[:-30], "truncated"),
        (trace(*DEFINITIONS, event(1), used=0)[:-32], "truncated at byte"),
        (trace(struct.pack("<IBBHQ", 17, 1, 0, 0, 0)), "a record of 17 bytes"),
        (trace(struct.pack("<IBBHQ", 16, 77, 0, 0, 0)), "unknown kind 77"),
        (trace(event(1)), "corrupt at byte 64"),
        (trace(stack(5, 1)), "stack 5"),
        (trace(struct.pack("<IBBHII", 16, 100, 0, 0, 1, 4000)), "string 1 of 4000 bytes"),
        (trace(struct.pack("<IBBHQ", 16, 1, 0, 0, 0)), "an event of 16 bytes"),
        (trace(bytes(8)), "a record of no size"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        read(tmp_path, data)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="No such file"):
        read_trace(tmp_path / "none")


def test_a_hundred_thousand_events(tmp_path: Path) -> None:
    data = trace(*DEFINITIONS, *(event(number) for number in range(1, 100_001)))
    path = tmp_path / "trace"
    path.write_bytes(data)
    start = time.process_time()
    found = read_trace(path)
    assert len(found.events) == 100_000
    # Half a second on an idle machine.
    assert time.process_time() - start < 5
