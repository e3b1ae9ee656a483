"""SARIF 2.1.0 (OASIS): what code scanning on GitHub, Azure DevOps and SARIF viewers read.

Suppressed findings are in it, with their suppressions. A notebook's findings stand at its first
line, as its lines are those of JSON; the cell is a logical location, and the message names it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import msgspec

from cudalint import __version__
from cudalint.findings.finding import Finding, Severity, Step
from cudalint.findings.fix import Edit, Fix
from cudalint.findings.judged import paragraph, precision
from cudalint.findings.rule import Rule, page_url
from cudalint.project.files import FileError
from cudalint.reports.hosts import host_place, told
from cudalint.reports.json import finding_entry
from cudalint.reports.report import Report
from cudalint.reports.style import escaped
from cudalint.source import Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "cudalint/v1"
_BASE = "%SRCROOT%"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "recommendation",
}


def render(report: Report) -> str:
    """One log with one run."""
    codes = sorted({finding.code for finding in report.told})
    run: dict[str, Any] = {
        "tool": {"driver": _driver(codes, report)},
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes, report) for finding in report.told],
    }
    if report.checkout is not None:
        run["originalUriBaseIds"] = {_BASE: {"uri": f"{report.checkout.root.as_uri()}/"}}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n"


# The tool ---------------------------------------------------------------------------------------


def _driver(codes: Iterable[str], report: Report) -> dict[str, Any]:
    rules = {rule.code: rule for rule in report.rules}
    names = {finding.code: finding.name for finding in report.told}
    driver: dict[str, Any] = {
        "name": "cudalint",
        "semanticVersion": __version__,
        "rules": [_rule(code, names[code], rules.get(code), report) for code in codes],
    }
    if report.documentation:
        driver["informationUri"] = report.documentation
    return driver


def _rule(code: str, name: str, rule: type[Rule] | None, report: Report) -> dict[str, Any]:
    """A rule; of one that did not run, and whose finding a run of the program showed, the name."""
    page = f"{rule.documentation()}{paragraph(code)}" if rule else name
    summary = page.partition("\n")[0]
    descriptor: dict[str, Any] = {
        "id": code,
        "name": name,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": summary},
        "help": {"text": page, "markdown": page},
    }
    if rule is not None:
        descriptor["defaultConfiguration"] = {"level": _LEVELS[rule.severity]}
        descriptor["properties"] = {
            "precision": precision(code, rule.confidence),
            "problem.severity": _PROBLEMS[rule.severity],
            "tags": ["cuda", "memory"],
        }
    url = page_url(report.documentation, code)
    return descriptor | ({"helpUri": url} if url else {})


def _invocation(report: Report) -> dict[str, Any]:
    notifications = [
        *(_notification(error, "error", report) for error in report.errors),
        *(_notification(note, "note", report) for note in report.notes),
    ]
    invocation: dict[str, Any] = {"executionSuccessful": not report.errors}
    if notifications:
        invocation["toolExecutionNotifications"] = notifications
    return invocation


def _notification(error: FileError, level: str, report: Report) -> dict[str, Any]:
    place = {"physicalLocation": {"artifactLocation": _artifact(error.filename, report)}}
    return {"level": level, "message": {"text": _text(error.message)}, "locations": [place]}


# Findings ---------------------------------------------------------------------------------------


def _result(finding: Finding, codes: list[str], report: Report) -> dict[str, Any]:
    path = [step for step in finding.steps if not step.aside]
    related = [
        *((step.filename, step.span, step.message) for step in finding.steps if step.aside),
        *((part.filename, part.span, part.message) for part in finding.parts),
    ]
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[finding.severity],
        "message": {"text": _text(told(finding, report))},
        "locations": [_primary(finding, report)],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        # All results of a run have them, or none.
        "suppressions": _suppressions(finding),
        "properties": _properties(finding, report),
    }
    if path:
        steps = [_step(number, step, report) for number, step in enumerate(path, start=1)]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if related:
        result["relatedLocations"] = [
            {"id": number, **_location(*one, report)} for number, one in enumerate(related, start=1)
        ]
    if finding.fix is not None and (fix := _fix(finding.fix, report)):
        result["fixes"] = [fix]
    return result


def _primary(finding: Finding, report: Report) -> dict[str, Any]:
    location = _location(finding.filename, finding.span, None, report)
    if finding.function:
        function = {"fullyQualifiedName": finding.function, "kind": "function"}
        location.setdefault("logicalLocations", []).append(function)
    return location


def _step(number: int, step: Step, report: Report) -> dict[str, Any]:
    location = _location(step.filename, step.span, step.message, report)
    return {"executionOrder": number, "location": location}


def _suppressions(finding: Finding) -> list[dict[str, Any]]:
    if finding.suppressed is None:
        return []
    return [{"kind": "inSource", "status": "accepted", "justification": finding.suppressed}]


def _properties(finding: Finding, report: Report) -> dict[str, Any]:
    entry = finding_entry(finding, report)
    measured = {"judged": entry.judged, "runtime": entry.runtime}
    properties: dict[str, Any] = {
        "confidence": entry.confidence,
        **{name: value for name, value in measured.items() if value is not None},
    }
    if entry.location.cell is not None:
        properties |= {"location": entry.location, "end_location": entry.end_location}
    return properties


def _fix(fix: Fix, report: Report) -> dict[str, Any] | None:
    """The fix; none in notebooks, whose text is not the file's."""
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        if host_place(edit.filename, edit.span, report).cell is not None:
            return None
        changes.setdefault(edit.filename, []).append(_replacement(edit, report))
    return {
        "description": {"text": _text(fix.message)},
        "artifactChanges": [
            {"artifactLocation": _artifact(filename, report), "replacements": replacements}
            for filename, replacements in changes.items()
        ],
        "properties": {"applicability": fix.applicability.value},
    }


def _replacement(edit: Edit, report: Report) -> dict[str, Any]:
    return {
        "deletedRegion": _region(edit.filename, edit.span, report),
        "insertedContent": {"text": edit.text},
    }


# Places -----------------------------------------------------------------------------------------


def _location(filename: str, span: Span, message: str | None, report: Report) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": _artifact(filename, report),
            "region": _region(filename, span, report),
        }
    }
    if message is not None:
        location["message"] = {"text": _text(message)}
    cell = host_place(filename, span, report).cell
    if cell is not None:
        name = f"cell {cell}"
        location["logicalLocations"] = [{"name": name, "fullyQualifiedName": name}]
    return location


def _region(filename: str, span: Span, report: Report) -> dict[str, int]:
    place = host_place(filename, span, report)
    return {
        "startLine": place.row,
        "startColumn": place.column,
        "endLine": place.end_row,
        "endColumn": place.end_column,
    }


def _artifact(filename: str, report: Report) -> dict[str, Any]:
    name = report.repository_name(filename)
    path = PurePath(name)
    if path.is_absolute():
        return {"uri": path.as_uri()}
    based = {"uriBaseId": _BASE} if report.checkout is not None else {}
    return {"uri": quote(name), **based}


def _text(text: str) -> str:
    """A message on one line, in which ``[text](target)`` is no link."""
    return escaped(text).replace("](", "\\](")
