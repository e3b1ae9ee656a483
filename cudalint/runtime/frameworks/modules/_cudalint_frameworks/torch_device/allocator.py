"""The rules of PyTorch's caching allocator (``c10/cuda/CUDACachingAllocator.cpp``).

Sizes are rounded to 512 bytes. Up to 1 MiB they are cut from segments of 2 MiB; below 10 MiB from
segments of 20 MiB; above, a segment of their own is rounded to 2 MiB. The best fitting free block
of the same stream is taken, and split where enough is left. Free neighbours become one block. What
does not fit is tried again after the cache has been given back.
"""

from __future__ import annotations

import bisect
import os
import time
from typing import Any

from _cudalint_frameworks.blocks import Block

_MIB = 1024**2
_LEAST_BLOCK = 512
_SMALL = _MIB
_SMALL_SEGMENT = 2 * _MIB
_LARGE_SEGMENT = 20 * _MIB
_LEAST_OWN_SEGMENT = 10 * _MIB
_ROUND_OWN = 2 * _MIB
_FIRST_ADDRESS = 0x7F0000000000
_MOST_ENTRIES = 400_000
_POOLS = ("small_pool", "large_pool")
_STATISTICS = (
    "allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes",
    "active_bytes", "inactive_split_bytes", "requested_bytes",
)  # fmt: skip


class OutOfDeviceMemoryError(Exception):
    """The device has no room; the text is what PyTorch says."""


class _Count:
    __slots__ = ("allocated", "current", "freed", "peak")

    def __init__(self) -> None:
        self.current = self.peak = self.allocated = self.freed = 0

    def add(self, amount: int) -> None:
        self.current += amount
        self.peak = max(self.peak, self.current)
        if amount > 0:
            self.allocated += amount
        else:
            self.freed -= amount


