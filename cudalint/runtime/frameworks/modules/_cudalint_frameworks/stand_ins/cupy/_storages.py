"""The memory of arrays: counted by the pool, and hollow where it is large."""

from __future__ import annotations

import weakref
from typing import Any

import numpy
from _cudalint_frameworks import parts, recorder
from _cudalint_frameworks.errors import PREFIX

from cupy import _device, _memory

_STORAGES: weakref.WeakSet[Any] = weakref.WeakSet()
_hollow = False


class Storage:
    """The memory of an array and of its views."""

    def __init__(self, size: int, pointer: Any = None) -> None:
        self.pointer = _memory.alloc(size) if pointer is None else pointer
        self.size = size
        self.root: Any = None
        self.use = parts.Use(self.pointer.ptr)
        _STORAGES.add(self)

    def hold(self, root: Any) -> None:
        """NumPy's array of all of it."""
        self.root = root
        if self.size and _device.holds(self.pointer.ptr):
            hollow = root is None or 0 in root.strides
            _device.place(self.pointer.ptr, self.size, None if hollow else root)

    def __del__(self) -> None:
        if hasattr(self, "use"):
            self.use.tell()


def tell_all() -> None:
    """How what still lives was used."""
    for storage in list(_STORAGES):
        storage.use.tell()


def root_of(array: Any) -> Any:
    """The array that owns the memory of a view."""
    while isinstance(array.base, numpy.ndarray):
        array = array.base
    return array


def is_hollow(array: Any) -> bool:
    """Whether one element stands for all."""
    return 0 in array.strides and array.size > 1


def hollow(shape: Any, dtype: Any, value: Any = 0) -> Any:
    """An array with a size, and one element."""
    global _hollow
    _hollow = True
    cell = numpy.empty(1, dtype)
    cell[0] = value
    return numpy.lib.stride_tricks.as_strided(cell, shape, (0,) * len(shape))


def bytes_of(shape: Any, dtype: Any) -> int:
    """What an array takes."""
    count = 1
    for side in shape:
        count *= int(side)
    return count * numpy.dtype(dtype).itemsize


def on_host(array: Any) -> Any:
    """The contents, for the host."""
    if _hollow:
        recorder.note(f"{PREFIX}the contents of arrays above {_device.HOLLOW:,} bytes")
    if is_hollow(array) and bytes_of(array.shape, array.dtype) > _device.HOLLOW:
        return numpy.zeros(array.shape, array.dtype)
    return array.copy()


def corner_of(value: Any) -> Any:
    """One element, with as many sides."""
    return value[(slice(0, 1),) * value.ndim] if isinstance(value, numpy.ndarray) else value
