"""Element types of arrays, by the names that Python's libraries give them."""

from __future__ import annotations

from cudalint.program.expressions import Constant, Expression, FunctionReference

_ITEM_BYTES = {
    "bool": 1, "bool_": 1, "boolean": 1, "int8": 1, "uint8": 1, "byte": 1, "char": 1, "i1": 1,
    "u1": 1, "b1": 1,
    "int16": 2, "uint16": 2, "float16": 2, "half": 2, "bfloat16": 2, "i2": 2, "u2": 2, "f2": 2,
    "int32": 4, "uint32": 4, "float32": 4, "single": 4, "intc": 4, "uintc": 4, "i4": 4, "u4": 4,
    "f4": 4, "float_": 8,
    "int64": 8, "uint64": 8, "float64": 8, "double": 8, "complex64": 8, "intp": 8, "uintp": 8,
    "i8": 8, "u8": 8, "f8": 8, "c8": 8, "int_": 8, "uint": 8, "int": 8, "float": 8,
    "complex128": 16, "c16": 16, "complex": 16,
}  # fmt: skip


def item_bytes(dtype: Expression | None) -> int | None:
    """Bytes per element of a dtype: ``numpy.float32``, ``numba.types.f4``, ``"float32"``."""
    if isinstance(dtype, FunctionReference):
        return _ITEM_BYTES.get(dtype.name.rpartition(".")[2])
    if isinstance(dtype, Constant) and isinstance(dtype.value, str):
        return _ITEM_BYTES.get(dtype.value.lstrip("<>=|"))
    return None
