"""GPU401: one host-to-device copy above the threshold."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, Transfer, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity
from cudalint.findings.repair import InChunks
from cudalint.project.units import size_text
from cudalint.source import Span
from cudalint_rules._wording import format_against, quoted, subject

_HOST = ("host", "pinned")
_LARGE_PART = 4
"""A copy of one such part of the device's memory is worth a warning."""


class UnchunkedTransfer(FunctionRule):
    """One host-to-device copy above the threshold.

    ## What it does

    Reports a single copy from the host to the device of more than `--max-transfer` (256 MiB unless
    set), where its size is known from constants, shapes and dtypes. It is a warning where you set
    that threshold, or where the copy takes a quarter of `--device-memory` (without it: of the
    largest of the target devices); else, and where a call moves a whole data set of unknown size,
    it is `info`.

    ## Why is this bad?

    The device must hold the whole array at once, beside everything that is computed from it, and
    does nothing until the copy is complete. In chunks the memory needed is one or two chunks, and
    with streams and pinned memory the copy of one overlaps the work on the other.

    ## Example

    ```cuda
    cudaMalloc(&d_rows, 4ULL << 30);
    cudaMemcpy(d_rows, h_rows, 4ULL << 30, cudaMemcpyHostToDevice);
    summarise<<<grid, block>>>(d_rows, d_sums);
    ```

    ```python
    rows = cp.asarray(np.random.rand(10_000, 10_000))  # 800 MB
    sums = rows.sum(axis=1)
    ```

    ## Use instead

    ```cuda
    for (size_t offset = 0; offset < total; offset += chunk) {
        size_t bytes = std::min(chunk, total - offset);
        cudaMemcpyAsync(d_chunk, h_rows + offset, bytes, cudaMemcpyHostToDevice, stream);
        summarise<<<grid, block, 0, stream>>>(d_chunk, d_sums);
    }
    ```

    ```python
    for start in range(0, len(host), rows_per_chunk):
        chunk = cp.asarray(host[start : start + rows_per_chunk])
        sums[start : start + rows_per_chunk] = chunk.sum(axis=1)
    ```

    ## Fix

    - Unsafe: a loop copies it to the same array in chunks. That ends the single long transfer; to
      need less memory, what is done with a chunk has to move into the loop as well.

    ## Known problems

    Where the data fits easily, one copy is the faster way: raise `max-transfer` in the
    configuration to what your devices can spare.

    ## References

    - CUDA C++ Best Practices Guide,
      [Asynchronous and Overlapping Transfers with Computation](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#asynchronous-and-overlapping-transfers-with-computation)
    """

    code, name = "GPU401", "unchunked-transfer"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the copies that are too large for one piece."""
        limit = self.limits.max_transfer
        for copy in facts.transfers:
            if copy.overflow or not _to_device(copy):
                continue
            what = quoted(copy.source.name if copy.source else "", "an array")
            api = readable(copy.api)
            if copy.bytes is not None and copy.bytes > limit:
                size, chunk = format_against(copy.bytes, limit)
                message = (
                    f"{api} copies {size} of {what} to the device at once; copy it in chunks "
                    f"of at most {chunk}"
                )
                severity = self._weighed(copy.bytes)
            elif copy.bytes is None and copy.whole_data_set:
                whole = f"the whole data set {what}" if copy.source else "a whole data set"
                message = (
                    f"{api} moves {whole}, whatever its size, to the device; "
                    "if it can be larger than device memory, copy it in chunks of at most "
                    f"{size_text(limit)}"
                )
                severity = Severity.INFO
            else:
                continue
            yield self.finding(
                message,
                filename=facts.filename,
                span=copy.span,
                function=facts.function,
                subject=subject(copy.source.name if copy.source else "", copy.api),
                steps=copy.steps,
                severity=severity,
                advised=True,
                repair=_in_chunks(copy, facts.span, limit),
            )

    def _weighed(self, size: int) -> Severity:
        asked = self.limits.max_transfer_text or size * _LARGE_PART >= self.limits.device_memory
        return Severity.WARNING if asked else Severity.INFO


def _in_chunks(copy: Transfer, function: Span, limit: int) -> InChunks | None:
    model = copy.model
    if copy.bytes is None or model is None:
        return None
    numbers = tuple(i for i, path in enumerate((model.to, model.source)) if path in model.numbers)
    parts = model.in_parts
    made = (parts.new, parts.fill, parts.device) if parts is not None else ()
    return InChunks(copy.span, function, copy.api, limit, copy.of_bytes, numbers, *made)


def _to_device(copy: Transfer) -> bool:
    if copy.source is None:
        return False
    if copy.whole_data_set:
        return copy.source.space != "device"
    if copy.direction == "host-to-device":
        return True
    if copy.direction in (None, "default"):
        return copy.source.space in _HOST and copy.to.space == "device"
    return False
