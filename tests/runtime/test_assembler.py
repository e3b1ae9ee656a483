"""What ptxas says of kernels with too much static shared memory."""

from __future__ import annotations

from pathlib import Path

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.project.compile_commands import CompileFlags
from cudalint.runtime.assembler import assembled, refusals
from cudalint.runtime.devices import Gpu, Simulated
from cudalint.source import Span
from tests.runtime.conftest import needs_nvcc

PROGRAM = """
namespace image {
template <int Count> __global__ void blur(float* out) {
    __shared__ float tile[Count];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[Count - 1 - threadIdx.x];
}
}
__global__ void small(float* out) { out[threadIdx.x] = 1.0f; }
int main() {
    image::blur<N><<<1, 32>>>(nullptr);
    small<<<1, 32>>>(nullptr);
}
"""
GPU = Gpu("a GPU", "sm_90", 1 << 30)
OPEN = Verdict(Outcome.NOT_REACHED, GPU.name, reason="it ran")


def finding(function: str, code: str = "GPU301") -> Finding:
    span = Span(3, 1, 3, 9)
    return Finding(code, "x", Severity.ERROR, Confidence.HIGH, "m", "a.cu", span, function, "")


@needs_nvcc
def test_a_kernel_that_ptxas_refuses(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text(PROGRAM)
    flags = CompileFlags(defines=("N=16384",))
    ((name, text),) = refusals(source, "sm_90", flags)
    assert "4blur" in name and "0x10000 bytes" in text
    asked = [finding("image::blur<N>"), finding("small"), finding("image::blur<N>", "GPU304")]
    blur, small, other = assembled([OPEN] * 3, asked, [source], GPU, flags)
    assert blur is not None and blur.outcome is Outcome.CONFIRMED
    assert blur.evidence[0].witness == "ptxas" and "does not compile" in blur.evidence[0].message
    assert small is OPEN and other is OPEN
    assert refusals(source, "sm_90", CompileFlags(defines=("N=64",))) == []


def test_a_simulated_device_has_said_it_already(tmp_path: Path) -> None:
    asked = [finding("blur")]
    missing = [tmp_path / "missing.cu"]
    assert assembled([OPEN], asked, missing, Simulated(), CompileFlags()) == [OPEN]
    assert assembled([None], asked, missing, GPU, CompileFlags()) == [None]
