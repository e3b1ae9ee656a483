"""Numba: its memory manager's allocations, and its copies."""

from __future__ import annotations

import functools
import weakref
from types import ModuleType
from typing import Any

from _cudalint_frameworks import recorder

_COPIES = {"host_to_device": 1, "device_to_host": 2, "device_to_device": 3}


def hook(driver: ModuleType) -> None:
    """Wrap what ``numba.cuda.cudadrv.driver`` allocates and copies with."""
    for name in ("NumbaCUDAMemoryManager", "HostOnlyCUDAMemoryManager"):
        manager = getattr(driver, name, None)
        for method, family in (("memalloc", "device"), ("memhostalloc", "pinned")):
            if manager is not None and method in vars(manager):
                setattr(manager, method, _allocating(getattr(manager, method), method, family))
    for name, direction in _COPIES.items():
        if hasattr(driver, name):
            setattr(driver, name, _copying(getattr(driver, name), name, direction))


def _allocating(method: Any, name: str, family: str) -> Any:
    @functools.wraps(method)
    def allocate(self: Any, *arguments: Any, **named: Any) -> Any:
        size = int(arguments[0] if arguments else named.get("size", named.get("bytesize", 0)))
        try:
            memory = method(self, *arguments, **named)
        except Exception:
            at = recorder.stack()
            recorder.write("call", at=at, api=f"numba {name}", family=family, bytes=size, status=2)
            raise
        try:
            address = _address(memory)
            recorder.acquired(family, address, size, f"numba {name}")
            gone = weakref.finalize(memory, recorder.released, family, address, size, "numba")
            gone.atexit = False
        except Exception as error:
            recorder.failed(f"numba {name}", error)
        return memory

    return allocate


def _address(memory: Any) -> int:
    for name in ("device_pointer_value", "device_pointer", "host_pointer"):
        value = getattr(memory, name, None)
        value = getattr(value, "value", value)
        if value is not None:
            return int(value)
    return id(memory)


def _copying(function: Any, name: str, direction: int) -> Any:
    @functools.wraps(function)
    def copy(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        size = arguments[2] if len(arguments) > 2 else named.get("size", 0)
        recorder.write(
            "copy", at=recorder.stack(), api=f"numba {name}", bytes=int(size), detail=direction
        )
        return result

    return copy


def live() -> int:
    """Bytes that Numba's arrays hold."""
    return recorder.live_bytes("device")
