"""The JSON report: a contract with whoever reads it (``schema_version``)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint import __version__
from cudalint.findings.finding import Finding
from cudalint.findings.fix import Fix
from cudalint.findings.judged import judged
from cudalint.findings.rule import page_url
from cudalint.findings.verdict import Verdict
from cudalint.reports.report import Report
from cudalint.source import Source

if TYPE_CHECKING:
    from cudalint.analysis.facts.capacity import Footprint

SCHEMA_VERSION = 1


def render(report: Report) -> str:
    """One JSON object; suppressed findings are in it, with what suppresses them."""
    data = msgspec.json.encode(as_data(report))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def as_data(report: Report) -> dict[str, Any]:
    """The report as plain data."""
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "cudalint", "version": __version__},
        "findings": [
            _finding(finding, report) for finding in report.findings if finding.known is None
        ],
        "errors": [
            {"filename": error.filename, "message": error.message} for error in report.errors
        ],
        "summary": {
            "files": report.files,
            "findings": len(report.active),
            "suppressed": report.suppressed,
            **{reason.name.lower(): count for reason, count in report.known().items()},
            "errors": len(report.errors),
            "by_severity": {
                severity.value: count for severity, count in report.by_severity().items()
            },
            "by_code": dict(sorted(Counter(finding.code for finding in report.active).items())),
        },
    }
    if report.footprints is not None:
        data["footprint"] = [_footprint(one) for one in report.footprints]
    return data


def _footprint(one: Footprint) -> dict[str, Any]:
    peak = one.peak
    return {
        "filename": one.filename,
        "function": one.function,
        "location": {"row": one.span.row, "column": one.span.column},
        "bytes": peak.bytes,
        "exact": not peak.unknown,
        "peak": {
            "filename": peak.filename or one.filename,
            "location": {"row": peak.span.row, "column": peak.span.column},
        },
        "live": [
            {
                "name": holder.name,
                "bytes": holder.bytes,
                "filename": holder.filename or one.filename,
                "location": {"row": holder.span.row, "column": holder.span.column},
                "temporary": holder.temporary,
                "count": holder.count,
            }
            for holder in peak.holders
        ],
        "unknown": list(peak.unknown),
    }


def _finding(finding: Finding, report: Report) -> dict[str, Any]:
    span, source = finding.span, report.sources.get(finding.filename)
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "judged": judged(finding.code, finding.confidence),
        "message": finding.message,
        "filename": finding.filename,
        "location": _location(span.row, span.column, source),
        "end_location": _location(span.end_row, span.end_column, source),
        "function": finding.function,
        "steps": [
            {
                "filename": step.filename,
                "location": _location(
                    step.span.row, step.span.column, report.sources.get(step.filename)
                ),
                "message": step.message,
            }
            for step in finding.steps
        ],
        "parts": [
            {
                "message": part.message,
                "filename": part.filename,
                "location": _location(
                    part.span.row, part.span.column, report.sources.get(part.filename)
                ),
            }
            for part in finding.parts
        ],
        "fix": None if finding.fix is None else _fix(finding.fix, report),
        "fingerprint": finding.fingerprint,
        "suppressed": finding.suppressed,
        "url": page_url(report.documentation, finding.code),
        "runtime": _runtime(finding.runtime),
    }


def _fix(fix: Fix, report: Report) -> dict[str, Any]:
    return {
        "message": fix.message,
        "applicability": fix.applicability.value,
        "edits": [
            {
                "filename": edit.filename,
                "location": _location(
                    edit.span.row, edit.span.column, report.sources.get(edit.filename)
                ),
                "end_location": _location(
                    edit.span.end_row, edit.span.end_column, report.sources.get(edit.filename)
                ),
                "text": edit.text,
            }
            for edit in fix.edits
        ],
    }


def _runtime(verdict: Verdict | None) -> dict[str, Any] | None:
    """What running it said; null where it was not run."""
    if verdict is None:
        return None
    return {
        "verdict": verdict.outcome.value,
        "device": verdict.device,
        "reason": verdict.reason or None,
        "evidence": [
            {
                "message": one.message,
                "run": one.run,
                "fault": one.fault or None,
                "bytes": one.bytes,
                "stack": list(one.stack),
                "witness": one.witness,
            }
            for one in verdict.evidence
        ],
    }


def _location(row: int, column: int, source: Source | None) -> dict[str, int]:
    """Row and column; in a notebook those of the cell, and which cell it is."""
    cell, row = source.place(row) if source else (None, row)
    place = {"row": row, "column": column}
    return place if cell is None else {"cell": cell, **place}
