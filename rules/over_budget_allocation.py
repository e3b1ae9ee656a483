"""GPU501: one allocation above the device budget."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import Allocation, FunctionFacts, is_shown, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity
from cudalint_rules._wording import format_against, quoted, subject

_NEGATIVE = 2**62
"""Bytes: from here on it was a negative number, an error code say that met a size; the program
looks at that before, or fails at once."""


class OverBudgetAllocation(FunctionRule):
    """One allocation above the device budget.

    ## What it does

    Compares each allocation of device memory whose size is known, from constants, shapes and
    dtypes, with the memory of the device: `--device-memory`, else the largest device among the
    targets, else the largest there is.

    ## Why is this bad?

    It cannot succeed. Where the status is looked at, the program stops there; where it is not, it
    goes on with a pointer to nothing. Array libraries need room for temporaries on top.

    ## Example

    ```cuda
    float* d_table;
    cudaMalloc(&d_table, 4ULL << 30);  // --device-memory 3GiB
    ```

    ```python
    noise = torch.rand(1_000_000_000, device="cuda")  # 4 GB
    ```

    ## Use instead

    ```cuda
    size_t free_bytes, total_bytes;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    size_t chunk = std::min(table_bytes, free_bytes / 2);
    cudaMalloc(&d_table, chunk);
    ```

    ```python
    for part in range(10):
        noise = torch.rand(100_000_000, device="cuda")
        consume(noise)
    ```

    ## Known problems

    Other processes, the context and the library's own cache take their share; the budget is what
    remains for this program. Managed memory may be larger than the device and is not reported, nor
    is a size of 4 EiB and more: that was a negative number, which the program did not mean.

    ## References

    - CUDA Runtime API,
      [cudaMemGetInfo](https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY.html)
    - CUDA C++ Programming Guide,
      [Device Memory](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#device-memory)
    """

    code, name = "GPU501", "over-budget-allocation"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the allocations that no selected device can hold."""
        for allocation in facts.allocations:
            if _lives_on_device(allocation) and allocation.overflow is None:
                size = allocation.bytes or 0
                if self.limits.device_memory < size < _NEGATIVE:
                    yield self._finding(allocation, size, facts)

    def _finding(self, allocation: Allocation, size: int, facts: FunctionFacts) -> Finding:
        asked, budget = format_against(size, self.limits.device_memory)
        if self.limits.device_memory_text:
            reason = f"more than the device memory of {self.limits.device_memory_text}"
        elif self.limits.targets:
            reason = f"more than the {budget} of the largest selected device"
        else:
            reason = f"more than the {budget} of the largest device there is"
        resource = allocation.resource
        name = f" for {quoted(resource.name)}" if is_shown(resource.name) else ""
        return self.finding(
            f"{readable(resource.through or resource.api)} asks for {asked}{name}, {reason}",
            filename=resource.filename,
            span=allocation.span,
            function=facts.function,
            subject=subject(resource.name, resource.api),
            steps=allocation.steps,
        )


def _lives_on_device(allocation: Allocation) -> bool:
    return allocation.resource.info.space in ("device", "array")
