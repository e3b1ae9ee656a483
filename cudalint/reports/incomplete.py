"""Sums up the files that were read only in part: many of them lack the same few headers.

People who lint a project without its dependencies would otherwise look for the findings among a
hundred such lines. None is dropped without a word, and the reports for machines hold them all.
"""

from __future__ import annotations

from collections import Counter

from cudalint.findings.finding import Finding, Severity
from cudalint.reports.report import Report
from cudalint.reports.style import SEVERITY_COLOR, Style, escaped

CODE = "GPU002"
_MOST_LISTED = 5
_MOST_HEADERS = 5


def listed(report: Report) -> tuple[Finding, ...]:
    """The active findings that are shown one by one."""
    folded = {id(finding) for finding in _folded(report)}
    return tuple(finding for finding in report.active if id(finding) not in folded)


def _folded(report: Report) -> list[Finding]:
    """Those that are summed up: of files that lack headers, where there are more than a few."""
    lacking = [
        finding
        for finding in report.active
        if finding.code == CODE and finding.missing and finding.severity is Severity.INFO
    ]
    return lacking if len(lacking) > _MOST_LISTED and CODE not in report.named else []


def paragraph(report: Report, style: Style) -> str:
    """What is said of the others, in a few lines; empty where there are none."""
    folded = _folded(report)
    if not folded:
        return ""
    files = len({finding.filename for finding in folded})
    headers = Counter(header for finding in folded for header in finding.missing)
    ranked = sorted(headers.items(), key=lambda item: (-item[1], item[0]))
    shown = [
        f"{escaped(header)} ({count} file{'' if count == 1 else 's'})"
        for header, count in ranked[:_MOST_HEADERS]
    ]
    if len(ranked) > _MOST_HEADERS:
        shown.append(f"and {len(ranked) - _MOST_HEADERS} more")
    code = style.paint(CODE, SEVERITY_COLOR[Severity.INFO])
    mark = style.paint("=", "cyan")
    return (
        f"{code} {files} files were read only in part, for want of headers; what was not read was "
        "not checked\n"
        f"  {mark} not found: {', '.join(shown)}\n"
        f"  {mark} `--extend-select {CODE}` or `--output json` lists the files; "
        f"`cudalint rule {CODE}` says how to name header folders\n"
    )


def files_in_part(report: Report) -> int:
    """How many files were checked only in part."""
    return len({finding.filename for finding in report.active if finding.code == CODE})
