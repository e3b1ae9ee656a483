"""Sizes in words, and out of them."""

from __future__ import annotations

import re

_UNITS = {"": 0, "B": 0, "BYTES": 0, "BYTE": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_SIZE = re.compile(
    r"(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>bytes|byte|[KMGT]i?B?|B)?(?![A-Za-z])", re.I
)


def size(value: int | None) -> str:
    """``2.50 GiB``; exact where it is small."""
    if value is None:
        return "unknown"
    for unit, shift in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if abs(value) >= 1 << shift:
            return f"{value / (1 << shift):,.2f} {unit}"
    return f"{value:,} bytes" if value != 1 else "1 byte"


def parsed(text: str) -> int | None:
    """Bytes of ``2.00 GiB``, ``8,589,934,592 bytes``, ``512M``; frameworks mean powers of 1024 by
    both spellings. ``None`` where it is no size."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    unit = (found["unit"] or "").upper()
    power = _UNITS.get(unit, _UNITS.get(unit[:1], 0))
    return int(float(found["number"].replace(",", "")) * float(1024**power) + 0.5)
