"""``doctor -- COMMAND`` on the simulated device, and the planted causes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.doctor.__main__ import build_planted
from benchmarks.doctor.planted import PLANTED, PROGRAMS, RECORDINGS, Planted
from cudalint.cli import main

GIB = 1 << 30


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict]:  # type: ignore[type-arg]
    status = main(["doctor", "--isolated", "--output-format=json", *arguments])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("one", PLANTED, ids=lambda one: one.name.replace(" ", "-"))
def test_the_planted_cause_is_ranked_first(
    one: Planted, tmp_path: Path, compiler: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if one.recording:
        status, found = report(capsys, "--machine", str(RECORDINGS / one.recording))
    else:
        program = build_planted(one, tmp_path)
        status, found = report(capsys, "--runtime=sim", *one.options, "--", str(program))
    assert status == 1
    assert found["causes"][0]["name"] in one.expected
    assert found["causes"][0]["likelihood"] == "very likely"


def test_fragmentation_is_exact(
    tmp_path: Path, compiler: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = next(one for one in PLANTED if one.name == "fragmentation")
    program = build_planted(one, tmp_path)
    _, found = report(capsys, "--runtime=sim", "--device-memory=64GiB", "--", str(program))
    failure = found["failure"]
    assert (failure["total"], failure["free"], failure["largest"]) == (64 * GIB, 32 * GIB, GIB)
    assert (failure["asked"], failure["holes"]) == (4 * GIB, 31)
    assert sum(site["bytes"] for site in failure["room"]) == 2 * GIB
    assert failure["stack"][0].endswith("fragmentation.cpp:18 (main)")


def test_a_python_program_has_its_own_lines(
    compiler: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = PROGRAMS / "leak.py"
    status, found = report(
        capsys, "--runtime=sim", "--device-memory=8GiB", "--", sys.executable, str(script)
    )
    assert status == 1
    (site,) = found["failure"]["sites"]
    assert site["place"].endswith("leak.py:11 (step)")
    assert site["count"] == 8
    assert found["causes"][0]["name"] == "leak"


def test_a_command_that_does_not_run_out(
    compiler: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script = tmp_path / "fits.py"
    script.write_text(
        "from cuda.bindings import runtime\n_, p = runtime.cudaMalloc(4096)\nruntime.cudaFree(p)\n"
    )
    status = main(["doctor", "--isolated", "--runtime=sim", "--", sys.executable, str(script)])
    captured = capsys.readouterr()
    assert status == 0
    assert "no call ran out of memory; at most 4,096 bytes" in captured.err


def test_a_command_without_cuda(compiler: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--isolated", "--runtime=sim", "--", "/bin/true"]) == 2
    assert "no call of CUDA was seen" in capsys.readouterr().err
    assert main(["doctor", "--isolated", "--runtime=sim", "--", "./no-such-program"]) == 2
    assert "no-such-program" in capsys.readouterr().err


def test_an_error_text_of_the_command_is_read(
    compiler: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script = tmp_path / "says.py"
    script.write_text(
        "raise SystemExit('cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,024 bytes"
        " (allocated so far: 512 bytes, limit set to: 1,000 bytes).')"
    )
    status, found = report(capsys, "--runtime=sim", "--", sys.executable, str(script))
    assert status == 1
    assert found["failure"]["framework"] == "CuPy"
    assert found["causes"][0]["name"] == "framework-limit"


def test_a_record_of_a_command_tells_the_same(
    compiler: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record = tmp_path / "record.json"
    _, found = report(
        capsys, "--runtime=sim", "--device-memory=8GiB", "--record", str(record), "--",
        sys.executable, str(PROGRAMS / "leak.py"),
    )  # fmt: skip
    _, again = report(capsys, "--machine", str(record))
    assert again["causes"] == found["causes"]
