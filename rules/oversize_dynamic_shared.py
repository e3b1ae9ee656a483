"""GPU302: more shared memory than any selected target offers."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, LaunchSite, StagedMemory, UncalledGuard
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.project.units import size_text
from cudalint_rules._shared_memory import breakdown, kernel_step, needed_bytes
from cudalint_rules._wording import listing, quoted


class OversizeDynamicShared(FunctionRule):
    """More shared memory than any selected target offers.

    ## What it does

    Adds the dynamic shared memory of a launch to the static one of its kernel, and compares the sum
    with the largest amount that a block can opt in to on the targets given with `--target`; without
    targets, on any device. For a Triton kernel, adds up the tiles that it loads in a loop for
    `tl.dot`, times `num_stages - 1`. In Python, also reports (a `warning`) a size for a launch that
    is chosen by testing a function instead of calling it: it is true on every device.

    ## Why is this bad?

    The launch fails with `cudaErrorInvalidValue`, always and on every one of these devices. As
    launches return no status, the program goes on with results that were never computed. The usual
    cause is a size that was meant for a whole array rather than for one block.

    ## Example

    ```cuda
    int size = 1024 * 1024;
    prefix_sum<<<grid, 256, size * sizeof(float)>>>(d_in, d_out, size);  // 4 MiB for each block
    ```

    ```python
    prefix_sum[grid, 256, stream, size * 4](d_in, d_out, size)
    ```

    ## Use instead

    ```cuda
    prefix_sum<<<grid, 256, 256 * sizeof(float)>>>(d_in, d_out, size);
    ```

    ```python
    prefix_sum[grid, 256, stream, 256 * 4](d_in, d_out, size)
    ```

    ## Known problems

    Only amounts that are known when the code is read: constants, also through constant arguments.
    What a Triton kernel needs is estimated from below: the pipeliner keeps as many buffers of a
    tile as there are stages between its load and its use, one more for asynchronous tensor cores,
    and pads them. Where the element type is out of sight, half precision is assumed, and the
    finding is shown with `--preview` alone. Configurations of an autotuner, which skips what does
    not fit, are not looked at.

    ## References

    - CUDA C++ Programming Guide,
      [Technical Specifications per Compute Capability](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#features-and-technical-specifications)
    - Triton, [Software pipelining](https://triton-lang.org/main/python-api/generated/triton.Config.html)
    - CUDA C++ Programming Guide,
      [Execution Configuration](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#execution-configuration)
    """

    code, name = "GPU302", "oversize-dynamic-shared"
    severity = Severity.ERROR

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the launches that no target accepts."""
        limit = self.limits.largest_shared
        for launch in facts.launches:
            if launch.staged is not None and launch.staged.bytes > limit:
                yield self._staged(facts, launch, launch.staged)
            needed = needed_bytes(launch, self.limits)
            if needed is None or needed <= limit:
                continue
            yield self.finding(
                f"{quoted(launch.kernel_name)} is launched with {breakdown(launch)} of shared "
                f"memory for each block; {self._offer()}",
                filename=facts.filename,
                span=launch.span,
                function=facts.function,
                subject=launch.kernel_name,
                steps=(*launch.steps, *kernel_step(launch, "the kernel is defined here")),
            )

        for guard in facts.guards:
            yield self._uncalled(facts, guard)

    def _uncalled(self, facts: FunctionFacts, guard: UncalledGuard) -> Finding:
        function, chosen = guard.function.rpartition(".")[2], guard.chosen.rpartition("::")[2]
        return self.finding(
            f"{quoted(function)} is tested, not called, and so always true: what it chooses for "
            f"{quoted(chosen)}, on which the launch of {quoted(guard.kernel)} on line "
            f"{guard.launch.row} depends, is the same on every device; call it",
            filename=facts.filename,
            span=guard.span,
            function=facts.function,
            subject=function,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            steps=(Step(facts.filename, guard.launch, "the launch that it is for"),),
        )

    def _staged(self, facts: FunctionFacts, launch: LaunchSite, staged: StagedMemory) -> Finding:
        tiles = listing(quoted(tile.name) for tile in launch.kernel.staged) if launch.kernel else ""
        return self.finding(
            f"{quoted(launch.kernel_name)} needs at least {size_text(staged.bytes)} of "
            f"shared memory for each block, to load {tiles} ahead in {staged.stages} stages; "
            f"{self._offer()}",
            filename=facts.filename,
            span=launch.span,
            function=facts.function,
            subject=launch.kernel_name,
            confidence=Confidence.LOW if staged.assumed else Confidence.MEDIUM,
            steps=(*launch.steps, *kernel_step(launch, "the kernel is defined here")),
        )

    def _offer(self) -> str:
        most = size_text(self.limits.largest_shared)
        if not self.limits.targets:
            return f"no device offers more than {most}"
        if len(self.limits.targets) == 1:
            return f"{self.limits.targets[0]} offers {most}"
        target = self.limits.largest_shared_target
        return f"the largest that the selected targets offer is {most} ({target})"
