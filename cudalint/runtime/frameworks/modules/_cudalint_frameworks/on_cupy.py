"""CuPy: its memory hook, which sees what its pools give and take back."""

from __future__ import annotations

import threading
import time
from types import ModuleType
from typing import Any

from _cudalint_frameworks import recorder

_API = "cupy.cuda.alloc"


def hook(cupy: ModuleType) -> None:
    """Enter a memory hook in this thread, and in each that is started."""
    from cupy.cuda import memory_hook

    watcher = watcher_of(memory_hook.MemoryHook)
    watcher.__enter__()
    recorder.at_end(watcher.lost)
    start = threading.Thread.run

    def run(self: threading.Thread) -> None:
        # CuPy keeps its hooks by thread.
        with watcher_of(memory_hook.MemoryHook):
            start(self)

    threading.Thread.run = run  # type: ignore[method-assign]


def watcher_of(base: Any) -> Any:
    """A hook: ``base`` is ``cupy.cuda.MemoryHook``."""

    class Watcher(base):  # type: ignore[misc]
        name = "cudalint"

        def __init__(self) -> None:
            super().__init__()
            self._asked: tuple[int, int, int] | None = None

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
