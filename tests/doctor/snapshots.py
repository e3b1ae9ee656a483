"""Makes memory snapshots in the format that PyTorch documents
(https://docs.pytorch.org/docs/stable/torch_cuda_memory.html)."""

from __future__ import annotations

import pickle
from typing import Any

MIB = 1 << 20
Frames = list[dict[str, Any]]


def frames(*places: tuple[str, int, str]) -> Frames:
    return [{"filename": name, "line": line, "name": function} for name, line, function in places]


class Recorder:
    """Allocates in segments as the caching allocator does where every block has one of its own."""

    def __init__(self, *, history: bool = True) -> None:
        self.segments: list[dict[str, Any]] = []
        self.trace: list[dict[str, Any]] = []
        self._next = 0x7F00_0000_0000
        self._history = history

    def segment(self, *blocks: tuple[str, int, Frames | None]) -> int:
        """A segment of blocks ``(state, bytes, frames)``; its address."""
        start = address = self._next
        made = []
        for state, size, at in blocks:
            block: dict[str, Any] = {
                "address": address, "size": size, "requested_size": size, "state": state,
            }  # fmt: skip
            if at is not None:
                block["frames"] = at
            made.append(block)
            if state == "active_allocated":
                self.event("alloc", address, size, at)
            address += size
        total = address - start
        active = sum(size for state, size, _ in blocks if state == "active_allocated")
        self._next = address
        self.segments.append(
            {
                "device": 0, "address": start, "total_size": total, "stream": 0,
                "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
                "allocated_size": active, "active_size": active, "requested_size": active,
                "blocks": made, "frames": [],
            }
        )  # fmt: skip
        return start

    def event(self, action: str, address: int, size: int, at: Frames | None, **more: int) -> None:
        if self._history:
            entry: dict[str, Any] = {
                "action": action, "addr": address, "size": size, "stream": 0,
                "time_us": 1_700_000_000_000_000 + len(self.trace), "frames": at or [], **more,
            }  # fmt: skip
            self.trace.append(entry)

    def data(self) -> dict[str, Any]:
        return {
            "segments": self.segments,
            "device_traces": [self.trace],
            "allocator_settings": {
                "PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                "garbage_collection_threshold": 0.0, "expandable_segments": False,
            },
            "external_annotations": [],
        }  # fmt: skip

    def dumped(self, protocol: int = pickle.DEFAULT_PROTOCOL) -> bytes:
        return pickle.dumps(self.data(), protocol)
