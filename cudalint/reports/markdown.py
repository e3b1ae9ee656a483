"""A Markdown table: for a job's summary, a comment on a change, a wiki."""

from __future__ import annotations

import re

from cudalint.findings.finding import Finding
from cudalint.findings.rule import page_url
from cudalint.reports.frames import location
from cudalint.reports.hosts import gravest_first, told
from cudalint.reports.incomplete import listed, paragraph
from cudalint.reports.report import Report
from cudalint.reports.style import Style, escaped
from cudalint.reports.text import plural, summary

_MOST = 1000
"""GitHub shows summaries up to 1 MiB."""
_MARKS = re.compile(r"([\\`*_\[\]<>|~&$])")
_CODE = re.compile(r"(`[^`]+`)")


def render(report: Report) -> str:
    """The summary, what could not be linted, and a row for each finding, the gravest first."""
    lines = ["### cudalint", "", _marked(summary(report)), ""]
    for error in report.errors:
        lines += [f"- cannot lint {_code(error.filename)}: {_marked(error.message)}"]
    lines += [""] if report.errors else []
    findings = gravest_first(listed(report))
    if findings:
        lines += ["| severity | rule | place | finding |", "| --- | --- | --- | --- |"]
        lines += [_row(finding, report) for finding in findings[:_MOST]]
        lines += [""]
    if len(findings) > _MOST:
        lines += [f"And {plural(len(findings) - _MOST, 'further finding')}.", ""]
    lines += [_marked(line.strip()) + "  " for line in paragraph(report, Style()).splitlines()]
    return "\n".join(lines)


def _row(finding: Finding, report: Report) -> str:
    url = page_url(report.documentation, finding.code)
    rule = f"[{finding.code}]({url})" if url else finding.code
    place = _code(location(finding.filename, finding.span, report.sources))
    return f"| {finding.severity.value} | {rule} | {place} | {_marked(told(finding, report))} |"


def _marked(text: str) -> str:
    """The text as Markdown that shows it as it is, its `code` in code."""
    pieces = _CODE.split(escaped(text))
    return "".join(
        _code(piece[1:-1]) if number % 2 else _MARKS.sub(r"\\\1", piece)
        for number, piece in enumerate(pieces)
    )


def _code(text: str) -> str:
    """Code, with nothing in it that would end it or the cell of a table."""
    shown = escaped(text).replace("|", "\\|")
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"
