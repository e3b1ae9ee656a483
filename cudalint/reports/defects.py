"""One finding for one defect: what one mend is good for is told once, with all its parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from cudalint.findings.finding import Finding, Step, from_the_top
from cudalint.findings.fix import Fix, in_one
from cudalint.reports.report import Report

_MOST_NAMED = 4


def told_once(report: Report) -> Report:
    """The report with the parts of each defect in its first one. What is suppressed stays apart, as
    do parts that were known before, of another severity or confidence, or of which running it said
    something else."""
    parts: dict[tuple[object, ...], list[Finding]] = {}
    for number, finding in enumerate(report.findings):
        parts.setdefault(_key(finding, number), []).append(finding)
    findings = tuple(_one(first, others) for first, *others in parts.values())
    return dataclasses.replace(report, findings=findings)


def _key(finding: Finding, number: int) -> tuple[object, ...]:
    if finding.defect is None or finding.suppressed is not None:
        return (number,)
    return (
        finding.code,
        finding.filename,
        finding.defect.shared,
        finding.defect.within,
        finding.severity,
        finding.confidence,
        finding.known,
        finding.runtime and finding.runtime.outcome,
    )


def _one(first: Finding, others: Sequence[Finding]) -> Finding:
    if not others:
        return first
    told = {step.span for step in first.steps}
    steps = tuple(
        Step(other.filename, other.span, f"likewise {_part(other)}", aside=True)
        for other in others
        if other.span not in told
    )
    runtime = first.runtime
    if runtime is not None:
        known = (one for other in others if other.runtime for one in other.runtime.evidence)
        runtime = dataclasses.replace(
            runtime, evidence=tuple(dict.fromkeys((*runtime.evidence, *known)))
        )
    return dataclasses.replace(
        first,
        message=f"{first.message}; likewise {_listed(first, others)}",
        steps=from_the_top(first.steps, steps),
        parts=tuple(others),
        runtime=runtime,
        fix=_fix([first, *others]),
    )


def _fix(parts: Sequence[Finding]) -> Fix | None:
    """What mends all parts at once; where that cannot be, what mends the first."""
    fixes = [part.fix for part in parts if part.fix is not None]
    return (in_one(fixes) if len(fixes) == len(parts) else None) or parts[0].fix


def _part(finding: Finding) -> str:
    assert finding.defect is not None
    part = f"`{finding.defect.part}`"
    return f"the last {part}" if finding.defect.is_last else part


def _listed(first: Finding, others: Sequence[Finding]) -> str:
    r"""``\`b\` (line 12)``, ``another \`a\` and \`c\` (lines 12-20)``, ``\`b\`, \`c\`, \`d\` and 7
    more (lines 12-20)``."""
    assert first.defect is not None
    own, another = _part(first), f"another `{first.defect.part}`"
    names = list(dict.fromkeys(another if name == own else name for name in map(_part, others)))
    if len(names) > _MOST_NAMED:
        names = [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more"]
    named = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    start, end = others[0].span.row, others[-1].span.row
    where = f"line {start}" if start == end else f"lines {start}-{end}"
    return f"{named} ({where})"
