"""What hosts of code show of a finding: whole files by line, and texts of one line."""

from __future__ import annotations

from dataclasses import dataclass

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Outcome
from cudalint.reports.report import Report
from cudalint.reports.style import escaped
from cudalint.source import Span


@dataclass(frozen=True)
class HostPlace:
    """A place as a host counts it."""

    path: str
    row: int
    column: int
    end_row: int
    end_column: int
    cell: int | None = None
    """The cell of a notebook that is meant. Hosts count the lines of its JSON: the place is the
    file's first line then, and ``told`` says where to look."""


def host_place(filename: str, span: Span, report: Report) -> HostPlace:
    """Where a host shows a place."""
    path = report.repository_name(filename)
    source = report.sources.get(filename)
    cell = source.place(span.row)[0] if source else None
    if cell is not None:
        return HostPlace(path, 1, 1, 1, 1, cell)
    return HostPlace(path, span.row, span.column, span.end_row, span.end_column)


def told(finding: Finding, report: Report) -> str:
    """The message on one line, with what running it said, and where in a notebook it is."""
    verdict = f" [{finding.runtime.outcome.value}]" if finding.runtime else ""
    source = report.sources.get(finding.filename)
    cell, row = source.place(finding.span.row) if source else (None, 0)
    where = "" if cell is None else f"cell {cell}, line {row}: "
    return escaped(f"{where}{finding.message}{verdict}")


def gravest_first(findings: tuple[Finding, ...]) -> list[Finding]:
    """What a reader with little time should see first: grave, then shown by a run, then certain."""

    def weight(finding: Finding) -> tuple[int, int, int]:
        outcome = finding.runtime.outcome if finding.runtime else None
        shown = {Outcome.CONFIRMED: 1, Outcome.REFUTED: -1}.get(outcome, 0) if outcome else 0
        return -finding.severity.rank, -shown, -finding.confidence.rank

    return sorted(findings, key=weight)
