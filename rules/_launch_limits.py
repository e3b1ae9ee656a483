"""Why a device refuses a launch."""

from __future__ import annotations

import math

from cudalint.analysis.facts import LaunchSite
from cudalint.findings.rule import Limits
from cudalint.project.units import size_text
from cudalint_rules._wording import plural

_AXES = "xyz"
_WARP = 32
_LOCAL = 512 * 1024
"""Of local memory for a thread, on every device: CUDA C++ Programming Guide, Technical
Specifications."""


def refused_configuration(launch: LaunchSite, limits: Limits) -> str | None:
    """What of its block, grid, warps or local memory no device accepts."""
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
            f"its local arrays take {size_text(local)} for each thread, more than "
            f"{size_text(_LOCAL)}"
        )
    promised = launch.kernel.max_threads if launch.kernel else None
    if promised and threads > promised:
        return f"a block of {total} threads breaks its __launch_bounds__({promised})"
    return None


def refused_arguments(launch: LaunchSite) -> str | None:
    """How the number of its arguments differs from the kernel's parameters."""
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


def lacks_arguments(launch: LaunchSite) -> bool:
    """Whether a launch goes through with fewer arguments than the kernel takes: those of CUDA C++
    are handed over in a buffer, whose length nobody compares (asked an H200)."""
    kernel, passed = launch.kernel, launch.argument_count
    if kernel is None or passed is None or kernel.dialect != "cuda":
        return False
    return passed < len(kernel.parameters)
