"""GPU204: releases what no allocation returned."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, Misuse, MisuseKind, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint_rules._wording import quoted, subject

_REASONS = {
    MisuseKind.INTERIOR: "points into an allocation, not to its start",
    MisuseKind.OFFSET: "points to the start of an allocation only where its offset is 0",
    MisuseKind.STACK: "is the address of a local variable, not of an allocation",
    MisuseKind.UNINITIALIZED: "has no value yet on this path",
}


class InvalidFree(FunctionRule):
    """Releases what no allocation returned.

    ## What it does

    Reports a release of a pointer into the middle of an allocation, of the address of a local
    variable (often `cudaFree(&p)` for `cudaFree(p)`), and of a pointer that was never assigned.

    ## Why is this bad?

    Only the address that an allocation returned can be released. Any other one fails, and the
    memory that was meant stays taken. An uninitialised pointer may by chance hold an address that
    is in use elsewhere.

    ## Example

    ```cuda
    float* cursor = d_samples;
    for (int channel = 0; channel < channels; ++channel) {
        normalize<<<grid, block>>>(cursor, length);
        cursor += length;
    }
    cudaFree(cursor);
    ```

    ```python
    err, base = cudart.cudaMalloc(size)
    header = base + 256
    cudart.cudaFree(header)
    ```

    ## Use instead

    ```cuda
    cudaFree(d_samples);
    ```

    ```python
    cudart.cudaFree(base)
    ```

    Initialise pointers with `nullptr`, so that a shared clean-up may run before they are assigned.

    ## Known problems

    An offset whose value is known to be 0 is no offset. One that merely could be 0 is told with
    `--preview`; so is a pointer that has a value on other paths to the same release: what decides
    it may be out of sight.

    ## References

    - CUDA Runtime API,
      [cudaFree](https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY.html)
    """

    code, name = "GPU204", "invalid-free"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the releases of what is no allocation."""
        for misuse in facts.misuses:
            if misuse.kind in _REASONS:
                confidence = _confidence(misuse)
                yield self.finding(
                    _message(misuse),
                    filename=misuse.filename or facts.filename,
                    span=misuse.span,
                    function=facts.function,
                    subject=subject(misuse.name, misuse.api),
                    steps=misuse.steps,
                    severity=None if confidence is Confidence.HIGH else Severity.WARNING,
                    confidence=confidence,
                )


def _confidence(misuse: Misuse) -> Confidence:
    if misuse.kind is MisuseKind.OFFSET or not misuse.certain:
        return Confidence.LOW
    unsure = misuse.kind is MisuseKind.UNINITIALIZED and misuse.asks_callers
    return Confidence.MEDIUM if unsure else Confidence.HIGH


def _message(misuse: Misuse) -> str:
    reason = _REASONS[misuse.kind]
    if misuse.kind is MisuseKind.INTERIOR and misuse.resource:
        reason = f"points into {quoted(misuse.resource.name)}, not to its start"
    if misuse.kind is MisuseKind.OFFSET and misuse.resource:
        reason = f"points to the start of {quoted(misuse.resource.name)} only where its offset is 0"
    return f"{readable(misuse.api)} cannot release {quoted(misuse.name)}: it {reason}"
