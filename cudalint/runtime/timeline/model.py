"""What a timeline is made of: sites, lifetimes, series and the map of addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cudalint.runtime.events import Event, Frame
from cudalint.runtime.trace import Mode


@dataclass(frozen=True)
class Recorded:
    """One run to show. The stacks of its events are resolved (``frames.Resolver``)."""

    title: str
    events: Sequence[Event]
    mode: Mode = Mode.OBSERVE
    memory: int = 0
    """Of one device, in bytes; 0 where it is not known."""
    device: str = ""
    ending: str = ""
    """How it ended, in words: ``exit status 0``."""
    complete: bool = True
    """Whether it came to its end by itself: else nothing that lives at the end is a leak."""
    roots: tuple[Path, ...] = ()
    """The target's own sources or their folders; empty is anything but headers of the system."""


@dataclass(frozen=True)
class Site:
    """Where a program allocates: one API function called at one line."""

    number: int
    api: str
    family: str
    space: str
    """A key of ``SPACES``."""
    function: str
    filename: str
    line: int
    """0 where the stack shows no source line."""
    label: str
    """What it is called where there is no line, such as a library's name."""
    stacks: tuple[tuple[tuple[Frame, ...], int], ...]
    """The stacks that lead there, the most frequent first, with how often."""
    count: int
    total: int
    """Bytes of all its allocations together."""
    largest: int
    """Bytes of the largest one."""
    most: int
    """The most bytes that it held at once."""
    at_peak: int
    """Bytes that it held when its space was at its peak."""
    left_count: int
    """Allocations that live at the end of the trace."""
    left_bytes: int
    reset_count: int
    """Allocations that only ``cudaDeviceReset`` took away."""


@dataclass(frozen=True)
class Moment:
    """A point of the run: after which step, and when."""

    step: int
    """Counts acquisitions, releases and resets, from 1; 0 is the beginning."""
    time: int
    """In nanoseconds since the run began."""


@dataclass(frozen=True)
class Series:
    """The bytes that one site held at the moments of its space; ``site`` -1 is all others."""

    site: int
    values: tuple[int, ...]


@dataclass(frozen=True)
class Leaks:
    """Allocations that nothing released, made at about the same moment."""

    moment: Moment
    """Of the first."""
    level: int
    """Bytes that lived in the space then."""
    sites: tuple[int, ...]
    """The sites, the most bytes first."""
    count: int
    bytes: int


@dataclass(frozen=True)
class SpaceSeries:
    """One kind of memory over time."""

    key: str
    label: str
    moments: tuple[Moment, ...]
    """Enough of them that no pixel of a chart would change by more."""
    total: tuple[int, ...]
    series: tuple[Series, ...]
    peak: Moment
    peak_bytes: int
    end_bytes: int
    leaks: tuple[Leaks, ...]


@dataclass(frozen=True)
class Region:
    """A part of the address space; ``offset`` is where it begins on the map."""

    start: int
    length: int
    offset: int
    device: int


@dataclass(frozen=True)
class MapColumn:
    """The addresses at one moment. ``runs`` are pairs of site (-1: a hole) and number of cells,
    from the lowest address up to the highest block."""

    moment: Moment
    runs: tuple[tuple[int, int], ...]
    blocks: int
    bytes: int
    holes: int
    """Free ranges below the highest block."""
    hole_bytes: int
    largest_hole: int
    largest_free: int | None
    """The largest allocation that fits; ``None`` where only the driver knows."""


@dataclass(frozen=True)
class AddressMap:
    """Where device memory lay over time."""

    regions: tuple[Region, ...]
    cells: int
    cell: int
    """Bytes of a cell. One with any live block shows the site that has most of it."""
    columns: tuple[MapColumn, ...]
    peak: int
    """The column of the peak."""
    worst: int
    """The column with most bytes in holes."""
    undrawn: int
    """Allocations that have no address of their own (arrays are behind handles)."""


@dataclass(frozen=True)
class Timeline:
    """All that the page shows of one run."""

    recorded: Recorded
    steps: int
    duration: int
    """Nanoseconds."""
    sites: tuple[Site, ...]
    spaces: tuple[SpaceSeries, ...]
    map: AddressMap | None


SPACES = {
    "device": "Device memory",
    "managed": "Managed memory",
    "pinned": "Page-locked host memory",
    "handle": "Handles",
}
"""The kinds of memory that are shown apart, and what they are called."""

_SPACE_OF = {
    "device": "device", "array": "device", "mipmapped-array": "device",
    "physical-memory": "device", "device-array": "device", "managed": "managed",
    "pinned": "pinned", "host-registered": "pinned",
}  # fmt: skip


def space_of(event: Event) -> str:
    """The space of what an ACQUIRE made. What is not known and has bytes is device memory."""
    return _SPACE_OF.get(event.family, "device" if event.bytes else "handle")
