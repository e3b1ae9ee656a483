"""The operators of arrays, by NumPy's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

_BINARY = {
    "add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "truediv": numpy.true_divide,
    "floordiv": numpy.floor_divide, "mod": numpy.remainder, "pow": numpy.power,
    "and": numpy.bitwise_and, "or": numpy.bitwise_or, "xor": numpy.bitwise_xor,
    "lshift": numpy.left_shift, "rshift": numpy.right_shift,
}  # fmt: skip
_COMPARED = {
    "lt": numpy.less, "le": numpy.less_equal, "gt": numpy.greater, "ge": numpy.greater_equal,
    "eq": numpy.equal, "ne": numpy.not_equal,
}  # fmt: skip
_UNARY = {
    "neg": numpy.negative, "pos": numpy.positive, "abs": numpy.absolute, "invert": numpy.invert,
}  # fmt: skip
_Apply = Callable[[str, Any, tuple[Any, ...], dict[str, Any]], Any]


def install(kind: Any, apply: _Apply) -> None:
    """Give a class of arrays its operators; ``apply`` calls NumPy with such arrays."""

    def operator(name: str, function: Any, *, turned: bool = False, within: bool = False) -> None:
        def operate(self: Any, other: Any = None) -> Any:
            if isinstance(other, list | tuple | str) or (other is None and function.nin == 2):
                return NotImplemented
            given = (self,) if function.nin == 1 else (other, self) if turned else (self, other)
            return apply(function.__name__, function, given, {"out": self} if within else {})

        operate.__name__ = name
        setattr(kind, f"__{name}__", operate)

    def multiply(self: Any, other: Any) -> Any:
        return apply("matmul", numpy.dot if self.ndim == 1 else _product, (self, other), {})

    for name, function in _BINARY.items():
        operator(name, function)
        operator(f"r{name}", function, turned=True)
        operator(f"i{name}", function, within=True)
    for name, function in (_COMPARED | _UNARY).items():
        operator(name, function)
    kind.__matmul__ = multiply
    kind.__hash__ = None


def _product(left: Any, right: Any) -> Any:
    return numpy.matmul(left, right)
