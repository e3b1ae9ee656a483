"""What a cause is."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

_VERY, _QUITE = 80, 55


@dataclass(frozen=True)
class Cause:
    """One explanation: ``weight`` is from 0 to 100, and orders them."""

    name: str
    title: str
    weight: float
    evidence: tuple[str, ...]
    next: tuple[str, ...]
    """What to do: commands to type are in backquotes."""

    @property
    def likelihood(self) -> str:
        """The weight in words."""
        if self.weight >= _VERY:
            return "very likely"
        return "likely" if self.weight >= _QUITE else "possible"

    def scaled(self, factor: float) -> Cause:
        """The same with another weight."""
        return dataclasses.replace(self, weight=self.weight * factor)
