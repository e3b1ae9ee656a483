"""Turns timelines and findings into the data that the page's script reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Verdict
from cudalint.project.paths import display_name
from cudalint.reports.style import escaped
from cudalint.runtime.events import Frame
from cudalint.runtime.question import Place, real_path
from cudalint.runtime.timeline.model import AddressMap, Moment, Site, SpaceSeries, Timeline
from cudalint.runtime.trace import Mode

_SITES = 1000
"""Listed one by one; the rest is summed up in words."""
_EXCERPTS = 300
_AROUND = 4
_WIDTH = 200
_MOST_SOURCE = 4 * 1024**2
_FRAMES = 12
_EVIDENCE = 3
_BEYOND = -2
"""The number of a site that is not listed; -1 is a hole, or all other sites."""


def wire(
    timelines: Sequence[Timeline],
    findings: Sequence[Finding] = (),
    failed: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """All data of a page. ``failed`` are targets that did not run, and why."""
    from cudalint import __version__

    places = _Places(findings)
    excerpts = _Excerpts()
    return {
        "version": __version__,
        "runs": [_run(one, places, excerpts) for one in timelines],
        "findings": [_finding(finding) for finding in findings],
        "failed": [
            {"title": escaped(title), "reason": escaped(reason)}
            for title, reason in (failed or {}).items()
        ],
    }


def _run(one: Timeline, places: _Places, excerpts: _Excerpts) -> dict[str, Any]:
    recorded = one.recorded
    listed = sorted(one.sites, key=_importance)[:_SITES]
    numbers = {site.number: number for number, site in enumerate(listed)}
    rest = [site for site in one.sites if site.number not in numbers]
    return {
        "title": escaped(recorded.title),
        "device": escaped(recorded.device),
        "simulated": recorded.mode is Mode.SIMULATE,
        "memory": recorded.memory,
        "ending": escaped(recorded.ending),
        "complete": recorded.complete,
        "events": len(recorded.events),
        "steps": one.steps,
        "duration": one.duration,
        "sites": [
            _site(site, places, excerpts if number < _EXCERPTS else None)
            for number, site in enumerate(listed)
        ],
        "rest": {
            "sites": len(rest),
            "count": sum(site.count for site in rest),
            "total": sum(site.total for site in rest),
            "left": sum(site.left_count for site in rest),
        },
        "spaces": [_space(space, numbers) for space in one.spaces],
        "map": _map(one.map, numbers) if one.map is not None else None,
    }


def _importance(site: Site) -> tuple[int, ...]:
    return (-site.left_bytes, -site.left_count, -site.at_peak, -site.most, site.number)


# Sites ------------------------------------------------------------------------------------------


def _site(site: Site, places: _Places, excerpts: _Excerpts | None) -> dict[str, Any]:
    name = display_name(Path(site.filename)) if site.filename else ""
    return {
        "api": escaped(site.api),
        "family": escaped(site.family),
        "space": site.space,
        "function": escaped(site.function),
        "place": f"{escaped(name)}:{site.line}" if name else escaped(site.label),
        "line": site.line,
        "href": _address(site.filename),
        "editor": _address(site.filename, "vscode://file", f":{site.line}"),
        "excerpt": excerpts.around(site.filename, site.line) if excerpts is not None else [],
        "stacks": [
            {"count": count, "frames": [_frame(frame) for frame in stack[:_FRAMES]]}
            for stack, count in site.stacks
        ],
        "count": site.count,
        "total": site.total,
        "largest": site.largest,
        "most": site.most,
        "peak": site.at_peak,
        "leftCount": site.left_count,
        "leftBytes": site.left_bytes,
        "reset": site.reset_count,
        "findings": places.of(site),
    }


def _frame(frame: Frame) -> str:
    place = f"{display_name(Path(frame.filename))}:{frame.line}" if frame.line else ""
    module = Path(frame.module).name
    known = place or (f"{module}+{frame.offset:#x}" if module else "")
    named = f"{frame.function} ({known})" if frame.function and known else frame.function or known
    return escaped(named or "unknown")


def _address(filename: str, scheme: str = "file://", line: str = "") -> str:
    """The file as an address that a browser takes, or nothing."""
    try:
        uri = Path(filename).as_uri()
    except ValueError:
        return ""
    return scheme + uri.removeprefix("file://") + line


class _Places:
    """Where the findings are, by file."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._files: dict[str, list[tuple[int, Place]]] = {}
        for number, finding in enumerate(findings):
            place = Place.of(finding.filename, finding.span)
            self._files.setdefault(place.filename, []).append((number, place))

    def of(self, site: Site) -> list[int]:
        """The findings on a line of any of the site's stacks."""
        return sorted(
            {
                number
                for stack, _ in site.stacks
                for frame in stack
                if frame.line
                for number, place in self._files.get(real_path(frame.filename), ())
                if place.holds(frame)
            }
        )


