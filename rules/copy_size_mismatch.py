"""GPU405: a copy or fill beyond an allocation's size, or of elements where bytes are meant."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import Fill, FunctionFacts, Transfer
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.repair import InBytes
from cudalint_rules._copy_sizes import Mismatch, mismatch_of, part_of_larger
from cudalint_rules._wording import places, quoted, steps_at, subject


class CopySizeMismatch(FunctionRule):
    """A copy or fill beyond an allocation's size, or of elements where bytes are meant.

    ## What it does

    Compares the size of each copy and fill with what was allocated at either side, where both are
    constants or multiples of the same expression. It reports what goes beyond the allocation, and a
    bare `n` where the allocation is `n * sizeof(T)`, if the function says somewhere that `n` counts
    elements: by `n * sizeof(T)`, and never by `n / sizeof(T)`; and `v.size()` bytes of a container
    `v` whose elements have more than one.

    ## Why is this bad?

    Beyond the end lies other data: the copy fails, or overwrites it in silence. An element count
    copies a quarter of the floats: results are right at the beginning.

    ## Example

    ```cuda
    cudaMalloc(&d_points, n * sizeof(float3));
    cudaMemcpy(d_points, h_points, n, cudaMemcpyHostToDevice);
    ```

    ```python
    err, d_points = cudart.cudaMalloc(points.size)  # elements
    cudart.cudaMemcpy(d_points, points.ctypes.data, points.nbytes, kind)
    ```

    ## Use instead

    ```cuda
    cudaMemcpy(d_points, h_points, n * sizeof(float3), cudaMemcpyHostToDevice);
    ```

    ```python
    err, d_points = cudart.cudaMalloc(points.nbytes)
    ```

    ## Fix

    - Safe: an element count is multiplied by the size of what the pointer points to. Which of two
      byte sizes is meant, nobody can tell: they have no fix.

    ## Known problems

    Sizes that are related only through data (`n <= capacity`) are not compared.

    ## References

    - CUDA Runtime API,
      [cudaMemcpy](https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY.html)
    """

    code, name = "GPU405", "copy-size-mismatch"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the copies and fills whose size does not fit."""
        operations: tuple[Transfer | Fill, ...] = (*facts.transfers, *facts.fills)
        for operation in operations:
            mismatch = mismatch_of(operation) or part_of_larger(operation, facts)
            if mismatch is None:
                continue
            site = mismatch.endpoint.allocation
            where = f" (allocated at {places([site], facts.filename)})" if site else ""
            yield self.finding(
                mismatch.message + where,
                filename=facts.filename,
                span=operation.span,
                function=facts.function,
                subject=subject(mismatch.endpoint.name, operation.api),
                steps=steps_at(
                    [site] if site else [], f"{mismatch.endpoint.name} is allocated here"
                ),
                severity=mismatch.severity,
                confidence=mismatch.confidence,
                repair=_repair(operation, mismatch),
            )
        for twice in facts.scaled_twice:
            site = twice.scaled
            given = f"{quoted(twice.function)} is given {quoted(twice.text)} bytes for its "
            given += f"{quoted(twice.parameter)}, a number of elements, which it multiplies by the "
            yield self.finding(
                f"{given}size of one ({places([site], facts.filename)})",
                filename=facts.filename,
                span=twice.span,
                function=facts.function,
                subject=subject(twice.parameter, twice.function),
                steps=steps_at([site], "multiplied by the size of an element here"),
                severity=Severity.WARNING,
                confidence=Confidence.MEDIUM,
            )


def _repair(operation: Transfer | Fill, mismatch: Mismatch) -> InBytes | None:
    ends = (operation.to, operation.source) if isinstance(operation, Transfer) else (operation.to,)
    others = (one for one in ends if one is not None and one != mismatch.endpoint)
    if not mismatch.times or any(one.whole for one in others):
        return None  # more would not fit into the other side
    return InBytes(operation.span, operation.bytes_text, mismatch.endpoint.name, mismatch.times)
