"""What is found in sources that the compile database leaves out."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cudalint.linter import lint
from cudalint.plan import make_plan
from cudalint.project.config import load
from cudalint.project.files import discover

LEAK = """#include <cuda_runtime.h>
void {name}() {{
    float* device = nullptr;
    if (cudaMalloc(&device, 4096) == cudaSuccess) cudaMemset(device, 0, 4096);
}}
"""
BUILT = "solver.cu warning"


def told(folder: Path, *listed: str, others: tuple[str, ...] = ()) -> list[str]:
    """What is found of `solver.cu` and some others, where a database lists some sources."""
    for name in ("solver.cu", *others):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_text(LEAK.format(name=path.stem))
    database = folder / "build" / "compile_commands.json"
    database.parent.mkdir(exist_ok=True)
    entries = [
        {"directory": str(folder), "file": name, "command": f"nvcc -c {name}"} for name in listed
    ]
    if not database.exists():
        database.write_text(json.dumps(entries))
    overrides = {"cache": False, "select": ["GPU101"]}
    plan = make_plan(load([folder], isolated=True, overrides=overrides))
    report = lint(discover([folder], plan.settings, plan.root).files, plan, supervised=False)
    assert report.errors == report.notes == ()
    return [f"{Path(one.filename).name} {one.severity.value}" for one in report.active]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("draft.cu", "draft.cu info"),
        ("draft.cpp", "draft.cpp warning"),  # no other of its kind is listed
        ("draft.cuh", "draft.cuh warning"),
        ("other/draft.cu", "draft.cu warning"),
    ],
)
def test_what_nobody_builds(tmp_path: Path, other: str, expected: str) -> None:
    assert told(tmp_path, "solver.cu", others=(other,)) == [expected, BUILT]


def test_the_reason_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told(tmp_path, "solver.cu", others=("draft.cu",))
    plan = make_plan(load([Path()], isolated=True, overrides={"cache": False}))
    found = discover([Path("draft.cu")], plan.settings, plan.root).files
    (leak, *_) = lint(found, plan, supervised=False).active
    assert leak.message.endswith(", and `build/compile_commands.json` does not list this file")


def test_what_is_included_is_built(tmp_path: Path) -> None:
    (tmp_path / "solver.cu").write_text('#include "draft.cu"\n' + LEAK.format(name="solver"))
    assert told(tmp_path, "solver.cu", others=("draft.cu",)) == ["draft.cu warning", BUILT]


def test_what_came_later_may_be_built(tmp_path: Path) -> None:
    assert told(tmp_path, "solver.cu", others=("draft.cu",)) == ["draft.cu info", BUILT]
    later = (tmp_path / "build" / "compile_commands.json").stat().st_mtime_ns + 10**9
    os.utime(tmp_path / "draft.cu", ns=(later, later))
    assert told(tmp_path) == ["draft.cu warning", BUILT]
