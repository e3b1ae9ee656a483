"""What a run owns at its end, what it misused: the sum of its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cudalint.runtime.events import Event, EventKind


@dataclass(frozen=True)
class Account:
    """The sum of a run."""

    leaks: tuple[Event, ...] = ()
    """Acquisitions that nothing released and nothing leads to at the end, in their order."""
    kept: tuple[Event, ...] = ()
    """Acquisitions that nothing released, and that the program's own memory still points at."""
    reset: tuple[Event, ...] = ()
    """Acquisitions that only ``cudaDeviceReset`` took away."""
    violations: tuple[Event, ...] = ()
    failures: tuple[Event, ...] = ()
    """Calls that failed, faults that we asked for included."""
    notes: tuple[str, ...] = ()
    tainted: tuple[Event, ...] = ()
    """Where the host read what a kernel should have computed."""
    peak: int = 0
    """The most bytes of device memory that lived at once."""
    injected: Event | None = None
    """The call that a fault hit."""
    peaks: Mapping[int, int] = field(default_factory=dict)
    """The same of each device that had any."""
    job: Mapping[str, str] = field(default_factory=dict)
    """What those who started the process say of it: ``RANK``, ``LOCAL_RANK``, ..."""


_OUTLIVES = frozenset({"context", "host-registered"})
_DEVICE = frozenset({"device", "array", "mipmapped-array", "physical-memory"})


class _Usage:
    """How much device memory lives, and lived at most, in all and by device."""

    def __init__(self) -> None:
        self.peak = 0
        self.peaks: dict[int, int] = {}
        self._used: dict[int, int] = {}

    def add(self, events: Iterable[Event], sign: int = 1) -> None:
        for event in events:
            if event.family in _DEVICE:
                used = self._used.get(event.device, 0) + sign * event.bytes
                self._used[event.device] = used
                self.peaks[event.device] = max(self.peaks.get(event.device, 0), used)
        if sign > 0:
            self.peak = max(self.peak, sum(self._used.values()))


def account(events: Iterable[Event]) -> Account:
    """Sum up a run."""
    live: dict[tuple[str, int], list[Event]] = {}
    reset: list[Event] = []
    violations: list[Event] = []
    failures: list[Event] = []
    notes: list[str] = []
    tainted: list[Event] = []
    injected: Event | None = None
    kept: set[tuple[str, int]] = set()
    job: dict[str, str] = {}
    usage = _Usage()
    for event in events:
        kind = event.kind
        if event.injected and injected is None:
            injected = event
        if kind is EventKind.ACQUIRE:
            live.setdefault((event.family, event.address), []).append(event)
            usage.add([event])
        elif kind is EventKind.RELEASE:
            owners = live.get((event.family, event.address))
            if owners:
                owner = owners.pop()
                usage.add([owner], -1)
                if event.family == "context" and event.api.startswith("cuCtxDestroy"):
                    gone = _of_context(live, owner)
                    usage.add(gone, -1)
                    reset += gone
        elif kind is EventKind.RESET:
            gone = [owner for owners in live.values() for owner in owners]
            usage.add(gone, -1)
            reset += gone
            live.clear()
        elif kind is EventKind.KEPT:
            kept.add((event.family, event.address))
        elif kind is EventKind.VIOLATION:
            violations.append(event)
        elif kind is EventKind.NOTE and event.api == "job":
            job = dict(pair.split("=", 1) for pair in event.text.split(";") if "=" in pair)
        elif kind is EventKind.NOTE:
            notes.append(event.text)
        elif kind is EventKind.TAINTED_READ:
            tainted.append(event)
        if event.status and kind is EventKind.CALL:
            failures.append(event)
    left = sorted(
        (owner for owners in live.values() for owner in owners), key=lambda owner: owner.sequence
    )
    return Account(
        leaks=tuple(owner for owner in left if (owner.family, owner.address) not in kept),
        kept=tuple(owner for owner in left if (owner.family, owner.address) in kept),
        reset=tuple(sorted(reset, key=lambda owner: owner.sequence)),
        violations=tuple(violations),
        failures=tuple(failures),
        notes=tuple(notes),
        tainted=tuple(tainted),
        peak=usage.peak,
        injected=injected,
        peaks=dict(sorted(usage.peaks.items())),
        job=job,
    )


def _of_context(live: dict[tuple[str, int], list[Event]], context: Event) -> list[Event]:
    """Takes out what was acquired in a context that is destroyed: it is gone with it."""
    gone: list[Event] = []
    for owners in live.values():
        later = [one for one in owners if one.sequence > context.sequence]
        gone += (one for one in later if one.family not in _OUTLIVES)
        owners[:] = [one for one in owners if one not in gone]
    return gone
