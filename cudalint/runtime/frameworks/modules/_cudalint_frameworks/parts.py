"""How much of what lies on a device its operations take at once."""

from __future__ import annotations

from _cudalint_frameworks import recorder

VARIABLE = "CUDALINT_PARTS"
"""Set where anybody asks for it: each operation then takes longer."""
_API = "parts"
_MOST_USES = 1 << 40


class Use:
    """How often a block was used since it was made, and the most that one operation took."""

    __slots__ = ("_address", "_count", "_device", "_largest", "_stack")

    def __init__(self, address: int, device: int = 0) -> None:
        self._address, self._device = address, device
        self._count = self._largest = 0
        self._stack = recorder.stack()

    def add(self, size: int) -> None:
        """An operation takes so many bytes of it."""
        self._count += 1
        self._largest = max(self._largest, size)

    def tell(self) -> None:
        """Write it, once, where there was any."""
        if self._count:
            recorder.write(
                "call", at=self._stack, api=_API, family="device", address=self._address,
                bytes=self._largest, detail=min(self._count, _MOST_USES), device=self._device,
            )  # fmt: skip
            self._count = 0
