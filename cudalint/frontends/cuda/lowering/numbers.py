"""Reads C++'s numbers from their text."""

from __future__ import annotations

from cudalint.program import Constant, Expression, Unknown

_LONGEST = 80
_LARGEST = 2**64 - 1
"""Integers beyond have no type, and cannot be written to the cache."""


def read_number(text: str) -> Expression:
    """The value of a literal; unknown where it has none."""
    bare = text.replace("'", "")
    digits = bare.rstrip("uUlL")
    if len(digits) > _LONGEST:
        return Unknown(text[:_LONGEST])
    try:
        if digits[:2].lower() in ("0x", "0b"):
            value = int(digits, 0)
        elif digits.isdecimal():
            is_octal = digits.startswith("0") and not set(digits) & {"8", "9"}
            value = int(digits, 8 if is_octal else 10)
        else:
            return Constant(float(bare.rstrip("fFlLuU")))
    except ValueError:
        return Unknown(text)
    return Constant(value) if value <= _LARGEST else Unknown(text)
