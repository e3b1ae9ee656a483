"""PyCUDA: what its driver module allocates and copies."""

from __future__ import annotations

import functools
import weakref
from types import ModuleType
from typing import Any

from _cudalint_frameworks import recorder

_ALLOCATIONS = {"mem_alloc": "device", "mem_alloc_pitch": "device", "managed_empty": "managed"}
_COPIES = {
    "memcpy_htod": 1, "memcpy_htod_async": 1, "memcpy_dtoh": 2, "memcpy_dtoh_async": 2,
    "memcpy_dtod": 3, "memcpy_dtod_async": 3,
}  # fmt: skip


def hook(driver: ModuleType) -> None:
    """Wrap the functions of ``pycuda.driver``."""
    for name, family in _ALLOCATIONS.items():
        if hasattr(driver, name):
            setattr(driver, name, _allocating(getattr(driver, name), name, family))
    for name, direction in _COPIES.items():
        if hasattr(driver, name):
            setattr(driver, name, _copying(getattr(driver, name), name, direction))


def _allocating(function: Any, name: str, family: str) -> Any:
    @functools.wraps(function)
    def allocate(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        try:
            memory = result[0] if isinstance(result, tuple) else result
            size = int(arguments[0]) if len(arguments) == 1 else int(getattr(memory, "nbytes", 0))
            address = int(memory) if hasattr(memory, "__int__") else id(memory)
            recorder.acquired(family, address, size, f"pycuda {name}")
            gone = weakref.finalize(memory, recorder.released, family, address, size, "pycuda")
            gone.atexit = False
        except Exception as error:
            recorder.failed(f"pycuda {name}", error)
        return result

    return allocate


def _copying(function: Any, name: str, direction: int) -> Any:
    @functools.wraps(function)
    def copy(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        sizes = [getattr(one, "nbytes", 0) for one in arguments[:2]]
        size = arguments[2] if direction == 3 and len(arguments) > 2 else max(sizes, default=0)
        recorder.write(
            "copy", at=recorder.stack(), api=f"pycuda {name}", bytes=int(size), detail=direction
        )
        return result

    return copy


def live() -> int:
    """Bytes that PyCUDA's allocations hold."""
    return recorder.live_bytes("device")
