"""Which files are analysed together."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from cudalint.frontends.cuda.lowering.program import lower
from cudalint.frontends.cuda.parse import ParseOptions, parse
from cudalint.frontends.python import read
from cudalint.grouping.groups import Links, groups_of, links_of


def links(header_records: dict[str, str] | None = None, **lists: list[str]) -> Links:
    given = {**lists, "header_records": header_records or {}}
    return msgspec.convert([given.get(name, []) for name in Links.__struct_fields__], Links)


def together(**files: Links) -> list[list[str]]:
    return groups_of(files)


def test_a_caller_belongs_to_the_definition() -> None:
    a, b, c = links(called=["f"]), links(functions=["f"]), links(functions=["g"])
    assert together(a=a, b=b, c=c) == [["a", "b"], ["c"]]


def test_all_definitions_count_where_one_is_called() -> None:
    a, b, c = links(called=["f"]), links(functions=["f"]), links(functions=["f"])
    assert together(a=a, b=b, c=c) == [["a", "b", "c"]]


def test_equal_names_alone_link_nothing() -> None:
    a = links(functions=["main", "check"], records=["Timer"], used_records=["Timer"])
    assert together(a=a, b=a, c=a) == [["a"], ["b"], ["c"]]


def test_a_class_of_a_header_links_those_who_implement_it() -> None:
    user = links(header_records={"Pool": "pool.h"}, used_records=["Pool"])
    maker = links(header_records={"Pool": "pool.h"}, used_records=["Pool"], implemented=["Pool"])
    assert together(a=maker, b=maker, c=user) == [["a", "b"], ["c"]]
    owner = links(records=["Pool"], used_records=["Pool"])
    linted = {"a": user, "pool.h": owner}
    assert groups_of(linted) == [["a", "pool.h"]]


def test_classes_of_one_name_from_several_headers_link_nothing() -> None:
    def maker(header: str) -> Links:
        known = {"Pool": header}
        return links(header_records=known, used_records=["Pool"], implemented=["Pool"])

    projects = {
        "old/pool.cu": maker("old/pool.h"),
        "old/use.cu": maker("old/pool.h"),
        "new/pool.cu": maker("new/pool.h"),
        "new/told.cu": links(used_records=["Pool"], implemented=["Pool"]),
    }
    assert groups_of(projects) == [["new/pool.cu", "new/told.cu"], ["old/pool.cu", "old/use.cu"]]


def test_types_of_the_system_link_nothing() -> None:
    user = links(used_records=["FILE", "cudaDeviceProp"])
    assert together(a=user, b=user) == [["a"], ["b"]]


def test_kernels_link_launches_limits_and_definitions() -> None:
    launch, raise_limit = links(launched=["blur"]), links(referred=["blur"])
    assert together(a=launch, b=raise_limit) == [["a", "b"]]
    defines = links(kernels=["blur"], launched=["blur"])
    assert together(a=defines, b=defines) == [["a"], ["b"]]
    assert together(a=links(kernels=["blur"]), b=launch, c=raise_limit) == [["a", "b", "c"]]
    assert together(a=raise_limit, b=raise_limit) == [["a"], ["b"]]


def test_links_are_transitive_and_in_order() -> None:
    files = {
        "z": links(called=["f"]),
        "m": links(functions=["f"], called=["g"]),
        "a": links(functions=["g"]),
        "b": links(),
    }
    assert groups_of(files) == [["a", "m", "z"], ["b"]]


@pytest.mark.parametrize("caller", ["import pool\npool.take(3)", "from pool import take\ntake(3)"])
def test_python_modules(caller: str) -> None:
    pool = read("pool.py", "import cupy\n\ndef take(size):\n    return cupy.empty(size)\n")
    use = read("use.py", f"import cupy\n{caller}\n")
    other = read("other.py", "import cupy\n\ndef take(size):\n    return take(size)\n")
    found = groups_of({program.filename: links_of(program) for program in (pool, use, other)})
    assert found == [["other.py"], ["pool.py", "use.py"]]


def test_a_library_that_stands_in_for_cudas_links_nobody(tmp_path: Path) -> None:
    def of(name: str, text: str) -> Links:
        return links_of(lower(parse(str(tmp_path / name), text, ParseOptions())))

    mock = of(
        "mock.cpp",
        """#include <cuda_runtime.h>
#include <cstdlib>
extern "C" cudaError_t cudaFree(void *pointer) { std::free(pointer); return cudaSuccess; }
extern "C" void note(void *pointer) {}
""",
    )
    calls = """#include <cuda_runtime.h>
extern "C" void note(void *pointer);
void drop(void *pointer) { cudaFree(pointer); %s }
"""
    plain, noted = of("plain.cu", calls % ""), of("noted.cu", calls % "note(pointer);")
    assert together(mock=mock, plain=plain, noted=noted) == [["mock", "noted"], ["plain"]]


def test_what_a_header_does_with_its_own_classes_links_nobody(tmp_path: Path) -> None:
    header = """#pragma once
#include <cuda_runtime.h>
struct Block { float *memory; };
struct Version { int major, cores; };
inline int cores(int major) {
    static Version known[] = {{8, 64}, {9, 128}};
    return known[major > 8].cores;
}
inline void fill(Block *block) { cudaMalloc((void **)&block->memory, 64 * cores(8)); }
"""
    (tmp_path / "block.h").write_text(header, encoding="utf-8")

    def of(name: str, text: str) -> tuple[str, Links]:
        path = str(tmp_path / name)
        return path, links_of(lower(parse(path, text, ParseOptions())))

    asks = '#include "block.h"\nint ask() { cudaFree(0); return cores(9); }\n'
    drops = '#include "block.h"\nvoid drop(Block &block) { cudaFree(block.memory); }\n'
    files = dict([of("ask.cu", asks), of("block.h", header), of("drop.cu", drops)])
    names = [[Path(name).name for name in group] for group in groups_of(files)]
    assert names == [["ask.cu"], ["block.h", "drop.cu"]]
