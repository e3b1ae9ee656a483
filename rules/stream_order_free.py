"""GPU206: memory is freed or used on another stream without ordering."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, StreamHazard, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity
from cudalint_rules._wording import quoted, subject


class StreamOrderFree(FunctionRule):
    """Memory is freed or used on another stream without ordering.

    ## What it does

    Reports stream-ordered memory (`cudaMallocAsync`, `cudaFreeAsync`) that

    - is freed on one stream while a kernel, copy or fill on another stream may still use it;
    - is used on one stream although it is allocated in the order of another.

    Between the two, no event (`cudaEventRecord`, `cudaStreamWaitEvent`), no wait of the host and no
    work on the legacy default stream makes one stream wait for the other.

    ## Why is this bad?

    `cudaFreeAsync` gives the memory back in the order of its stream, not of the stream that uses
    it. The pool hands it to the next allocation while the kernel still writes to it: two buffers
    share memory, and the wrong numbers appear in the innocent one.

    ## Example

    ```cuda
    blur<<<grid, block, 0, compute>>>(d_tile);
    cudaFreeAsync(d_tile, cleanup);
    ```

    ```python
    cudart.cudaMemsetAsync(d_tile, 0, size, compute)
    cudart.cudaFreeAsync(d_tile, cleanup)
    ```

    ## Use instead

    ```cuda
    blur<<<grid, block, 0, compute>>>(d_tile);
    cudaEventRecord(blurred, compute);
    cudaStreamWaitEvent(cleanup, blurred, 0);
    cudaFreeAsync(d_tile, cleanup);
    ```

    ```python
    cudart.cudaMemsetAsync(d_tile, 0, size, compute)
    cudart.cudaFreeAsync(d_tile, compute)
    ```

    ## Known problems

    Both streams must be made in the same function, or one be the default stream; streams that are
    parameters, members or elements of an array are not compared. Work that a called function or a
    library puts on a stream is not seen.

    ## References

    - CUDA C++ Programming Guide,
      [Stream Ordered Memory Allocator](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#stream-ordered-memory-allocator)
    """

    code, name = "GPU206", "stream-order-free"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield what is freed or used out of order."""
        for hazard in facts.ordering.hazards if facts.ordering else ():
            yield self.finding(
                _message(hazard),
                filename=facts.filename,
                span=hazard.span,
                function=facts.function,
                subject=subject(hazard.name, hazard.api),
                steps=hazard.steps,
            )


def _message(hazard: StreamHazard) -> str:
    here, there = _stream(hazard.stream), _stream(hazard.other_stream)
    what = f"{readable(hazard.other_api)} (line {hazard.other_span.row})"
    if hazard.freed:
        said = f"{quoted(hazard.name)} is freed on {here} while {what} may still use it on {there}"
    else:
        said = (
            f"{quoted(hazard.name)} is used on {here} but allocated in the order of {there} by"
            f" {what}"
        )
    return f"{said}: no event or synchronisation makes {here} wait for {there}"


def _stream(name: str) -> str:
    return quoted(name) if name else "the default stream"
