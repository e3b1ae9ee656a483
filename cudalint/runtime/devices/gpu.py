"""A GPU of this machine: the ledger observes the real CUDA runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cudalint.apis.devices import native_devices
from cudalint.runtime.trace import Mode


@dataclass(frozen=True)
class Gpu:
    """A GPU. ``library`` is the CUDA runtime to forward to, where the loader would not find it."""

    name: str
    target: str
    memory: int
    library: Path | None = None
    sanitizer: Path | None = None
    """compute-sanitizer, a second witness of what the ledger sees; ``None`` where there is none."""

    @classmethod
    def find(cls, library: Path | None = None) -> Gpu:
        """The first GPU of this machine; ``ValueError`` says why there is none."""
        from cudalint.runtime.sanitizer import find_sanitizer

        target, name, memory = native_devices()[0]
        return cls(name, target, memory, library, find_sanitizer())

    @property
    def mode(self) -> Mode:
        """The ledger forwards."""
        return Mode.OBSERVE

    def environment(self) -> Mapping[str, str]:
        """What the ledger has to know."""
        values = {"CUDALINT_MODE": "observe"}
        if self.library is not None:
            values["CUDALINT_CUDART"] = str(self.library)
        return values
