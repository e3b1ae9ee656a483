"""GPU305: the kernel reads dynamic shared memory, the launch passes none."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint_rules._shared_memory import kernel_step
from cudalint_rules._wording import quoted


class MissingDynamicShared(FunctionRule):
    """The kernel reads dynamic shared memory, the launch passes none.

    ## What it does

    Reports a launch without dynamic shared memory (no third launch parameter, or 0) of a kernel
    that uses an `extern __shared__` array, in its own body or in a device function that it calls.

    ## Why is this bad?

    The array then has no memory. The kernel reads and writes beyond its block's shared memory:
    `cudaErrorIllegalAddress` at best, otherwise another variable's bytes.

    ## Example

    ```cuda
    __global__ void reduce(const float* in, float* out) {
        extern __shared__ float partial[];
        partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
        ...
    }
    reduce<<<grid, 256>>>(d_in, d_out);
    ```

    ```python
    @cuda.jit
    def reduce(values, sums):
        partial = cuda.shared.array(0, numba.float32)
        ...
    reduce[grid, 256](values, sums)
    ```

    ## Use instead

    ```cuda
    reduce<<<grid, 256, 256 * sizeof(float)>>>(d_in, d_out);
    ```

    ```python
    reduce[grid, 256, stream, 256 * 4](values, sums)
    ```

    ## Known problems

    A kernel that uses the array only where a parameter says so is reported too; pass the amount, or
    make the parameter a template parameter and the array part of that branch.

    ## References

    - CUDA C++ Programming Guide,
      [`__shared__`](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#shared)
    """

    code, name = "GPU305", "missing-dynamic-shared"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the launches that forget the third parameter."""
        for launch in facts.launches:
            array = launch.kernel.dynamic_shared if launch.kernel else None
            if array and launch.kernel and launch.shared_bytes == 0:
                # Whoever launches it with memory elsewhere knows where it needs none.
                aware = any(
                    other.kernel == launch.kernel and other.shared_bytes != 0
                    for other in facts.launches
                )
                # So does a trait that is 0 for one instance of many.
                unsure = Confidence.LOW if aware or launch.shared_named else None
                yield self.finding(
                    f"{quoted(launch.kernel_name)} reads the dynamic shared array {quoted(array)}, "
                    "but is launched with 0 bytes for it",
                    filename=facts.filename,
                    span=launch.span,
                    function=facts.function,
                    subject=launch.kernel_name,
                    confidence=unsure,
                    steps=(*launch.steps, *kernel_step(launch, f"the kernel that reads {array}")),
                )
