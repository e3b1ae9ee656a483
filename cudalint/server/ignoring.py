"""The edit that puts a comment where a finding may stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cudalint.findings.finding import Finding
from cudalint.findings.fix import Edit
from cudalint.findings.suppressions import parse_suppressions
from cudalint.project.reading import Language
from cudalint.source import Source, Span

_OURS = re.compile(r"\bcudalint\s*:\s*ignore\s*\[[^\]]*(?=\])", re.IGNORECASE)


def ignoring(
    findings: Iterable[Finding], source: Source, language: Language
) -> tuple[list[Edit], list[Finding]]:
    """The comments that silence findings of one file, each tried for itself: in a comment that is
    there already, at the end of the line, else above it; and the findings that none would."""
    edits: list[Edit] = []
    left: list[Finding] = []
    for finding in findings:
        edit = _ignoring(finding, source, language)
        if edit is None:
            left.append(finding)
        else:
            edits.append(edit)
    return edits, left


def _ignoring(finding: Finding, source: Source, language: Language) -> Edit | None:
    for edit, moved in _candidates(finding, source, language):
        start = source.line_starts[edit.span.row - 1] + edit.span.column - 1
        text = source.text[:start] + edit.text + source.text[start:]
        suppressions = parse_suppressions(Source(source.filename, text), language)
        first, last = finding.span.row + moved, finding.span.end_row + moved
        if suppressions.find(finding, first, last):
            return edit
    return None


def _candidates(finding: Finding, source: Source, language: Language) -> Iterator[tuple[Edit, int]]:
    """Insertions, and by how many rows each moves the finding."""
    row = finding.span.row
    line = source.line(row)
    mark = "#" if language == "python" else "//"
    comment = f"{mark} cudalint: ignore[{finding.code}]"

    def insertion(column: int, text: str) -> Edit:
        return Edit(finding.filename, Span(row, column, row, column), text)

    there = _OURS.search(line)
    if there:
        yield insertion(there.end() + 1, f", {finding.code}"), 0
    if not line.rstrip().endswith("\\"):
        yield insertion(len(line) + 1, f"  {comment}"), 0
    if row == 1 or not source.line(row - 1).rstrip().endswith("\\"):
        start = source.line_starts[row - 1]
        end = "\r\n" if source.text[start:].partition("\n")[0].endswith("\r") else "\n"
        indentation = line[: len(line) - len(line.lstrip())]
        yield insertion(1, f"{indentation}{comment}{end}"), 1
