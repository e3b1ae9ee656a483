"""``cupy.cuda.pinned_memory``: memory of the host, counted."""

from __future__ import annotations

from typing import Any

import numpy
from _cudalint_frameworks import recorder


class PinnedMemory:
    """Host memory that gives its buffer."""

    def __init__(self, size: int) -> None:
        self._array = numpy.zeros(max(1, size), numpy.uint8)
        self.ptr, self.size = self._array.ctypes.data, size
        recorder.acquired("pinned", self.ptr, size, "cupy.cuda.alloc_pinned_memory")

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self._array)

    def __del__(self) -> None:
        recorder.released("pinned", self.ptr, self.size, "cupy.cuda.alloc_pinned_memory")


class PinnedMemoryPool:
    """A pool of it. What is free goes back at once."""

    def malloc(self, size: int) -> Any:
        """A block, as NumPy takes it (``numpy.frombuffer``)."""
        return _Buffer(PinnedMemory(int(size)))

    def free_all_blocks(self) -> None:
        """Nothing is kept."""

    def n_free_blocks(self) -> int:
        """None is kept."""
        return 0


class _Buffer(numpy.ndarray):  # type: ignore[type-arg]
    """Pinned memory with a buffer in every Python."""

    def __new__(cls, memory: PinnedMemory) -> Any:
        found = memory._array.view(cls)
        found.mem, found.ptr = memory, memory.ptr
        return found

    def __array_finalize__(self, other: Any) -> None:
        self.mem = getattr(other, "mem", None)
        self.ptr = getattr(other, "ptr", 0)


default_pool = PinnedMemoryPool()
_allocator: Any = default_pool.malloc


def set_pinned_memory_allocator(allocator: Any = None) -> None:
    """What pinned memory comes from."""
    global _allocator
    _allocator = allocator or default_pool.malloc


def alloc_pinned_memory(size: int) -> Any:
    """From what was set."""
    return _allocator(size)
