"""GPU507: a stream-ordered pool keeps memory before a large allocation."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, HeldPool, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity, Step
from cudalint.project.units import size_text
from cudalint_rules._wording import quoted, subject

_LARGE = 256 << 20


class UntrimmedPool(FunctionRule):
    """A stream-ordered pool keeps memory before a large allocation.

    ## What it does

    Reports a large allocation from outside the pool (`cudaMalloc`, 256 MiB or more) after
    `cudaFreeAsync` where the pool may still hold what was given back to it: because its release
    threshold was raised, or because nothing waits for the free (then `info` from 16 MiB on). Where
    something does wait, and the threshold is the default, it is an `info`, for 1 GiB or more: the
    pool gives back what it can, which is not always all.

    ## Why is this bad?

    `cudaFreeAsync` gives memory to the pool, in the order of the stream, and not to the device.
    The pool gives what exceeds its release threshold back at the next synchronisation, in whole
    pieces only. `cudaMalloc` does not allocate from the pool: what the pool holds is missing.

    ## Example

    ```cuda
    cuuint64_t keep = UINT64_MAX;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    cudaMallocAsync(&d_tile, tile_bytes, stream);
    cudaFreeAsync(d_tile, stream);
    cudaMalloc(&d_volume, 20ULL << 30);
    ```

    ```python
    status, tile = cudart.cudaMallocAsync(4 << 30, stream)
    cudart.cudaFreeAsync(tile, stream)
    status, volume = cudart.cudaMalloc(20 << 30)
    ```

    ## Use instead

    ```cuda
    cudaStreamSynchronize(stream);
    cudaMemPoolTrimTo(pool, 0);
    cudaMalloc(&d_volume, 20ULL << 30);
    ```

    ```python
    cudart.cudaStreamSynchronize(stream)
    cudart.cudaMemPoolTrimTo(pool, 0)
    status, volume = cudart.cudaMalloc(20 << 30)
    ```

    ## Known problems

    The programming guide says when a pool gives memory back (at synchronisation, above the
    threshold), and does not say that a failing `cudaMalloc` would make it do so. A driver may
    nevertheless try. How much the pool holds is not compared with what the device has left. A
    pool that is trimmed anywhere in the function, or has a modest threshold, is not reported.

    ## References

    - CUDA Programming Guide,
      [Stream-Ordered Memory Allocator](https://docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/stream-ordered-memory-allocation.html)
    - CUDA Runtime API, `cudaMemPoolAttrReleaseThreshold` in
      [Stream Ordered Memory Allocator](https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY__POOLS.html)
    """

    code, name = "GPU507", "untrimmed-pool"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the allocations that a pool may stand in the way of."""
        for held in facts.capacity.pools if facts.capacity else ():
            steps = [Step(held.freed.filename, held.freed.span, "given back to the pool here")]
            if held.threshold is not None:
                site = held.threshold
                steps.insert(0, Step(site.filename, site.span, "the pool is told to keep memory"))
            yield self.finding(
                f"{readable(held.api)} asks for {size_text(held.bytes)} for "
                f"{quoted(held.name)}, while {_reason(held)}",
                filename=facts.filename,
                span=held.span,
                function=facts.function,
                subject=subject(held.name, held.api),
                steps=tuple(steps),
                severity=Severity.INFO if _is_minor(held) else None,
            )


def _is_minor(held: HeldPool) -> bool:
    return held.reason == "synchronized" or held.bytes < _LARGE


def _reason(held: HeldPool) -> str:
    freed = f"`{readable(held.freed.text)}` (line {held.freed.span.row})"
    if held.reason == "threshold":
        return f"the pool keeps what {freed} gave back: trim it first with cudaMemPoolTrimTo"
    if held.reason == "unsynchronized":
        return (
            f"the pool still holds what {freed} gave back: nothing waits for it; synchronise, "
            "and trim the pool with cudaMemPoolTrimTo"
        )
    return (
        f"the pool may still hold some of what {freed} gave back: trim it first with "
        "cudaMemPoolTrimTo, or set its release threshold"
    )
