"""Which lines of a program are watched, and what is changed in them."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cudalint.findings.finding import Finding

VARIABLE = "CUDALINT_WATCH"
GROWTH = frozenset({"GPU601", "GPU603", "GPU606", "GPU608"})
"""Rules on what grows by each pass over a line."""
PEAKS = frozenset({"GPU602"})
"""Rules on how much a line takes at most."""
_CHANGES = {"GPU601": "detached", "GPU603": "on_host"}
UNRECORDED = "unrecorded"


@dataclass(frozen=True)
class Watch:
    """A line where memory is sampled before each pass."""

    number: int
    file: str
    row: int
    change: str = ""
    """What is done to the values in this line: ``detached``, ``on_host``; or to all of it:
    ``unrecorded``; empty: nothing."""
    peak: bool = False
    """Whether the most that the line takes is sampled, in place of what was there before it."""


def place_of(finding: Finding) -> tuple[str, int]:
    """Where a finding is, whatever folder a program runs in."""
    return os.path.realpath(finding.filename), finding.span.row


def watches_of(findings: Iterable[Finding]) -> tuple[Watch, ...]:
    """A watch for each line that growth findings stand on, and for each of peaks, nothing
    changed."""
    places = dict.fromkeys(
        (*place_of(finding), finding.code in PEAKS)
        for finding in findings
        if finding.code in GROWTH | PEAKS
    )
    return tuple(
        Watch(number, file, row, peak=peak) for number, (file, row, peak) in enumerate(places, 1)
    )


def changed(
    watches: Sequence[Watch], findings: Sequence[Finding], leave: Watch | None = None
) -> tuple[Watch, ...] | None:
    """The watches with what each rule suggests in its lines, but for the line to leave; ``None``
    where a line has no such change."""
    found = []
    for watch in watches:
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
            "peak": one.peak,
        }
        for one in watches
    ]
    return {VARIABLE: json.dumps(listed)} if listed else {}
