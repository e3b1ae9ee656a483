"""``cupy.cuda.memory_hook``."""

from cupy._memory import MemoryHook

__all__ = ["MemoryHook"]
