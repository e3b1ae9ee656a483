"""Damaged files are linted or named: no crash, no hang, nothing lost."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.robustness import __main__ as robustness
from benchmarks.robustness.damage import ENORMOUS, damaged, damages
from cudalint import linter

FIXTURES = Path(__file__).parent.parent / "fixtures"
LEAK = """#include <cuda_runtime.h>
bool upload(const float* host, int n) {
    float* device = nullptr;
    if (cudaMalloc(&device, n * sizeof(float)) != cudaSuccess) return false;
    return cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess;
}
"""
PYTHON_LEAK = """from cuda.bindings import runtime


def reserve(count):
    status, pointer = runtime.cudaMalloc(count)
    return status == runtime.cudaError_t.cudaSuccess
"""
TIME_LIMIT = 60.0


@pytest.fixture(scope="module")
def programs() -> dict[str, list[bytes]]:
    return {language: robustness.seeds([FIXTURES], language) for language in robustness.LANGUAGES}


@pytest.mark.parametrize("language", robustness.LANGUAGES)
def test_damage_is_repeatable_and_does_harm(
    language: str, programs: dict[str, list[bytes]]
) -> None:
    some = programs[language][:10]
    names = {
        name for number in range(100) for name in damaged(number, 0, language, some)[0].split("+")
    }
    assert names == {damage.__name__ for damage in damages(language)}
    files = [damaged(number, 7, language, some) for number in range(60)]
    assert files == [damaged(number, 7, language, some) for number in range(60)]
    changed = sum(data not in some for _, data in files)
    assert changed >= 50
    lines = [damage for damage in damages(language) if damage.__name__ == "long_line"]
    assert len(lines[0](random.Random(1), some[0], some)) >= ENORMOUS - 16


def check(language: str, programs: dict[str, list[bytes]], folder: Path, **more: int) -> None:
    outcome = robustness.check(language, programs[language], folder, time_limit=TIME_LIMIT, **more)
    shown = robustness.report_of(language, outcome, TIME_LIMIT)
    assert not outcome.failures, shown
    accounted = outcome.linted + sum(outcome.named.values()) + outcome.without_cuda
    assert accounted == outcome.files == more["count"]
    assert outcome.linted > more["count"] / 2, shown


@pytest.mark.parametrize("language", robustness.LANGUAGES)
def test_some_damaged_files(
    language: str, programs: dict[str, list[bytes]], tmp_path: Path
) -> None:
    check(language, programs, tmp_path, count=34, first=2)  # each kind of damage, but rare ones


def test_lost_files_are_noticed(tmp_path: Path, programs: dict[str, list[bytes]]) -> None:
    """The check can fail: a linter that breaks, and one that forgets a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(robustness, "lint", lambda *_: 1 / 0)
        outcome = robustness.check("python", programs["python"], tmp_path, count=3)
        assert "ZeroDivisionError" in outcome.failures[0]
    with pytest.MonkeyPatch.context() as patch:
        lint = linter.lint
        patch.setattr(robustness, "lint", lambda files, plan: lint(files[1:], plan))
        outcome = robustness.check("cuda", [LEAK.encode()], tmp_path, count=2, first=10)
        assert [line.partition(": ")[2] for line in outcome.failures] == [
            "neither linted nor named"
        ]


@pytest.mark.parametrize(("suffix", "leak"), [("cu", LEAK), ("py", PYTHON_LEAK)])
def test_the_command_line_survives(suffix: str, leak: str, tmp_path: Path) -> None:
    """Each of these is dealt with; the good one beside them is linted; the exit status says 2."""
    files = {
        "good": leak.encode(),
        "nul": leak.encode() + b"\0",
        "empty": b"",
        "line": leak.encode() + b"x = [" + b"1," * (ENORMOUS // 2) + b"]\n",
        "braces": leak.encode() + b"{" * 100_000,
        "parentheses": leak.encode() + b"x = " + b"(" * 100_000 + b")" * 100_000 + b"\n",
        "cut": leak.encode()[:-40],
        "utf8": b"# \xff\xfe\n" + leak.encode(),
    }
    for name, data in files.items():
        (tmp_path / f"{name}.{suffix}").write_bytes(data)
    command = [sys.executable, "-m", "cudalint", "--isolated", "--no-cache"]
    command += [f"{name}.{suffix}" for name in files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr + done.stdout
    assert "internal error" not in done.stderr + done.stdout
    assert f"nul.{suffix}: is binary" in done.stderr
    assert "is empty" not in done.stderr
    code = f"good.{suffix}:{5 if suffix == 'py' else 4}:"
    assert any(line.startswith(code) and "GPU101" in line for line in done.stdout.split("\n"))
