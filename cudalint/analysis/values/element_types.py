"""The element types of arrays, by the names that NumPy, CuPy, PyTorch and JAX give them."""

from __future__ import annotations

from cudalint.analysis.values.values import Array, FunctionValue, Value, constant

ITEM_BYTES = {
    "bool": 1, "int8": 1, "uint8": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2,
    "int32": 4, "uint32": 4, "float32": 4,
    "int64": 8, "uint64": 8, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""Bytes of one element."""

_CANONICAL = {
    "bool_": "bool", "byte": "int8", "ubyte": "uint8", "char": "int8", "short": "int16",
    "half": "float16", "intc": "int32", "single": "float32", "long": "int64", "intp": "int64",
    "uintp": "uint64", "double": "float64", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip
_PLAIN = {"float": "float64", "int": "int64", "complex": "complex128"}
_TORCH_PLAIN = {"float": "float32", "int": "int32"}
_CODES = {"f": "float32", "d": "float64", "e": "float16", "i": "int32", "q": "int64", "l": "int64",
          "b": "int8", "B": "uint8", "?": "bool", "h": "int16", "F": "complex64", "Q": "uint64",
          "D": "complex128", "I": "uint32", "L": "uint64", "H": "uint16"}  # fmt: skip
_LETTERS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"}


def dtype_of(name: str) -> str | None:
    """The element type that a name means: ``torch.half``, ``numpy.float32``, ``"f4"``, ``int``."""
    module, _, last = name.rpartition(".")
    plain = _TORCH_PLAIN if module.startswith("torch") else _PLAIN
    last = plain.get(last) or _CANONICAL.get(last, last)
    if last in ITEM_BYTES:
        return last
    code = name.lstrip("<>=|")
    if code[1:].isdigit() and code[0] in _LETTERS:
        spelled = f"{_LETTERS[code[0]]}{8 * int(code[1:])}"
        return spelled if spelled in ITEM_BYTES else None
    return _CODES.get(code)


def item_bytes(value: Value | None) -> int | None:
    """Bytes of one element of an element type, however it is written."""
    if isinstance(value, Array):
        return value.item_bytes
    name = value.name if isinstance(value, FunctionValue) else constant(value)
    return ITEM_BYTES.get(dtype_of(name) or "") if isinstance(name, str) else None
