"""GPU301: more static shared memory than the architecture allows."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FileFacts
from cudalint.analysis.rules import FileRule
from cudalint.findings.finding import Finding, Severity, Step
from cudalint.project.units import size_text
from cudalint_rules._shared_memory import static_bytes
from cudalint_rules._wording import format_against, quoted


class OversizeStaticShared(FileRule):
    """More static shared memory than the architecture allows.

    ## What it does

    Adds up the `__shared__` variables (Numba: `cuda.shared.array`) of each kernel, and reports a
    kernel whose sum is above 48 KiB: a warning up to 227 KiB, as long as `--target` does not say
    what it is built for. Nothing is said of kernels whose assembler (`wgmma`, `tcgen05`) only
    architecture-specific targets have.

    ## Why is this bad?

    48 KiB is the limit of statically declared shared memory for every target but the
    architecture-specific ones (`sm_90a`), where CUDA 13 allows more; the larger amounts that newer
    devices offer exist for dynamic shared memory alone. `ptxas` refuses the kernel, and code that
    is compiled at run time (NVRTC, CuPy, Numba) fails there, on the user's machine.

    ## Example

    ```cuda
    __global__ void transpose(const double* in, double* out) {
        __shared__ double tile[96][96];  // 72 KiB
        ...
    }
    ```

    ```python
    @cuda.jit
    def transpose(source, target):
        tile = cuda.shared.array((96, 96), numba.float64)
    ```

    ## Use instead

    ```cuda
    extern __shared__ double tile[];
    ...
    cudaFuncSetAttribute(transpose, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    transpose<<<grid, block, bytes>>>(in, out);
    ```

    ```python
    tile = cuda.shared.array((64, 64), numba.float64)  # 32 KiB
    ```

    ## Known problems

    Arrays whose size depends on a template parameter, or on a value that a Python string takes at
    run time, are counted as nothing. Arrays in scopes that exclude each other are added up, as
    `ptxas` does in general.

    ## References

    - CUDA C++ Programming Guide,
      [Technical Specifications per Compute Capability](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#features-and-technical-specifications)
    """

    code, name = "GPU301", "oversize-static-shared"
    severity = Severity.ERROR

    def check(self, facts: FileFacts) -> Iterator[Finding]:
        """Yield the kernels of a file that cannot be built."""
        limit, whose = (
            self.limits.static_shared,
            "target" if self.limits.targets else "architecture",
        )
        for kernel in facts.kernels:
            total = static_bytes(kernel)
            most = self.limits.specific_static_shared if kernel.dialect == "cuda" else limit
            if total <= (most if kernel.is_specific else limit):
                continue
            size, offered = format_against(total, limit if total <= most else most)
            refusal = f"no {whose} allows more than {offered}"
            if total <= most:
                refusal = (
                    f"more than {offered} needs CUDA 13 and an architecture-specific target, such "
                    "as sm_90a"
                )
            shown = quoted(f"{kernel.name}{kernel.instance}")
            yield self.finding(
                f"{shown} declares {size} of static shared memory; {refusal}",
                severity=Severity.WARNING if total <= most else None,
                filename=kernel.filename,
                span=kernel.span,
                function=kernel.name,
                subject=kernel.name,
                steps=tuple(
                    Step(
                        kernel.filename,
                        array.span,
                        f"{array.name} takes {size_text(array.bytes)}",
                    )
                    for array in kernel.shared
                    if array.bytes
                ),
            )
