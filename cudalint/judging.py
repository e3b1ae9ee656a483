"""What the settings and the comments leave of the findings."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.suppressions import (
    UNUSED_CODE,
    FileSuppressions,
    parse_suppressions,
    suppress,
    unused_suppressions,
)
from cudalint.plan import Plan
from cudalint.selection import ReadFile
from cudalint.source import Span


def judged(
    findings: Sequence[Finding],
    read: Sequence[ReadFile],
    plan: Plan,
    unread: Mapping[str, Sequence[Span]] | None,
) -> list[Finding]:
    """What the settings and the comments leave of the findings, in order. ``unread`` are the parts
    of each file that could not be read; ``None``: nobody knows, and no comment is judged."""
    suppressions = {
        one.file.filename: parse_suppressions(one.source, one.file.language) for one in read
    }
    kept = suppress(_configured(_ordered(findings), plan), suppressions)
    if unread is not None and any(rule.code == UNUSED_CODE for rule in plan.rules):
        unused = list(_unused(read, suppressions, kept, plan, unread))
        kept += suppress(_configured(unused, plan), suppressions)
    return _ordered(kept)


def _configured(findings: Sequence[Finding], plan: Plan) -> Iterator[Finding]:
    """Per-file ignores, severities, tests, and confidence."""
    ignored: dict[str, frozenset[str]] = {}
    for finding in findings:
        name = finding.filename
        if name not in ignored:
            ignored[name] = plan.ignored_in(name)
        if finding.code in ignored[name]:
            continue
        if finding.confidence is Confidence.LOW and not plan.settings.preview:
            continue
        severity = plan.severities.get(finding.code)
        if severity is None and finding.severity is Severity.WARNING and plan.is_test(name):
            severity = Severity.INFO
        yield dataclasses.replace(finding, severity=severity) if severity else finding


def _unused(
    read: Sequence[ReadFile],
    suppressions: Mapping[str, FileSuppressions],
    kept: Sequence[Finding],
    plan: Plan,
    unread: Mapping[str, Sequence[Span]],
) -> Iterator[Finding]:
    from cudalint.analysis.facts import FileFacts

    told = _rows(kept)
    rule: Any = plan.known[UNUSED_CODE](plan.limits)
    known = {code: rule.name for code, rule in plan.known.items()}
    for one in read:
        name = one.file.filename
        ran = {rule.code for rule in plan.rules} - plan.ignored_in(name)
        found = unused_suppressions(
            suppressions[name],
            known=known,
            ran=ran,
            unread=unread.get(name, ()),
            found=told.get(name, {}),
        )
        facts = FileFacts(name, one.file.language, unused_suppressions=tuple(found))
        if facts.unused_suppressions:
            yield from rule.check(facts)


def _rows(findings: Sequence[Finding]) -> dict[str, dict[int, set[str]]]:
    """By file and row, what is found there and nothing silences."""
    found: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for finding in findings:
        if finding.suppressed is None:
            found[finding.filename][finding.span.row].add(finding.code)
            for step in finding.steps:
                found[step.filename][step.span.row].add(finding.code)
    return found


def _ordered(findings: Sequence[Finding]) -> list[Finding]:
    """By place, then by code. What several groups of files say of a header is said once, and so is
    what is said of code that several functions are made of: instances, or lambdas in lambdas."""
    unique: dict[tuple[str, Span, str, str], Finding] = {}
    for finding in sorted(findings, key=lambda one: len(one.function)):
        key = (finding.filename, finding.span, finding.code, finding.subject)
        unique.setdefault(key, finding)
    return [unique[key] for key in sorted(unique)]
