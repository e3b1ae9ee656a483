"""`--fix`, `--unsafe-fixes`, `--diff` and `--show-fixes` of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.test_cli import Outcome, cudalint, in_folder

__all__ = ["cudalint", "in_folder"]

LEAK = """from cuda.bindings import runtime as cudart


def reserve(size: int) -> bool:
    err, block = cudart.cudaMalloc(size)
    if err != cudart.cudaError_t.cudaSuccess:
        return False
    if size > 100:
        return False
    cudart.cudaFree(block)
    return True
"""
FIXED = LEAK.replace("100:\n        return", "100:\n        cudart.cudaFree(block)\n        return")
RAISES = """from cuda.bindings import runtime as cudart


def reserve(path, size: int):
    err, block = cudart.cudaMalloc(size)
    if err != cudart.cudaError_t.cudaSuccess:
        return False
    path.mkdir()
    cudart.cudaFree(block)
"""


def test_a_fix_is_written(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    Path("a.py").chmod(0o640)
    found: Outcome = cudalint("--fix", ".")
    assert found.status == 0
    assert Path("a.py").read_text() == FIXED
    assert Path("a.py").stat().st_mode & 0o777 == 0o640
    assert found.out == "No CUDA memory misuse found in 1 file.\n"
    assert found.err == "Fixed 1 finding in 1 file.\n"
    again: Outcome = cudalint("--fix", ".")
    assert (again.status, again.err) == (0, "")


def test_what_is_left_is_told_and_counts(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    Path("b.py").write_text(RAISES)
    found: Outcome = cudalint("--fix", ".")
    assert found.status == 1
    assert "b.py:5:18: " in found.out
    assert found.out.endswith("1 finding can be fixed with `--fix --unsafe-fixes`.\n")
    assert Path("b.py").read_text() == RAISES
    found = cudalint("--fix", "--unsafe-fixes", ".")
    assert found.status == 0
    assert "    finally:\n        cudart.cudaFree(block)\n" in Path("b.py").read_text()


def test_the_summary_says_what_could_be_fixed(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    Path("b.py").write_text(RAISES)
    fixable = cudalint(".").out.splitlines()[-1]
    assert fixable == "1 finding can be fixed with `--fix`, 1 more with `--unsafe-fixes`."
    fixable = cudalint(".", "--unsafe-fixes").out.splitlines()[-1]
    assert fixable == "2 findings can be fixed with `--fix --unsafe-fixes`."
    full = cudalint("a.py", "--output-format", "full").out
    assert "  = fix: Call `cudart.cudaFree(block)` on the way out without it [--fix]\n" in full


def test_a_diff_changes_nothing(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    found: Outcome = cudalint("--diff", ".")
    assert found.status == 1
    assert Path("a.py").read_text() == LEAK
    assert found.err == "Would fix 1 finding in 1 file.\n"
    patched = subprocess.run(["patch", "-p0"], input=found.out.encode(), check=False)
    assert patched.returncode == 0
    assert Path("a.py").read_text() == FIXED
    clean: Outcome = cudalint("--diff", ".")
    assert (clean.status, clean.out) == (0, "")
    # What a folder holds and cannot be read is told; it is no failure, as it is none elsewhere.
    Path("b.cu").write_bytes(b"\0")
    assert cudalint("--diff", ".").status == 0
    assert cudalint("--diff", "b.cu").status == 2


def test_what_is_mended_is_not_ignored_too(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    for option in ("--fix", "--diff"):
        refused: Outcome = cudalint(option, "--add-ignore=known", ".")
        assert refused.status == 2 and "--add-ignore: not with --fix or --diff" in refused.err
    assert Path("a.py").read_text() == LEAK


def test_the_fixes_are_listed(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    found: Outcome = cudalint("--fix", "--show-fixes", ".")
    assert found.err.splitlines() == [
        "a.py:",
        "    GPU102 Call `cudart.cudaFree(block)` on the way out without it",
        "Fixed 1 finding in 1 file.",
    ]
    refused: Outcome = cudalint("--show-fixes", ".")
    assert refused.status == 2
    assert refused.err == "cudalint: --show-fixes: only with --fix or --diff\n"


@pytest.mark.parametrize(("text", "wanted"), [(LEAK, FIXED), (FIXED, FIXED)])
def test_standard_input_is_given_back(text: str, wanted: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cudalint", "--isolated", "--fix", "-"],
        input=text.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.decode() == wanted
    assert b"No CUDA memory misuse found in 1 file." in done.stderr


def test_a_suppressed_finding_is_not_fixed(cudalint: Any) -> None:
    text = LEAK.replace("(size)\n", "(size)  # cudalint: ignore[GPU102]\n", 1)
    Path("a.py").write_text(text)
    assert cudalint("--fix", ".").status == 0
    assert Path("a.py").read_text() == text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(cudalint: Any) -> None:
    Path("folder").mkdir()
    Path("folder/a.py").write_text(LEAK)
    Path("folder").chmod(0o500)
    found: Outcome = cudalint("--fix", "folder")
    assert found.status == 2
    assert found.err.startswith("cudalint: folder/a.py: cannot be written: ")


def test_a_link_stays_one(cudalint: Any) -> None:
    Path("below").mkdir()
    Path("below/a.py").write_text(LEAK)
    Path("a.py").symlink_to("below/a.py")
    assert cudalint("--fix", "a.py").status == 0
    assert Path("a.py").is_symlink()
    assert Path("below/a.py").read_text() == FIXED
