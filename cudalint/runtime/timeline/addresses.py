"""The map of addresses: which cells of the address space were whose, moment by moment."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cudalint.runtime.timeline.lifetimes import History, Lifetime
from cudalint.runtime.timeline.model import AddressMap, MapColumn, Moment, Region
from cudalint.runtime.trace import Mode

GRANULE = 512
"""What the simulated device rounds sizes up to; real devices too, or to a multiple."""
_CELLS = 960
_COLUMNS = 200
_FAR = 256 * 1024**2
"""Real addresses that are farther apart than this are drawn side by side."""


def address_map(
    history: History, mode: Mode, memory: int, peak: Moment | None
) -> AddressMap | None:
    """The map; ``None`` where no device memory has an address."""
    drawn = [
        number for number, one in enumerate(history.lifetimes)
        if one.space == "device" and one.family == "device" and one.address
    ]  # fmt: skip
    if not drawn:
        return None
    layout = _Layout((history.lifetimes[number] for number in drawn), mode)
    cell = max(GRANULE, -(-layout.length // (_CELLS * GRANULE)) * GRANULE)
    cells = -(-layout.length // cell)
    steps = _steps(history, peak)
    capacity = memory if mode is Mode.SIMULATE else 0
    space = _Space(history.lifetimes, layout, cell, cells, capacity)
    columns: list[MapColumn] = []
    members = set(drawn)
    done = 0
    for step in steps:
        space.apply(_net(history, done + 1, step, members))
        done = step
        columns.append(space.column(history.moment(step)))
    at_peak = steps.index(peak.step) if peak is not None and peak.step in steps else 0
    worst = max(range(len(columns)), key=lambda number: columns[number].hole_bytes)
    undrawn = sum(one.space == "device" for one in history.lifetimes) - len(drawn)
    return AddressMap(layout.regions, cells, cell, tuple(columns), at_peak, worst, undrawn)


def _steps(history: History, peak: Moment | None) -> list[int]:
    """The steps to show: evenly by step and by time, the peak, the first and the last."""
    last = len(history.changes) - 1
    if last <= _COLUMNS:
        return list(range(last + 1))
    half = _COLUMNS // 2
    chosen = {0, last} | {last * number // half for number in range(half)}
    end = history.times[-1]
    chosen |= {
        max(0, bisect.bisect_right(history.times, end * number // half) - 1)
        for number in range(half)
    }
    if peak is not None:
        chosen.add(peak.step)
    return sorted(chosen)


def _net(history: History, first: int, last: int, members: set[int]) -> tuple[list[int], list[int]]:
    """Which lifetimes began and which ended from one step to another; not those that did both."""
    began: dict[int, None] = {}
    ended: list[int] = []
    for step in range(first, last + 1):
        for change in history.changes[step]:
            number = abs(change) - 1
            if number not in members:
                continue
            if change > 0:
                began[number] = None
            elif number in began:
                del began[number]
            else:
                ended.append(number)
    return list(began), ended


def _size(one: Lifetime) -> int:
    return max(1, -(-one.bytes // GRANULE)) * GRANULE


class _Layout:
    """Where addresses are on the map."""

    def __init__(self, lifetimes: Iterable[Lifetime], mode: Mode) -> None:
        spans = sorted({(one.device, one.address, one.address + _size(one)) for one in lifetimes})
        merged: list[list[int]] = []
        for device, start, end in spans:
            near = bool(merged) and merged[-1][0] == device
            if near and (mode is Mode.SIMULATE or start - merged[-1][2] <= _FAR):
                merged[-1][2] = max(merged[-1][2], end)
            else:
                merged.append([device, start, end])
        offset = 0
        regions: list[Region] = []
        for device, start, end in merged:
            regions.append(Region(start, end - start, offset, device))
            offset += end - start
        self.regions = tuple(regions)
        self.length = offset
        self._keys = [(region.device, region.start) for region in regions]

    def region(self, one: Lifetime) -> int:
        """Which region an allocation is in."""
        return bisect.bisect_right(self._keys, (one.device, one.address)) - 1

    def offset(self, one: Lifetime) -> int:
        """Where on the map it begins."""
        region = self.regions[self.region(one)]
        return region.offset + one.address - region.start


@dataclass(frozen=True)
class _Holes:
    count: int
    bytes: int
    largest: int
    largest_free: int | None


class _Space:
    """The address space at one moment, moved on by what changes."""

    def __init__(
        self, lifetimes: Sequence[Lifetime], layout: _Layout, cell: int, cells: int, capacity: int
    ) -> None:
        self._lifetimes = lifetimes
        self._layout = layout
        self._cell = cell
        self._capacity = capacity
        self._owners: list[dict[int, int]] = [{} for _ in range(cells)]
        self._shown = [-1] * cells
        self._live: list[tuple[int, int, int]] = []
        """Offset, end and region of each block, in order."""
        self._bytes = 0

    def apply(self, changes: tuple[list[int], list[int]]) -> None:
        """Move on."""
        began, ended = changes
        dirty: set[int] = set()
        for number in ended:
            self._change(self._lifetimes[number], -1, dirty)
        for number in began:
            self._change(self._lifetimes[number], 1, dirty)
        for cell in dirty:
            owners = self._owners[cell]
            self._shown[cell] = max(owners, key=owners.__getitem__) if owners else -1

    def _change(self, one: Lifetime, sign: int, dirty: set[int]) -> None:
        start = self._layout.offset(one)
        size = _size(one)
        entry = (start, start + size, self._layout.region(one))
        at = bisect.bisect_left(self._live, entry)
        if sign > 0:
            self._live.insert(at, entry)
        elif at < len(self._live) and self._live[at] == entry:
            del self._live[at]
        self._bytes += sign * one.bytes
        for cell in range(start // self._cell, (start + size - 1) // self._cell + 1):
            low, high = cell * self._cell, (cell + 1) * self._cell
            owners = self._owners[cell]
            left = owners.get(one.site, 0) + sign * (min(high, start + size) - max(low, start))
            if left > 0:
                owners[one.site] = left
            else:
                owners.pop(one.site, None)
            dirty.add(cell)

    def column(self, moment: Moment) -> MapColumn:
        """What there is now."""
        runs: list[tuple[int, int]] = []
        for site in self._shown:
            if runs and runs[-1][0] == site:
                runs[-1] = (site, runs[-1][1] + 1)
            else:
                runs.append((site, 1))
        if runs and runs[-1][0] < 0:
            runs.pop()
        holes = self._holes()
        return MapColumn(
            moment, tuple(runs), len(self._live), self._bytes, holes.count, holes.bytes,
            holes.largest, holes.largest_free,
        )  # fmt: skip

    def _holes(self) -> _Holes:
        count = total = largest = 0
        tops: dict[int, int] = {}
        region, top = -1, 0
        for start, end, at in self._live:
            if at != region:
                tops[region] = top
                region, top = at, self._layout.regions[at].offset
            if start > top:
                count += 1
                total += start - top
                if start - top > largest:
                    largest = start - top
            if end > top:
                top = end
        tops[region] = top
        free = None
        if self._capacity:
            used = [
                tops.get(number, one.offset) - one.offset
                for number, one in enumerate(self._layout.regions)
            ]
            free = max(largest, max((self._capacity - one for one in used), default=0), 0)
        return _Holes(count, total, largest, free)
