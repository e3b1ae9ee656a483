"""GPU406: the direction of a copy contradicts its pointers."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import Endpoint, FunctionFacts, Transfer, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.repair import CopyKind
from cudalint_rules._wording import listing, quoted, steps_at, subject

_SIDES = {"host": "host", "pinned": "host", "device": "device", "array": "device"}
"""Which side of a direction a memory space is on; managed memory is on both."""


class CopyKindMismatch(FunctionRule):
    """The direction of a copy contradicts its pointers.

    ## What it does

    Knows where the pointers of a copy come from, and reports a direction that says otherwise:
    `cudaMemcpyDeviceToHost` into device memory, `cudaMemcpyHostToDevice` from it, source and target
    exchanged. Pinned memory counts as host memory, but the device can reach it: where it alone is
    on the wrong side, this is an info. Managed memory fits every direction. A copy of some memory
    to itself, where both pointers have become the same, is told of as a warning.

    ## Why is this bad?

    The copy fails with `cudaErrorInvalidValue`, and where the status is not looked at, the target
    keeps what it had. On a system with unified addressing some wrong directions happen to work, and
    fail on the next one.

    ## Example

    ```cuda
    cudaMemcpy(h_result, d_result, bytes, cudaMemcpyHostToDevice);
    ```

    ```python
    kind = cudart.cudaMemcpyKind.cudaMemcpyHostToDevice
    cudart.cudaMemcpy(result.ctypes.data, d_result, result.nbytes, kind)
    ```

    ## Use instead

    ```cuda
    cudaMemcpy(h_result, d_result, bytes, cudaMemcpyDeviceToHost);
    ```

    ```python
    kind = cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost
    cudart.cudaMemcpy(result.ctypes.data, d_result, result.nbytes, kind)
    ```

    `cudaMemcpyDefault` takes the direction from the pointers.

    ## Fix

    - Safe: where one pointer is on the wrong side, the direction is that of the pointers.
    - Unsafe: where both are, source and target may have been exchanged instead; where memory is
      pinned, that of the device may have been meant.

    ## Known problems

    Pointers whose origin is not in the run have no known side and are not reported.

    ## References

    - CUDA Runtime API,
      [cudaMemcpyKind](https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html)
    - CUDA C++ Programming Guide,
      [Unified Virtual Address Space](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#unified-virtual-address-space)
    """

    code, name = "GPU406", "copy-kind-mismatch"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the copies that go the wrong way."""
        for copy in facts.transfers:
            wrong = _wrong_sides(copy)
            if copy.to_itself and not wrong:
                yield self._idle(copy, facts)
            if not wrong:
                continue
            reasons = [
                f"its {role} {quoted(end.name)} is {end.space} memory" for role, end in wrong
            ]
            yield self.finding(
                f"{readable(copy.api)} says {copy.direction}, but {listing(reasons)}",
                filename=facts.filename,
                span=copy.span,
                function=facts.function,
                subject=subject(wrong[0][1].name, copy.api),
                steps=tuple(
                    step
                    for _, end in wrong
                    if end.allocation
                    for step in steps_at([end.allocation], f"{end.name} comes from {{text}}")
                ),
                severity=Severity.INFO if all(end.space == "pinned" for _, end in wrong) else None,
                repair=_repair(copy, wrong),
            )

    def _idle(self, copy: Transfer, facts: FunctionFacts) -> Finding:
        source = copy.source.name if copy.source is not None else copy.to.name
        known = [copy.to.allocation] if copy.to.allocation else []
        return self.finding(
            f"{readable(copy.api)} copies {quoted(source)} to itself: {quoted(copy.to.name)} is the"
            " same memory here",
            filename=facts.filename,
            span=copy.span,
            function=facts.function,
            subject=subject(copy.to.name, copy.api),
            steps=steps_at(known, "both come from {text}"),
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
        )


def _repair(copy: Transfer, wrong: list[tuple[str, Endpoint]]) -> CopyKind | None:
    """The direction that the pointers have. Where both are on the wrong side, they may have been
    exchanged as well, and where memory is pinned, that of the device may have been meant."""
    if copy.source is None or copy.source.space not in _SIDES or copy.to.space not in _SIDES:
        return None
    new = f"{_SIDES[copy.source.space]}-to-{_SIDES[copy.to.space]}"
    safe = len(wrong) == 1 and wrong[0][1].space != "pinned"
    return CopyKind(copy.span, copy.direction or "", new, safe=safe)


def _wrong_sides(copy: Transfer) -> list[tuple[str, Endpoint]]:
    source_side, separator, target_side = (copy.direction or "").partition("-to-")
    if not separator or copy.source is None:
        return []
    ends = (("target", copy.to, target_side), ("source", copy.source, source_side))
    return [
        (role, end) for role, end, side in ends if end.space in _SIDES and _SIDES[end.space] != side
    ]
