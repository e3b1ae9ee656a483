"""CuPy's memory pool, by the rules of ``cupy/cuda/memory.pyx``.

Sizes are rounded to 512 bytes (``_round_size``). Each stream has an arena: free chunks in a list
for each size, the smallest that fits is taken and split where at least one unit is left
(``SingleDeviceMemoryPool._malloc``), neighbours that are free are joined (``_Chunk``,
``SingleDeviceMemoryPool.free``). Where the device has not enough, all free blocks go back, then
garbage is collected, and then ``OutOfMemoryError`` is raised.
"""

from __future__ import annotations

import gc
import threading
from typing import Any

from _cudalint_frameworks.blocks import Block

from cupy import _device

UNIT = 512


class OutOfMemoryError(MemoryError):
    """The pool got no memory."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        text = f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes"
        super().__init__(text + (f", limit set to: {limit:,} bytes)." if limit else ")."))


class MemoryHook:
    """What is told of allocations, in the thread that entered it."""

    name = "MemoryHook"

    def __enter__(self) -> Any:
        _hooks().append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        _hooks().remove(self)

    def alloc_preprocess(self, **given: Any) -> None:
        """Before the device is asked."""

    def alloc_postprocess(self, **given: Any) -> None:
        """After it gave."""

    def malloc_preprocess(self, **given: Any) -> None:
        """Before the pool is asked."""

    def malloc_postprocess(self, **given: Any) -> None:
        """After it gave."""

    def free_preprocess(self, **given: Any) -> None:
        """Before the pool takes back."""

    def free_postprocess(self, **given: Any) -> None:
        """After it took back."""


_local = threading.local()


def _hooks() -> list[Any]:
    if not hasattr(_local, "hooks"):
        _local.hooks = []
    return _local.hooks


def _tell(event: str, **values: Any) -> None:
    for hook in list(_hooks()):
        getattr(hook, event)(**values)


class _Block:
    """What the pool handed out; goes back when nothing holds it any longer."""

    def __init__(self, pool: Any, chunk: Block, size: int) -> None:
        self.pool, self.chunk, self.size, self.ptr = pool, chunk, size, chunk.address
        self.device_id = pool.device

    def free(self) -> None:
        """Give it back."""
        if self.chunk is not None:
            chunk, self.chunk = self.chunk, None  # type: ignore[assignment]
            _device.forget(self.ptr)
            self.pool.free(chunk, id(self))

    def __del__(self) -> None:
        self.free()


class _DevicePool:
    """The pool of one device."""

    def __init__(self, device: int) -> None:
        self.device = device
        self.memory = _device.memories[device]
        self.used = self.total = self.limit = 0
        self._arenas: dict[int, dict[int, list[Block]]] = {}
        self._lock = threading.RLock()

    def malloc(self, size: int, stream: int) -> _Block:
        """``OutOfMemoryError`` where there is none."""
        rounded = -(-size // UNIT) * UNIT
        told = {"device_id": self.device, "size": size, "mem_size": rounded}
        _tell("malloc_preprocess", **told)
        chunk = None
        try:
            chunk = self._chunk(rounded, size, stream)
            block = _Block(self, chunk, size)
        finally:
            pointer = chunk.address if chunk is not None else 0
            _tell("malloc_postprocess", **told, mem_ptr=pointer, pmem_id=pointer)
        return block

    def _chunk(self, size: int, asked: int, stream: int) -> Block:
        with self._lock:
            arena = self._arenas.setdefault(stream, {})
            fitting = min((one for one, found in arena.items() if found and one >= size), default=0)
            if fitting:
                chunk = arena[fitting].pop()
                chunk.free = False
                if chunk.size - size >= UNIT:
                    self._put(chunk.split(size))
            else:
                address = self._segment(size, asked)
                chunk = Block(address, size, stream)
            self.used += chunk.size
            return chunk

    def _segment(self, size: int, asked: int) -> int:
        for attempt in range(3):
            if attempt == 1:
                self.free_all_blocks()
            elif attempt == 2:
                gc.collect()
                self.free_all_blocks()
            if self.limit and self.total + size > self.limit:
                continue
            _tell("alloc_preprocess", device_id=self.device, mem_size=size)
            address = self.memory.take(size)
            _tell("alloc_postprocess", device_id=self.device, mem_size=size, mem_ptr=address)
            if address:
                self.total += size
                return address
        raise OutOfMemoryError(asked, self.total, self.limit)

    def free(self, chunk: Block, block: int) -> None:
        """Take a chunk back."""
        told = {
            "device_id": self.device, "mem_size": chunk.size, "mem_ptr": chunk.address,
            "pmem_id": block,
        }  # fmt: skip
        _tell("free_preprocess", **told)
        with self._lock:
            self.used -= chunk.size
            for other in (chunk.after, chunk.before):
                if other is not None and other.free:
                    self._remove(other)
                    chunk = chunk.joined(other)
            self._put(chunk)
        _tell("free_postprocess", **told)

    def _put(self, chunk: Block) -> None:
        chunk.free = True
        self._arenas.setdefault(chunk.stream, {}).setdefault(chunk.size, []).append(chunk)

    def _remove(self, chunk: Block) -> None:
        chunk.free = False
        self._arenas[chunk.stream][chunk.size].remove(chunk)

    def free_all_blocks(self, stream: int | None = None) -> None:
        """Give back what is free and whole."""
        with self._lock:
            for number, arena in self._arenas.items():
                for size, found in arena.items() if stream in (None, number) else ():
                    whole = [one for one in found if one.whole]
                    for one in whole:
                        found.remove(one)
                        self.memory.give_back(one.address)
                    self.total -= size * len(whole)

    def chunks(self) -> int:
        """How many are free."""
        return sum(len(found) for arena in self._arenas.values() for found in arena.values())


class MemoryPointer:
    """An address in a block."""

    def __init__(self, mem: Any, offset: int) -> None:
        self.mem, self._offset = mem, offset
        self.ptr = int(mem.ptr) + offset
        self.device_id = getattr(mem, "device_id", 0)

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset + offset)


class UnownedMemory:
    """Memory that CuPy is not to release."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        self.ptr, self.size, self._owner, self.device_id = ptr, size, owner, max(0, device_id)


