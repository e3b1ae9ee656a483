"""How many findings each rule has."""

from __future__ import annotations

from collections import Counter

import msgspec

from cudalint.findings.finding import Finding
from cudalint.reports.report import Report
from cudalint.reports.style import SEVERITY_COLOR, Style


def render(report: Report, style: Style | None = None) -> str:
    """A table: count, code, name; the most frequent first."""
    style = style or Style()
    rows = _counts(report)
    width = max((len(str(count)) for count, _ in rows), default=1)
    return "".join(
        f"{count:>{width}}  {style.paint(one.code, SEVERITY_COLOR[one.severity])}  {one.name}\n"
        for count, one in rows
    )


def render_json(report: Report) -> str:
    """The same as a JSON list."""
    rows = [{"code": one.code, "name": one.name, "count": count} for count, one in _counts(report)]
    return msgspec.json.format(msgspec.json.encode(rows), indent=2).decode() + "\n"


def _counts(report: Report) -> list[tuple[int, Finding]]:
    counts = Counter(finding.code for finding in report.active)
    # Shown by the gravest finding of each rule:
    gravest: dict[str, Finding] = {}
    for finding in report.active:
        known = gravest.get(finding.code)
        if known is None or finding.severity.rank > known.severity.rank:
            gravest[finding.code] = finding
    rows = [(counts[code], finding) for code, finding in gravest.items()]
    return sorted(rows, key=lambda row: (-row[0], row[1].code))
