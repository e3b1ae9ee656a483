"""GPU406: the direction of a copy contradicts its pointers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cudalint.analysis.facts import Endpoint, Fill, FunctionFacts, Transfer, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint_rules._copy_sides import (
    of_pointer,
    of_shadow,
    of_sides,
    repair_of,
    severity_of,
    wrong_sides,
)
from cudalint_rules._wording import quoted, steps_at, subject


class CopyKindMismatch(FunctionRule):
    """The direction of a copy contradicts its pointers.

    ## What it does

    Knows where the pointers of a copy come from, and reports a direction that says otherwise:
    `cudaMemcpyDeviceToHost` into device memory, `cudaMemcpyHostToDevice` from it, source and target
    exchanged. Pinned memory counts as host memory, but the device can reach it: where it alone is
    on the wrong side, this is an info. Managed memory fits every direction. `cudaMemset` of host
    memory is reported as well, and a `__device__` or `__constant__` variable in place of a pointer:
    on the host, its name is that of a shadow. Warnings are a copy of some memory to itself, where
    both pointers have become the same, and one of the pointer in place of what it points to: of
    `&sum`, where the member `sum` is a `float *` and the other side has a `float`, or where
    `cudaMemset` fills another number of bytes than a pointer has.

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

    Pointers whose origin is not in the run have no known side and are not reported. What is copied
    within the device, but is said to be the host's, is a warning: the copy works (on an H200).

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
            shadows = [one for one in (copy.to, copy.source) if one and one.space == "symbol"]
            if shadows:
                yield self._told(of_shadow(copy, shadows[0]), copy, shadows[0], facts)
            elif wrong := wrong_sides(copy):
                yield self._told(
                    of_sides(copy, wrong),
                    copy,
                    wrong[0][1],
                    facts,
                    steps=tuple(
                        step
                        for _, end in wrong
                        if end.allocation
                        for step in steps_at([end.allocation], f"{end.name} comes from {{text}}")
                    ),
                    severity=severity_of(copy, wrong),
                    repair=repair_of(copy, wrong),
                )
            elif copy.to_itself:
                source = copy.source.name if copy.source is not None else copy.to.name
                known = [copy.to.allocation] if copy.to.allocation else []
                yield self._told(
                    f"{readable(copy.api)} copies {quoted(source)} to itself:"
                    f" {quoted(copy.to.name)} is the same memory here",
                    copy,
                    copy.to,
                    facts,
                    steps=steps_at(known, "both come from {text}"),
                    severity=Severity.WARNING,
                    confidence=Confidence.MEDIUM,
                )
            elif copy.source is not None:
                sides = ((copy.source, copy.to, "reads"), (copy.to, copy.source, "writes over"))
                for one, other, verb in sides:
                    if one.pointer_to:
                        message = of_pointer(copy, one, verb)
                        message += f": {quoted(other.name)} has {quoted(one.pointer_to)}"
                        yield self._told(message, copy, one, facts, severity=Severity.WARNING)
        for fill in facts.fills:
            if fill.to.space == "symbol":
                yield self._told(of_shadow(fill, fill.to), fill, fill.to, facts)
            elif fill.to.space == "host":
                message = f"{readable(fill.api)} needs device memory, but {quoted(fill.to.name)} is"
                yield self._told(f"{message} host memory", fill, fill.to, facts)
            elif fill.to.pointer_to:
                message = of_pointer(fill, fill.to, "writes over")
                yield self._told(message, fill, fill.to, facts, severity=Severity.WARNING)

    def _told(
        self, message: str, of: Transfer | Fill, end: Endpoint, facts: FunctionFacts, **more: Any
    ) -> Finding:
        return self.finding(
            message,
            filename=facts.filename,
            span=of.span,
            function=facts.function,
            subject=subject(end.name, of.api),
            **more,
        )
