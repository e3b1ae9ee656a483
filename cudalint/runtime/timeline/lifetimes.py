"""From the events of a run to what lived from when to when, and at which site it was allocated."""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cudalint.runtime.events import Event, EventKind, Frame
from cudalint.runtime.sites import Sites
from cudalint.runtime.timeline.model import Moment, Recorded, Site, space_of

_STACKS = 3


@dataclass
class Lifetime:
    """One allocation. ``died`` is a step; ``None`` where it lived to the end."""

    site: int
    space: str
    family: str
    address: int
    bytes: int
    device: int
    born: int
    died: int | None = None
    by_reset: bool = False
    kept: bool = False
    """Whether the program's own memory still pointed at it at the end."""

    @property
    def lost(self) -> bool:
        """Whether nothing released it, and nothing leads to it at the end."""
        return self.died is None and not self.kept


@dataclass
class Draft:
    """A site that is being counted."""

    event: Event
    frame: Frame | None
    label: str
    space: str
    stacks: dict[int, tuple[tuple[Frame, ...], list[int]]] = field(default_factory=dict)
    """By identity, because to hash a stack is slow: the stack, and how often."""
    count: int = 0
    total: int = 0
    largest: int = 0
    live: int = 0
    most: int = 0
    at_peak: int = 0
    left_count: int = 0
    left_bytes: int = 0
    reset_count: int = 0

    def site(self, number: int) -> Site:
        """The site, counted."""
        frame = self.frame or Frame()
        stacks: Counter[tuple[Frame, ...]] = Counter()
        for stack, (count,) in self.stacks.values():
            stacks[stack] += count
        return Site(
            number, self.event.api, self.event.family, self.space, frame.function, frame.filename,
            frame.line, self.label, tuple(stacks.most_common(_STACKS)), self.count,
            self.total, self.largest, self.most, self.at_peak, self.left_count, self.left_bytes,
            self.reset_count,
        )  # fmt: skip


@dataclass(frozen=True)
class History:
    """The allocations of a run in their order. ``changes[step]`` are the lifetimes that step begins
    (positive: number + 1) and ends (negative)."""

    lifetimes: tuple[Lifetime, ...]
    changes: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]
    """By step, never falling; the first is the beginning, 0."""
    drafts: tuple[Draft, ...]
    end: int
    """When the trace ended, in nanoseconds."""

    def moment(self, step: int) -> Moment:
        """When a step was."""
        return Moment(step, self.times[step])


def history(recorded: Recorded) -> History:
    """Follow every allocation from its beginning to its end."""
    lifetimes: list[Lifetime] = []
    changes: list[tuple[int, ...]] = [()]
    times = [0]
    live: dict[tuple[str, int], list[int]] = {}
    sites = _Sites(recorded)
    end = 0
    for event in recorded.events:
        # Threads write their events a little late: time never falls on the page.
        end = max(end, event.time)
        kind = event.kind
        ended: list[int] = []
        if kind is EventKind.ACQUIRE:
            number = sites.number(event)
            lifetimes.append(
                Lifetime(
                    number, sites.drafts[number].space, event.family, event.address, event.bytes,
                    event.device, len(changes),
                )
            )  # fmt: skip
            live.setdefault((event.family, event.address), []).append(len(lifetimes) - 1)
            changes.append((len(lifetimes),))
        elif kind is EventKind.RELEASE:
            owners = live.get((event.family, event.address))
            if not owners:
                continue
            ended = [owners.pop()]
        elif kind is EventKind.RESET:
            ended = [number for owners in live.values() for number in owners]
            live.clear()
            for number in ended:
                lifetimes[number].by_reset = True
        else:
            if kind is EventKind.KEPT:
                for number in live.get((event.family, event.address), ()):
                    lifetimes[number].kept = True
            continue
        if ended:
            for number in ended:
                lifetimes[number].died = len(changes)
            changes.append(tuple(-number - 1 for number in ended))
        elif kind is not EventKind.ACQUIRE:
            continue
        times.append(end)
    return History(tuple(lifetimes), tuple(changes), tuple(times), tuple(sites.drafts), end)


class _Sites:
    """Finds the site of an event; a stack is looked at once."""

    def __init__(self, recorded: Recorded) -> None:
        sources = _sources(recorded)
        self._own = Sites(recorded.events, sources) if sources else None
        self._any = functools.cache(lambda: Sites(recorded.events))
        self._known: dict[tuple[str, str, int], int] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self.drafts: list[Draft] = []

    def number(self, event: Event) -> int:
        """The number of its site."""
        identity = id(event.stack)
        key = (event.api, event.family, identity)
        number = self._known.get(key)
        if number is None:
            frame = self._frame(event.stack)
            label = "" if frame is not None else _label(event.stack)
            place = (frame.filename, frame.line, frame.function) if frame is not None else label
            full = (event.api, event.family, place)
            number = self._numbers.setdefault(full, len(self.drafts))
            if number == len(self.drafts):
                self.drafts.append(Draft(event, frame, label, space_of(event)))
            self._known[key] = number
        self.drafts[number].stacks.setdefault(identity, (event.stack, [0]))[1][0] += 1
        return number

    def _frame(self, stack: tuple[Frame, ...]) -> Frame | None:
        return (self._own.frame(stack) if self._own else None) or self._any().frame(stack)


def _sources(recorded: Recorded) -> list[Path]:
    # ``user_frame`` takes sources and looks at their folders.
    return [root / "-" if root.is_dir() else root for root in recorded.roots]


def _label(stack: Sequence[Frame]) -> str:
    """What to call a place without a source line."""
    for frame in stack:
        module = os.path.basename(frame.module)  # noqa: PTH119
        if frame.function:
            return f"{frame.function} in {module}" if module else frame.function
        if module:
            return f"{module}+{frame.offset:#x}"
    return "unknown place"
