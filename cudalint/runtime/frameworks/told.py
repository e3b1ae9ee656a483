"""What ``run`` tells of the Python frameworks of a command: the peak, and whose lines made it."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cudalint.runtime.account import Account
from cudalint.runtime.devices import Device
from cudalint.runtime.events import Event, EventKind
from cudalint.runtime.evidence import has_lines, stack_text
from cudalint.runtime.frameworks import programs
from cudalint.runtime.frameworks.programs import FrameworkTrace
from cudalint.runtime.trace import Mode

_MOST_SITES = 10


@dataclass
class Watched:
    """The environment that watches a command, and once it has run, what was seen."""

    environment: dict[str, str]
    file: Path | None = None

    def traces(self) -> list[FrameworkTrace]:
        """Of the processes that used a framework."""
        if self.file is None:
            return []
        wanted = (EventKind.ACQUIRE, EventKind.CALL, EventKind.COPY)
        return [
            one
            for one in programs.read_traces(self.file)
            if any(event.kind in wanted for event in one.trace.events)
        ]


@contextlib.contextmanager
def watched(device: Device) -> Iterator[Watched]:
    """Watches the frameworks of any Python that a command starts, on a real GPU."""
    if device.mode is not Mode.OBSERVE:
        yield Watched({})
        return
    with tempfile.TemporaryDirectory(prefix="cudalint-frameworks-") as name:
        file = Path(name) / "trace"
        yield Watched(programs.environment() | {programs.TRACE: str(file)}, file)


def without_caches(summary: Account) -> Account:
    """The sum of a process without what only libraries acquired: a framework's allocator keeps its
    blocks until the process ends, and that is no leak."""
    kept: list[Event] = []
    leaks: list[Event] = []
    for event in summary.leaks:
        (leaks if has_lines(event.stack) else kept).append(event)
    if not kept:
        return summary
    total = sum(event.bytes for event in kept)
    note = f"libraries keep {total:,} bytes in {len(kept)} allocations until the end"
    return dataclasses.replace(summary, leaks=tuple(leaks), notes=(*summary.notes, note))


def told(trace: FrameworkTrace) -> dict[str, object]:
    """The peak of a process, and the largest sites that were alive then."""
    peak, sites = peak_of(trace.trace.events)
    return {
        "process": trace.trace.process,
        "peak": peak,
        "sites": [
            {"bytes": size, "stack": stack} for stack, size in sites[:_MOST_SITES]
        ],
        "notes": [e.text for e in trace.trace.events if e.kind is EventKind.NOTE],
    }  # fmt: skip


def peak_of(events: tuple[Event, ...]) -> tuple[int, list[tuple[tuple[str, ...], int]]]:
    """The most bytes of device memory that lived at once, and how many of them by stack."""
    used = peak = at = 0
    for event in events:
        if event.family == "device" and event.kind in (EventKind.ACQUIRE, EventKind.RELEASE):
            used += event.bytes if event.kind is EventKind.ACQUIRE else -event.bytes
            if used > peak:
                peak, at = used, event.sequence
    live: dict[tuple[int, int], Event] = {}
    for event in events:
        if event.sequence > at:
            break
        if event.family == "device" and event.kind is EventKind.ACQUIRE:
            live[event.device, event.address] = event
        elif event.family == "device" and event.kind is EventKind.RELEASE:
            live.pop((event.device, event.address), None)
    sites: dict[tuple[str, ...], int] = {}
    for event in live.values():
        stack = stack_text(event.stack)
        sites[stack] = sites.get(stack, 0) + event.bytes
    return peak, sorted(sites.items(), key=lambda pair: -pair[1])


def lines(process: dict[str, object]) -> Iterator[str]:
    """The same as text."""
    yield f"Python frameworks (process {process['process']}): peak {process['peak']:,} bytes"
    sites = process["sites"]
    for site in sites if isinstance(sites, list) else ():
        stack = site["stack"]
        yield f"    {site['bytes']:,} bytes from {stack[0] if stack else 'an unknown line'}"
    notes = process["notes"]
    yield from (f"note: {note}" for note in (notes if isinstance(notes, list) else ()))
