"""Conversions of values: which of them are written, and what becomes of constants."""

from __future__ import annotations

from cudalint.program import Cast, Constant, Expression, Type

_NUMBERS = ("integer", "enumeration", "bool")


def fits(value: int, type_: Type) -> bool:
    """Whether an integer type holds the value."""
    if type_.bytes is None:
        return True
    bits = 8 * type_.bytes
    if type_.signed:
        return -(1 << (bits - 1)) <= value < 1 << (bits - 1)
    return 0 <= value < 1 << bits


def wrap(value: int, type_: Type) -> int:
    """The value as the integer type keeps it."""
    bits = 8 * (type_.bytes or 8)
    value &= (1 << bits) - 1
    return value - (1 << bits) if type_.signed and value >> (bits - 1) else value


def convert(value: Expression, source: Type, target: Type, explicit: bool) -> Expression:
    """The value converted; written only where it can change, or where the source says so."""
    if target.kind == "pointer":
        if isinstance(value, Constant) and value.value == 0 and value.value is not False:
            return Constant(None, value.text or "0")
        if source.kind == "integer" and explicit:
            return Cast(target, value)
        return value
    if target.kind == "integer":
        return _to_integer(value, source, target, explicit)
    if target.kind == "bool" and source.kind in ("integer", "pointer", "float", "enumeration"):
        if isinstance(value, Constant) and not isinstance(value.value, str):
            return Constant(bool(value.value), value.text)
        return Cast(target, value)
    if target.kind == "float" and explicit and source.kind in ("integer", "float"):
        return Cast(target, value)
    return value


def _to_integer(value: Expression, source: Type, target: Type, explicit: bool) -> Expression:
    if source.kind in _NUMBERS:
        if isinstance(value, Constant) and isinstance(value.value, int):
            if fits(value.value, target):
                return value
            if (target.bytes or 8) < (source.bytes or 8):
                return Cast(target, value)  # The value as written matters: it is cut off.
            return Constant(wrap(value.value, target), value.text)
        if source.bytes is None or target.bytes is None:
            return Cast(target, value) if explicit else value
        if target.bytes < source.bytes or (explicit and target.bytes != source.bytes):
            return Cast(target, value)
        if source.kind == "integer" and target.bytes == source.bytes:
            return Cast(target, value) if source.signed != target.signed else value
        return value
    if source.kind in ("float", "pointer", "array") or explicit:
        return Cast(target, value)
    return value
