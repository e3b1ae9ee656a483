"""What a leak's message says of the way out: the condition that decides it, where others go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.linter import lint
from cudalint.plan import make_plan
from cudalint.project.config import load
from cudalint.project.files import discover

LOGGED = """
#include <cstdio>
#include <cuda_runtime.h>
#define LOG(text) if (level() > 2) printf("%s", text)
int level();
bool convert(float* samples);

bool load(float** out, size_t bytes) {
    float* samples = nullptr;
    if (cudaMalloc(&samples, bytes) != cudaSuccess) return false;
    if (!convert(samples)) {
        LOG("cannot convert");
        return false;
    }
    *out = samples;
    return true;
}
"""
BOXED = """
#include <cuda_runtime.h>
struct Box { float* samples; };
Box* new_box();
Box* keep(Box* box, int count);

static Box* boxed(float* samples) {
    Box* box = new_box();
    if (!box) return nullptr;
    box->samples = samples;
    return box;
}

Box* load(size_t bytes) {
    float* samples = nullptr;
    if (cudaMalloc(&samples, bytes) != cudaSuccess) return nullptr;
    Box* box = boxed(samples);
    if (!box) return nullptr;
    return keep(box, 2);
}
"""


@pytest.mark.parametrize(
    ("program", "told"),
    [
        pytest.param(
            LOGGED,
            "when `convert(samples)` is false (returns at line 13); otherwise it is stored at "
            "line 16",
            id="a condition that both ways of go to the same exit decides nothing",
        ),
        pytest.param(
            BOXED,
            "when `box` is false (returns at line 18); otherwise it is passed on at line 19",
            id="what a callee gave decides the condition after it",
        ),
    ],
)
def test_the_condition_that_decides_is_told(tmp_path: Path, program: str, told: str) -> None:
    (tmp_path / "load.cu").write_text(program)
    plan = make_plan(load([tmp_path], overrides={"preview": True, "ignore": ["GPU306"]}))
    report = lint(discover([tmp_path], plan.settings, plan.root).files, plan, supervised=False)
    messages = [one.message for one in report.active if one.code == "GPU102"]
    assert messages == [f"`samples` (cudaMalloc) is not released {told}"]
