"""Where headers are found, and the precompiled ones."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
from pathlib import Path

import pytest

from cudalint.frontends.cuda import precompiled
from cudalint.frontends.cuda.configured import configured
from cudalint.frontends.cuda.flags import base_arguments, prefix_for
from cudalint.frontends.cuda.includes import find_includes, forget
from cudalint.frontends.cuda.options import ParseOptions, with_compile_flags
from cudalint.frontends.cuda.parse import parse
from cudalint.frontends.cuda.precompiled import precompiled_header
from cudalint.frontends.cuda.toolchain import find_toolchain
from cudalint.project.compile_commands import CompileFlags

TEXT = "#include <cuda_runtime.h>\nint f(void **p) { return cudaMalloc(p, 4); }\n"


def _write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _folders(source: Path, root: Path | None) -> list[str]:
    found = find_includes(str(source), source.read_text(encoding="utf-8"), (), (), root)
    return [
        Path(os.path.relpath(folder, root or source.parent)).as_posix() for folder in found.folders
    ]


def test_headers_of_the_project_are_found(tmp_path: Path) -> None:
    source = _write(
        tmp_path / "Samples" / "one" / "main.cu",
        '#include <helper.h>\n#include "timer.h"\n#include <deep/inner.h>\n#include "beside.h"\n',
    )
    _write(source.parent / "beside.h")
    _write(tmp_path / "Common" / "helper.h")
    _write(tmp_path / "Samples" / "one" / "include" / "timer.h")
    _write(tmp_path / "vendor" / "lib" / "api" / "deep" / "inner.h")
    assert sorted(_folders(source, tmp_path)) == [
        "Common",
        "Samples/one/include",
        "vendor/lib/api",
    ]


def test_headers_of_headers_are_found(tmp_path: Path) -> None:
    source = _write(tmp_path / "src" / "main.cu", '#include "first.h"\n')
    _write(tmp_path / "src" / "first.h", "#pragma once\n  #  include <second.h>\n")
    _write(tmp_path / "include" / "second.h")
    assert _folders(source, tmp_path) == ["include"]


def test_of_several_headers_the_nearest_is_taken_or_none(tmp_path: Path) -> None:
    source = _write(tmp_path / "a" / "src" / "main.cu", "#include <util.h>\n")
    _write(tmp_path / "a" / "lib2" / "util.h")
    _write(tmp_path / "b" / "lib2" / "util.h")
    assert _folders(source, tmp_path) == ["a/lib2"]
    other = _write(tmp_path / "c" / "main.cu", "#include <util.h>\n")
    assert _folders(other, tmp_path) == []


def test_nothing_outside_the_root_is_searched(tmp_path: Path) -> None:
    _write(tmp_path / "include" / "secret.h")
    source = _write(tmp_path / "project" / "main.cu", "#include <secret.h>\n")
    assert _folders(source, tmp_path / "project") == []
    assert _folders(source, None) == []


TEMPLATE = """#pragma once
#define VERSION "@PROJECT_VERSION@"  // @PROJECT_VERSION@
#define WIDTH @WIDTH@
#define AREA(n) \\
    ((n) * ${WIDTH})
#cmakedefine USE_TIMERS
  # cmakedefine01 HAS_HALF
#mesondefine HAS_GRAPHS
#undef HAVE_NUMA
#include "types.h"
struct Pool { void *device; };
"""


def test_what_only_the_build_knows_of_a_header_is_left_out(tmp_path: Path) -> None:
    made = configured(_write(tmp_path / "config.h.in", TEMPLATE))
    assert made is not None
    kept = {1: "#pragma once", 10: '#include "types.h"', 11: "struct Pool { void *device; };"}
    lines = made.split("\n")
    assert lines[1].startswith("#define VERSION")
    assert {number: line for number, line in enumerate(lines, 1) if line and number != 2} == kept
    assert configured(tmp_path / "none.h.in") is None


@pytest.mark.parametrize("place", ["src/config.h.in", "cmake/config.h.in", "src/config.h.cmake"])
def test_a_template_stands_for_the_header_that_no_build_has_made(
    tmp_path: Path, place: str
) -> None:
    _write(tmp_path / place, TEMPLATE)
    _write(tmp_path / "include" / "types.h", "struct Stream { int number; };\n")
    text = """#include <cuda_runtime.h>
