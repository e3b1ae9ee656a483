"""GPU303: above 48 KiB of shared memory without opting in."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, LaunchSite
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.repair import OptIn
from cudalint.project.units import size_text
from cudalint_rules._shared_memory import breakdown, kernel_step, needed_bytes
from cudalint_rules._wording import format_against, quoted

_UNKNOWN_AMOUNT = -1


class MissingSharedOptIn(FunctionRule):
    """Above 48 KiB of shared memory without opting in.

    ## What it does

    Reports a launch that needs more than 48 KiB of shared memory for each block, of a kernel for
    which no `cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ...)`
    anywhere in the run asks for that much. With low confidence (`--preview`) it reports functions
    that launch whatever kernel they are given, with as much as they are given.

    ## Why is this bad?

    A device may offer far more, but a kernel must ask for it. Without, the launch fails with
    `cudaErrorInvalidValue`, and since a launch returns no status, silently.

    ## Example

    ```cuda
    size_t bytes = 64 * 1024;
    histogram<<<grid, block, bytes>>>(d_keys, d_bins, n);
    ```

    ```python
    histogram = cupy.RawKernel(source, "histogram")
    histogram((grid,), (block,), (keys, bins, n), shared_mem=64 * 1024)
    ```

    ## Use instead

    ```cuda
    cudaFuncSetAttribute(histogram, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    histogram<<<grid, block, bytes>>>(d_keys, d_bins, n);
    ```

    ```python
    histogram.max_dynamic_shared_size_bytes = 64 * 1024
    ```

    ## Fix

    - Safe: in C++, `cudaFuncSetAttribute` goes before the launch, with the same size, and in the
      check that the file uses: the launch could not succeed without it.

    ## Known problems

    A kernel that is launched through a pointer or a parameter counts as not opted in, with medium
    confidence, unless some opt-in of the run cannot be told apart from one for it. Numba has no
    opt-in at all: there the amount itself must shrink.

    ## References

    - CUDA C++ Programming Guide,
      [Shared Memory, compute capability 7.x](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#shared-memory-7-x)
    """

    code, name = "GPU303", "missing-shared-opt-in"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the launches that ask for more than their kernel may use."""
        for launch in facts.launches:
            if launch.given and launch.opted_in is None:
                yield self._left_to_callers(facts, launch)
            needed = needed_bytes(launch, self.limits)
            if needed is None or not self._needs_opt_in(needed):
                continue
            dynamic = launch.shared_bytes or 0
            if launch.opted_in == _UNKNOWN_AMOUNT or (launch.opted_in or 0) >= dynamic:
                continue
            yield self.finding(
                _message(launch, dynamic, self.limits.default_shared, facts.language),
                filename=facts.filename,
                span=launch.span,
                function=facts.function,
                subject=launch.kernel_name,
                rests_on=launch.kernel_name,
                steps=(*launch.steps, *kernel_step(launch, "the kernel is defined here")),
                # A kernel that is not in the run may opt in where we cannot see it.
                confidence=None if launch.kernel else Confidence.MEDIUM,
                repair=OptIn(launch.span) if not launch.opted_in else None,
            )

    def _left_to_callers(self, facts: FunctionFacts, launch: LaunchSite) -> Finding:
        most = size_text(self.limits.default_shared)
        return self.finding(
            f"{quoted(launch.kernel_name)} is launched with {quoted(launch.given)} bytes of shared "
            f"memory, and nothing opts in: a caller who gives more than {most} gets an error",
            filename=facts.filename,
            span=launch.span,
            function=facts.function,
            subject=launch.kernel_name,
            severity=Severity.INFO,
            confidence=Confidence.LOW,
        )

    def _needs_opt_in(self, needed: int) -> bool:
        return self.limits.default_shared < needed <= self.limits.largest_shared


def _message(launch: LaunchSite, dynamic: int, default: int, language: str) -> str:
    kernel = quoted(launch.kernel_name)
    if launch.opted_in:
        asked, allowed = format_against(dynamic, launch.opted_in)
        return (
            f"{kernel} is launched with {asked} of dynamic shared memory, and opts in to {allowed}"
        )
    if language == "python":
        call = "the kernel's `max_dynamic_shared_size_bytes`, or `cuFuncSetAttribute`,"
    else:
        attribute = "cudaFuncAttributeMaxDynamicSharedMemorySize"
        call = f"`cudaFuncSetAttribute({launch.kernel_name}, {attribute}, {dynamic})`"
    return (
        f"{kernel} is launched with {breakdown(launch)} of shared memory for each block; above "
        f"{size_text(default)} {call} must allow it first"
    )
