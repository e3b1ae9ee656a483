"""GPU405: a copy or fill beyond an allocation's size, or of elements where bytes are meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cudalint.analysis.facts import Endpoint, Fill, FunctionFacts, Transfer, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint_rules._wording import format_against, places, quoted, steps_at, subject


@dataclass(frozen=True)
class _Mismatch:
    endpoint: Endpoint
    message: str
    confidence: Confidence = Confidence.HIGH
    severity: Severity | None = None


class CopySizeMismatch(FunctionRule):
    """A copy or fill beyond an allocation's size, or of elements where bytes are meant.

    ## What it does

    Compares the size of each copy and fill with what was allocated at either side, where both are
    constants or multiples of the same expression. It reports what goes beyond the allocation, and a
    bare `n` where the allocation is `n * sizeof(T)`, if the function says somewhere that `n` counts
    elements: by `n * sizeof(T)`, and never by `n / sizeof(T)`.

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
            mismatch = _mismatch(operation) or _part(operation, facts)
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


def _mismatch(operation: Transfer | Fill) -> _Mismatch | None:
    if isinstance(operation, Transfer):
        if operation.overflow:
            return None
        sides = [operation.to, *([operation.source] if operation.source else [])]
        verb = "copies"
    else:
        sides, verb = [operation.to], "sets"
    api = readable(operation.api)
    for side in sides:
        if operation.bytes is not None and side.bytes is not None and operation.bytes > side.bytes:
            size, room = format_against(operation.bytes, side.bytes)
            has = "has" if side.allocation else "holds"
            message = f"{api} {verb} {size}, but {quoted(side.name)} {has} only {room}"
            return _Mismatch(side, message)
        if side.overrun_ratio or side.overrun_element:
            times = side.overrun_ratio or quoted(side.overrun_element)
            message = f"{api} {verb} {quoted(operation.bytes_text)} bytes, "
            message += f"{times} times what {quoted(side.name)} has"
            sure = Confidence.HIGH if side.overrun_ratio else Confidence.MEDIUM
            return _Mismatch(side, message, sure)
        if side.overrun_bytes and operation.bytes is None:
            more = f"{side.overrun_bytes:,}"
            message = f"{api} {verb} {quoted(operation.bytes_text)} bytes, "
            message += f"{more} more than {quoted(side.name)} has"
            return _Mismatch(side, message)
    for side in sides:
        ratio = _ratio(operation, side)
        # Of bytes there are as many as elements.
        if ratio and operation.element_count and all(end.element_bytes != 1 for end in sides):
            message = f"{api} {verb} {quoted(operation.bytes_text)} bytes, an element count: "
            message += f"{quoted(side.name)} has {ratio} times as many"
            return _Mismatch(side, message)
    return None


def _ratio(operation: Transfer | Fill, side: Endpoint) -> int | None:
    """How many times larger the allocation is, if that could be the size of an element."""
    ratio = side.size_ratio
    if ratio is None and operation.bytes and side.bytes and side.bytes % operation.bytes == 0:
        ratio = side.bytes // operation.bytes
    if ratio is None or ratio < 2 or side.element_bytes not in (None, ratio):
        return None
    return ratio


def _part(operation: Transfer | Fill, facts: FunctionFacts) -> _Mismatch | None:
    """All of one side, which is a part of the other, whose rest no copy of the function moves."""
    if not isinstance(operation, Transfer) or operation.source is None:
        return None
    sides = (operation.to, operation.source)
    for whole, larger in (sides, sides[::-1]):
        if not whole.whole or not larger.times_unknown or whole.space == larger.space:
            continue
        moving = [
            one
            for one in facts.transfers
            if any(end and end.allocation == larger.allocation for end in (one.to, one.source))
        ]
        if moving == [operation]:
            message = f"{readable(operation.api)} copies {quoted(operation.bytes_text)} bytes, all "
            message += f"of {quoted(whole.name)}, but only a part of the "
            message += f"{quoted(larger.bytes_text)} of {quoted(larger.name)}, and nothing copies "
            return _Mismatch(larger, f"{message}the rest", Confidence.LOW, Severity.WARNING)
    return None
