"""The JSON report: a contract with whoever reads it (``docs/report.schema.json``)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from cudalint import __version__
from cudalint.findings.finding import Finding
from cudalint.findings.fix import Fix
from cudalint.findings.judged import judged
from cudalint.findings.rule import page_url
from cudalint.findings.verdict import Verdict
from cudalint.reports.report import Report
from cudalint.reports.schema import (
    SCHEMA_VERSION,
    EditEntry,
    EvidenceEntry,
    FileMessage,
    FindingEntry,
    FixEntry,
    FootprintEntry,
    HolderEntry,
    JsonReport,
    Location,
    Part,
    PeakPlace,
    Runtime,
    StepEntry,
    Summary,
    Tool,
)
from cudalint.source import Source, Span

if TYPE_CHECKING:
    from cudalint.analysis.facts.capacity import Footprint


def render(report: Report) -> str:
    """One JSON object; suppressed findings are in it, with what suppresses them."""
    data = msgspec.json.encode(as_data(report))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def as_data(report: Report) -> JsonReport:
    """The report as data."""
    footprints = report.footprints
    return JsonReport(
        schema_version=SCHEMA_VERSION,
        tool=Tool("cudalint", __version__),
        findings=[finding_entry(finding, report) for finding in report.told],
        errors=[FileMessage(error.filename, error.message) for error in report.errors],
        summary=summary_of(report),
        footprint=None if footprints is None else [_footprint(one) for one in footprints],
    )


def summary_of(report: Report) -> Summary:
    """The counts."""
    return Summary(
        files=report.files,
        findings=len(report.active),
        suppressed=report.suppressed,
        **{reason.name.lower(): count for reason, count in report.known().items()},
        listed=len(report.told),
        errors=len(report.errors),
        by_severity={severity.value: count for severity, count in report.by_severity().items()},
        by_code=dict(sorted(Counter(finding.code for finding in report.active).items())),
        by_verdict={outcome.value: count for outcome, count in report.by_outcome().items()},
    )


def finding_entry(finding: Finding, report: Report) -> FindingEntry:
    """A finding as data."""
    start, end = _range(finding.span, report.sources.get(finding.filename))
    return FindingEntry(
        code=finding.code,
        name=finding.name,
        severity=finding.severity.value,
        confidence=finding.confidence.value,
        judged=judged(finding.code, finding.confidence),
        message=finding.message,
        filename=finding.filename,
        location=start,
        end_location=end,
        function=finding.function or None,
        steps=[
            StepEntry(
                step.filename,
                *_range(step.span, report.sources.get(step.filename)),
                step.message,
                step.aside,
            )
            for step in finding.steps
        ],
        parts=[
            Part(
                part.message,
                part.filename,
                *_range(part.span, report.sources.get(part.filename)),
            )
            for part in finding.parts
        ],
        fix=None if finding.fix is None else _fix(finding.fix, report),
        fingerprint=finding.fingerprint,
        suppressed=finding.suppressed,
        url=page_url(report.documentation, finding.code),
        runtime=None if finding.runtime is None else _runtime(finding.runtime),
    )


def _fix(fix: Fix, report: Report) -> FixEntry:
    edits = [
        EditEntry(edit.filename, *_range(edit.span, report.sources.get(edit.filename)), edit.text)
        for edit in fix.edits
    ]
    return FixEntry(fix.message, fix.applicability.value, edits)


def _runtime(verdict: Verdict) -> Runtime:
    evidence = [
        EvidenceEntry(
            one.message, one.run, one.fault or None, one.bytes, list(one.stack), one.witness
        )
        for one in verdict.evidence
    ]
    return Runtime(verdict.outcome.value, verdict.device, verdict.reason or None, evidence)


def _footprint(one: Footprint) -> FootprintEntry:
    peak = one.peak
    return FootprintEntry(
        filename=one.filename,
        function=one.function,
        location=_start(one.span),
        bytes=peak.bytes,
        exact=not peak.unknown,
        peak=PeakPlace(peak.filename or one.filename, _start(peak.span)),
        live=[
            HolderEntry(
                holder.name,
                holder.bytes,
                holder.filename or one.filename,
                _start(holder.span),
                holder.temporary,
                holder.count,
            )
            for holder in peak.holders
        ],
        unknown=list(peak.unknown),
    )


def _start(span: Span) -> Location:
    return Location(span.row, span.column)


def _range(span: Span, source: Source | None) -> tuple[Location, Location]:
    """Where a span starts and ends; in a notebook, in which cell."""
    return _location(span.row, span.column, source), _location(
        span.end_row, span.end_column, source
    )


def _location(row: int, column: int, source: Source | None) -> Location:
    cell, row = source.place(row) if source else (None, row)
    return Location(row, column, cell)
