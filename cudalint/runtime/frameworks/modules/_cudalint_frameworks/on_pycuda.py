"""PyCUDA: what its driver module allocates and copies."""

from __future__ import annotations

import functools
import weakref
from types import ModuleType
from typing import Any

from _cudalint_frameworks import recorder

_DEVICE = ("mem_alloc", "mem_alloc_pitch")
_MANAGED = ("managed_empty", "managed_empty_like", "managed_zeros", "managed_zeros_like")
_COPIES = {
    "memcpy_htod": 1, "memcpy_htod_async": 1, "memcpy_dtoh": 2, "memcpy_dtoh_async": 2,
    "memcpy_dtod": 3, "memcpy_dtod_async": 3,
}  # fmt: skip

_ends: dict[int, Any] = {}
"""What is called at the end of each allocation, by address, once."""


def hook(driver: ModuleType) -> None:
    """Wrap the functions of ``pycuda.driver``."""
    for names, told in ((_DEVICE, _device), (_MANAGED, _managed)):
        for name in names:
            if hasattr(driver, name):
                setattr(driver, name, _allocating(getattr(driver, name), name, told))
    for name, direction in _COPIES.items():
        if hasattr(driver, name):
            setattr(driver, name, _copying(getattr(driver, name), name, direction))
    allocation = getattr(driver, "DeviceAllocation", None)
    if allocation is not None:
        allocation.free = _freeing(allocation.free)


def _device(result: Any, arguments: tuple[Any, ...]) -> tuple[str, Any, int, int]:
    """Family, owner, address and bytes of what ``mem_alloc`` or ``mem_alloc_pitch`` gave."""
    if isinstance(result, tuple):
        memory, pitch = result
        return "device", memory, int(memory), int(pitch) * int(arguments[1])
    return "device", result, int(result), int(arguments[0])


def _managed(result: Any, arguments: tuple[Any, ...]) -> tuple[str, Any, int, int]:
    """The same of a NumPy array over managed memory, which the innermost base owns."""
    owner = result
    while getattr(owner, "base", None) is not None:
        owner = owner.base
    return "managed", owner, int(result.ctypes.data), int(result.nbytes)


def _allocating(function: Any, name: str, told: Any) -> Any:
    @functools.wraps(function)
    def allocate(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        try:
            family, owner, address, size = told(result, (*arguments, *named.values()))
            if address not in _ends:  # zeros are made by empty
                recorder.acquired(family, address, size, f"pycuda {name}")
                gone = weakref.finalize(owner, _released, family, address, size)
                gone.atexit = False
                _ends[address] = gone
        except Exception as error:
            recorder.failed(f"pycuda {name}", error)
        return result

    return allocate


def _released(family: str, address: int, size: int) -> None:
    _ends.pop(address, None)
    recorder.released(family, address, size, "pycuda")


def _freeing(function: Any) -> Any:
    @functools.wraps(function)
    def free(memory: Any) -> Any:
        end = _ends.get(int(memory))
        result = function(memory)
        if end is not None:
            end()
        return result

    return free


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
