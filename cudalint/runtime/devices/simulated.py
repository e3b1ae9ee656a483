"""A device that needs no hardware: the ledger is the CUDA runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cudalint.apis.devices import common, devices, is_specific, parse_target
from cudalint.runtime.trace import Mode

DEFAULT_TARGET = "sm_90"
_FALLBACK_MEMORY = 16 * 1024**3


@dataclass(frozen=True)
class Simulated:
    """A profile of ``devices.toml``; ``capacity`` overrides its memory."""

    target: str = DEFAULT_TARGET
    capacity: int | None = None
    count: int = 1
    """How many of them the machine has."""
    pattern: int | None = None
    """The byte that fresh memory is filled with; ``None`` leaves it as it comes."""
    specific: bool = field(init=False, default=False)
    """Programs are built for it alone (``sm_90a``), which takes more static shared memory."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "specific", is_specific(self.target))
        object.__setattr__(self, "target", parse_target(self.target))
        if self.capacity is not None and self.capacity <= 0:
            raise ValueError(f"a device with {self.capacity} bytes of memory")
        if not 1 <= self.count <= 16:
            raise ValueError(f"{self.count} simulated devices: 1 to 16")

    @property
    def name(self) -> str:
        """For people."""
        return f"simulated {self.target}, {self.memory / 1024**3:.4g} GiB"

    @property
    def mode(self) -> Mode:
        """The ledger is the runtime."""
        return Mode.SIMULATE

    @property
    def memory(self) -> int:
        """Bytes."""
        return self.capacity or devices()[self.target].memory or _FALLBACK_MEMORY

    def environment(self) -> Mapping[str, str]:
        """The profile, for the ledger."""
        profile, limits = devices()[self.target], common()
        major, minor = int(self.target[3:-1]), int(self.target[-1])
        static = profile.specific_static_shared if self.specific else 0
        product = profile.devices[0] if profile.devices else profile.architecture
        values: dict[str, object] = {
            "name": f"cudalint simulated {product}",
            "major": major,
            "minor": minor,
            "count": self.count,
            "memory": self.memory,
            "static_shared": static or limits.static_shared,
            "default_shared": limits.default_shared,
            "optin_shared": profile.largest_shared,
            "sm_shared": profile.shared_per_sm,
            "threads": limits.threads_per_block,
            "block": "x".join(map(str, limits.block)),
            "grid": "x".join(map(str, limits.grid)),
        }
        if self.pattern is not None:
            values["pattern"] = self.pattern
        return {
            "CUDALINT_MODE": "simulate",
            "CUDALINT_DEVICE": ";".join(f"{key}={value}" for key, value in values.items()),
        }
