"""Sizes for people, in binary units: the one place that says how."""

from __future__ import annotations

_UNITS = (("TiB", 1024**4), ("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024))
_SHORT = 10 * 1024


def size_text(size: int) -> str:
    """``1 byte``, ``4 MiB``, ``1.25 GiB``, ``49156 bytes``.

    To two digits; the exact count where they are few bytes, and where rounding would hide that it
    is no round number.
    """
    if size == 1:
        return "1 byte"
    unit, scale = next(((unit, scale) for unit, scale in _UNITS if size >= scale), ("", 1))
    rounded = round(size / scale, 2)
    exact = rounded * scale == size
    if not unit or (not exact and (size < _SHORT or rounded.is_integer())):
        return f"{size} bytes"
    return f"{rounded:g} {unit}" if exact else f"{rounded:.2f} {unit}"
