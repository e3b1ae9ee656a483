"""GPU207: a device pointer is read or written on the host."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, HostAccess, readable
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity
from cudalint_rules._wording import quoted, subject


class HostDereference(FunctionRule):
    """A device pointer is read or written on the host.

    ## What it does

    Reports host code that reads or writes through a pointer to device memory (`cudaMalloc` and its
    kin): an element, a dereference, a field, the pointer passed to `memcpy`, `memset`, `fwrite`,
    `std::copy`, `std::fill`, or to a function of the run that accesses it and has nothing to do
    with CUDA.

    ## Why is this bad?

    Device memory has no mapping in the host's address space. The access is a segmentation fault,
    often far from the allocation, and only on the path that reaches it.

    ## Example

    ```cuda
    float* d_sum;
    cudaMalloc(&d_sum, sizeof(float));
    reduce<<<1, 256>>>(d_values, d_sum);
    printf("%f\\n", *d_sum);
    ```

    ## Use instead

    ```cuda
    float sum;
    cudaMemcpy(&sum, d_sum, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\\n", sum);
    ```

    ## Known problems

    The allocation must be in sight of the access: pointers in members of other functions' objects
    are not followed. Where some path brings host or managed memory to the same access, it is not
    reported. Python has no raw dereference: there the rule has nothing to say.

    ## References

    - CUDA C++ Programming Guide,
      [Device Memory](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#device-memory)
    """

    code, name = "GPU207", "host-dereference"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the accesses of the host to device memory."""
        seen: set[tuple[str, int]] = set()
        for access in sorted(facts.host_accesses, key=lambda access: access.span):
            where = (access.resource.name, access.span.row)
            if where in seen:
                continue  # d_p[i] = d_p[i] + 1
            seen.add(where)
            yield self.finding(
                _message(access),
                filename=facts.filename,
                span=access.span,
                function=facts.function,
                subject=subject(access.resource.name, access.resource.api),
                steps=access.steps,
            )


def _message(access: HostAccess) -> str:
    made = f"device memory of {readable(access.resource.api)} (line {access.resource.span.row})"
    if access.through:
        does = "writes to" if access.writes else "reads"
        return (
            f"{readable(access.through)} {does} {quoted(access.text)} on the host, but it points to"
            f" {made}"
        )
    does = "written" if access.writes else "read"
    return f"{quoted(access.text)} is {does} on the host, but it is {made}"
