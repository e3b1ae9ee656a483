"""GPU503: memory taken and given back again and again."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import Churn, FunctionFacts, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Defect, Finding, Severity, Step
from cudalint_rules._wording import listing, quoted, subject


class AllocationChurn(FunctionRule):
    """Memory is taken and given back again and again, in sizes that vary.

    ## What it does

    Reports an allocation straight from the driver (`cudaMalloc`, `cuMemAlloc`, ...) that is
    released in the same loop, with a size that changes from one iteration to the next; one in a
    function that releases it again and is called with three sizes or more by one caller (as
    `info`); and an array of a caching library (PyTorch, CuPy) that each iteration makes and
    deletes before it empties the library's cache, which comes to the same.

    ## Why is this bad?

    `cudaMalloc` and `cudaFree` wait for the whole device, in every iteration. Freed ranges of
    many sizes lie between others that are in use, until no range is left that is large enough for
    the next request, although the sum of the free memory is.

    ## Example

    ```cuda
    for (const Record& record : records) {
        float* d_values;
        cudaMalloc(&d_values, record.bytes);
        process(d_values, record);
        cudaFree(d_values);
    }
    ```

    ```python
    for rows in sizes:
        noise = torch.randn(rows, 1024, device="cuda")
        consume(noise)
        del noise
        torch.cuda.empty_cache()
    ```

    ## Use instead

    ```cuda
    float* d_values;
    cudaMalloc(&d_values, largest_record_bytes);
    for (const Record& record : records)
        process(d_values, record);
    cudaFree(d_values);
    ```

    ```python
    for rows in sizes:
        noise = torch.randn(rows, 1024, device="cuda")
        consume(noise)
    ```

    ## Known problems

    How often a loop runs is mostly not known: three iterations do no harm. `cudaMallocAsync` and
    memory pools are made for this and are silent, as are sizes that stay the same. What is
    allocated and released in a loop is an `info`: it costs where the rest of an iteration does not.

    ## References

    - CUDA C++ Best Practices Guide,
      [Allocation](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#allocation)
    - CUDA C++ Programming Guide,
      [Stream Ordered Memory Allocator](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#stream-ordered-memory-allocator)
    """

    code, name = "GPU503", "allocation-churn"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the allocations that are repeated."""
        for churn in facts.capacity.churn if facts.capacity else ():
            steps = churn.steps
            if churn.released is not None:
                site = churn.released
                given = "the cache is emptied here" if churn.kind == "flush" else "released here"
                steps = (*steps, Step(site.filename, site.span, given))
            parts = Defect(f"{facts.function}: a loop", facts.span, churn.name)
            yield self.finding(
                _message(churn),
                filename=facts.filename,
                span=churn.span,
                function=facts.function,
                subject=subject(churn.name, churn.api),
                steps=steps,
                severity=None if churn.kind == "flush" else Severity.INFO,
                defect=parts if churn.kind == "loop" else None,
            )


def _message(churn: Churn) -> str:
    what = f"{readable(churn.api)} allocates {quoted(churn.name, 'memory')}"
    if churn.kind == "flush":
        return (
            f"{what}, which is deleted and given back to the driver in every iteration: leave it "
            "to the allocator's cache, or allocate it once before the loop"
        )
    size = f" with a size that changes (`{churn.size}`)" if churn.size else ""
    if churn.kind == "loop":
        return (
            f"{what} in every iteration{size} and releases it again, which fragments memory and "
            "waits for the device: allocate the largest size once before the loop, or use a pool"
        )
    return (
        f"{what} for each call, and is called with {listing(map(str, churn.sizes))} "
        f"(`{churn.size}` bytes), which fragments memory: allocate once and pass the memory in, "
        "or use a pool"
    )
