"""What measured bytes show of a finding: copies and allocations above a limit, peaks."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.runtime.events import CopyDirection, Event, EventKind
from cudalint.runtime.observation import Observation
from cudalint.runtime.question import Question

REFUTABLE = frozenset({"GPU401", "GPU501", "GPU502", "GPU605"})
"""What the hooks in frameworks see all of."""
OF_RESUMED = frozenset({"GPU605"})
"""What a program does that finds what a run before has left, such as a checkpoint."""
OF_PARTS = frozenset({"GPU402"})
"""What asks how much each operation takes of a block."""
_PARTS, _SEGMENT = "parts", "segment"
"""As the hooks call them: the use of a block, and what an allocator cuts its blocks from."""
_FEWEST_USES = 2
_FEWEST_ROUNDS = 2
_DEVICE = frozenset({"device", "array", "mipmapped-array", "managed"})


def large_copy(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    """One copy to the device above the limit. A framework's copy is what it allocates in the line
    that asks for it."""
    limit = seen.limits.transfer
    for event in seen.events:
        to_device = event.kind is EventKind.COPY and event.detail == CopyDirection.HOST_TO_DEVICE
        if to_device and event.bytes > limit and question.place.index(event.stack) is not None:
            yield event, f"{event.api} copies {event.bytes:,} bytes at once (limit {limit:,})"
    for event in seen.events:
        made = event.kind is EventKind.ACQUIRE and seen.hooked and event.family == "device"
        if made and event.bytes > limit and question.place.index(event.stack) is not None:
            yield event, f"{event.bytes:,} bytes arrive on the device at once (limit {limit:,})"


def over_budget(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    """One allocation above the budget."""
    budget = seen.limits.memory
    for event in seen.events if budget else ():
        made = event.kind is EventKind.ACQUIRE and event.family in _DEVICE
        if made and event.bytes > (budget or 0) and question.place.index(event.stack) is not None:
            yield event, f"{event.bytes:,} bytes in one allocation (budget {budget:,})"


def over_peak(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    """More alive at once than the budget, reached in the finding's lines."""
    budget = seen.limits.memory
    if not budget:
        return
    used, largest = 0, 0
    reached: Event | None = None
    for event in seen.events:
        if event.family not in _DEVICE:
            continue
        if event.kind is EventKind.ACQUIRE:
            used += event.bytes
            here = any(place.index(event.stack) is not None for place in question.places)
            if here and used > max(budget, largest):
                reached, largest = event, used
        elif event.kind is EventKind.RELEASE:
            used -= event.bytes
    if reached is not None:
        yield reached, f"{largest:,} bytes are alive at once (budget {budget:,})"


def on_device_after_load(
    question: Question, seen: Observation
) -> Iterator[tuple[Event | None, str]]:
    """What a line put on the device."""
    found = [
        event
        for event in seen.events
        if event.kind is EventKind.ACQUIRE
        and event.family == "device"
        and question.place.index(event.stack) is not None
    ]
    if found:
        total = sum(event.bytes for event in found)
        yield found[0], f"{total:,} bytes are on the device after it, in {len(found)} allocations"


def used_in_parts(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    """What a line put on the device and left there, while each operation takes a small part."""
    used = most = uses = 0
    largest = 0
    live: dict[int, Event] = {}
    reached: Event | None = None
    for event in seen.events:
        if event.kind is EventKind.RELEASE and event.family == "device":
            gone = live.pop(event.address, None)
            used -= gone.bytes if gone is not None else 0
        if question.place.index(event.stack) is None or event.family != "device":
            continue
        if event.kind is EventKind.ACQUIRE:
            live[event.address] = event
            used += event.bytes
            if used > most:
                most, reached = used, event
        elif event.api == _PARTS:
            uses += event.detail
            largest = max(largest, event.bytes)
    several = reached is not None and most > reached.bytes
    if 2 * largest <= most and (uses >= _FEWEST_USES or several):
        yield (
            reached,
            f"{most:,} bytes of this line are on the device at once, and no operation takes more"
            f" than {largest:,} of them",
        )


def taken_again(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    """What a line asks of the driver again and again, because it was given back between."""
    given_back = False
    rounds: list[Event] = []
    for event in seen.events:
        if event.family != _SEGMENT:
            continue
        if event.kind is EventKind.RELEASE:
            given_back = True
        elif event.kind is EventKind.ACQUIRE and given_back:
            if any(place.index(event.stack) is not None for place in question.places):
                rounds.append(event)
            given_back = False
    if len(rounds) >= _FEWEST_ROUNDS:
        total = sum(event.bytes for event in rounds)
        yield rounds[0], f"{total:,} bytes are asked of the driver again, {len(rounds)} times"


def flushed(question: Question, seen: Observation) -> Iterator[tuple[Event | None, str]]:
    """Calls that give the cache back, again and again in one run."""
    calls: list[Event] = []
    again = 0
    for event in seen.events:
        if event.family != _SEGMENT:
            continue
        if event.kind is EventKind.CALL and question.place.index(event.stack) is not None:
            calls.append(event)
        elif calls and event.kind is EventKind.ACQUIRE:
            again += event.bytes
    if len(calls) >= _FEWEST_ROUNDS:
        total = sum(event.bytes for event in calls)
        yield (
            calls[0],
            f"{len(calls)} calls in one run give {total:,} bytes back to the driver, and {again:,}"
            " are asked of it again",
        )


SEARCHES = {
    "GPU401": large_copy,
    "GPU402": used_in_parts,
    "GPU503": taken_again,
    "GPU504": flushed,
    "GPU605": on_device_after_load,
}
"""Of the rules that only a measure shows."""