class _Excerpts:
    """Lines around a place; each file is read once."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def around(self, filename: str, line: int) -> list[list[Any]]:
        """Pairs of line number and text."""
        if not filename or line < 1:
            return []
        lines = self._files.get(filename)
        if lines is None:
            lines = self._files[filename] = _lines(Path(filename))
        first = max(1, line - _AROUND)
        shown = lines[first - 1 : line + _AROUND] if line <= len(lines) else []
        return [
            [first + number, escaped(text.expandtabs(4))[:_WIDTH]]
            for number, text in enumerate(shown)
        ]


def _lines(path: Path) -> list[str]:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_SOURCE:
            return []
        # As compilers count: a form feed or U+2028 ends no line.
        return path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    except (OSError, ValueError):
        return []


# Series and map ---------------------------------------------------------------------------------


def _moment(moment: Moment) -> list[int]:
    return [moment.step, moment.time]


def _known(numbers: Mapping[int, int], sites: Iterable[int]) -> list[int]:
    return [site if site < 0 else numbers.get(site, _BEYOND) for site in sites]


def _space(space: SpaceSeries, numbers: Mapping[int, int]) -> dict[str, Any]:
    return {
        "key": space.key,
        "label": space.label,
        "steps": [moment.step for moment in space.moments],
        "times": [moment.time for moment in space.moments],
        "total": space.total,
        "series": [
            {"site": _known(numbers, (one.site,))[0], "values": one.values} for one in space.series
        ],
        "peak": _moment(space.peak),
        "peakBytes": space.peak_bytes,
        "endBytes": space.end_bytes,
        "leaks": [
            {
                "at": _moment(one.moment),
                "level": one.level,
                "sites": _known(numbers, one.sites[:4]),
                "siteCount": len(one.sites),
                "count": one.count,
                "bytes": one.bytes,
            }
            for one in space.leaks
        ],
    }


def _map(one: AddressMap, numbers: Mapping[int, int]) -> dict[str, Any]:
    return {
        "regions": [
            {
                "start": f"{region.start:#x}",
                "length": region.length,
                "offset": region.offset,
                "device": region.device,
            }
            for region in one.regions
        ],
        "cells": one.cells,
        "cell": one.cell,
        "peak": one.peak,
        "worst": one.worst,
        "undrawn": one.undrawn,
        "columns": [
            {
                "at": _moment(column.moment),
                "runs": [
                    number
                    for site, cells in column.runs
                    for number in (_known(numbers, (site,))[0], cells)
                ],
                "blocks": column.blocks,
                "bytes": column.bytes,
                "holes": column.holes,
                "holeBytes": column.hole_bytes,
                "largestHole": column.largest_hole,
                "largestFree": column.largest_free,
            }
            for column in one.columns
        ],
    }


# Findings ---------------------------------------------------------------------------------------


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": escaped(finding.code),
        "name": escaped(finding.name),
        "severity": finding.severity.value,
        "message": escaped(finding.message),
        "place": f"{escaped(finding.filename)}:{finding.span.row}:{finding.span.column}",
        "suppressed": finding.suppressed is not None,
        "verdict": _verdict(finding.runtime),
    }


def _verdict(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {
        "outcome": verdict.outcome.value,
        "device": escaped(verdict.device),
        "reason": escaped(verdict.reason),
        "evidence": [
            f"{escaped(one.message)} (run: {escaped(one.run)})"
            for one in verdict.evidence[:_EVIDENCE]
        ],
    }
