"""One finding for one text: what is found in a function, and in each copy of it that lies about in
another folder or under another name, is told once, with all its places."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from cudalint.findings.comments import code_of
from cudalint.findings.finding import Finding, Step
from cudalint.project.reading import Language
from cudalint.reports.report import Report
from cudalint.source import Source, Span

_MOST_NAMED = 3


def copies_told_once(report: Report) -> Report:
    """The report with what is found in copies in the finding of the original: the file whose name
    is the shortest. What is suppressed stays apart, as does what was known before, or has another
    severity or confidence, or of which running it said something else."""
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for finding in report.findings:
        alike.setdefault(_sort(finding), []).append(finding)
    told = {}
    for findings in alike.values():
        same: dict[object, list[Finding]] = {}
        several = len({one.filename for one in findings}) > 1
        for number, finding in enumerate(findings):
            code = _code(finding, report) if several else None
            same.setdefault(number if code is None else code, []).append(finding)
        for copies in same.values():
            first, *others = sorted(copies, key=lambda one: (len(one.filename), one.filename))
            told[id(first)] = _one(first, others)
    found = tuple(told[id(one)] for one in report.findings if id(one) in told)
    return dataclasses.replace(report, findings=found)


def _sort(finding: Finding) -> tuple[object, ...]:
    """What copies have in common, whatever their texts are."""
    return (
        finding.code,
        finding.function,
        finding.subject,
        finding.severity,
        finding.confidence,
        finding.known,
        finding.runtime and finding.runtime.outcome,
    )


def _code(finding: Finding, report: Report) -> tuple[str, int] | None:
    """The code of the function that a finding is in, or of the whole file for one of a class, and
    where in it; ``None`` where that is not known, or a comment there suppresses it."""
    source = report.sources.get(finding.filename)
    if source is None or source.cells or finding.suppressed is not None:
        return None
    if finding.within is not None:
        begin, end = _offsets(source, finding.within)
    elif finding.rests_on:
        begin, end = 0, len(source.text)
    else:
        return None
    here, _ = _offsets(source, finding.span)
    language: Language = "python" if finding.filename.endswith(".py") else "cuda"
    before = code_of(source.text[begin:here], language)
    return before + code_of(source.text[here:end], language), len(before)


def _offsets(source: Source, span: Span) -> tuple[int, int]:
    starts = source.line_starts
    return (
        starts[span.row - 1] + span.column - 1,
        starts[span.end_row - 1] + span.end_column - 1,
    )


def _one(first: Finding, others: Sequence[Finding]) -> Finding:
    if not others:
        return first
    places = [f"`{one.filename}` (line {one.span.row})" for one in others]
    if len(places) > _MOST_NAMED:
        places = [*places[: _MOST_NAMED - 1], f"{len(places) - _MOST_NAMED + 1} more places"]
    listed = " and ".join([", ".join(places[:-1]), places[-1]] if len(places) > 1 else places)
    steps = (Step(one.filename, one.span, "the same code", aside=True) for one in others)
    return dataclasses.replace(
        first,
        message=f"{first.message}; the same code stands in {listed}",
        steps=(*first.steps, *steps),
        parts=(*first.parts, *(part for one in others for part in (one, *one.parts))),
    )
