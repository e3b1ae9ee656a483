"""GPU408: the host reads the result of a copy that may not be complete."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import EarlyRead, FunctionFacts, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity
from cudalint_rules._wording import quoted, subject

_SEVERITIES = {"host": Severity.INFO, None: Severity.WARNING}
"""By the memory that is read; an error is certain."""


class UnsynchronizedRead(FunctionRule):
    """The host reads the result of an asynchronous copy before it waits for it.

    ## What it does

    Reports a read of a host buffer into which an asynchronous copy from the device is under way
    (`cudaMemcpyAsync`, PyTorch's `non_blocking=True`, Numba's `copy_to_host(a, stream=s)`, CuPy's
    `get(blocking=False)`), where no wait for its stream, for an event recorded after it, or for the
    device comes between.

    For a target that is known to be pageable (a member too, by what the methods of its class give
    it) it is an info: most drivers wait there, and none has to. It is a warning where the target
    was made out of sight, which may be such memory.

    ## Why is this bad?

    The copy has been queued, not done. The host reads what the buffer held before, or half of it,
    depending on load: the kind of wrong result that no debugger reproduces.

    ## Example

    ```cuda
    cudaMemcpyAsync(h_mean, d_mean, sizeof(float), cudaMemcpyDeviceToHost, stream);
    printf("%f\\n", h_mean[0]);
    ```

    ```python
    landed = scores.to("cpu", non_blocking=True)
    print(landed.argmax())
    ```

    ## Use instead

    ```cuda
    cudaMemcpyAsync(h_mean, d_mean, sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    printf("%f\\n", h_mean[0]);
    ```

    ```python
    landed = scores.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    print(landed.argmax())
    ```

    ## Known problems

    A call of a function out of sight is taken to wait. Copies into a part of a buffer are only
    compared with reads through the same pointer. Copies that a called function starts are not seen.

    ## References

    - CUDA Runtime API,
      [API synchronization behavior](https://docs.nvidia.com/cuda/cuda-runtime-api/api-sync-behavior.html)
    - PyTorch,
      [A guide on good usage of non_blocking and pin_memory](https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html)
    """

    code, name = "GPU408", "unsynchronized-read"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the first read of each copy's result that comes too early."""
        seen: set[object] = set()
        reads = facts.ordering.early_reads if facts.ordering else ()
        for read in sorted(reads, key=lambda read: read.span):
            if (read.copy_span, read.name) in seen:
                continue
            seen.add((read.copy_span, read.name))
            yield self.finding(
                _message(read),
                filename=facts.filename,
                span=read.span,
                function=facts.function,
                subject=subject(read.name, read.copy_api),
                steps=read.steps,
                severity=_SEVERITIES.get(read.space, Severity.ERROR),
            )


def _message(read: EarlyRead) -> str:
    on = f" on {quoted(read.stream)}" if read.stream else ""
    api = readable(read.copy_api).lstrip(".")
    wait = f"for {quoted(read.stream)}" if read.stream else "for the stream"
    name = quoted(read.name, "the copy")
    does = f"{name} is read" if read.text == name else f"{read.text} reads {name}"
    return (
        f"{does} before the host waits {wait}:"
        f" {api} (line {read.copy_span.row}){on} may still be writing to it"
    )
