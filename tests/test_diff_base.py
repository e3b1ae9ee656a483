"""``--diff-base``: findings whose path touches what changed, and no others."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cudalint.cli import main

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

CODE = """#include <cuda_runtime.h>

bool first(size_t n) {
    float* d_first;
    if (cudaMalloc(&d_first, n) != cudaSuccess) return false;
    if (n > 4096) {
        return false;
    }
    cudaFree(d_first);
    return true;
}

bool second(size_t n) {
    float* d_second;
    if (cudaMalloc(&d_second, n) != cudaSuccess) return false;
    cudaMemset(d_second, 0, n);
    cudaFree(d_second);
    return true;
}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(CODE)
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "a.cu"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "x"],
    ):
        subprocess.run(["git", *arguments], check=True)
    return tmp_path


@pytest.fixture
def cudalint(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def test_only_what_touches_changed_lines_is_told(cudalint: Any) -> None:
    assert "`d_first`" in cudalint("a.cu")[1]
    status, out, _ = cudalint("--diff-base", "main", "a.cu")
    assert status == 0
    assert out == "No CUDA memory misuse found in 1 file (1 in unchanged code).\n"
    # A step of the path counts; its other lines are as they were.
    Path("a.cu").write_text(CODE.replace("        return false;", "        return  false;"))
    status, out, _ = cudalint("--diff-base", "main", "a.cu")
    assert status == 1 and "a.cu:5:9: warning: `d_first`" in out
    # Lines that are elsewhere do not.
    Path("a.cu").write_text("// moved\n" + CODE)
    assert cudalint("--diff-base", "main", "a.cu")[0] == 0


def test_a_release_that_is_gone_and_a_new_file(cudalint: Any) -> None:
    Path("a.cu").write_text(CODE.replace("    cudaFree(d_second);\n", ""))
    status, out, _ = cudalint("--diff-base", "main", "a.cu")
    assert status == 1 and "`d_second`" in out and "`d_first`" not in out
    Path("new.cu").write_text(CODE.replace("first", "third"))
    status, out, _ = cudalint("--diff-base", "HEAD", "--output-format", "concise")
    assert "new.cu:5:9: warning: `d_third`" in out and "(1 in unchanged code)" in out


def test_errors_are_told_before_anything_is_linted(
    cudalint: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copy("a.cu", elsewhere)
    status, out, err = cudalint("--diff-base", "main", str(elsewhere))
    assert (status, out) == (2, "") and err.endswith("is in no git repository\n")
    status, out, err = cudalint("--diff-base", "--exec=x", ".")
    assert (status, out) == (2, "") and "git knows no commit '--exec=x'" in err


def test_with_a_baseline_both_count(cudalint: Any) -> None:
    cudalint("--baseline", "b.toml", "--write-baseline", ".")
    Path("a.cu").write_text(CODE.replace("        return false;", "        return  false;"))
    status, out, _ = cudalint("--baseline", "b.toml", "--diff-base", "main", ".")
    assert status == 0 and "(1 in the baseline)" in out
