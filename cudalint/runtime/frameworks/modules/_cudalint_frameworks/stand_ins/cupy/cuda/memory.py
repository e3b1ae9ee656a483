"""``cupy.cuda.memory``."""

from cupy._memory import (
    MemoryPointer,
    MemoryPool,
    OutOfMemoryError,
    UnownedMemory,
    alloc,
    get_allocator,
    set_allocator,
)

__all__ = [
    "MemoryPointer", "MemoryPool", "OutOfMemoryError", "UnownedMemory", "alloc", "get_allocator",
    "set_allocator",
]  # fmt: skip
