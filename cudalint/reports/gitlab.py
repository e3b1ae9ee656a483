"""GitLab's code quality report: findings in the widget and the diff of merge requests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from cudalint.findings.finding import Finding, Severity
from cudalint.reports.hosts import host_place, told
from cudalint.reports.report import Report

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def render(report: Report) -> str:
    """A list of what no comment suppresses, and of what could not be linted."""
    entries = [*_errors(report), *(_entry(finding, report) for finding in report.active)]
    data = msgspec.json.encode(_distinct(entries))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def _entry(finding: Finding, report: Report) -> dict[str, Any]:
    place = host_place(finding.filename, finding.span, report)
    return {
        "description": told(finding, report),
        "check_name": finding.code,
        "fingerprint": finding.fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": place.path, "lines": {"begin": place.row, "end": place.end_row}},
    }


def _errors(report: Report) -> Iterator[dict[str, Any]]:
    for error in report.errors:
        text = f"{error.filename}\0{error.message}".encode("utf-8", "surrogatepass")
        yield {
            "description": f"cannot lint: {error.message}",
            "check_name": "cannot-lint",
            "fingerprint": hashlib.blake2b(text, digest_size=16).hexdigest(),
            "severity": "blocker",
            "location": {"path": report.repository_name(error.filename), "lines": {"begin": 1}},
        }


def _distinct(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """GitLab shows one of those with the same fingerprint: parts of a defect that are told apart
    are numbered."""
    seen: dict[str, int] = {}
    for entry in entries:
        fingerprint = entry["fingerprint"]
        seen[fingerprint] = seen.get(fingerprint, 0) + 1
        if seen[fingerprint] > 1:
            entry["fingerprint"] = f"{fingerprint}-{seen[fingerprint]}"
    return entries
