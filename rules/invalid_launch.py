"""GPU304: a launch that no device accepts: block, grid, or number of arguments."""

from __future__ import annotations

import math
from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, LaunchSite, RoundedGrid
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.rule import Limits
from cudalint_rules._shared_memory import kernel_step
from cudalint_rules._wording import format_bytes, plural, quoted

_AXES = "xyz"
_WARP = 32
_LOCAL = 512 * 1024
"""Of local memory for a thread, on every device: CUDA C++ Programming Guide, Technical
Specifications."""


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
    of sight (a `warning`).

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
            reason, steps = _reason(launch, self.limits), launch.steps
            if reason is None:
                reason = _argument_reason(launch)
                steps = (*steps, *kernel_step(launch, "the kernel is defined here"))
            if reason:
                yield self.finding(
                    f"{quoted(launch.kernel_name)} cannot be launched: {reason}",
                    filename=facts.filename,
                    span=launch.span,
                    function=facts.function,
                    subject=launch.kernel_name,
                    steps=steps,
                )
        for grid in facts.grids:
            yield self._rounded(facts, grid)

    def _rounded(self, facts: FunctionFacts, grid: RoundedGrid) -> Finding:
        return self.finding(
            f"{quoted(grid.kernel)} is launched with {quoted(grid.quotient)} blocks, rounded down: "
            f"what is left of {quoted(grid.amount)} gets no thread unless the kernel goes on in "
            "strides, and what it should write stays as it was; round up",
            filename=facts.filename,
            span=grid.span,
            function=facts.function,
            subject=grid.kernel,
            severity=Severity.WARNING,
            confidence=Confidence.LOW,
        )


def _reason(launch: LaunchSite, limits: Limits) -> str | None:
    for what, dimensions, bounds in (
        ("block", launch.block, limits.block),
        ("grid", launch.grid, limits.grid),
    ):
        for axis, value, bound in zip(_AXES, dimensions, bounds, strict=True):
            if value is None:
                continue
            if value <= 0:
                return f"the {what}'s {axis} dimension is {value}"
            if value > bound:
                return f"the {what}'s {axis} dimension is {value}, more than {bound}"
    # An unknown dimension is at least 1, so the known ones bound the product from below.
    known = [value for value in launch.block if value is not None]
    threads = math.prod(known)
    size = " x ".join(str(value) for value in known if value > 1 or len(known) == 1)
    total = f"{size} = {threads}" if " x " in size else str(threads)
    if threads > limits.threads_per_block:
        return f"a block of {total} threads is more than {limits.threads_per_block}"
    if launch.warps is not None and (launch.warps < 1 or launch.warps & (launch.warps - 1)):
        return f"num_warps is {launch.warps}, not a power of two"
    if launch.warps is not None and launch.warps * _WARP > limits.threads_per_block:
        return (
            f"{launch.warps} warps are {launch.warps * _WARP} threads, more than "
            f"{limits.threads_per_block}"
        )
    local = sum(array.bytes or 0 for array in launch.kernel.local) if launch.kernel else 0
    if local > _LOCAL:
        return (
            f"its local arrays take {format_bytes(local)} for each thread, more than "
            f"{format_bytes(_LOCAL)}"
        )
    promised = launch.kernel.max_threads if launch.kernel else None
    if promised and threads > promised:
        return f"a block of {total} threads breaks its __launch_bounds__({promised})"
    return None


def _argument_reason(launch: LaunchSite) -> str | None:
    kernel, passed = launch.kernel, launch.argument_count
    if kernel is None or passed is None or kernel.dialect == "triton":
        return None  # Triton's parameters may come from the tuner
    if any(parameter.starred or parameter.keyword_only for parameter in kernel.parameters):
        return None
    most = len(kernel.parameters)
    least = sum(parameter.default is None for parameter in kernel.parameters)
    if least <= passed <= most:
        return None
    return f"it is given {plural(passed, 'argument')}, and takes {most}"
