"""``--add-ignore``: a run after it is clean, and nothing but comments has changed."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import pytest

from cudalint.cli import main
from tests.test_fixtures import _SUFFIXES, FIXTURES

PROGRAM = """#include <cuda_runtime.h>
int main() {
    int* p;
    return cudaMalloc(&p, 4) == cudaSuccess ? 0 : 1;
}
"""
COMMENT = "// cudalint: ignore[GPU101]"


@pytest.fixture
def cudalint(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".cudalint_cache" not in path.parts
    }


@pytest.mark.slow
def test_every_bad_fixture_becomes_silent(cwd: Path, cudalint: Any) -> None:
    for one in FIXTURES.glob("GPU*/bad_*"):
        if one.is_dir():
            shutil.copytree(one, cwd / one.parent.name / one.name)
        elif one.suffix in _SUFFIXES and one.suffix != ".ipynb":
            (cwd / one.parent.name).mkdir(exist_ok=True)
            shutil.copy(one, cwd / one.parent.name)
    before = contents(cwd)
    assert len(before) > 400
    options = ["--isolated", "--preview", "--fail-level", "info", "--time-limit", "300"]
    # A suppression that suppresses nothing is no finding to suppress:
    options += ["--ignore", "GPU001"]
    status, out, err = cudalint("--add-ignore=known", *options, "-q", ".")
    assert (status, out) == (0, "") and "no comment" not in err
    after = contents(cwd)
    assert sum(after[name] != data for name, data in before.items()) > 400
    # Not a letter is taken away, and the lines are what they were.
    for name, data in before.items():
        assert after[name].count(b"\n") == data.count(b"\n")
        for old, new in zip(data.splitlines(), after[name].splitlines(), strict=True):
            assert new == old or (len(new) > len(old) and b"cudalint: ignore[" in new)
    # All of it still parses, and is silent:
    status, out, err = cudalint(*options, ".")
    assert (status, err) == (0, "") and "No CUDA memory misuse found" in out
    status, _, err = cudalint("--add-ignore", *options, ".")
    assert (status, err) == (0, "cudalint: 0 comments written in 0 files\n")
    assert contents(cwd) == after


def test_what_is_written_is_told_and_counts_as_suppressed(cwd: Path, cudalint: Any) -> None:
    Path("a.cu").write_text(PROGRAM)
    status, out, err = cudalint("--add-ignore", "a.cu")
    assert (status, err) == (0, "cudalint: 1 comment written in 1 file\n")
    assert out == "No CUDA memory misuse found in 1 file (1 suppressed).\n"
    row = Path("a.cu").read_text().splitlines()[3]
    assert row.endswith(f";  {COMMENT}")
    assert cudalint("a.cu") == (0, out, "")
    # A reason needs its sign: what follows is a path.
    Path("a.cu").write_text(PROGRAM)
    cudalint("--add-ignore=see #12", "a.cu")
    assert f"{COMMENT} see #12\n" in Path("a.cu").read_text()


def test_encoding_line_ends_and_mode_are_kept(cwd: Path, cudalint: Any) -> None:
    path = Path("a.cu")
    for encoding, mark in (
        ("latin-1", b""),
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16-le", b"\xff\xfe"),
    ):
        text = f"// ü\r\n{PROGRAM}".replace("\n", "\r\n").replace("\r\r", "\r")
        path.write_bytes(mark + text.encode(encoding))
        path.chmod(0o755)
        assert cudalint("--add-ignore", "a.cu")[0] == 0
        lines = text.split("\r\n")
        lines[4] += f"  {COMMENT}"
        assert path.read_bytes() == mark + "\r\n".join(lines).encode(encoding)
        assert path.stat().st_mode & 0o777 == 0o755


def test_what_cannot_be_written_is_told_and_still_counts(cwd: Path, cudalint: Any) -> None:
    path = Path("a.cu")
    path.write_bytes("// ü\n".encode("latin-1") + PROGRAM.encode())
    before = path.read_bytes()
    status, out, err = cudalint("--add-ignore=漢", "--fail-level", "info", "a.cu")
    assert status == 1 and "GPU101" in out and path.read_bytes() == before
    assert "cudalint: a.cu: left as it is: its encoding (latin-1) has no '漢'\n" in err
    shutil.copy(FIXTURES / "GPU101-unpaired-allocation" / "bad_notebook_terrain.ipynb", "b.ipynb")
    before = Path("b.ipynb").read_bytes()
    status, out, err = cudalint("--add-ignore", "b.ipynb")
    assert status == 1 and Path("b.ipynb").read_bytes() == before
    assert "b.ipynb: left as it is: comments are not written into notebooks" in err


@pytest.mark.parametrize(
    "arguments", [["-", "--add-ignore"], ["--add-ignore", "--baseline=b", "--write-baseline", "."]]
)
def test_combinations_that_mean_nothing(
    cwd: Path, cudalint: Any, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    status, _, err = cudalint(*arguments)
    assert status == 2 and "neither with --write-baseline nor for standard input" in err
