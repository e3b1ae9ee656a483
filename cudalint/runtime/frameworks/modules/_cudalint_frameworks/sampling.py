"""Samples live memory each time that the program comes to a watched line."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

from _cudalint_frameworks import graphs, on_cupy, on_numba, on_torch, recorder

_MOST_PASSES = 64
_counts: dict[int, int] = {}


class _Heap(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
            "fordblks", "keepcost",
        )
    ]  # fmt: skip


def _heap() -> Any:
    try:
        function = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):
        return None
    function.restype = _Heap
    return function


_mallinfo = _heap()


def passed(watch: int) -> None:
    """The program comes to a watched line."""
    count = _counts.get(watch, 0) + 1
    _counts[watch] = count
    if count > _MOST_PASSES:
        return
    try:
        # Cycles that are garbage are not kept by anything. What was there before need not be
        # looked through again each time.
        gc.collect()
        torch = sys.modules.get("torch")
        if count == 1:
            if torch is not None:
                graphs.before_freeze(torch)
            gc.freeze()
        recorder.write(
            "pass", watch=watch, device_bytes=device_bytes(), host_bytes=host_bytes(),
            nodes=len(graphs.nodes(torch)) if torch is not None else 0,
        )  # fmt: skip
    except Exception as error:
        recorder.failed("memory", error)


class Kept:
    """Samples what graphs keep after a statement that lets them go or not. Where it fails: what was
    kept anew when it began."""

    def __init__(self, watch: int) -> None:
        self._watch, self._count = watch, _counts.get(watch, 0) + 1
        _counts[watch] = self._count
        self._before = 0

    def __enter__(self) -> None:
        self._before = graphs.saved_bytes(sys.modules["torch"])

    def __exit__(self, kind: Any, *error: Any) -> None:
        if self._count > _MOST_PASSES:
            return
        if kind is not None:
            anew = self._before - _left.get(self._watch, 0)
            recorder.write("refused", watch=self._watch, saved=max(0, anew))
            return
        saved = _left[self._watch] = graphs.saved_bytes(sys.modules["torch"])
        recorder.write(
            "pass", watch=self._watch, device_bytes=device_bytes(), host_bytes=host_bytes(),
            saved=saved,
        )  # fmt: skip


_left: dict[int, int] = {}
"""What graphs kept after the last pass, by watch."""


class Peak:
    """Samples the most that PyTorch's tensors take of a device while a statement runs, and what it
    leaves in the C heap; ``unrecorded``: without a graph being recorded."""

    def __init__(self, watch: int, change: str | None) -> None:
        self._watch, self._count = watch, _counts.get(watch, 0) + 1
        _counts[watch] = self._count
        self._before = 0
        torch = sys.modules.get("torch")
        self._mode = torch.no_grad() if torch is not None and change == "unrecorded" else None

    def __enter__(self) -> None:
        if self._count <= _MOST_PASSES:
            gc.collect()
            self._before = host_bytes()
            on_torch.forget_peak(sys.modules.get("torch"))
        if self._mode is not None:
            self._mode.__enter__()

    def __exit__(self, *error: Any) -> None:
        if self._mode is not None:
            self._mode.__exit__(*error)
        if self._count <= _MOST_PASSES:
            most = on_torch.peak(sys.modules.get("torch"))
            kept = max(0, host_bytes() - self._before)
            recorder.write("pass", watch=self._watch, device_bytes=most, host_bytes=kept)


def device_bytes() -> int:
    """Bytes on the device that objects of Python hold, whatever the framework."""
    total = 0
    if "torch" in sys.modules:
        total += on_torch.live(sys.modules["torch"])
    if "cupy" in sys.modules:
        total += on_cupy.live(sys.modules["cupy"])
    elif "numba" in sys.modules or "pycuda" in sys.modules:
        total += on_numba.live()
    if "jax" in sys.modules:
        total += sum(int(array.nbytes) for array in sys.modules["jax"].live_arrays())
    return total


def host_bytes() -> int:
    """Bytes that the C heap holds; -1 where it cannot be asked."""
    if _mallinfo is None:
        return -1
    heap = _mallinfo()
    return int(heap.uordblks) + int(heap.hblkhd)


def detached(value: Any) -> Any:
    """The same without its graph."""
    if hasattr(value, "detach") and hasattr(value, "grad_fn"):
        return value.detach()
    return _within(value, detached)


def on_host(value: Any) -> Any:
    """The same on the host."""
    kind = type(value).__module__.partition(".")[0]
    if kind == "torch" and hasattr(value, "cpu"):
        return value.detach().cpu()
    if kind == "cupy" and hasattr(value, "get"):
        return value.get()
    if kind in ("jax", "jaxlib") and "jax" in sys.modules:
        return sys.modules["jax"].device_get(value)
    if kind == "numba" and hasattr(value, "copy_to_host"):
        return value.copy_to_host()
    return _within(value, on_host)


def _within(value: Any, change: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(change(one) for one in value)
    if type(value) is dict:
        return {key: change(one) for key, one in value.items()}
    return value