#include "config.h"
void f(Pool &pool, Stream) { cudaMalloc(&pool.device, 64); }
"""
    source = _write(tmp_path / "src" / "main.cu", text)
    unit = parse(str(source), text, ParseOptions(root=tmp_path))
    assert unit.missing_headers == ()
    assert unit.errors == ()
    found = find_includes(str(source), text, (), (), tmp_path)
    assert str(tmp_path / place) in found.headers

    _write(tmp_path / "build" / "config.h", "struct Pool { void *other; };\nstruct Stream {};\n")
    forget()
    unit = parse(str(source), text, ParseOptions(root=tmp_path))
    assert [error.message for error in unit.errors] == ["no member named 'device' in 'Pool'"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_template_that_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.h.in")
    text = '#include "config.h"\nint main() { return 0; }\n'
    unit = parse(str(tmp_path / "main.cu"), text, ParseOptions(root=tmp_path))
    assert [one.name for one in unit.missing_headers] == ["config.h"]


def test_a_guess_never_hides_a_system_header(tmp_path: Path) -> None:
    _write(tmp_path / "include" / "string.h", "#error ours\n")
    _write(tmp_path / "include" / "mine.h")
    source = _write(tmp_path / "main.cu", "#include <mine.h>\n#include <string.h>\n" + TEXT)
    parsed = parse(str(source), source.read_text(encoding="utf-8"), ParseOptions(root=tmp_path))
    assert parsed.missing_headers == ()
    assert parsed.errors == ()


def test_compile_flags_reach_the_parser(tmp_path: Path) -> None:
    _write(tmp_path / "inc" / "mine.h", "#define BYTES (4 * SCALE)\n")
    flags = CompileFlags(include_folders=(str(tmp_path / "inc"),), defines=("SCALE=2",))
    text = '#include "mine.h"\nint f(void **p) { return cudaMalloc(p, BYTES); }\n'
    parsed = parse("a.cu", text, with_compile_flags(ParseOptions(), flags))
    assert parsed.missing_headers == ()
    assert parsed.errors == ()


@pytest.mark.parametrize(
    ("text", "names", "prefix"),
    [
        ("", ("stdio.h", "cuda_runtime.h"), "runtime"),
        ("std::vector<int> v;", (), "standard"),
        ("", ("iostream",), "standard"),
        ("", ("thrust/sort.h", "iostream"), "libraries"),
        ("", ("cooperative_groups.h",), "libraries"),
        ("", ("vector", "future", "filesystem"), "standard+filesystem+future"),
        ("", ("regex", "thrust/sort.h"), "libraries+regex"),
    ],
)
def test_prefixes(text: str, names: tuple[str, ...], prefix: str) -> None:
    assert prefix_for("cuda", text, names) == prefix
    assert prefix_for("c", text, names) == "c"


def _headers(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.pch"))


def test_made_once_and_used_again(tmp_path: Path) -> None:
    options = ParseOptions(cache_folder=tmp_path)
    assert parse("a.cu", TEXT, options).errors == ()
    (header,) = _headers(tmp_path)
    written = header.stat().st_mtime_ns
    assert parse("b.cu", TEXT, options).errors == ()
    assert [path.stat().st_mtime_ns for path in _headers(tmp_path)] == [written]
    newer = dataclasses.replace(options, standard="c++20")
    assert parse("b.cu", TEXT, newer).errors == ()
    assert len(_headers(tmp_path)) == 2


@pytest.mark.parametrize("damage", ["truncated", "empty", "changed"])
def test_a_damaged_header_is_made_anew(tmp_path: Path, damage: str) -> None:
    options = ParseOptions(cache_folder=tmp_path)
    parse("a.cu", TEXT, options)
    (header,) = _headers(tmp_path)
    data = bytearray(header.read_bytes())
    if damage == "truncated":
        data = data[: len(data) // 2]
    elif damage == "empty":
        data.clear()
    else:
        data[len(data) // 2] ^= 0xFF
    header.write_bytes(data)
    precompiled._sound.cache_clear()
    parsed = parse("a.cu", TEXT, options)
    assert parsed.errors == ()
    (again,) = _headers(tmp_path)
    assert again.name.endswith(f".{precompiled._seal(again.read_bytes())}.pch")


def test_a_header_that_libclang_refuses_is_discarded(tmp_path: Path) -> None:
    toolchain = find_toolchain()
    arguments = base_arguments("cuda", None, toolchain)
    header = precompiled_header("runtime", arguments, toolchain, tmp_path)
    assert header is not None
    # Another standard's content under this name, as a changed system header would give it.
    other = precompiled_header(
        "runtime", base_arguments("cuda", "c++20", toolchain), toolchain, tmp_path
    )
    assert other is not None
    data = other.read_bytes()
    key = header.name.partition(".")[0]
    forged = header.with_name(f"{key}.{precompiled._seal(data)}.pch")
    header.unlink()
    forged.write_bytes(data)
    parsed = parse("a.cu", TEXT, ParseOptions(cache_folder=tmp_path))
    assert parsed.errors == ()
    assert not forged.exists()


PARTS = """
#include <filesystem>
#include <future>
long f(const std::filesystem::path &p) {
  auto size = std::async([&] { return std::filesystem::file_size(p); });
  return size.get();
}
"""


def test_parts_stand_on_one_another(tmp_path: Path) -> None:
    options = ParseOptions(cache_folder=tmp_path)
    assert parse("a.cu", PARTS, options).errors == ()
    sizes = {path.name.partition("-")[0]: path.stat().st_size for path in _headers(tmp_path)}
    assert set(sizes) == {"standard", "standard+filesystem", "standard+filesystem+future"}
    assert sizes["standard+filesystem+future"] < sizes["standard"] / 5
    other = PARTS.replace("#include <filesystem>", "#include <filesystem>\n#include <regex>")
    assert parse("a.cu", other, options).errors == ()
    assert len(_headers(tmp_path)) == 6  # which part is on which one counts


def test_a_part_on_another_file_than_its_own_is_made_anew(tmp_path: Path) -> None:
    options = ParseOptions(cache_folder=tmp_path)
    parse("a.cu", PARTS, options)
    before = _headers(tmp_path)
    (base,) = (path for path in before if path.name.startswith("standard-"))
    earlier = base.stat().st_mtime - 60
    os.utime(base, (earlier, earlier))
    assert parse("a.cu", PARTS, options).errors == ()
    assert len(_headers(tmp_path)) == len(before) + 2


def test_a_part_whose_base_is_refused_has_both_made_anew(tmp_path: Path) -> None:
    toolchain = find_toolchain()
    plain = base_arguments("cuda", None, toolchain)
    newer = base_arguments("cuda", "c++20", toolchain)
    base, other = (
        precompiled_header("standard", arguments, toolchain, tmp_path)
        for arguments in (plain, newer)
    )
    assert base is not None
    assert other is not None
    data = other.read_bytes()
    forged = base.with_name(f"{base.name.partition('.')[0]}.{precompiled._seal(data)}.pch")
    base.unlink()
    forged.write_bytes(data)
    assert precompiled_header("standard+future", plain, toolchain, tmp_path) is None
    assert not forged.exists()
    assert precompiled_header("standard+future", plain, toolchain, tmp_path) is not None


def test_a_read_only_folder_does_without(tmp_path: Path) -> None:
    blocked = _write(tmp_path / "file")
    parsed = parse("a.cu", TEXT, ParseOptions(cache_folder=blocked / "cache"))
    assert parsed.errors == ()


def _parse_in_process(folder: str) -> int:
    return len(parse("a.cu", TEXT, ParseOptions(cache_folder=Path(folder))).errors)


def test_processes_do_not_disturb_each_other(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(_parse_in_process, [str(tmp_path)] * 6) == [0] * 6
    assert len(_headers(tmp_path)) == 1
    assert not list(tmp_path.glob("*.tmp"))


CONCEPT = """#pragma once
template <typename T>
concept Number = sizeof(T) < 9;
template <Number T> T twice(T value) { return value + value; }
"""


@pytest.mark.parametrize(
    ("header", "standard"),
    [
        (CONCEPT, "c++20"),
        ("// template <typename T> concept Number = true;\nint twice(int n);\n", "c++17"),
        (f"#if __cplusplus >= 202002L\n{CONCEPT}#endif\nint twice(int n);\n", "c++17"),
    ],
)
def test_a_header_may_need_a_newer_standard(tmp_path: Path, header: str, standard: str) -> None:
    (tmp_path / "number.h").write_text(header)
    text = '#include "number.h"\nstatic_assert(__cplusplus > 201703L);\nint n = twice(3);\n'
    parsed = parse(str(tmp_path / "a.cu"), text, ParseOptions(root=tmp_path))
    assert [error.row for error in parsed.errors] == ([] if standard == "c++20" else [2])
