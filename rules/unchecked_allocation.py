"""GPU506: the status of an allocation is never looked at."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity, Step
from cudalint.findings.repair import AddCheck
from cudalint.project.units import size_text
from cudalint_rules._wording import plural, subject

_LARGE = 256 * 1024**2
_LARGE_ONCE = 4 * 1024**3
"""Of a function that runs once in a program: what a small device does not have."""


class UncheckedAllocation(FunctionRule):
    """The status of an allocation is never looked at.

    ## What it does

    Reports the first allocation of a function whose result is ignored: the status is not stored or
    compared, no later call asks for the last error, in the function or in one of its callers, and
    the pointer is not compared with null. The others of the function are its steps.

    From 256 MiB on, where a refusal is likely, it is a warning; from 4 GiB on in `main`, in a test,
    and in a function that only `main` calls, once.

    ## Why is this bad?

    Out of memory is an ordinary answer of a shared device. Without a check the program goes on with
    a null or stale pointer, and the failure shows up in a later copy or kernel that is innocent.

    ## Example

    ```cuda
    cudaMalloc(&d_cube, 4ULL << 30);
    cudaMemset(d_cube, 0, 4ULL << 30);
    ```

    ```python
    _, d_cube = cudart.cudaMalloc(4 << 30)
    cudart.cudaMemset(d_cube, 0, 4 << 30)
    ```

    ## Use instead

    ```cuda
    cudaError_t status = cudaMalloc(&d_cube, 4ULL << 30);
    if (status != cudaSuccess) {
        fprintf(stderr, "cube: %s\\n", cudaGetErrorString(status));
        return false;
    }
    ```

    ```python
    status, d_cube = cudart.cudaMalloc(4 << 30)
    if status != cudart.cudaError_t.cudaSuccess:
        raise MemoryError(f"cube: {status}")
    ```

    ## Fix

    - Unsafe: where the file has a check of its own, such as `CHECK(cudaFree(p))`, the allocations
      are put in it: it may end the program where that went on.

    ## Known problems

    A check that looks at the status and does nothing counts as a check, and so does a later call of
    a function out of sight in C++, which may ask for the last error. Of functions that have too
    many paths to follow (`GPU002` names them) nothing is said: one that was not may look.

    ## References

    - CUDA C++ Programming Guide,
      [Error Checking](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#error-checking)
    """

    code, name = "GPU506", "unchecked-allocation"
    severity = Severity.INFO

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield one finding for a function with unchecked allocations."""
        unchecked = [
            allocation
            for allocation in facts.allocations
            if not allocation.checked
            and not allocation.resource.is_handle
            and not allocation.resource.info.managed
        ]
        if not unchecked:
            return
        first, *others = sorted(unchecked, key=lambda allocation: allocation.span)
        once = facts.is_main or facts.is_test or facts.runs_once
        largest = max(allocation.bytes or 0 for allocation in unchecked)
        size = f", {size_text(first.bytes)}," if first.bytes else ""
        message = f"the status of {first.resource}{size} is never looked at"
        if others:
            message += f", nor that of {plural(len(others), 'other allocation')} here"
        yield self.finding(
            message,
            filename=first.resource.filename,
            span=first.span,
            function=facts.function,
            subject=subject(first.resource.name, first.resource.api),
            steps=tuple(
                Step(a.resource.filename, a.span, f"{a.resource} is not checked either")
                for a in others
            ),
            severity=Severity.WARNING if largest >= (_LARGE_ONCE if once else _LARGE) else None,
            repair=AddCheck(tuple(allocation.span for allocation in (first, *others))),
        )
