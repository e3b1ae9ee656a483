"""``cudalint init``: what it finds in a tree, what it writes, and what it refuses."""

from __future__ import annotations

import os
import re
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cudalint.apis.loader import read_model_file
from cudalint.cli import main
from cudalint.project.survey import architectures_of, survey

WRAPPERS = """#include <cuda_runtime.h>
namespace pool {
cudaError_t take(void** out, size_t n) { return cudaMalloc(out, n); }
float* make(size_t count) {
    float* p = nullptr;
    if (cudaMalloc(&p, count * sizeof(float)) != cudaSuccess) return nullptr;
    return p;
}
void give(void* p) { cudaFree(p); }
}  // namespace pool
template <class T> T* allocate(size_t n) {
    T* p;
    if (cudaMalloc((void**)&p, n * sizeof(T)) != cudaSuccess) throw 1;
    return p;
}
float* of_floats() { return allocate<float>(12); }
static void* hidden(size_t n) { void* p; cudaMalloc(&p, n); return p; }
void* shown(size_t n) { return hidden(n); }
void observe(const void* p) {}
cudaStream_t stream() { cudaStream_t s; cudaStreamCreate(&s); return s; }
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cudalint(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def write(name: str, text: str = "") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_what_the_tree_says_is_written_and_can_be_used(cudalint: Any) -> None:
    write("CMakeLists.txt", 'set(CMAKE_CUDA_ARCHITECTURES 70 "80-real;90a") # 35\n')
    write("setup.py", "open('pwned', 'w')\nflags = ['-gencode=arch=compute_86,code=sm_86']\n")
    write("include/a.h", "int a;\n")
    write("3rdparty/x/include/b.h")
    write("unit_tests/a.cu", "int a;\n")
    write("build/CMakeLists.txt", "-arch=sm_52")
    write(".gitmodules", '[submodule "m"]\n\tpath = modules/m\n[submodule "n"]\n\tpath = ../n\n')
    write("modules/m/c.cu", "int c;\n")
    status, out, err = cudalint("init")
    assert (status, err) == (0, "") and "cudalint.toml: written" in out
    assert not Path("pwned").exists() and not Path("cudalint-models.toml").exists()
    settings = tomllib.loads(Path("cudalint.toml").read_text())
    assert settings["target"] == ["sm_70", "sm_80", "sm_86", "sm_90"]
    assert settings["include-folders"] == ["include"]
    assert settings["extend-exclude"] == ["/3rdparty/", "/modules/m/"]
    assert settings["test-files"][0] == "test/" and settings["test-files"][-1] == "unit_tests/"
    assert set(settings) == {"target", "include-folders", "extend-exclude", "test-files"}
    assert cudalint("config")[0] == 0
    # What is offered in comments can be used as well:
    text = re.sub(r"^# (?=[a-z-]+ = )", "", Path("cudalint.toml").read_text(), flags=re.MULTILINE)
    Path("cudalint.toml").write_text(text)
    write("cudalint-models.toml")
    write("cudalint-baseline.toml", "version = 1\nfindings = []\n")
    status, out, _ = cudalint("config", "device-memory")
    assert status == 0 and '"24GiB"' in out


def test_a_table_is_added_to_pyproject(cudalint: Any) -> None:
    before = b'[project]\r\nname = "caf\xc3\xa9"'
    Path("pyproject.toml").write_bytes(before)
    assert cudalint("init")[0] == 0
    after = Path("pyproject.toml").read_bytes()
    assert after.startswith(before + b"\r\n\r\n[tool.cudalint]\r\n")
    assert after.count(b"\n") == after.count(b"\r\n")
    assert tomllib.loads(after.decode())["project"] == {"name": "café"}
    assert cudalint("config")[0] == 0
    # The second time it is there; forced, a file of its own comes before it.
    status, out, err = cudalint("init")
    assert (status, out) == (2, "")
    assert err == (
        "cudalint: init: pyproject.toml: there is a configuration already; "
        "`--force` writes a new one\n"
    )
    assert cudalint("init", "--force")[0] == 0
    assert Path("pyproject.toml").read_bytes() == after and Path("cudalint.toml").is_file()
    assert "cudalint.toml" in cudalint("config")[1].splitlines()[0]


@pytest.mark.parametrize("name", ["cudalint.toml", ".cudalint.toml"])
def test_nothing_is_written_over_unasked(cudalint: Any, name: str) -> None:
    write(name, "ignore = []\n")
    assert cudalint("init")[0] == 2 and Path(name).read_text() == "ignore = []\n"
    assert cudalint("init", "--force")[0] == 0
    assert "Written by `cudalint init`" in Path(name).read_text()


def test_own_allocators_become_models(cudalint: Any) -> None:
    write("src/pool.cu", WRAPPERS)
    write("src/mine.py", "import cupy\n\ndef grab(n):\n    return cupy.cuda.runtime.malloc(n)\n")
    write("tests/helper.cu", WRAPPERS.replace("namespace pool", "namespace of_tests"))
    status, out, _ = cudalint("init")
    assert status == 0 and "cudalint-models.toml: 7 functions suggested" in out
    text = Path("cudalint-models.toml").read_text()
    assert tomllib.loads(text) == {"language": "both"}
    # Out of their comments they are what cudalint itself demands of a model:
    text = re.sub(r"^# (?=\[|acquires|releases)", "", text, flags=re.MULTILINE)
    Path("cudalint-models.toml").write_text(text)
    functions = read_model_file("cudalint-models.toml").functions
    assert sorted(functions) == [
        "allocate", "mine.grab", "of_floats", "pool::give", "pool::make", "pool::take", "shown",
    ]  # fmt: skip
    (take,), (make,) = functions["pool::take"].acquires, functions["pool::make"].acquires
    assert (take.family, take.handle, take.bytes, take.status) == (
        "device",
        "*arg0",
        "arg1",
        "return",
    )
    assert (make.handle, make.bytes, make.null_on_failure) == ("return", "arg0 * 4", True)
    # What one instance takes is not what all do:
    assert functions["allocate"].acquires[0].bytes is None
    (give,) = functions["pool::give"].releases
    assert (give.families, give.handle) == (("device", "managed"), "arg0")
    assert cudalint("config")[0] == 0
    # Where the bodies are out of sight, they do their work:
    write(
        "other/user.cu",
        "#include <cuda_runtime.h>\nnamespace pool { float* make(size_t); void give(void*); }\n"
        "int use(bool ok) {\n    float* mine = pool::make(4);\n    if (!ok) return 1;\n"
        "    pool::give(mine);\n    return 0;\n}\n",
    )
    status, out, _ = cudalint("other/user.cu")
    assert status == 1 and "other/user.cu:4:19: warning: `mine` (pool::make)" in out


def test_allocators_need_not_be_looked_for(cudalint: Any) -> None:
    write("src/pool.cu", WRAPPERS)
    assert cudalint("init", "--no-models")[0] == 0
    assert not Path("cudalint-models.toml").exists()
    write("cudalint-models.toml", "# mine\n")
    Path("cudalint.toml").unlink()
    status, out, _ = cudalint("init")
    assert status == 0 and "cudalint-models.toml: left as it is" in out
    assert Path("cudalint-models.toml").read_text() == "# mine\n"


def test_a_compile_database_is_told(cudalint: Any) -> None:
    write("build/compile_commands.json", '[{"file": "a.cu", "command": "nvcc -arch=sm_75 a.cu"}]')
    write("include/a.h")
    cudalint("init")
    text = Path("cudalint.toml").read_text()
    assert 'target = ["sm_75"]' in text and "include-folders" not in text
    assert '"build/compile_commands.json" is found by itself' in text


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"[project\n", "is not valid TOML"), (b"\xff", "UTF-8"), (b"tool = 3\n", "")],
)
def test_a_pyproject_that_nothing_can_be_added_to(
    cudalint: Any, content: bytes, message: str
) -> None:
    Path("pyproject.toml").write_bytes(content)
    status, _, err = cudalint("init")
    assert Path("pyproject.toml").read_bytes() == content
    if message:
        assert status == 2 and err.startswith("cudalint: init: pyproject.toml: cannot be read: ")
    else:
        assert status == 0 and Path("cudalint.toml").is_file()


def test_what_cannot_be_done_is_told(cudalint: Any) -> None:
    assert "nowhere: is no folder" in cudalint("init", "nowhere")[2]
    assert "a.cu: is no folder" in cudalint("init", str(write("a.cu")))[2]
    Path("cudalint.toml").mkdir()
    status, _, err = cudalint("init")
    assert status == 2 and "init: cudalint.toml: cannot be written: " in err


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX links")
@pytest.mark.parametrize("name", ["cudalint.toml", "pyproject.toml"])
def test_nothing_is_written_through_links(cudalint: Any, project: Path, name: str) -> None:
    elsewhere = write("elsewhere/target", "a = 1\n")
    Path(name).symlink_to(elsewhere)
    status, _, err = cudalint("init", "--force")
    assert (status, elsewhere.read_text()) == (2, "a = 1\n") and "is a link" in err
    elsewhere.unlink()
    assert name == "pyproject.toml" or cudalint("init")[0] == 2
    assert not elsewhere.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")
def test_hostile_trees(cudalint: Any, project: Path) -> None:
    os.mkfifo("CMakeLists.txt")
    write('qu"ote\n]/include/a.h')
    (project / os.fsdecode(b"\xff") / "include" / "a").mkdir(parents=True)
    write("a*[b]/third_party/x.cu")
    (project / "loop").symlink_to(project)
    (project / "src").mkdir()
    (project / "src" / "setup.py").symlink_to("/dev/zero")
    (project / "src" / "Makefile").write_bytes(b"\xff\0-arch=sm_80\xff")
    write(".gitmodules", "path = /etc\npath = ..\npath=.\npath = a\nb\n")
    assert cudalint("init")[::2] == (0, "")
    settings = tomllib.loads(Path("cudalint.toml").read_text())
    assert settings["target"] == ["sm_80"] and "extend-exclude" not in settings
    assert cudalint("config")[0] == 0
    found = survey(project)
    assert found.third_party == () and found.include_folders == ('qu"ote\n]/include',)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set(CMAKE_CUDA_ARCHITECTURES 70 80)", {70, 80}),
        ('set_property(TARGET a PROPERTY CUDA_ARCHITECTURES "75-real;86-virtual")', {75, 86}),
        ("CMAKE_CUDA_ARCHITECTURES:STRING=90", {90}),
        ('"CMAKE_CUDA_ARCHITECTURES": "100a;120"', {100, 120}),
        ("set(CUDA_ARCHITECTURES native)", set()),
        ("# set(CMAKE_CUDA_ARCHITECTURES 35)\nint sm_count;", set()),
        ("-gencode arch=compute_61,code=sm_61 -arch sm_70", {61, 70}),
        ("os.environ['TORCH_CUDA_ARCH_LIST'] = '7.5;8.0+PTX 9.0'", {75, 80, 90}),
        ("TORCH_CUDA_ARCH_LIST=8.6", {86}),
    ],
)
def test_architectures(text: str, expected: set[int]) -> None:
    assert architectures_of(text.encode()) == expected


@pytest.mark.parametrize("piece", ["CUDA_ARCHITECTURES ", " ", "1", "\n", "=", "#", "sm_", "9.0 "])
def test_large_files_take_no_time(piece: str) -> None:
    started = time.process_time()
    for start in ("CUDA_ARCHITECTURES", "TORCH_CUDA_ARCH_LIST="):
        architectures_of((start + piece * (1_000_000 // len(piece))).encode())
    assert time.process_time() - started < 5
