"""Many programs in one message: what stands in several of them is there once."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from cudalint.frontends.cuda.lowering.program import lower
from cudalint.frontends.cuda.parse import ParseOptions, parse
from cudalint.program.packing import packed, unpacked

HEADER = """#pragma once
#include <cuda_runtime.h>
struct Pool {
    void *memory = nullptr;
    ~Pool() { cudaFree(memory); }
};
inline bool grow(Pool &pool, size_t bytes) { return cudaMalloc(&pool.memory, bytes) == 0; }
"""


def test_what_several_programs_have_is_sent_and_kept_once(tmp_path: Path) -> None:
    (tmp_path / "pool.h").write_text(HEADER, encoding="utf-8")
    programs = []
    for name in ("one", "two", "three"):
        text = f'#include "pool.h"\nbool {name}(Pool &pool) {{ return grow(pool, 64); }}\n'
        unit = parse(str(tmp_path / f"{name}.cu"), text, ParseOptions())
        programs.append(lower(unit))
    encoded = [msgspec.msgpack.encode(program) for program in programs]
    message = packed(encoded)
    assert [msgspec.msgpack.encode(one) for one in unpacked(message)] == encoded
    assert len(message.functions) == len(set(message.functions)) == 5
    assert len(message.records) == 1
    assert len(msgspec.msgpack.encode(message)) < 0.6 * sum(map(len, encoded))

    first, second, _ = unpacked(message)
    shared = {id(one) for one in first.functions} & {id(one) for one in second.functions}
    assert len(shared) == 2
    assert first.records[0] is second.records[0]


def test_nothing_is_packed_too() -> None:
    assert unpacked(packed([])) == []


def test_what_is_nested_too_deeply_to_be_split_is_left_as_it_is() -> None:
    deep = b"\x81\xaafunctions\x91" + b"\x91" * 100_000 + b"\xc0"
    message = packed([deep])
    assert message.programs == [deep]
    assert message.whole == [0]
    with pytest.raises(RecursionError):
        unpacked(message)
