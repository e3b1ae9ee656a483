"""The rules of our house."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity


class ManagedMemory(FunctionRule):
    """Managed memory is allocated.

    ## What it does

    Reports every allocation of managed memory: `cudaMallocManaged`, `hipMallocManaged`, and what
    the models of your own allocators say is of the family `managed`.

    ## Why is this bad?

    Our kernels share their devices with others: pages that migrate while they run make their times
    unpredictable.

    ## Example

    ```cuda
    cudaMallocManaged(&image, bytes);
    ```

    ## Use instead

    ```cuda
    cudaMalloc(&image, bytes);
    ```
    """

    code, name = "HOUSE101", "managed-memory"
    severity = Severity.WARNING

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield a finding for each allocation of the family."""
        for allocation in facts.allocations:
            resource = allocation.resource
            if resource.family == "managed":
                yield self.finding(
                    f"{resource} is managed memory, which we do not use",
                    filename=resource.filename,
                    span=allocation.span,
                    function=facts.function,
                    subject=resource.name,
                )
