"""Says in a notebook's findings which line of which cell is meant.

Rules count rows through the whole text of a file; only readers of a notebook count by cells.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from cudalint.findings.finding import Finding
from cudalint.source import Source

_LINES = re.compile(r"\blines? (?P<rows>\d+(?:(?:-|, | and )\d+)*)\b")
_QUOTED = re.compile(r"(`[^`]*`)")
_NUMBER = re.compile(r"\d+")


def in_cells(finding: Finding, sources: Mapping[str, Source]) -> Finding:
    """The finding, with the lines that its texts name counted by cells."""
    source = sources.get(finding.filename)
    if source is not None and source.cells:
        finding = dataclasses.replace(finding, message=lines_in_cells(finding.message, source))
    if not any(step.filename in sources and sources[step.filename].cells for step in finding.steps):
        return finding
    steps = [
        dataclasses.replace(step, message=lines_in_cells(step.message, sources[step.filename]))
        if step.filename in sources
        else step
        for step in finding.steps
    ]
    return dataclasses.replace(finding, steps=tuple(steps))


def lines_in_cells(text: str, source: Source) -> str:
    """``released at line 14`` as ``released at line 3 of cell 2``; quoted code stays."""
    if not source.cells or "line" not in text:
        return text
    parts = _QUOTED.split(text)
    return "".join(
        part if part.startswith("`") else _LINES.sub(lambda match: _lines(match, source), part)
        for part in parts
    )


def _lines(match: re.Match[str], source: Source) -> str:
    places = {row: source.place(int(row)) for row in _NUMBER.findall(match["rows"])}
    cells = {cell for cell, _ in places.values()}
    if len(cells) == 1:
        return f"{_NUMBER.sub(lambda row: str(places[row[0]][1]), match[0])} of cell {cells.pop()}"
    return _NUMBER.sub(lambda row: f"{places[row[0]][1]} (cell {places[row[0]][0]})", match[0])
