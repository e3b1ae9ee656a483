"""What the shared-memory rules ask of a launch: how much one block needs."""

from __future__ import annotations

from cudalint.analysis.facts import LaunchSite
from cudalint.findings.finding import Step
from cudalint.findings.rule import Limits
from cudalint.program import Kernel
from cudalint.project.units import size_text


def static_bytes(kernel: Kernel | None) -> int:
    """The static shared memory of a kernel, as far as it is known: a lower bound."""
    return sum(array.bytes or 0 for array in kernel.shared) if kernel else 0


def needed_bytes(launch: LaunchSite, limits: Limits) -> int | None:
    """Static plus dynamic shared memory of one block; ``None`` where nothing can be said: the
    launch's amount is unknown, or the static part alone is too much already (GPU301)."""
    static = static_bytes(launch.kernel)
    if launch.shared_bytes is None or static > limits.static_shared:
        return None
    return static + launch.shared_bytes


def breakdown(launch: LaunchSite) -> str:
    """How the need comes about: ``4 MiB`` or ``100 KiB (16 KiB static and 84 KiB dynamic)``."""
    static, dynamic = static_bytes(launch.kernel), launch.shared_bytes or 0
    total = size_text(static + dynamic)
    if not static:
        return total
    return f"{total} ({size_text(static)} static and {size_text(dynamic)} dynamic)"


def kernel_step(launch: LaunchSite, message: str) -> tuple[Step, ...]:
    """Where the kernel is defined."""
    kernel = launch.kernel
    return (Step(kernel.filename, kernel.span, message),) if kernel else ()