class MemoryPool:
    """A pool for each device."""

    def __init__(self, allocator: Any = None) -> None:
        self._pools = [_DevicePool(number) for number in range(_device.COUNT)]

    @property
    def _now(self) -> _DevicePool:
        return self._pools[_device.current]

    def malloc(self, size: int) -> MemoryPointer:
        """A block of the current device."""
        return MemoryPointer(self._now.malloc(int(size), streams[-1]), 0)

    def free_all_blocks(self, stream: Any = None) -> None:
        """Give back what nothing uses."""
        self._now.free_all_blocks(None if stream is None else stream.ptr)

    def free_all_free(self) -> None:
        """Its former name."""
        self.free_all_blocks()

    def n_free_blocks(self) -> int:
        """How many are free."""
        return self._now.chunks()

    def used_bytes(self) -> int:
        """Of arrays."""
        return self._now.used

    def free_bytes(self) -> int:
        """Kept, and used by nothing."""
        return self._now.total - self._now.used

    def total_bytes(self) -> int:
        """Taken from the device."""
        return self._now.total

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """How much it may take; 0: all there is."""
        if fraction is not None:
            size = int(fraction * _device.CAPACITY)
        self._now.limit = int(size or 0)

    def get_limit(self) -> int:
        """How much it may take."""
        return self._now.limit


streams = [0]
"""The current stream is the last one."""
default_pool = MemoryPool()
_allocator: Any = default_pool.malloc


def set_allocator(allocator: Any = None) -> None:
    """What arrays get their memory from; ``None``: from the device, without a pool."""
    global _allocator
    _allocator = _unpooled if allocator is None else allocator


def get_allocator() -> Any:
    """What arrays get their memory from."""
    return _allocator


def _unpooled(size: int) -> MemoryPointer:
    """A block that goes back to the device at once."""
    pool = MemoryPool()
    block = pool.malloc(size)
    release = block.mem.free

    def free() -> None:
        release()
        pool._now.free_all_blocks()

    block.mem.free = free
    return block


def alloc(size: int) -> MemoryPointer:
    """From what ``set_allocator`` named."""
    return _allocator(size)
