from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cudalint.project.compile_commands import (
    CompileCommands,
    CompileCommandsError,
    CompileFlags,
    find_compile_commands,
    translate,
)


def _database(folder: Path, *entries: dict[str, Any]) -> CompileCommands:
    path = folder / "compile_commands.json"
    path.write_text(json.dumps(list(entries)), encoding="utf-8")
    return CompileCommands.load(path)


def test_nvcc_command_line(tmp_path: Path) -> None:
    flags = translate(
        [
            "-forward-unknown-to-host-compiler", "-ccbin=/usr/bin/g++", "-I../include", "-I", "inc",
            "--include-path=a,b", "-isystem=/opt/thing/include", "-isystem", "vendor", "-DSCALE=2",
            "-D", "NAME", "--define-macro=ONE,TWO=2", "-UOLD", "--expt-relaxed-constexpr",
            "-gencode", "arch=compute_80,code=sm_80", "--generate-code=arch=compute_90,code=sm_90",
            "-Xcompiler=-fPIC,-DHOST=1", "-Xcompiler", "-DINNER", "-Xptxas", "-v", "-std=c++20",
            "-x", "cu", "-rdc=true", "-c", "main.cu", "-o", "main.o", "-MF", "main.d",
        ],
        tmp_path,
    )  # fmt: skip
    here = str(tmp_path)
    assert flags.include_folders == (
        os.path.normpath(f"{here}/../include"),
        f"{here}/inc",
        f"{here}/a",
        f"{here}/b",
    )
    assert flags.system_folders == ("/opt/thing/include", f"{here}/vendor")
    assert flags.defines == ("SCALE=2", "NAME", "ONE", "TWO=2", "HOST=1", "INNER")
    assert flags.undefines == ("OLD",)
    assert flags.standard == "c++20"
    assert flags.relocatable


@pytest.mark.parametrize(
    ("arguments", "relocatable"),
    [
        (["-dc", "main.cu"], True),
        (["-rdc", "true", "main.cu"], True),
        (["--relocatable-device-code=true", "-c", "main.cu"], True),
        (["-fgpu-rdc", "-c", "main.cu"], True),
        (["-rdc=true", "-rdc=false", "-c", "main.cu"], False),
        (["-dw", "main.cu"], False),
        (["-Ddc", "-c", "main.cu"], False),
    ],
)
def test_whether_device_code_is_linked(
    tmp_path: Path, arguments: list[str], relocatable: bool
) -> None:
    assert translate(arguments, tmp_path).relocatable is relocatable


def test_nothing_that_writes_or_loads_code_survives(tmp_path: Path) -> None:
    flags = translate(
        [
            "-fplugin=evil.so", "-fplugin-arg-evil-x", "-Xclang", "-load", "-Xclang", "evil.so",
            "-load", "evil.so", "-o", "-Ievil", "-MF", "-Devil", "-save-temps=obj",
            "-fpass-plugin=x",
            "-mllvm", "-load=evil.so", "-B/evil", "-wrapper", "evil", "-include-pch", "evil.pch",
            "-ivfsoverlay", "evil.yaml", "--config=evil.cfg", "-fmodule-file=evil.pcm",
        ],
        tmp_path,
    )  # fmt: skip
    assert flags == CompileFlags()


def test_msvc_command_line(tmp_path: Path) -> None:
    flags = translate(["/nologo", "/DWIN", "/Iinclude", "/std:c++17", "/c", "a.cpp"], tmp_path)
    assert flags.defines == ("WIN",)
    assert flags.include_folders == (str(tmp_path / "include"),)
    assert flags.standard == "c++17"


def test_a_file_is_no_flag(tmp_path: Path) -> None:
    assert translate(["-c", "/Users/me/Data.cu", "/Data/Include.cu"], tmp_path) == CompileFlags()


def test_defines_keep_their_quotes(tmp_path: Path) -> None:
    database = _database(
        tmp_path,
        {"directory": str(tmp_path), "file": "a.cu", "command": "nvcc -DNAME='\"x y\"' a.cu"},
    )
    flags = database.flags_for(tmp_path / "a.cu")
    assert flags is not None
    assert flags.defines == ('NAME="x y"',)


def test_response_files_are_read_but_not_in_circles(tmp_path: Path) -> None:
    (tmp_path / "includes.rsp").write_text("-Iinner -DFROM_FILE @loop.rsp", encoding="utf-8")
    (tmp_path / "loop.rsp").write_text("@loop.rsp -DLOOPED", encoding="utf-8")
    flags = translate(["--options-file", "includes.rsp", "@missing.rsp"], tmp_path)
    assert flags.include_folders == (str(tmp_path / "inner"),)
    assert flags.defines[0] == "FROM_FILE"
    assert set(flags.defines) == {"FROM_FILE", "LOOPED"}


def test_toolkit_folders_are_dropped(tmp_path: Path) -> None:
    toolkit = tmp_path / "cuda" / "include"
    toolkit.mkdir(parents=True)
    (toolkit / "cuda_runtime.h").touch()
    flags = translate([f"-I{toolkit}", "-isystem", str(toolkit), "-I/usr/include"], tmp_path)
    assert flags == CompileFlags()


def test_forced_includes_must_be_files(tmp_path: Path) -> None:
    (tmp_path / "config.h").touch()
    flags = translate(["-include", "config.h", "-include", "cuda_runtime.h"], tmp_path)
    assert flags.forced_includes == (str(tmp_path / "config.h"),)
    assert translate(["-include", "/dev/zero"], tmp_path).forced_includes == ()


def test_headers_take_the_flags_of_the_nearest_source(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    database = _database(
        tmp_path,
        {
            "directory": str(tmp_path),
            "file": "one/a.cu",
            "arguments": ["nvcc", "-DONE", "one/a.cu"],
        },
        {
            "directory": str(tmp_path),
            "file": "two/b.cu",
            "arguments": ["nvcc", "-DTWO", "two/b.cu"],
        },
    )
    near = database.flags_for(tmp_path / "two" / "other.cuh")
    same = database.flags_for(tmp_path / "two" / "a.h")
    assert near is not None
    assert near.defines == ("TWO",)
    assert same is not None
    assert same.defines == ("ONE",)
    assert database.flags_for(tmp_path / "two" / "unknown.cu") is None


def test_found_upward_and_in_build_folders(tmp_path: Path) -> None:
    deep = tmp_path / "src" / "gpu"
    deep.mkdir(parents=True)
    assert find_compile_commands(deep, tmp_path) is None
    build = tmp_path / "project" / "build-release"
    build.mkdir(parents=True)
    inner = tmp_path / "project" / "src"
    inner.mkdir()
    (build / "compile_commands.json").write_text("[]", encoding="utf-8")
    assert find_compile_commands(inner, tmp_path) == build / "compile_commands.json"


@pytest.mark.parametrize("content", [b"", b"{", b'{"file": 1}', b"[1]", b"\xff\xfe", b'[{"x": 1}]'])
def test_a_broken_database_is_an_error_that_names_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_bytes(content)
    with pytest.raises(CompileCommandsError, match=r"compile_commands\.json"):
        CompileCommands.load(path)
