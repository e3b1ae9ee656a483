"""GPU403: an asynchronous copy from or to memory that is not page-locked."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint_rules._wording import quoted, subject


class PageableAsyncCopy(FunctionRule):
    """An asynchronous copy on a stream, from or to memory that is not page-locked.

    ## What it does

    Reports a copy that is put on a stream of its own (`cudaMemcpyAsync(..., stream)`,
    `cuda.to_device(a, stream=s)`) and whose host side is pageable in sight: from `malloc`, `new`, a
    `std::vector`, a local array, NumPy.

    It is a warning where overlap is plainly meant: in a loop, or with several streams; else it is
    an info.

    ## Why is this bad?

    The device can only reach page-locked memory. The driver copies pageable memory through a
    buffer of its own and the host waits meanwhile: nothing overlaps, and the streams cost time
    instead of saving it. Towards the host, whether the call waits is up to the driver.

    ## Example

    ```cuda
    std::vector<float> frame(n);
    cudaMemcpyAsync(d_frame, frame.data(), bytes, cudaMemcpyHostToDevice, upload);
    ```

    ```python
    frame = np.zeros(n, dtype=np.float32)
    d_frame = cuda.to_device(frame, stream=upload)
    ```

    ## Use instead

    ```cuda
    float* frame;
    cudaMallocHost(&frame, bytes);
    cudaMemcpyAsync(d_frame, frame, bytes, cudaMemcpyHostToDevice, upload);
    ```

    ```python
    frame = cuda.pinned_array(n, dtype=np.float32)
    d_frame = cuda.to_device(frame, stream=upload)
    ```

    ## Known problems

    A preview rule: the statement is right, but for small or one-off copies nobody may care.
    Measured precision: 44 of 45 on numba-cuda, PyCUDA, parts of the CUDA samples and HeCBench, and
    a book on PyCUDA (2026-11-20); the false one, memory registered in place, is understood since.
    PyTorch's `non_blocking=True` from plain tensors is safe and common, and not reported. Memory
    that was made or registered out of sight is not reported.

    ## References

    - CUDA Runtime API,
      [API synchronization behavior](https://docs.nvidia.com/cuda/cuda-runtime-api/api-sync-behavior.html)
    """

    code, name = "GPU403", "pageable-async-copy"
    severity, confidence = Severity.INFO, Confidence.MEDIUM
    preview = True

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the copies that cannot be asynchronous."""
        if facts.ordering is None:
            return
        several = facts.ordering.streams > 1
        for copy in facts.ordering.pageable:
            made = f", line {copy.made_span.row}" if copy.made_span else ""
            way = "from" if copy.to_device else "to"
            steps: tuple[Step, ...] = ()
            if copy.made_span:
                steps = (
                    Step(facts.filename, copy.made_span, f"{quoted(copy.name)} is pageable memory"),
                )
            api = readable(copy.api).lstrip(".")
            yield self.finding(
                f"{api} on {quoted(copy.stream, 'a stream')} copies {way}"
                f" {quoted(copy.name)}, which is pageable ({readable(copy.made)}{made}): it does"
                " not overlap with anything",
                filename=facts.filename,
                span=copy.span,
                function=facts.function,
                subject=subject(copy.name, copy.api),
                steps=steps,
                severity=Severity.WARNING if copy.in_loop or several else None,
            )
