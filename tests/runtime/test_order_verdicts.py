"""What runs on the simulated device say of findings about the order of streams (GPU206, GPU408)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.findings.verdict import Outcome, Verdict
from tests.runtime.test_confirm import Case

RELEASE = """
void work(cudaStream_t a, cudaStream_t b, bool uses) {{
    void* p = nullptr;
    cudaEvent_t done;
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaMallocAsync(&p, 4096, a);
    if (uses)
        cudaMemsetAsync(p, 0, 4096, a);  // USE
    cudaEventRecord(done, a);
    {between}
    cudaFreeAsync(p, b);  // HERE
    cudaEventDestroy(done);
}}
int main() {{
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    work({given});
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    return 0;
}}
"""

READ = """
int work(cudaStream_t stream, const int* device, int* landed, bool copies) {{
    if (copies)
        cudaMemcpyAsync(landed, device, 64, cudaMemcpyDeviceToHost, stream);  // COPY
    {between}
    int value = landed[0];  // HERE
    cudaStreamSynchronize(stream);
    return value;
}}
int main() {{
    cudaStream_t stream;
    static int pageable[16];
    int *pinned, *device;
    cudaStreamCreate(&stream);
    cudaMallocHost((void**)&pinned, 64);
    cudaMalloc((void**)&device, 64);
    cudaMemset(device, 0, 64);
    int value = work(stream, device, {given});
    cudaFree(device);
    cudaFreeHost(pinned);
    cudaStreamDestroy(stream);
    return value;
}}
"""


@pytest.fixture(autouse=True)
def _needs(compiler: Path) -> None:
    """All of these build programs."""


def released(folder: Path, given: str, between: str = "") -> Verdict:
    case = Case(folder, RELEASE.format(given=given, between=between))
    return case.verdict(case.finding("GPU206", USE="`cudaMemsetAsync` uses it"))


def read(folder: Path, given: str, between: str = "") -> Verdict:
    case = Case(folder, READ.format(given=given, between=between))
    return case.verdict(case.finding("GPU408", COPY="the copy begins"))


def test_released_without_an_order(tmp_path: Path) -> None:
    found = released(tmp_path, "a, b, true")
    assert found.outcome is Outcome.CONFIRMED
    (evidence,) = found.evidence
    assert "cudaMemsetAsync on another stream may still use" in evidence.message
    assert (evidence.run, evidence.bytes) == ("without faults", 4096)
    assert evidence.stack[0].endswith("(work)")


@pytest.mark.parametrize(
    ("given", "between"),
    [("a, b, true", "cudaStreamWaitEvent(b, done, 0);"), ("a, a, true", "")],
)
def test_released_in_order(tmp_path: Path, given: str, between: str) -> None:
    assert released(tmp_path, given, between).outcome is Outcome.REFUTED


def test_a_use_that_the_run_did_not_come_by_refutes_nothing(tmp_path: Path) -> None:
    found = released(tmp_path, "a, b, false", "cudaStreamWaitEvent(b, done, 0);")
    assert found.outcome is Outcome.NOT_REACHED
    assert "another path" in found.reason


@pytest.mark.parametrize(
    ("between", "reason"),
    [
        (
            "int back; cudaMemcpyAsync(&back, p, 4, cudaMemcpyDeviceToHost, a);",
            "cudaMemcpyAsync between may have waited, and need not",
        ),
        (
            "cudaLaunchHostFunc(a, [](void*) {}, nullptr);",
            "cudaLaunchHostFunc between may have waited, and need not",
        ),
    ],
)
def test_what_need_not_wait_refutes_nothing(tmp_path: Path, between: str, reason: str) -> None:
    found = released(tmp_path, "a, b, true", between)
    assert found.outcome is Outcome.NOT_REACHED
    assert reason in found.reason


def test_pinned_memory_read_too_early(tmp_path: Path) -> None:
    found = read(tmp_path, "pinned, true")
    assert found.outcome is Outcome.CONFIRMED
    (evidence,) = found.evidence
    assert evidence.message.startswith("the host reads what cudaMemcpyAsync may still be copying")
    assert evidence.bytes == 64
    assert [line.rpartition(" ")[2] for line in evidence.stack[:2]] == ["(work)", "(main)"]


@pytest.mark.parametrize(
    ("given", "between", "reason"),
    [
        ("pinned, true", "cudaStreamSynchronize(stream);", "no read of pinned memory"),
        ("pageable, true", "", "pageable memory"),
        ("pinned, false", "", "the run made no copy"),
    ],
)
def test_what_shows_no_early_read(tmp_path: Path, given: str, between: str, reason: str) -> None:
    found = read(tmp_path, given, between)
    assert found.outcome is Outcome.NOT_REACHED
    assert reason in found.reason


def test_a_run_shows_both_without_a_finding(tmp_path: Path) -> None:
    one = Case(tmp_path, RELEASE.format(given="a, b, true", between="")).confirm()
    other = Case(tmp_path, READ.format(given="pinned, true", between="")).confirm()
    assert [(found.code, found.name) for found in (*one.seen, *other.seen)] == [
        ("GPU206", "stream-order-free"),
        ("GPU408", "unsynchronized-read"),
    ]
