"""Which files are linted and which are not: by name, in folders, by standard input, in a hook."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEADER = """#pragma once
#include <cuda_runtime_api.h>
typedef struct { float *a; } state_t;
int state_init(state_t *state, size_t n);
"""
INIT = """#include "state.h"
int state_init(state_t *state, size_t n) {
    return cudaMalloc((void **)&state->a, n) != cudaSuccess;
}
"""
FREE = """#include "../state.h"
void state_free(state_t *state) { cudaFree(state->a); }
"""
MAIN = """#include "state.h"
int main(void) {
    state_t state;
    return state_init(&state, 100);
}
"""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(**files: str | bytes) -> None:
    for name, content in files.items():
        path = Path(name.replace("__", "/").replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def cudalint(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
    command = [sys.executable, "-m", "cudalint", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, input=stdin, timeout=120)
    return done.returncode, done.stdout, done.stderr


# Empty, unreadable ------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("a.cu",), (".",), ("a.cu", "b.py"), ("a.cu", "c.h")])
def test_an_empty_file_is_no_error(arguments: tuple[str, ...]) -> None:
    write(a_cu="", b_py="", c_h="\n\n")
    assert cudalint(*arguments) == (0, "No file to analyse mentions CUDA.\n", "")
    assert "cudalint: note: a.cu: is empty\n" in cudalint(*arguments, "-v")[2]


@pytest.mark.parametrize("arguments", [("-",), ("-", "--stdin-filename", "x.cu")])
def test_empty_standard_input_is_no_error(arguments: tuple[str, ...]) -> None:
    status, _, complaints = cudalint(*arguments)
    assert (status, complaints) == (0, "")


def test_standard_input_of_no_known_kind_is_an_error() -> None:
    status, _, complaints = cudalint("-", "--stdin-filename", "x.txt", stdin="int x;")
    assert status == 2
    assert complaints == "cudalint: x.txt: is not a CUDA C++ or Python source file\n"


def test_what_a_folder_holds_and_cannot_be_read_is_named_and_summed() -> None:
    write(a_cu="int x;\n", sub__b_cu=b"cuda\0\1", sub__c_cu=b"cuda\0\1")
    status, out, complaints = cudalint(".")
    assert status == 0
    assert complaints.splitlines() == [
        "cudalint: sub/b.cu: is binary (it contains NUL bytes)",
        "cudalint: sub/c.cu: is binary (it contains NUL bytes)",
    ]
    assert out == "No CUDA memory misuse found in 1 file; 2 files could not be read.\n"
    assert cudalint("a.cu", "sub/b.cu")[0] == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.cu", "#define MODE\nMODE is not defined\n)))\n"),
        ("a.py", "import cupy this is ((( no\n"),
    ],
)
def test_a_source_of_which_nothing_can_be_read_is_2_where_it_was_named(
    name: str, text: str
) -> None:
    Path(name).write_text(text)
    status, _, complaints = cudalint(name)
    assert (status, complaints) == (2, f"cudalint: {name}: nothing of it could be read\n")
    assert cudalint(".")[0] == 0


def test_a_syntax_error_costs_its_statement_only() -> None:
    write(a_py="import cupy\nx = (\n", b_cu="#include <missing.h>\n")
    status, out, _ = cudalint("a.py", "b.cu")
    assert status == 0
    assert "a.py:2:1: info: `x = (` was not read: invalid syntax (1 function read) [GPU002]" in out


# Headers ----------------------------------------------------------------------------------------


def test_files_that_include_cuda_through_their_own_headers_are_linted() -> None:
    write(state_h=HEADER, init_c=INIT, main_c=MAIN, other_c='#include "none.h"\nint y;\n')
    status, out, _ = cudalint(".", "--fail-level", "info")
    assert status == 1
    assert "main.c:4:12: info: `state.a` (state_init) is never released" in out
    assert cudalint("--show-files")[1].splitlines() == [
        ".cudalint_cache/: left out: excluded by the pattern `.cudalint_cache` of `exclude`",
        "init.c: linted: mentions CUDA",
        "main.c: linted: includes CUDA through state.h",
        "other.c: left out: does not mention CUDA",
        "state.h: linted: mentions CUDA",
    ]


def test_headers_that_include_cuda_for_device_code_alone_bring_none() -> None:
    write(
        matrix_h="#ifdef __CUDACC__\n#include <cuda_runtime.h>\n#endif\nint rows();\n",
        half_h="#pragma once\n#include <cuda_fp16.h>\n",
        both_h="#ifdef __CUDACC__\n#else\n#endif\n#include <cuda_runtime.h>\n",
        a_cpp='#include "matrix.h"\n#include "half.h"\nint a() { return rows(); }\n',
        b_cpp='#include "both.h"\nint b() { return 0; }\n',
        c_cu="int c() { return 0; }\n",
    )
    assert [one for one in cudalint("--show-files")[1].splitlines() if ".cpp" in one] == [
        "a.cpp: left out: does not mention CUDA",
        "b.cpp: linted: includes CUDA through both.h",
    ]


def test_show_files_tells_what_was_named_and_cannot_be_linted() -> None:
    write(a_cu=b"\0", b_txt="")
    status, out, complaints = cudalint("a.cu", "b.txt", "--show-files")
    assert (status, out) == (2, "a.cu: left out: is binary (it contains NUL bytes)\n")
    assert complaints == "cudalint: b.txt: is not a CUDA C++ or Python source file\n"


# A hook -----------------------------------------------------------------------------------------


def test_a_hook_that_names_one_file_knows_what_the_others_release() -> None:
    write(state_h=HEADER, init_c=INIT, sub__free_c=FREE, _git__HEAD="")
    assert cudalint("init.c") == (0, "No CUDA memory misuse found in 1 file.\n", "")
    # From the cache, without it, and by an editor's buffer too:
    assert cudalint("init.c")[0] == 0
    assert cudalint("init.c", "--no-cache")[0] == 0
    assert cudalint("-", "--stdin-filename", "init.c", stdin=INIT)[0] == 0


def test_a_hook_still_finds_what_no_file_releases() -> None:
    write(state_h=HEADER, init_c=INIT, sub__free_c=FREE.replace("cudaFree(state->a);", ""))
    status, out, _ = cudalint("init.c")
    assert status == 1
    assert out.splitlines()[0].startswith("init.c:3:12: warning: `state->a` (cudaMalloc)")
    assert "free.c" not in out


def test_a_comment_is_used_where_the_whole_project_needs_it() -> None:
    """What is suppressed with all files in sight is no unused suppression with one."""
    header = "#include <cuda_runtime.h>\nstruct Pool { Pool(); ~Pool(); float* p_; };\n"
    make = """#include "pool.hpp"
Pool::Pool() {
    cudaMalloc(&p_, 8);  // cudalint: ignore[GPU105]
}
"""
    write(pool_hpp=header, make_cpp=make, end_cpp='#include "pool.hpp"\nPool::~Pool() {}\n')
    for arguments in ((".",), ("make.cpp",)):
        assert "GPU001" not in cudalint(*arguments, "--ignore", "GPU506")[1]


def test_a_copy_of_a_standard_header_joins_nobody() -> None:
    """The project has headers of such names; both files mean the real ones."""
    with_stdlib = "#include <stdlib.h>\n#include <cuda_runtime_api.h>\n"
    write(vendor__stdlib_h="", vendor__cuda_runtime_api_h="", _git__HEAD="")
    write(state_h=HEADER, init_c=with_stdlib + INIT)
    write(sub__free_c=with_stdlib + FREE.replace('#include "../state.h"', HEADER))
    assert cudalint("init.c")[0] == 1
