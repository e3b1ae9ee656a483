"""``cupy.cuda`` of the simulated devices."""

from __future__ import annotations

import time
from typing import Any

from _cudalint_frameworks.errors import not_simulated

from cupy import _device, _memory
from cupy._memory import (
    MemoryHook,
    MemoryPointer,
    MemoryPool,
    UnownedMemory,
    alloc,
    get_allocator,
    set_allocator,
)
from cupy.cuda import cublas, memory, memory_hook, memory_hooks, pinned_memory, runtime
from cupy.cuda.pinned_memory import (
    PinnedMemoryPool,
    alloc_pinned_memory,
    set_pinned_memory_allocator,
)

__all__ = [
    "Device", "Event", "ExternalStream", "MemoryHook", "MemoryPointer", "MemoryPool",
    "PinnedMemoryPool", "Stream", "UnownedMemory", "alloc", "alloc_pinned_memory", "cublas",
    "get_allocator", "get_current_stream", "get_elapsed_time", "is_available", "memory",
    "memory_hook", "memory_hooks", "pinned_memory", "runtime", "set_allocator",
    "set_pinned_memory_allocator",
]  # fmt: skip


class Device:
    """One of the devices."""

    def __init__(self, device: Any = None) -> None:
        self.id = _device.current if device is None else int(device)
        self._before: list[int] = []

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return int(self) == int(other) if isinstance(other, Device | int) else NotImplemented

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> None:
        """Make it the current one."""
        runtime.setDevice(self.id)

    def __enter__(self) -> Device:
        self._before.append(_device.current)
        self.use()
        return self

    def __exit__(self, *error: Any) -> None:
        runtime.setDevice(self._before.pop())

    def synchronize(self) -> None:
        """Wait: nothing runs."""
        runtime.deviceSynchronize()

    @property
    def mem_info(self) -> tuple[int, int]:
        """Free, and all."""
        return _device.CAPACITY - _device.memories[self.id].used, _device.CAPACITY

    @property
    def compute_capability(self) -> str:
        """``90``."""
        return "".join(map(str, _device.CAPABILITY))

    @property
    def attributes(self) -> Any:
        """What the device can do."""
        not_simulated("cupy.cuda.Device.attributes")


class Stream:
    """A stream: everything is done at once."""

    null: Any
    ptds: Any
    _last = 0

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False,
                 priority: Any = None) -> None:  # fmt: skip
        if not (null or ptds):
            Stream._last += 1
        self.ptr = 0 if null or ptds else Stream._last

    def __enter__(self) -> Any:
        _memory.streams.append(self.ptr)
        return self

    def __exit__(self, *error: Any) -> None:
        _memory.streams.pop()

    def use(self) -> Any:
        """Make it the current one."""
        _memory.streams[-1] = self.ptr
        return self

    def synchronize(self) -> None:
        """Wait: nothing runs."""

    def wait_event(self, event: Any) -> None:
        """Wait: it has happened."""

    def record(self, event: Any = None) -> Any:
        """Say when this was reached."""
        event = event or Event()
        event.record(self)
        return event

    @property
    def done(self) -> bool:
        """Whether all is done."""
        return True

    def launch_host_func(self, callback: Any, arg: Any) -> None:
        """Call a function of the host."""
        callback(arg)

    def add_callback(self, callback: Any, arg: Any) -> None:
        """Call a function of the host."""
        callback(self, 0, arg)


class ExternalStream(Stream):
    """A stream of somebody else."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        super().__init__(null=True)
        self.ptr = int(ptr)


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


class Event:
    """A point in a stream."""

    def __init__(self, block: bool = False, disable_timing: bool = False,
                 interprocess: bool = False) -> None:  # fmt: skip
        self.when = 0.0
        self.ptr = id(self)

    def record(self, stream: Any = None) -> None:
        """It is here."""
        self.when = time.perf_counter()

    def synchronize(self) -> None:
        """Wait: it has happened."""

    @property
    def done(self) -> bool:
        """Whether it has happened."""
        return True


def get_elapsed_time(start_event: Any, end_event: Any) -> float:
    """Milliseconds between two events, on the host."""
    return (end_event.when - start_event.when) * 1000


def get_current_stream(device_id: int = -1) -> Any:
    """The stream that work goes to."""
    return ExternalStream(_memory.streams[-1])


def is_available() -> bool:
    """Whether there is a device."""
    return True


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    not_simulated(f"cupy.cuda.{name}")
