"""Events for the tests of the timeline."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from cudalint.runtime.events import Event, EventKind, Frame
from cudalint.runtime.timeline.model import Recorded
from cudalint.runtime.trace import Mode

BASE = 0x7F00_0000_0000
GRANULE = 512


def frame(line: int, filename: str = "/src/main.cu", function: str = "main") -> Frame:
    return Frame(filename=filename, line=line, function=function)


class Program:
    """Writes events as a program would cause them, first-fit."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._live: dict[int, tuple[int, str]] = {}
        self._time = 0

    def acquire(
        self, count: int, *stack: Frame, family: str = "device", api: str = "cudaMalloc"
    ) -> int:
        address = self._fit(count)
        self._live[address] = (count, family)
        self._add(EventKind.ACQUIRE, api, family, address, count, stack or (frame(1),))
        return address

    def release(self, address: int) -> None:
        count, family = self._live.pop(address)
        self._add(EventKind.RELEASE, "cudaFree", family, address, count, (frame(99),))

    def reset(self) -> None:
        self._live.clear()
        self._add(EventKind.RESET, "cudaDeviceReset", "", 0, 0, ())

    def end(self) -> list[Event]:
        self._add(EventKind.END, "", "", 0, 0, ())
        return self.events

    def _fit(self, count: int) -> int:
        at = BASE
        for address, (size, _) in sorted(self._live.items()):
            if address - at >= count:
                break
            at = max(at, address + -(-size // GRANULE) * GRANULE)
        return at

    def _add(
        self, kind: EventKind, api: str, family: str, address: int, count: int,
        stack: tuple[Frame, ...],
    ) -> None:  # fmt: skip
        self._time += 1000
        self.events.append(
            Event(
                kind, len(self.events) + 1, self._time, api=api, family=family, address=address,
                bytes=count, stack=stack,
            )
        )  # fmt: skip


def recorded(events: Iterable[Event], **more: Any) -> Recorded:
    values: dict[str, Any] = {
        "mode": Mode.SIMULATE,
        "memory": 1 << 30,
        "ending": "exit status 0",
        **more,
    }
    return Recorded("main.cu", tuple(events), **values)


def many(count: int, sites: int = 40, lost: float = 0.01) -> list[Event]:
    """About that many events: at most 300 blocks at a time, some never released."""
    chance = random.Random(4)
    stacks = [(frame(10 + n, f"/src/part{n % 7}.cu", f"f{n}"), frame(3)) for n in range(sites)]
    events: list[Event] = []
    live: list[tuple[int, int]] = []
    top, time = BASE, 0
    free: list[tuple[int, int]] = []
    while len(events) < count:
        time += chance.randrange(100, 5000)
        if live and (len(live) > 300 or chance.random() < 0.5):
            at = chance.randrange(len(live))
            live[at], live[-1] = live[-1], live[at]
            address, size = live.pop()
            if chance.random() >= lost:
                free.append((address, size))
                events.append(
                    Event(EventKind.RELEASE, len(events) + 1, time, family="device",
                          address=address, bytes=size)
                )  # fmt: skip
            continue
        size = GRANULE * chance.randrange(1, 4000)
        address, top = top, top + size
        for place, (start, room) in enumerate(free[:60]):
            if room >= size:
                free[place], address, top = (start + size, room - size), start, top - size
                break
        live.append((address, size))
        events.append(
            Event(EventKind.ACQUIRE, len(events) + 1, time, api="cudaMalloc", family="device",
                  address=address, bytes=size, stack=chance.choice(stacks))
        )  # fmt: skip
    return [*events, Event(EventKind.END, len(events) + 1, time + 1)]
