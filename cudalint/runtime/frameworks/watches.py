"""Which lines of a program are watched, and what is changed in them."""

from __future__ import annotations

import dataclasses
import enum
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cudalint.findings.finding import Finding

VARIABLE = "CUDALINT_WATCH"
GROWTH = frozenset({"GPU601", "GPU603", "GPU606", "GPU608"})
"""Rules on what grows by each pass over a line."""
PEAKS = frozenset({"GPU602"})
"""Rules on how much a line takes at most."""
_CHANGES = {"GPU601": "detached", "GPU603": "on_host"}
UNRECORDED, RELEASED = "unrecorded", "released"
OF_CALLS = frozenset({"GPU601"})
"""Rules on what may be kept at a line that runs once, for all later calls of its function."""


class Kind(enum.Enum):
    """What is sampled of a line."""

    GROWTH = "growth"
    """What is there before each pass."""
    CALLS = "calls"
    """The same at each call of the function that the line is in."""
    PEAK = "peak"
    """The most that it takes."""
    KEPT = "kept"
    """What graphs keep for a backward pass after it."""


@dataclass(frozen=True)
class Watch:
    """A line where memory is sampled at each pass."""

    number: int
    file: str
    row: int
    change: str = ""
    """What is done to the values in this line: ``detached``, ``on_host``; or to all of it:
    ``unrecorded``, ``released``; empty: nothing."""
    kind: Kind = Kind.GROWTH


def place_of(finding: Finding) -> tuple[str, int]:
    """Where a finding is, whatever folder a program runs in."""
    return os.path.realpath(finding.filename), finding.span.row


def watches_of(findings: Iterable[Finding]) -> tuple[Watch, ...]:
    """What findings have sampled, nothing changed: at their lines, and around these."""
    places = dict.fromkeys(
        (*place_of(finding), kind) for finding in findings for kind in _kinds(finding.code)
    )
    return tuple(
        Watch(number, file, row, kind=kind) for number, (file, row, kind) in enumerate(places, 1)
    )


def _kinds(code: str) -> Iterator[Kind]:
    if code in GROWTH:
        yield Kind.GROWTH
    if code in OF_CALLS:
        yield Kind.CALLS
    if code in PEAKS:
        yield Kind.PEAK


def watch_of(watches: Iterable[Watch], finding: Finding, kind: Kind) -> Watch:
    """The one of that kind that a finding has asked for."""
    place = place_of(finding)
    return next(one for one in watches if (one.file, one.row) == place and one.kind is kind)


def changed(
    watches: Sequence[Watch], findings: Sequence[Finding], leave: Watch | None = None
) -> tuple[Watch, ...] | None:
    """The watches with what each rule suggests in its lines, but for the line to leave; ``None``
    where a line has no such change."""
    found = []
    for watch in watches:
        if watch.kind is not Kind.GROWTH:
            found.append(watch)
            continue
        codes = {f.code for f in findings if place_of(f) == (watch.file, watch.row)}
        change = next((_CHANGES[code] for code in sorted(codes) if code in _CHANGES), "")
        if watch == leave:
            change = ""
        elif not change:
            return None
        found.append(dataclasses.replace(watch, change=change))
    return tuple(found)


def environment(watches: Iterable[Watch]) -> dict[str, str]:
    """For the program."""
    listed = [
        {
            "number": one.number,
            "file": one.file,
            "row": one.row,
            "change": one.change or None,
            "kind": one.kind.value,
        }
        for one in watches
    ]
    return {VARIABLE: json.dumps(listed)} if listed else {}
