"""GPU203: released by another family's function."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, Misuse, MisuseKind, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.repair import UseRelease
from cudalint_rules._wording import quoted, subject


class MismatchedDeallocation(FunctionRule):
    """Released by another family's function.

    ## What it does

    Knows for each allocation which functions release it, and reports a release by any other:
    `cudaFree` of pinned memory or of an array, `free` or `delete` of device memory, `cudaFreeHost`
    of device memory, the runtime's function for a handle of the driver API, and so on. What a
    mapped graphics resource or a variable of the device gives out, nobody releases.

    An error is certain: no path comes to the release with what fits it. Where one does, by a
    condition that may well say which it is, or where a member may hold what a caller has passed, it
    is a warning that `--preview` shows.

    ## Why is this bad?

    The call returns an error that clean-up code rarely looks at, and the memory stays taken: a leak
    that looks like a release. The host's `free` on a device address ends the process.

    ## Example

    ```cuda
    cudaMallocHost(&h_frame, bytes);
    cudaMallocArray(&lookup, &format, 256);
    cudaFree(h_frame);
    cudaFree(lookup);
    ```

    ```python
    err, h_frame = cudart.cudaMallocHost(size)
    cudart.cudaFree(h_frame)
    ```

    ## Use instead

    ```cuda
    cudaFreeHost(h_frame);
    cudaFreeArray(lookup);
    ```

    ```python
    cudart.cudaFreeHost(h_frame)
    ```

    ## Fix

    - Safe: the function is replaced by the one of the same API that releases what was acquired. Not
      where a later release fits: then something else is meant.

    ## Known problems

    Where one variable holds memory of either kind depending on a flag, the release must be chosen
    by the same flag, spelled in the same way. Of what an object keeps, nothing is reported where
    a function also releases it on another path by what fits, whatever it asks.

    ## References

    - CUDA Runtime API,
      [Memory Management](https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY.html)
    - CUDA C++ Programming Guide,
      [Page-Locked Host Memory](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#page-locked-host-memory)
    """

    code, name = "GPU203", "mismatched-deallocation"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the releases that do not fit what they release."""
        for misuse in facts.misuses:
            if misuse.kind is not MisuseKind.MISMATCH:
                continue
            resource = misuse.resource
            what = quoted(misuse.name)
            if resource:
                origin = readable(resource.through or resource.api)
                what += f" ({resource.info.noun} from {origin})"
            message = f"{what} cannot be released by {readable(misuse.api)}"
            if misuse.released is not None:
                by, row = readable(misuse.released.text), misuse.released.span.row
                message += f"; {by} does so on line {row}: something else must be meant here"
            elif resource and resource.released_by:
                message += f"; use {resource.released_by}"
            yield self.finding(
                message,
                filename=misuse.filename or facts.filename,
                span=misuse.span,
                function=facts.function,
                subject=subject(misuse.name, misuse.api),
                steps=misuse.steps,
                severity=None if misuse.certain else Severity.WARNING,
                confidence=None if misuse.certain else Confidence.LOW,
                repair=_repair(misuse),
                advised=misuse.released is None and bool(resource and resource.released_by),
            )


def _repair(misuse: Misuse) -> UseRelease | None:
    """The function that fits, unless that is called later; what frees with `free` knows no CUDA."""
    if misuse.released is not None or misuse.resource is None:
        return None
    resource = misuse.resource
    return UseRelease(misuse.span, misuse.api, misuse.name, resource.api, resource.info.releases)
