"""The sizes of array elements."""

from __future__ import annotations

from cudalint.analysis.values.values import Array, FunctionValue, Value, constant

ITEM_BYTES = {
    "bool": 1, "bool_": 1, "int8": 1, "uint8": 1, "byte": 1, "ubyte": 1, "char": 1,
    "float8_e4m3fn": 1, "float8_e5m2": 1,
    "int16": 2, "uint16": 2, "short": 2, "float16": 2, "half": 2, "bfloat16": 2,
    "int32": 4, "uint32": 4, "intc": 4, "float32": 4, "single": 4,
    "int64": 8, "uint64": 8, "long": 8, "intp": 8, "uintp": 8, "float64": 8, "double": 8,
    "complex64": 8, "cfloat": 8, "complex128": 16, "cdouble": 16,
}  # fmt: skip
"""Bytes of one element, by the names that NumPy, CuPy, PyTorch and JAX give to element types."""

_PLAIN = {"float": 8, "int": 8, "complex": 16}
_TORCH_PLAIN = {"float": 4, "int": 4}
_CODES = {"f": 4, "d": 8, "e": 2, "i": 4, "b": 1, "B": 1, "h": 2, "H": 2, "I": 4, "l": 8, "L": 8,
          "q": 8, "Q": 8, "?": 1, "F": 8, "D": 16}  # fmt: skip


def item_bytes(value: Value | None) -> int | None:
    """Bytes of one element of an element type, however it is written."""
    if isinstance(value, Array):
        return value.item_bytes
    name = value.name if isinstance(value, FunctionValue) else constant(value)
    if not isinstance(name, str):
        return None
    module, _, last = name.rpartition(".")
    if last in ITEM_BYTES:
        return ITEM_BYTES[last]
    if module.startswith("torch") and last in _TORCH_PLAIN:
        return _TORCH_PLAIN[last]
    if last in _PLAIN:
        return _PLAIN[last]
    code = name.lstrip("<>=|")
    if len(code) > 1 and code[0] in "fiuc" and code[1:].isdigit():
        return int(code[1:])
    return _CODES.get(code)
