"""GPU201: released twice on one path."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, Misuse, MisuseKind, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.repair import DropRelease
from cudalint_rules._wording import places, quoted, released_early, subject


class DoubleFree(FunctionRule):
    """Released twice on one path.

    ## What it does

    Reports a release of memory or of a handle that the same path has already released, be it
    through another variable, through a wrapper, by the destructor of an object, or in an earlier
    iteration. A warning is a release by a method, of a member that keeps the pointer while the
    destructor releases it again.

    An error is certain: every path that comes to the second release has made the first, or control
    comes from the first to the second whatever it asks in between. What rests on conditions that
    may hang together, on an earlier iteration, or on the destructors of two objects is a warning
    that `--preview` shows.

    ## Why is this bad?

    The second call fails with `cudaErrorInvalidValue` if you are lucky. If the address has been
    given out again in the meantime, it frees somebody else's memory, and the failure appears there.

    ## Example

    ```cuda
    if (cudaMemcpy(h_sum, d_sum, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) {
        cudaFree(d_sum);
    }
    cudaFree(d_sum);
    ```

    ```python
    err, d_sum = cudart.cudaMalloc(size)
    try:
        reduce(d_sum)
        cudart.cudaFree(d_sum)
    finally:
        cudart.cudaFree(d_sum)
    ```

    ## Use instead

    ```cuda
    cudaError_t status = cudaMemcpy(h_sum, d_sum, bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_sum);
    ```

    ```python
    try:
        reduce(d_sum)
    finally:
        cudart.cudaFree(d_sum)
    ```

    Where one clean-up serves many paths, set the pointer to null after an early release: releasing
    null does nothing.

    ## Fix

    - Unsafe: the second release goes where every path to it makes the first; else, in C++, memory
      is set to null after the first. What either means to the code between is yours to see.

    ## Known problems

    Of two objects that hold the same pointer because one is a copy of the other GPU205 speaks.
    Where somebody out of sight is given the pointer and asked before the second release, he may
    know that it is gone: `if (is_known(d_sum)) cudaFree(d_sum);` is not reported.

    ## References

    - CUDA Runtime API,
      [cudaFree](https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY.html)
    """

    code, name = "GPU201", "double-free"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the second releases of a function."""
        for misuse in facts.misuses:
            if misuse.kind is MisuseKind.LEFT:
                yield self._left(misuse, facts)
            if misuse.kind is not MisuseKind.DOUBLE_FREE:
                continue
            message = f"{quoted(misuse.name)} is released again by {readable(misuse.api)}"
            if misuse.at_end:
                where = places([misuse.at_end], misuse.filename or facts.filename)
                message += f", the destructor of {quoted(misuse.at_end.text)}, at {where}"
            elif misuse.released:
                where = places([misuse.released], facts.filename)
                again = misuse.released.span == misuse.span
                message += (
                    ": an earlier iteration has released it already"
                    if again
                    else f": {where} has released it already"
                )
            yield self.finding(
                message,
                filename=misuse.filename or facts.filename,
                span=misuse.span,
                function=facts.function,
                subject=subject(misuse.name, misuse.api),
                steps=misuse.steps,
                severity=None if misuse.certain else Severity.WARNING,
                confidence=None if misuse.certain else Confidence.LOW,
                defect=released_early(misuse, facts),
                repair=_repair(misuse, facts),
            )

    def _left(self, misuse: Misuse, facts: FunctionFacts) -> Finding:
        end = misuse.at_end
        where = places([end], facts.filename) if end else ""
        return self.finding(
            f"{quoted(misuse.name)} still points to what {readable(misuse.api)} releases here, and "
            f"the destructor of {quoted(end.text if end else '')} releases it again ({where})",
            filename=facts.filename,
            span=misuse.span,
            function=facts.function,
            subject=subject(misuse.name, misuse.api),
            steps=misuse.steps,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
        )


def _repair(misuse: Misuse, facts: FunctionFacts) -> DropRelease | None:
    """Where the function itself releases it twice, in two places."""
    first = misuse.released
    if first is None or misuse.at_end or misuse.filename not in ("", facts.filename):
        return None
    if first.filename != facts.filename or first.span == misuse.span:
        return None
    memory = misuse.resource is not None and not misuse.resource.is_handle
    return DropRelease(first.span, misuse.span, facts.span, memory)
