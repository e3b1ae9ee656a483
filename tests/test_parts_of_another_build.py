"""Structs whose part on the device only another build declares: the fixtures are complete programs,
and cannot show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.linter import lint
from cudalint.plan import make_plan
from cudalint.project.config import load
from cudalint.project.files import discover

READS = """
#include <stdlib.h>
#include <cuda_runtime.h>

#ifdef WITH_DEVICE
typedef struct { int *lengths; float *events; float *on_the_host; } device_part;
#endif

typedef struct {
    int count;
#ifdef WITH_DEVICE
    device_part *device;
#endif
} reads;

void open_reads(reads *self) {
    self->device = (device_part *)malloc(sizeof(device_part));
    self->device->on_the_host = (float *)malloc(self->count * sizeof(float));
    cudaMalloc((void **)&(self->device->lengths), self->count * sizeof(int));
    cudaMalloc((void **)&(self->device->events), self->count * sizeof(float));
}

void close_reads(reads *self) {
    free(self->device->on_the_host);
    cudaFree(self->device->lengths);
    cudaFree(self->device->events);
    free(self->device);
}
"""


@pytest.mark.parametrize(
    ("forgotten", "expected"),
    [
        ("", []),
        ("    cudaFree(self->device->events);\n", ["device.events"]),
    ],
)
def test_releases_through_a_member_of_a_member(
    tmp_path: Path, forgotten: str, expected: list[str]
) -> None:
    (tmp_path / "reads.cu").write_text(READS.replace(forgotten, ""), encoding="utf-8")
    plan = make_plan(load([tmp_path]))
    report = lint(discover([tmp_path], plan.settings, plan.root).files, plan, supervised=False)
    found = [one.subject for one in report.active if one.code == "GPU105"]
    assert found == [f"reads.{member}" for member in expected]
