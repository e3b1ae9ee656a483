"""GPU304: block or grid dimensions that no device accepts."""

from __future__ import annotations

import math
from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, LaunchSite
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Finding, Severity
from cudalint.findings.rule import Limits
from cudalint_rules._wording import quoted

_AXES = "xyz"


class InvalidLaunch(FunctionRule):
    """Block or grid dimensions that no device accepts.

    ## What it does

    Compares the constant dimensions of a launch with the limits that hold for every device: 1024
    threads for a block, 1024 x 1024 x 64 along its axes, 2147483647 x 65535 x 65535 blocks for a
    grid, at least one of each, and no more threads than the kernel's `__launch_bounds__` promise.

    ## Why is this bad?

    The launch fails with `cudaErrorInvalidConfiguration` and the kernel never runs. As a launch
    returns no status, the program goes on with memory that nobody has written.

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
            reason = _reason(launch, self.limits)
            if reason:
                yield self.finding(
                    f"{quoted(launch.kernel_name)} cannot be launched: {reason}",
                    filename=facts.filename,
                    span=launch.span,
                    function=facts.function,
                    subject=launch.kernel_name,
                    steps=launch.steps,
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
    promised = launch.kernel.max_threads if launch.kernel else None
    if promised and threads > promised:
        return f"a block of {total} threads breaks its __launch_bounds__({promised})"
    return None
