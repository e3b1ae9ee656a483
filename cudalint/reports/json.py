"""The JSON report: a contract with whoever reads it (``schema_version``)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from cudalint import __version__
from cudalint.findings.finding import Finding
from cudalint.findings.rule import DOCUMENTATION
from cudalint.reports.report import Report

SCHEMA_VERSION = 1


def render(report: Report) -> str:
    """One JSON object; suppressed findings are in it, with what suppresses them."""
    data = msgspec.json.encode(as_data(report))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def as_data(report: Report) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "cudalint", "version": __version__},
        "findings": [_finding(finding) for finding in report.findings],
        "errors": [
            {"filename": error.filename, "message": error.message} for error in report.errors
        ],
        "summary": {
            "files": report.files,
            "findings": len(report.active),
            "suppressed": len(report.findings) - len(report.active),
            "errors": len(report.errors),
            "by_severity": {
                severity.value: count for severity, count in report.by_severity().items()
            },
            "by_code": dict(sorted(Counter(finding.code for finding in report.active).items())),
        },
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "filename": finding.filename,
        "location": {"row": finding.span.row, "column": finding.span.column},
        "end_location": {"row": finding.span.end_row, "column": finding.span.end_column},
        "function": finding.function,
        "steps": [
            {
                "filename": step.filename,
                "location": {"row": step.span.row, "column": step.span.column},
                "message": step.message,
            }
            for step in finding.steps
        ],
        "fix": None,
        "fingerprint": finding.fingerprint,
        "suppressed": finding.suppressed,
        "url": DOCUMENTATION.format(code=finding.code),
        "runtime": None,
    }
