"""The HTML report: one page with all findings, to be filtered, and their paths drawn on the source.

It is complete in itself and asks no network for anything: an artifact of a job, a mail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cudalint import __version__
from cudalint.findings.finding import Finding
from cudalint.findings.judged import judged, paragraph
from cudalint.findings.rule import page_url
from cudalint.reports.frames import has_lines, location, shown_rows
from cudalint.reports.page import asset, render_page
from cudalint.reports.report import Report
from cudalint.reports.style import cell, escaped
from cudalint.reports.text import summary
from cudalint.source import Source, Span

_TITLE = "cudalint report"
_CONTEXT = 2
_WIDTH = 400
"""Characters of a line that are shown; of longer ones, those around the first mark."""


def render(report: Report) -> str:
    """The page."""
    files = _Files(report)
    findings = [_finding(finding, files, report) for finding in report.told]
    data = {
        "version": __version__,
        "title": _TITLE,
        "summary": summary(report),
        "errors": [
            {"filename": escaped(error.filename), "message": escaped(error.message)}
            for error in report.errors
        ],
        "rules": _rules(report),
        "findings": findings,
        "sources": files.sources,
    }
    return render_page(
        _TITLE,
        data,
        style=asset("cudalint.reports", "report.css"),
        scripts=(asset("cudalint.reports", "report.js"),),
    )


def _rules(report: Report) -> dict[str, dict[str, str]]:
    """The rules that found something, by their codes, with their pages."""
    rules = {finding.code: {"name": finding.name, "page": ""} for finding in report.told}
    for rule in report.rules:
        if rule.code in rules:
            rules[rule.code]["page"] = f"{rule.documentation()}{paragraph(rule.code)}"
    for code, entry in rules.items():
        url = page_url(report.documentation, code)
        if url and url.startswith(("https://", "http://")):
            entry["url"] = url
    return rules


def _finding(finding: Finding, files: _Files, report: Report) -> dict[str, Any]:
    notes = list(_notes(finding, files))
    counts = judged(finding.code, finding.confidence)
    data: dict[str, Any] = {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": escaped(finding.message),
        "place": location(finding.filename, finding.span, report.sources),
        "function": escaped(finding.function),
        "fingerprint": finding.fingerprint,
        "notes": notes,
        "excerpts": files.excerpts(finding),
    }
    optional = {
        "judged": str(counts) if counts else None,
        "suppressed": finding.suppressed and escaped(finding.suppressed),
        "fix": finding.fix and escaped(finding.fix.message),
        "runtime": _runtime(finding),
    }
    return data | {name: value for name, value in optional.items() if value is not None}


def _runtime(finding: Finding) -> dict[str, Any] | None:
    verdict = finding.runtime
    if verdict is None:
        return None
    return {
        "outcome": verdict.outcome.value,
        "device": escaped(verdict.device),
        "reason": escaped(verdict.reason),
        "evidence": [
            {
                "message": escaped(one.message),
                "run": escaped(one.run),
                "stack": [escaped(frame) for frame in one.stack],
            }
            for one in verdict.evidence
        ],
    }


def _notes(finding: Finding, files: _Files) -> Iterator[dict[str, Any]]:
    """What is said below the lines: the steps of the path are numbered, the others are not."""
    primary = finding.filename, finding.span.row
    number = 0
    noted = False
    for step in finding.steps:
        number += not step.aside
        here = not noted and (step.filename, step.span.row) == primary
        noted = noted or here
        yield _note(
            files.number(step.filename),
            step.span,
            text=escaped(step.message),
            step=0 if step.aside else number,
            primary=here,
        )
    if not noted:
        yield _note(files.number(finding.filename), finding.span, text="", step=0, primary=True)


def _note(file: int, span: Span, **more: Any) -> dict[str, Any]:
    return {
        "file": file,
        "row": span.row,
        "column": span.column,
        "endRow": span.end_row,
        "endColumn": span.end_column,
        **more,
    }


class _Files:
    """The files that findings point at, and the lines of them that are shown: each once."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._numbers: dict[str, int] = {}
        self.sources: list[dict[str, Any]] = []

    def number(self, filename: str) -> int:
        """The position of a file among the sources."""
        if filename not in self._numbers:
            self._numbers[filename] = len(self.sources)
            self.sources.append({"name": escaped(filename), "lines": {}})
        return self._numbers[filename]

    def excerpts(self, finding: Finding) -> list[tuple[int, list[int]]]:
        """Which rows of which files a finding shows, the file of the finding first."""
        spans: dict[str, list[Span]] = {finding.filename: [finding.span]}
        for step in finding.steps:
            spans.setdefault(step.filename, []).append(step.span)
        found = []
        for filename, places in spans.items():
            there = [span for span in places if has_lines(self._report.sources, filename, span)]
            if there:
                source = self._report.sources[filename]
                rows = shown_rows(source, there, _CONTEXT)
                number = self.number(filename)
                lines = self.sources[number]["lines"]
                columns = {span.row: span.column for span in reversed(there)}
                for row in rows:
                    lines.setdefault(row, _line(source, row, columns.get(row, 1)))
                found.append((number, rows))
        return found


def _line(source: Source, row: int, column: int) -> dict[str, Any]:
    """A line as it is shown; ``first`` is how many characters before it are not."""
    number, shown = source.place(row)
    text = source.shown_line(row)
    first = max(0, column - 1 - _WIDTH // 4) if len(text) > _WIDTH and column > _WIDTH // 2 else 0
    part = text[first : first + _WIDTH]
    return {
        "cell": number or 0,
        "shown": shown,
        "first": first,
        "text": "".join(one if one == "\t" else cell(one)[0] for one in part),
    }
