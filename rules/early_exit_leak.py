"""GPU102: released on some ways out of a function, but not on this one."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding
from cudalint_rules._leak_wording import leak_finding, not_released
from cudalint_rules._leaks import EARLY_EXIT, leaks_of


class EarlyExitLeak(FunctionRule):
    """Released on some ways out of a function, but not on this one.

    ## What it does

    Follows every path from an allocation to the ways out of its function, and reports the returns
    that skip a release which other paths reach: an error check that returns (also inside a macro),
    an early `return`, a `break`, a branch that forgets it.

    A failed allocation owns nothing, so the error branch of the allocation itself is not reported;
    what was allocated before it is.

    ## Why is this bad?

    The path is the one that nobody tests. A service that survives an error by returning it loses
    the memory each time, until the error is `out of memory` and there is no way back.

    ## Example

    ```cuda
    cudaMalloc(&d_out, bytes);
    if (cudaMalloc(&d_sum, sizeof(float)) != cudaSuccess) return false;
    scale<<<grid, block>>>(d_out, d_sum, n);
    cudaFree(d_sum);
    cudaFree(d_out);
    return true;
    ```

    ```python
    err, d_out = cudart.cudaMalloc(size)
    if n == 0:
        return None
    scale(d_out, n)
    cudart.cudaFree(d_out)
    ```

    ## Use instead

    ```cuda
    std::unique_ptr<float, CudaDeleter> out(allocate(bytes)), sum(allocate(sizeof(float)));
    if (!out || !sum) return false;
    ```

    or one way out that releases everything: `goto cleanup` in C, `finally` in Python.

    ```python
    try:
        if n == 0:
            return None
        scale(d_out, n)
    finally:
        cudart.cudaFree(d_out)
    ```

    ## Fix

    - Safe: the release that the other paths have is added before each `return` that misses it,
      where every path that leaves there holds the resource, or null: nothing else changes.
    - Unsafe: a `return` whose value may depend on the resource is evaluated first; where a macro
      hides the way out, C++ gets a `std::unique_ptr`, and a release whose status is looked at is
      that of `owner.release()`; Python gets a `finally`.

    ## Known problems

    Two conditions that always hold together but are written differently look independent. Give them
    one name, or suppress the finding at the allocation or at the exit.

    In `main`, in a test, and in the code of a Python module, the process ends with the function:
    there a leak is `info`, unless each iteration of a loop acquires another; and so is what only an
    error of the device leaves: nothing can be released after it. That is what a call tells, if its
    arguments are right, that waits (`cudaDeviceSynchronize`), copies, fills, launches, executes a
    plan, chooses a device which has been current before, or asks for the last error where each call
    since has been looked at. An allocation that fails leaves the device as it was: where it may,
    too, the leak is a warning, which names it first.

    ## References

    - CUDA C++ Programming Guide,
      [Error Checking](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#error-checking)
    """

    code, name = "GPU102", "early-exit-leak"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the allocations that some return leaves behind."""
        for leak, verdict, last in leaks_of(EARLY_EXIT, facts):
            yield leak_finding(self, facts, leak, verdict, last, not_released(leak, facts))
