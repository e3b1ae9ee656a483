"""GPU108: a release of null, or a device reset, standing in for real release."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import Cleanup, FunctionFacts, Resource, Site, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity, Step
from cudalint_rules._wording import listing, places, quoted


class NoOpCleanup(FunctionRule):
    """A release of null, or a device reset, standing in for real release.

    ## What it does

    Reports a release of a null pointer where clean-up is meant, after the last CUDA work, and a
    device reset that runs while the function still owns allocations. What the reset finds is named
    here and not reported as a leak again; so is what the function, or a destructor, releases after
    it, when it is gone.

    `cudaFree(0)` at the start of a program creates the context; that idiom is left alone.

    ## Why is this bad?

    Releasing null does nothing at all: no memory comes back and no cache is emptied. A reset tears
    down the context of the whole process, including streams, library handles and other threads'
    memory, whose pointers stay behind and dangle. It hides a leak, and no function that does it can
    be called twice.

    ## Example

    ```cuda
    cudaMalloc(&d_grid, bytes);
    relax<<<blocks, threads>>>(d_grid, n);
    cudaFree(nullptr);
    cudaDeviceReset();
    ```

    ```python
    err, d_grid = cudart.cudaMalloc(size)
    relax(d_grid, n)
    cudart.cudaDeviceReset()
    ```

    ## Use instead

    ```cuda
    relax<<<blocks, threads>>>(d_grid, n);
    cudaFree(d_grid);
    ```

    ```python
    try:
        relax(d_grid, n)
    finally:
        cudart.cudaFree(d_grid)
    ```

    A reset after everything is released, at the end of a program, does no harm.

    ## Known problems

    A reset is the right answer to a sticky error, after which nothing can be released any more. On
    such a path, suppress the finding and say why. In `main`, in a script, in a test and in the last
    function that `main` runs, where the context ends a moment later, a reset is an `info`; so is
    one that stands in for the release of events only.

    ## References

    - CUDA Runtime API,
      [cudaDeviceReset](https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__DEVICE.html)
    - CUDA C++ Programming Guide,
      [Initialization](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#initialization)
    """

    code, name = "GPU108", "no-op-cleanup"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the calls that clean up nothing, or too much."""
        named: set[str] = set()
        for cleanup in sorted(facts.cleanups, key=lambda c: c.span):
            owned = [r.name for r in cleanup.owned if r.name not in named]
            late = [one for one in cleanup.late if one[0].name not in named]
            if cleanup.null_release:
                if cleanup.first or not cleanup.last:
                    continue
            elif not (owned or late):
                # Owns nothing, or only what a release of null just before was blamed for.
                continue
            named.update(owned, (one.name for one, _ in late))
            # Where the process or a test ends, the context is about to go anyway.
            ends = facts.is_main or facts.is_test or facts.runs_last
            light = all(one.info.light for one in (*cleanup.owned, *(one for one, _ in late)))
            yield self.finding(
                _message(cleanup, owned, late, facts.filename),
                filename=facts.filename,
                span=cleanup.span,
                function=facts.function,
                subject=cleanup.api,
                severity=Severity.INFO if not cleanup.null_release and (ends or light) else None,
                steps=tuple(
                    Step(r.filename, r.span, f"{r} is acquired here and still owned")
                    for r in (*cleanup.owned, *(one for one, _ in late))
                ),
            )


def _message(
    cleanup: Cleanup, owned: list[str], late: list[tuple[Resource, Site]], filename: str
) -> str:
    names = listing(map(quoted, owned))
    verb = "is" if len(owned) == 1 else "are"
    api = readable(cleanup.api)
    if cleanup.null_release:
        message = f"{api} of a null pointer releases nothing"
        return f"{message}; {names} {verb} still owned here" if owned else message
    parts = []
    if owned:
        parts.append(f"stands in for the release of {names}")
    if late:
        ended = listing(quoted(one.name) for one, _ in late)
        where = places([site for _, site in late], filename)
        parts.append(f"ends {ended} before the release at {where}, which comes too late")
    return (
        f"{api} {'; it '.join(parts)}, and takes everything else in the process's context with it"
    )
