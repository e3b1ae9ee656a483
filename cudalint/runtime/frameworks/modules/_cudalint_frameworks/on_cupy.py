"""CuPy: its memory hook, which sees what its pools ask for, give and take back."""

from __future__ import annotations

import bisect
import time
from types import ModuleType
from typing import Any

from _cudalint_frameworks import recorder, threads

_API = "cupy.cuda.alloc"
_FLUSH = "cupy.cuda.MemoryPool.free_all_blocks"
_segments: dict[int, tuple[int, int]] = {}
"""What pools have of CUDA, to hand it out in blocks: by address the size and the device."""


def hook(cupy: ModuleType) -> None:
    """Enter a memory hook in this thread, and in each that is started."""
    from cupy.cuda import memory_hook

    watcher = threads.enter(lambda: watcher_of(memory_hook.MemoryHook))
    recorder.at_end(watcher.lost)
    if hasattr(cupy.cuda, "MemoryPool"):
        pool = _telling(cupy.cuda.MemoryPool)
        cupy.cuda.MemoryPool = cupy.cuda.memory.MemoryPool = pool
        cupy._default_memory_pool = pool()  # type: ignore[attr-defined]
        cupy.cuda.set_allocator(cupy._default_memory_pool.malloc)


def _telling(base: Any) -> Any:
    """Pools that tell of each call that gives back what is free: ``base`` is compiled."""

    class MemoryPool(base):  # type: ignore[misc]
        def free_all_blocks(self, stream: Any = None) -> None:
            before = self.total_bytes()
            super().free_all_blocks(stream)
            given = before - self.total_bytes()
            recorder.write(
                "call", at=recorder.stack(), api=_FLUSH, family=recorder.SEGMENT, bytes=given
            )
            if given:
                _forget_empty()

    return MemoryPool


def _forget_empty() -> None:
    """The segments that no block lies in are given back."""
    blocks = sorted(recorder.live_addresses("device"))
    for address, (size, device) in list(_segments.items()):
        at = bisect.bisect_left(blocks, address)
        if at == len(blocks) or blocks[at] >= address + size:
            del _segments[address]
            recorder.released(recorder.SEGMENT, address, size, _API, device=device)


def watcher_of(base: Any) -> Any:
    """A hook: ``base`` is ``cupy.cuda.MemoryHook``."""

    class Watcher(base):  # type: ignore[misc]
        name = "cudalint"

        def __init__(self) -> None:
            super().__init__()
            self._asked: tuple[int, int, int] | None = None

        def alloc_postprocess(self, **given: Any) -> None:
            address, size = int(given["mem_ptr"]), int(given["mem_size"])
            if not address:
                return
            device = int(given["device_id"])
            if address in _segments:  # It was given back when memory ran out.
                recorder.released(recorder.SEGMENT, address, _segments[address][0], _API)
            _segments[address] = size, device
            recorder.acquired(recorder.SEGMENT, address, size, _API, device=device)

        def malloc_preprocess(self, **given: Any) -> None:
            self.lost()
            self._asked = int(given["size"]), int(given["device_id"]), time.time_ns()

        def malloc_postprocess(self, **given: Any) -> None:
            self._asked = None
            address, size = int(given["mem_ptr"]), int(given["mem_size"])
            if address:
                recorder.acquired("device", address, size, _API, device=int(given["device_id"]))
            else:
                self._failed(int(given["size"]), int(given["device_id"]))

        def free_postprocess(self, **given: Any) -> None:
            address, size = int(given["mem_ptr"]), int(given["mem_size"])
            recorder.released("device", address, size, _API, device=int(given["device_id"]))

        def lost(self) -> None:
            # The hook is not told of a failure: only the end of the call is missing.
            if self._asked is not None:
                size, device, when = self._asked
                self._asked = None
                self._failed(size, device, time=when)

        def _failed(self, size: int, device: int, **more: int) -> None:
            recorder.write(
                "call", at=recorder.stack(), api=_API, family="device", bytes=size, status=2,
                device=device, **more,
            )  # fmt: skip

    return Watcher()


def live(cupy: Any) -> int:
    """Bytes that arrays hold."""
    return int(cupy.get_default_memory_pool().used_bytes())
