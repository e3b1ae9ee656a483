"""GPU202: passed to a copy, a launch or a library after its release."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, MisuseKind, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint_rules._wording import places, quoted, released_early, subject


class UseAfterFree(FunctionRule):
    """Passed to a copy, a launch or a library after its release.

    ## What it does

    Reports a copy, a fill, a kernel launch or a library call that receives memory, a stream or a
    handle which has been released earlier on the same path.

    An error is certain: every path that comes to the use has made the release, or control comes
    there from the release whatever it asks in between. What rests on conditions that may hang
    together, or on an earlier iteration, is a warning that `--preview` shows.

    ## Why is this bad?

    Device memory is not unmapped page by page: the read often succeeds and returns what the next
    owner of the address has written. Where it fails, the error (`cudaErrorIllegalAddress`) stays
    and surfaces at a later call that did nothing wrong.

    ## Example

    ```cuda
    cudaFree(d_histogram);
    cudaMemcpy(h_histogram, d_histogram, bytes, cudaMemcpyDeviceToHost);
    ```

    ```python
    cudart.cudaFree(d_histogram)
    cudart.cudaMemcpy(histogram.ctypes.data, d_histogram, size, kind)
    ```

    ## Use instead

    ```cuda
    cudaMemcpy(h_histogram, d_histogram, bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_histogram);
    ```

    ```python
    cudart.cudaMemcpy(histogram.ctypes.data, d_histogram, size, kind)
    cudart.cudaFree(d_histogram)
    ```

    ## Known problems

    Comparing a released pointer, printing it, or passing it to an unknown function is not reported,
    nor a use that such a function's answer decides about.
    Memory released in stream order and used on the same stream later is; on another stream it is
    GPU206.

    ## References

    - CUDA Runtime API,
      [Memory Management](https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY.html)
    """

    code, name = "GPU202", "use-after-free"
    severity = Severity.ERROR
    preview = True

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the uses of what is released already."""
        for misuse in facts.misuses:
            if misuse.kind is not MisuseKind.USE_AFTER_FREE:
                continue
            message = f"{quoted(misuse.name)} is passed to {readable(misuse.api)} after its release"
            if misuse.at_end:
                where = places([misuse.at_end], misuse.filename or facts.filename)
                message = (
                    f"{quoted(misuse.name)} is released here, and still used by "
                    f"{readable(misuse.api)} when the life of {quoted(misuse.at_end.text)} ends at "
                    f"{where}"
                )
            elif misuse.released:
                where = places([misuse.released], facts.filename)
                message += f" at {where}"
            confidence = None if misuse.certain else Confidence.LOW
            if misuse.certain and misuse.by_global:
                confidence = Confidence.MEDIUM
            yield self.finding(
                message,
                filename=misuse.filename or facts.filename,
                span=misuse.span,
                function=facts.function,
                subject=subject(misuse.name, misuse.api),
                steps=misuse.steps,
                severity=Severity.WARNING if confidence else None,
                confidence=confidence,
                defect=released_early(misuse, facts),
            )
