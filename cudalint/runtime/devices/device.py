"""What a device is to the runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from cudalint.runtime.trace import Mode


class Device(Protocol):
    """Decides how a target is built for it and what the ledger is told."""

    @property
    def name(self) -> str:
        """For people: ``NVIDIA H200``, ``simulated sm_90 (H200), 139.8 GiB``."""

    @property
    def mode(self) -> Mode:
        """What the ledger is for the program."""

    @property
    def target(self) -> str:
        """The compute capability: ``sm_90``."""

    @property
    def memory(self) -> int:
        """Bytes."""

    def environment(self) -> Mapping[str, str]:
        """What the ledger reads from the environment to be this device."""
