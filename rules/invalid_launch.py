"""GPU304: a launch that no device accepts: block, grid, or number of arguments."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, LaunchSite, RoundedGrid
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.source import Span
from cudalint_rules._launch_limits import (
    lacks_arguments,
    refused_arguments,
    refused_configuration,
)
from cudalint_rules._shared_memory import kernel_step
from cudalint_rules._wording import quoted


class InvalidLaunch(FunctionRule):
    """A launch that no device accepts: block, grid, or number of arguments.

    ## What it does

    Compares the constant dimensions of a launch with the limits that hold for every device: 1024
    threads for a block, 1024 x 1024 x 64 along its axes, 2147483647 x 65535 x 65535 blocks for a
    grid, at least one of each, and no more threads than the kernel's `__launch_bounds__` promise.
    In Python, where no compiler does it, also the number of arguments with the kernel's parameters,
    the local arrays of a Numba kernel with the 512 KiB that a thread can have, and Triton's
    `num_warps`, which is a power of two, with the threads of a block. With `--preview`, reports a
    grid in Python that is an amount divided by the block and rounded down, where the kernel is out
    of sight (a `warning`), and in CUDA C++ a grid with a block for each row and column of some
    data, where nothing bounds the rows (information), and a block that is an amount divided by the
    grid and rounded up, as if the two were exchanged (a `warning`).

    ## Why is this bad?

    The launch fails with `cudaErrorInvalidConfiguration` and the kernel never runs. As a launch
    returns no status, the program goes on with memory that nobody has written. A kernel of a
    string that gets too few arguments reads whatever lies behind the ones that it was given.

    ## Example

    ```cuda
    dim3 block(64, 32);  // 2048 threads
    convolve<<<grid, block>>>(d_in, d_out, width, height);
    ```

    ```python
    convolve[grid, (64, 32)](source, target)
    ```

    ## Use instead

    ```cuda
    dim3 block(32, 32);
    convolve<<<grid, block>>>(d_in, d_out, width, height);
    ```

    ```python
    convolve[grid, (32, 32)](source, target)
    ```

    ## Known problems

    A block within these limits may still need more registers than the device has.

    ## References

    - CUDA C++ Programming Guide,
      [Technical Specifications per Compute Capability](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#features-and-technical-specifications)
    - CUDA C++ Programming Guide,
      [Launch Bounds](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#launch-bounds)
    """

    code, name = "GPU304", "invalid-launch"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the launches that cannot start."""
        for launch in facts.launches:
            reason, steps = refused_configuration(launch, self.limits), launch.steps
            how = "cannot be launched"
            if reason is None:
                reason = refused_arguments(launch)
                steps = (*steps, *kernel_step(launch, "the kernel is defined here"))
                how = "is launched without all it takes" if lacks_arguments(launch) else how
            if reason:
                sure = launch.settled or 0 not in (*launch.grid, *launch.block)
                yield self.finding(
                    f"{quoted(launch.kernel_name)} {how}: {reason}",
                    filename=facts.filename,
                    span=launch.span,
                    function=facts.function,
                    subject=launch.kernel_name,
                    steps=steps,
                    severity=None if sure else Severity.WARNING,
                    confidence=None if sure else Confidence.LOW,
                )
            elif launch.divided:
                yield self._exchanged(facts, launch)
        for grid in facts.grids:
            yield self._rounded(facts, grid)
        most = self.limits.grid[1]
        for tall in facts.tall_grids:
            yield self.finding(
                f"{quoted(tall.kernel)} is launched with {quoted(tall.rows)} blocks along y, where "
                f"more than {most} are refused, and nothing here bounds them",
                filename=facts.filename,
                span=tall.span,
                function=facts.function,
                subject=tall.kernel,
                severity=Severity.INFO,
                confidence=Confidence.LOW,
            )

    def _exchanged(self, facts: FunctionFacts, launch: LaunchSite) -> Finding:
        blocks, most = launch.grid[0] or 1, self.limits.threads_per_block
        return self._advice(
            f"{quoted(launch.kernel_name)} is launched with {blocks} blocks of "
            f"{quoted(launch.divided)} threads, an amount divided by {blocks} and rounded up: "
            f"beyond {blocks * most} these are more than {most}, which are refused; were the grid "
            "and the block exchanged?",
            facts,
            launch.kernel_name,
            launch.span,
        )

    def _rounded(self, facts: FunctionFacts, grid: RoundedGrid) -> Finding:
        return self._advice(
            f"{quoted(grid.kernel)} is launched with {quoted(grid.quotient)} blocks, rounded down: "
            f"what is left of {quoted(grid.amount)} gets no thread unless the kernel goes on in "
            "strides, and what it should write stays as it was; round up",
            facts,
            grid.kernel,
            grid.span,
        )

    def _advice(self, message: str, facts: FunctionFacts, kernel: str, span: Span) -> Finding:
        return self.finding(
            message,
            filename=facts.filename,
            span=span,
            function=facts.function,
            subject=kernel,
            severity=Severity.WARNING,
            confidence=Confidence.LOW,
            advised=True,
        )
