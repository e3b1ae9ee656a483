"""PyTorch: the caching allocator's own history, with the Python stack of each allocation."""

from __future__ import annotations

import functools
import os
from types import ModuleType
from typing import Any

from _cudalint_frameworks import parts, recorder, stand_ins

_MOST_EVENTS = 200_000
_API = "torch"
_FLUSH = "torch.cuda.empty_cache"
_raw: set[int] = set()
"""The addresses that no tensor owns: whoever asked for them must give them back."""


def hook(torch: ModuleType) -> None:
    """Record the history from when CUDA is initialised, of a device that is pretended where none is
    to be used."""
    if os.environ.get("CUDALINT_MODE") == "simulate":
        _pretend(torch)
    if os.environ.get(stand_ins.VARIABLE):
        stand_ins.hook_torch(torch)
    if os.environ.get("CUDALINT_HISTORY") == "0":
        return
    _tell_flushes(torch.cuda)
    _follow_raw(torch.cuda)
    if os.environ.get(parts.VARIABLE):
        from _cudalint_frameworks import torch_parts

        torch_parts.watch()

    def begin() -> None:
        try:
            torch.cuda.memory._record_memory_history(
                enabled="all", context="alloc", stacks="python", max_entries=_MOST_EVENTS
            )
            recorder.at_end(lambda: write_history(torch))
        except Exception as error:
            recorder.failed("torch", error)

    # Queued until the program itself initialises CUDA.
    torch.cuda._lazy_call(begin)


def _pretend(torch: ModuleType) -> None:
    """Where that fails, no verdict may come of a run without a device."""
    try:
        from _cudalint_frameworks.torch_device import pretend

        pretend.begin()
    except Exception as error:
        version = getattr(torch, "__version__", "")
        recorder.note(f"not simulated: PyTorch {version}: {type(error).__name__}: {error}")
        raise


def _tell_flushes(cuda: Any) -> None:
    """Each call that gives the cache back, with how much that was."""
    empty_cache = getattr(cuda, "empty_cache", None)
    if empty_cache is None:
        return

    @functools.wraps(empty_cache)
    def flush() -> None:
        before = cuda.memory_reserved() if cuda.is_initialized() else 0
        empty_cache()
        given = before - cuda.memory_reserved() if before else 0
        recorder.write(
            "call", at=recorder.stack(), api=_FLUSH, family=recorder.SEGMENT, bytes=given
        )

    cuda.empty_cache = cuda.memory.empty_cache = flush


def _follow_raw(cuda: Any) -> None:
    """Which blocks are handed out as bare addresses."""
    alloc = getattr(cuda, "caching_allocator_alloc", None)
    delete = getattr(cuda, "caching_allocator_delete", None)
    if alloc is None or delete is None:
        return

    @functools.wraps(alloc)
    def acquire(*given: Any, **named: Any) -> Any:
        address = alloc(*given, **named)
        _raw.add(address)
        return address

    @functools.wraps(delete)
    def release(mem_ptr: Any) -> None:
        delete(mem_ptr)
        _raw.discard(mem_ptr)

    cuda.caching_allocator_alloc = cuda.memory.caching_allocator_alloc = acquire
    cuda.caching_allocator_delete = cuda.memory.caching_allocator_delete = release


def write_history(torch: Any) -> None:
    """Write what the allocator saw."""
    snapshot = torch.cuda.memory._snapshot()
    held: dict[tuple[int, int], tuple[int, int]] = {}
    segments: dict[tuple[int, int], int] = {}
    last = 0
    for device, entries in enumerate(snapshot.get("device_traces", ())):
        if len(entries) >= _MOST_EVENTS:
            recorder.note(f"torch: only the last {_MOST_EVENTS} events are known")
        for entry in entries:
            action = entry.get("action")
            address, size = int(entry.get("addr", 0)), int(entry.get("size", 0))
            last = max(last, int(entry.get("time_us", 0)) * 1000)
            values = {
                "family": "device", "address": address, "bytes": size, "api": _API,
                "device": device, "time": int(entry.get("time_us", 0)) * 1000,
            }  # fmt: skip
            segment = values | {"family": recorder.SEGMENT}
            if action == "alloc":
                held[device, address] = size, last
                recorder.write("acquire", at=_frames(entry), **values)
            elif action == "free_completed" and held.pop((device, address), None):
                recorder.write("release", at=_frames(entry), **values)
            elif action in ("segment_alloc", "segment_map"):
                segments[device, address] = size
                recorder.write(
                    "acquire", at=_frames(entry), **values | {"family": recorder.SEGMENT}
                )
            elif action in ("segment_free", "segment_unmap"):
                if segments.pop((device, address), None):
                    recorder.write("release", at=[], **segment)
            elif action == "oom":
                values |= {
                    "status": 2, "address": 0, "source": int(entry.get("device_free", 0)),
                }  # fmt: skip
                recorder.write("call", at=_frames(entry), **values)
    left = [("device", key, size) for key, (size, _) in held.items() if key[1] not in _raw]
    left += [(recorder.SEGMENT, key, size) for key, size in segments.items()]
    for family, (device, address), size in left:
        recorder.write(
            "release", at=[], family=family, address=address, bytes=size, device=device,
            api="end of the program", time=last,
        )  # fmt: skip


def _frames(entry: dict[str, Any]) -> list[tuple[str, int, str]]:
    found: list[tuple[str, int, str]] = []
    for frame in entry.get("frames", ()):
        line = int(frame.get("line", 0))
        if line and frame.get("filename"):
            recorder.add_frame(found, str(frame["filename"]), line, str(frame.get("name", "")))
    return found


def live(torch: Any) -> int:
    """Bytes that tensors hold on all devices; 0 before CUDA is used."""
    if not torch.cuda.is_initialized():
        return 0
    return sum(torch.cuda.memory_allocated(device) for device in range(torch.cuda.device_count()))


def peak(torch: Any) -> int:
    """The most bytes that tensors held on one device since ``forget_peak``."""
    if torch is None or not torch.cuda.is_initialized():
        return 0
    every = range(torch.cuda.device_count())
    return max(torch.cuda.max_memory_allocated(device) for device in every)


def forget_peak(torch: Any) -> None:
    """Begin anew with what is there now."""
    if torch is not None and torch.cuda.is_initialized():
        for device in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(device)
