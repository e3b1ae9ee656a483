"""Functions of NumPy that CuPy has, on arrays of the device."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy
from _cudalint_frameworks import recorder
from _cudalint_frameworks.errors import not_simulated

from cupy import _device
from cupy._arrays import apply, bytes_of, filled, made, ndarray

_DATA = (type, int, float, bool, type(None))


def named(module: ModuleType, prefix: str, name: str) -> Any:
    """What CuPy calls as NumPy does; what there is none of says so."""
    if name.startswith("__"):
        raise AttributeError(f"module 'cupy' has no attribute '{name}'")
    found = getattr(module, name, None)
    if found is None and not (module is numpy and name == "newaxis"):
        not_simulated(f"{prefix}.{name}")
    if isinstance(found, _DATA):
        return found
    if isinstance(found, ModuleType) or not callable(found) or name in _HOST_ONLY:
        not_simulated(f"{prefix}.{name}")
    return _Function(found, f"{prefix}.{name}".removeprefix("cupy."))


_HOST_ONLY = frozenset(
    {"loadtxt", "genfromtxt", "fromfile", "frombuffer", "fromiter", "fromregex", "memmap",
     "vectorize", "savetxt", "nditer", "fromstring", "matrix", "poly1d"}
)  # fmt: skip


class _Function:
    """A function of the device."""

    def __init__(self, function: Any, name: str) -> None:
        self._function, self.__name__ = function, name

    def __call__(self, *given: Any, **named: Any) -> Any:
        return apply(self.__name__, self._function, given, named)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._function, name)
        return _Function(found, f"{self.__name__}.{name}") if callable(found) else found


# Making -------------------------------------------------------------------------------------------


def empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    """Uninitialised memory; here, zeros."""
    return filled(shape, dtype, None)


def zeros(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    """Zeros."""
    return filled(shape, dtype, None)


def ones(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    """Ones."""
    return filled(shape, dtype, 1)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> ndarray:
    """One value."""
    value = fill_value.item() if isinstance(fill_value, ndarray) else fill_value
    return filled(shape, numpy.asarray(value).dtype if dtype is None else dtype, value)


def _like(make: Any) -> Any:
    def like(a: Any, dtype: Any = None, order: str = "K", subok: Any = None,
             shape: Any = None) -> ndarray:  # fmt: skip
        return make(a.shape if shape is None else shape, a.dtype if dtype is None else dtype)

    return like


empty_like, zeros_like, ones_like = _like(empty), _like(zeros), _like(ones)


def full_like(a: Any, fill_value: Any, dtype: Any = None, **others: Any) -> ndarray:
    """One value, in the shape of another array."""
    return full(others.get("shape") or a.shape, fill_value, a.dtype if dtype is None else dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> ndarray:
    """Numbers one after another."""
    if stop is None:
        start, stop = 0, start
    kind = numpy.dtype(dtype) if dtype is not None else numpy.result_type(start, stop, step)
    count = max(0, int(numpy.ceil((stop - start) / step)))
    if count * kind.itemsize > _device.HOLLOW:
        return filled((count,), kind, start)
    return made(numpy.arange(start, stop, step, kind))


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
             dtype: Any = None, axis: int = 0) -> Any:  # fmt: skip
    """Numbers at equal distances."""
    kind = numpy.dtype(float if dtype is None else dtype)
    if num * kind.itemsize > _device.HOLLOW:
        return filled((num,), kind, start)
    return apply("linspace", numpy.linspace, (start, stop, num, endpoint, retstep, dtype, axis), {})


def array(obj: Any, dtype: Any = None, copy: bool = True, order: str = "K", subok: bool = False,
          ndmin: int = 0, *, blocking: bool = False) -> ndarray:  # fmt: skip
    """A copy on the device."""
    if isinstance(obj, ndarray):
        return obj.copy() if copy or dtype is None else obj.astype(dtype, copy=False)
    if isinstance(obj, list | tuple) and _on_device(obj):
        return apply("array", numpy.array, (obj,), {"dtype": dtype})
    if hasattr(obj, "__cuda_array_interface__"):
        not_simulated("cupy.array of another library's array")
    host = numpy.asarray(obj, dtype=dtype)
    host = host.reshape((1,) * max(0, ndmin - host.ndim) + host.shape)
    size = bytes_of(host.shape, host.dtype)
    if size > _device.HOLLOW:
        found = filled(host.shape, host.dtype, host.flat[0])
    else:
        found = made(numpy.array(host))
    recorder.write("copy", at=recorder.stack(), api="cupy.array", bytes=size, detail=1)
    return found


def _on_device(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_on_device, value))
    return isinstance(value, ndarray)


def asarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> ndarray:
    """The same, on the device."""
    if isinstance(a, ndarray):
        return a if dtype is None or numpy.dtype(dtype) == a.dtype else a.astype(dtype)
    return array(a, dtype)


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """The same, in one piece."""
    found = asarray(a, dtype)
    return found if found.flags.c_contiguous else found.copy()


asanyarray = asarray


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *,
            blocking: bool = True) -> Any:  # fmt: skip
    """The same, on the host."""
    return a.get(stream, order, out) if isinstance(a, ndarray) else numpy.asarray(a)


def copy(a: Any, order: str = "K") -> ndarray:
    """Another of the same contents."""
    return asarray(a).copy()


def load(file: Any, *given: Any, **named: Any) -> Any:
    """From a file."""
    return array(numpy.load(file, *given, **named))


def save(file: Any, arr: Any, *given: Any, **named: Any) -> None:
    """To a file."""
    numpy.save(file, asnumpy(arr), *given, **named)


def get_array_module(*given: Any) -> Any:
    """CuPy, where any of these is on the device."""
    import cupy

    return cupy if any(isinstance(one, ndarray) for one in given) else numpy


def squeeze(a: ndarray, axis: Any = None) -> Any:
    """Without sides of one."""
    return apply("squeeze", numpy.squeeze, (a,), {"axis": axis})
