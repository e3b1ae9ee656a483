"""Sets aside what a change has not touched: findings of lines that were there before."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path

from cudalint.findings.finding import Finding, Known
from cudalint.project.changes import Changes


def set_aside(
    findings: Iterable[Finding], changes: Changes, whole: Collection[str] = ()
) -> list[Finding]:
    """The findings, with those marked as known whose path touches no changed line. ``whole`` names
    files whose lines are not those of the disk (notebooks): any change is one of all of them."""
    return [
        finding
        if finding.known is not None or _touched(finding, changes, whole)
        else dataclasses.replace(finding, known=Known.UNCHANGED)
        for finding in findings
    ]


def _touched(finding: Finding, changes: Changes, whole: Collection[str]) -> bool:
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    places[finding.filename].append((finding.span.row, finding.span.end_row))
    for steps in (finding.steps, *(way.steps for way in finding.ways)):
        for step in steps:
            places[step.filename].append((step.span.row, step.span.end_row))
    for filename, rows in places.items():
        changed = changes.of(Path(filename))
        if changed is None:
            return True
        if filename in whole:
            if changed.added or changed.removed:
                return True
            continue
        if any(changed.touch(first, last) for first, last in rows):
            return True
        # A release that is gone stood somewhere on the path:
        if changed.removed_within(min(rows)[0], max(last for _, last in rows)):
            return True
    return False