def rounded(size: int) -> int:
    """How much a block for so many bytes takes."""
    return max(_LEAST_BLOCK, -(-size // _LEAST_BLOCK) * _LEAST_BLOCK)


def segment_size(size: int) -> int:
    """How much is asked of CUDA for a block."""
    if size <= _SMALL:
        return _SMALL_SEGMENT
    if size < _LEAST_OWN_SEGMENT:
        return _LARGE_SEGMENT
    return -(-size // _ROUND_OWN) * _ROUND_OWN


class Allocator:
    """The memory of one device."""

    def __init__(self, device: int, capacity: int) -> None:
        self.device, self.capacity = device, capacity
        self._next = _FIRST_ADDRESS + device * (1 << 42)
        self._free: dict[tuple[str, int], list[tuple[int, int, Block]]] = {}
        self._segments: dict[int, Block] = {}
        self._counts = {name: {pool: _Count() for pool in ("all", *_POOLS)} for name in _STATISTICS}
        self.retries = self.failures = 0
        self.fraction = 1.0
        self.history: list[dict[str, Any]] | None = None
        """What happened, as ``_snapshot`` tells it; ``None`` where nobody asked."""
        self.frames: Any = list
        """Gives the stack of the program."""

    @property
    def reserved(self) -> int:
        """Bytes of all segments."""
        return self._counts["reserved_bytes"]["all"].current

    @property
    def allocated(self) -> int:
        """Bytes of all blocks in use."""
        return self._counts["allocated_bytes"]["all"].current

    @property
    def free(self) -> int:
        """Bytes that CUDA could still give."""
        return self.capacity - self.reserved

    def allocate(self, size: int, stream: int = 0) -> Block:
        """A block; ``OutOfDeviceMemoryError`` where there is no room."""
        wanted = rounded(size)
        pool = _POOLS[wanted > _SMALL]
        block = self._found(wanted, pool, stream) or self._segment(wanted, pool, stream)
        if block is None:
            self.retries += 1
            self.empty()
            block = self._segment(wanted, pool, stream)
        if block is None:
            self.failures += 1
            self._tell("oom", 0, size, device_free=self.free)
            raise OutOfDeviceMemoryError(self._refusal(size))
        left = block.size - wanted
        if (left >= _LEAST_BLOCK and pool == "small_pool") or left > _SMALL:
            self._keep(block.split(wanted))
        block.free, block.requested = False, size
        self._count(block, 1)
        self._tell("alloc", block.address, size)
        return block

    def release(self, block: Block) -> None:
        """The block is free again."""
        self._tell("free_requested", block.address, block.requested)
        self._tell("free_completed", block.address, block.requested)
        self._count(block, -1)
        block.free = True
        for other in (block.before, block.after):
            if other is not None and other.free:
                self._take(other)
                block = block.joined(other)
        self._keep(block)

    def empty(self) -> int:
        """Give back the segments that nothing is in; how many bytes these are."""
        given = 0
        for kept in list(self._free.values()):
            for _, _, block in [one for one in kept if one[2].whole]:
                self._take(block)
                del self._segments[block.address]
                self._count_segment(block, -1)
                self._tell("segment_free", block.address, block.size)
                given += block.size
        return given

    # Blocks -------------------------------------------------------------------------------------

    def _found(self, wanted: int, pool: str, stream: int) -> Block | None:
        kept = self._free.get((pool, stream), [])
        at = bisect.bisect_left(kept, (wanted, 0), key=lambda one: one[:2])
        if at == len(kept):
            return None
        block = kept[at][2]
        self._take(block)
        return block

    def _segment(self, wanted: int, pool: str, stream: int) -> Block | None:
        size = segment_size(wanted)
        if self.reserved + size > self.capacity * self.fraction:
            return None
        block = Block(self._next, size, stream, pool)
        self._next += -(-size // _ROUND_OWN) * _ROUND_OWN
        self._segments[block.address] = block
        self._count_segment(block, 1)
        self._tell("segment_alloc", block.address, size)
        return block

    def _keep(self, block: Block) -> None:
        block.free = True
        kept = self._free.setdefault((block.pool, block.stream), [])
        bisect.insort(kept, (block.size, block.address, block), key=lambda one: one[:2])
        self._count_split(block, 1)

    def _take(self, block: Block) -> None:
        kept = self._free[block.pool, block.stream]
        key = (block.size, block.address)
        del kept[bisect.bisect_left(kept, key, key=lambda one: one[:2])]
        self._count_split(block, -1)

    # What it tells ------------------------------------------------------------------------------

    def _add(self, name: str, pool: str, amount: int) -> None:
        self._counts[name]["all"].add(amount)
        self._counts[name][pool].add(amount)

    def _count(self, block: Block, sign: int) -> None:
        for name in ("allocation", "active"):
            self._add(name, block.pool, sign)
        for name in ("allocated_bytes", "active_bytes"):
            self._add(name, block.pool, sign * block.size)
        self._add("requested_bytes", block.pool, sign * block.requested)

    def _count_segment(self, block: Block, sign: int) -> None:
        self._add("segment", block.pool, sign)
        self._add("reserved_bytes", block.pool, sign * block.size)

    def _count_split(self, block: Block, sign: int) -> None:
        if not block.whole:
            self._add("inactive_split", block.pool, sign)
            self._add("inactive_split_bytes", block.pool, sign * block.size)

    def statistics(self) -> dict[str, Any]:
        """As ``torch._C._cuda_memoryStats``."""
        found: dict[str, Any] = {
            name: {
                pool: {key: getattr(count, key) for key in _Count.__slots__}
                for pool, count in counts.items()
            }
            for name, counts in self._counts.items()
        }
        nothing = dict.fromkeys(_Count.__slots__, 0)
        found |= {"oversize_allocations": nothing, "oversize_segments": nothing}
        found |= {"num_alloc_retries": self.retries, "num_ooms": self.failures}
        return found | {"num_sync_all_streams": 0, "max_split_size": -1}

    def reset_peak(self) -> None:
        """Peaks begin at what is there now."""
        for counts in self._counts.values():
            for count in counts.values():
                count.peak = count.current

    def segments(self) -> list[dict[str, Any]]:
        """As ``torch._C._cuda_memorySnapshot`` tells the segments."""
        found = []
        for address, first in self._segments.items():
            blocks, block = [], first
            while block is not None:
                state = "inactive" if block.free else "active_allocated"
                blocks.append(
                    {"address": block.address, "size": block.size, "state": state, "frames": [],
                     "requested_size": 0 if block.free else block.requested}
                )  # fmt: skip
                block = block.after  # type: ignore[assignment]
            used = [one for one in blocks if one["state"] != "inactive"]
            found.append(
                {"device": self.device, "address": address, "stream": first.stream,
                 "total_size": sum(one["size"] for one in blocks),
                 "allocated_size": sum(one["size"] for one in used),
                 "active_size": sum(one["size"] for one in used),
                 "requested_size": sum(one["requested_size"] for one in used),
                 "segment_type": first.pool.partition("_")[0], "segment_pool_id": (0, 0),
                 "is_expandable": False, "frames": [], "blocks": blocks}
            )  # fmt: skip
        return found

    def _tell(self, action: str, address: int, size: int, **more: int) -> None:
        if self.history is None or len(self.history) >= _MOST_ENTRIES:
            return
        frames = [
            {"filename": file, "line": line, "name": name} for file, line, name in self.frames()
        ]
        self.history.append(
            {"action": action, "addr": address, "size": size, "stream": 0, "frames": frames,
             "time_us": time.time_ns() // 1000, **more}
        )  # fmt: skip

    def _refusal(self, size: int) -> str:
        def shown(amount: float) -> str:
            for unit in ("bytes", "KiB", "MiB"):
                if amount < 1024:
                    return f"{amount:.2f} {unit}"
                amount /= 1024
            return f"{amount:.2f} GiB"

        unused = self.reserved - self.allocated
        return (
            f"CUDA out of memory. Tried to allocate {shown(size)}. GPU {self.device} has a total"
            f" capacity of {shown(self.capacity)} of which {shown(self.free)} is free. Process"
            f" {os.getpid()} has {shown(self.reserved)} memory in use. Of the allocated memory"
            f" {shown(self.allocated)} is allocated by PyTorch, and {shown(unused)} is reserved by"
            " PyTorch but unallocated."
        )
