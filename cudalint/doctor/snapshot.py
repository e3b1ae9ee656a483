"""Memory snapshots of PyTorch (``torch.cuda.memory._dump_snapshot``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cudalint.doctor.episode import GROWS, MODEL, MOST_SITES, enough, own_line
from cudalint.doctor.pickles import PickleError, load
from cudalint.doctor.record import Failure, Site

_MOST = 20_000_000
"""Blocks, events and frames that are looked at: a file that shares its parts can have no end."""
_LIVE = frozenset({"active_allocated", "active_awaiting_free", "active_pending_free"})
_MOST_FRAMES = 8
_INTERNAL = ("torch/csrc/", "c10/", "??", "<unknown>", "Modules/", "Objects/", "Python/")


@dataclass
class _Place:
    """A site while it is summed up."""

    stack: tuple[str, ...]
    graph: bool
    bytes: int = 0
    count: int = 0
    taken: int = 0
    given: int = 0


def read_snapshot(data: bytes) -> Failure:
    """What a snapshot tells; ``PickleError`` where it is none, or more than data."""
    snapshot = load(data)
    if not isinstance(snapshot, dict) or not isinstance(snapshot.get("segments"), list):
        raise PickleError("no snapshot of PyTorch: it has no list of `segments`")
    return _Reader(snapshot).failure()


class _Reader:
    def __init__(self, snapshot: Mapping[str, Any]) -> None:
        self._snapshot = snapshot
        self._left = _MOST
        self._stacks: dict[int, tuple[tuple[str, ...], bool]] = {}
        self._places: dict[tuple[str, ...], _Place] = {}
        self._between: dict[tuple[str, ...], _Place] = {}
        self._reserved = self._live = self._largest = self._holes = 0

    def failure(self) -> Failure:
        device = self._device()
        for segment in self._items(self._snapshot["segments"]):
            if int(self._number(segment, "device")) == device:
                self._segment(segment)
        trace = self._trace(device)
        oom = self._follow(trace)
        peak, growth = self._course(trace)
        sites = tuple(sorted(map(self._site, self._places.values()), key=lambda one: -one.bytes))
        sites = tuple(site for site in sites if site.bytes)
        asked = self._number(oom, "size") if oom is not None else None
        cached = self._reserved - self._live
        settings = self._snapshot.get("allocator_settings")
        expandable = isinstance(settings, dict) and bool(settings.get("expandable_segments"))
        notes = ["expandable segments are on"] if expandable else []
        if not trace:
            notes.append(
                "no history of allocations: `torch.cuda.memory._record_memory_history()` records"
                " it, and the peak and growth with it"
            )
        free = self._number(oom, "device_free") if oom and "device_free" in oom else None
        room = enough(sites, asked - (free or 0)) if asked else ()
        return Failure(
            source="snapshot", call="OutOfMemoryError" if oom else "", framework="PyTorch",
            device=device, asked=asked, free=free, largest=self._largest, live=self._live,
            cached=cached, process=self._reserved, sites=sites[:MOST_SITES],
            between=self._neighbours(), holes=self._holes, room=room[:MOST_SITES],
            stack=self._stack(oom)[0] if oom else (), peak=peak, growth=growth,
            notes=tuple(notes),
        )  # fmt: skip

    def _device(self) -> int:
        """The device that ran out of memory, else the one with most of it."""
        traces = self._snapshot.get("device_traces")
        for device, events in enumerate(self._list(traces)):
            if any(event.get("action") == "oom" for event in self._items(events)):
                return device
        sums: dict[int, int] = {}
        for segment in self._items(self._snapshot["segments"]):
            device = self._number(segment, "device")
            sums[device] = sums.get(device, 0) + self._number(segment, "total_size")
        return max(sums, key=lambda one: sums[one], default=0)

    # Segments and blocks -------------------------------------------------------------------------

    def _segment(self, segment: Mapping[str, Any]) -> None:
        self._reserved += self._number(segment, "total_size")
        previous: _Place | None = None
        hole = 0
        for block in self._items(segment.get("blocks")):
            size = self._number(block, "size")
            if block.get("state") in _LIVE:
                place = self._block(block, size)
                if hole and previous is not None:
                    self._beside(previous)
                if hole:
                    self._beside(place)
                previous, hole = place, 0
            else:
                hole += size
                self._largest = max(self._largest, hole)
                self._holes += 1

    def _block(self, block: Mapping[str, Any], size: int) -> _Place:
        self._live += size
        source = block if block.get("frames") else next(self._items(block.get("history")), block)
        stack, graph = self._stack(source)
        place = self._places.setdefault(stack, _Place(stack, graph))
        place.bytes += size
        place.count += 1
        return place

    def _beside(self, place: _Place) -> None:
        self._between.setdefault(place.stack, place)

    def _neighbours(self) -> tuple[Site, ...]:
        found = sorted(map(self._site, self._between.values()), key=lambda one: -one.bytes)
        return tuple(found[:MOST_SITES])

    def _site(self, place: _Place) -> Site:
        grows = place.count >= GROWS and place.given * 5 <= place.taken and place.taken > 0
        return Site(
            place=own_line(place.stack) or "an unknown place (no frames were recorded)",
            bytes=place.bytes, count=place.count, api="torch", stack=place.stack, owner="object",
            growth=place.count if grows else 0, graph=place.graph,
        )  # fmt: skip

    # The trace -----------------------------------------------------------------------------------

    def _trace(self, device: int) -> list[Mapping[str, Any]]:
        traces = self._list(self._snapshot.get("device_traces"))
        return list(self._items(traces[device])) if device < len(traces) else []

    def _follow(self, trace: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """Which sites only grew; and the last out of memory."""
        oom: Mapping[str, Any] | None = None
        owner: dict[int, _Place] = {}
        for event in trace:
            action, address = event.get("action"), self._number(event, "addr")
            if action == "oom":
                oom = event
            elif action == "alloc":
                stack, graph = self._stack(event)
                place = self._places.setdefault(stack, _Place(stack, graph))
                place.taken += 1
                owner[address] = place
            elif action == "free_completed" and address in owner:
                owner.pop(address).given += 1
        return oom

    def _course(self, trace: list[Mapping[str, Any]]) -> tuple[int | None, int | None]:
        """The peak, and how much more there was at the end of the trace than at its beginning."""
        if not trace:
            return None, None
        change = lowest = 0
        highest = 0
        for event in trace:
            size = self._number(event, "size")
            if event.get("action") == "alloc":
                change += size
            elif event.get("action") == "free_completed":
                change -= size
            highest, lowest = max(highest, change), min(lowest, change)
        return self._live - change + highest, change

    # Whatever the file has -----------------------------------------------------------------------

    def _stack(self, source: Mapping[str, Any]) -> tuple[tuple[str, ...], bool]:
        frames = source.get("frames")
        if not isinstance(frames, list):
            return (), False
        known = self._stacks.get(id(frames))
        if known is None:
            lines: list[str] = []
            graph = False
            for frame in self._items(frames):
                name = str(frame.get("filename", ""))[:1000]
                graph |= any(part in name for part in MODEL)
                if name and not name.startswith(_INTERNAL) and len(lines) < _MOST_FRAMES:
                    function = str(frame.get("name", ""))[:200]
                    lines.append(f"{name}:{self._number(frame, 'line')} ({function})")
            known = self._stacks[id(frames)] = tuple(lines), graph
        return known

    def _items(self, found: object) -> Iterator[Mapping[str, Any]]:
        for item in self._list(found):
            self._left -= 1
            if self._left < 0:
                raise PickleError(f"more than {_MOST:,} entries: too much to read")
            if not isinstance(item, dict):
                raise PickleError("an entry of the snapshot is no dict")
            yield item

    @staticmethod
    def _list(found: object) -> list[Any]:
        return found if isinstance(found, list) else []

    @staticmethod
    def _number(found: Mapping[str, Any], key: str) -> int:
        value = found.get(key, 0)
        return int(value) if isinstance(value, int) and 0 <= value < 1 << 64 else 0
