"""What a run owns at its end, what it misused: the sum of its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cudalint.runtime.events import Event, EventKind


@dataclass(frozen=True)
class Account:
    """The sum of a run."""

    leaks: tuple[Event, ...]
    """Acquisitions that nothing released and nothing leads to at the end, in their order."""
    kept: tuple[Event, ...]
    """Acquisitions that nothing released, and that the program's own memory still points at."""
    reset: tuple[Event, ...]
    """Acquisitions that only ``cudaDeviceReset`` took away."""
    violations: tuple[Event, ...]
    failures: tuple[Event, ...]
    """Calls that failed, faults that we asked for included."""
    notes: tuple[str, ...]
    tainted: tuple[Event, ...]
    """Where the host read what a kernel should have computed."""
    peak: int
    """The most bytes of device memory that lived at once."""
    injected: Event | None
    """The call that a fault hit."""


_OUTLIVES = frozenset({"context", "host-registered"})
_DEVICE = frozenset({"device", "array", "mipmapped-array"})


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
    used = peak = 0
    for event in events:
        kind = event.kind
        if event.injected and injected is None:
            injected = event
        if kind is EventKind.ACQUIRE:
            live.setdefault((event.family, event.address), []).append(event)
            if event.family in _DEVICE:
                used += event.bytes
                peak = max(peak, used)
        elif kind is EventKind.RELEASE:
            owners = live.get((event.family, event.address))
            if owners:
                owner = owners.pop()
                if event.family in _DEVICE:
                    used -= event.bytes
                if event.family == "context" and event.api.startswith("cuCtxDestroy"):
                    gone = _of_context(live, owner)
                    used -= sum(one.bytes for one in gone if one.family in _DEVICE)
                    reset += gone
        elif kind is EventKind.RESET:
            reset += (owner for owners in live.values() for owner in owners)
            live.clear()
            used = 0
        elif kind is EventKind.KEPT:
            kept.add((event.family, event.address))
        elif kind is EventKind.VIOLATION:
            violations.append(event)
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
        tuple(owner for owner in left if (owner.family, owner.address) not in kept),
        tuple(owner for owner in left if (owner.family, owner.address) in kept),
        tuple(sorted(reset, key=lambda owner: owner.sequence)), tuple(violations),
        tuple(failures), tuple(notes), tuple(tainted), peak, injected,
    )  # fmt: skip


def _of_context(live: dict[tuple[str, int], list[Event]], context: Event) -> list[Event]:
    """Takes out what was acquired in a context that is destroyed: it is gone with it."""
    gone: list[Event] = []
    for owners in live.values():
        later = [one for one in owners if one.sequence > context.sequence]
        gone += (one for one in later if one.family not in _OUTLIVES)
        owners[:] = [one for one in owners if one not in gone]
    return gone
