"""Builds, runs and judges one fixture."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.runtime.units import Unit, plan_of
from cudalint.findings.finding import Finding, Severity
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.runtime.compile_flags import ProjectFlags
from cudalint.runtime.targets import Target, targets_of

WITHOUT_FAULTS = "the run without faults"
MISSED = "missed"
"""The outcome of a bad fixture without a static finding of its rule."""


@dataclass
class Row:
    """What came of one unit."""

    unit: str
    code: str
    language: str
    bad: bool
    outcome: str
    """Of a bad one the worst verdict on its rule's findings, or ``missed`` where it has none; of a
    good one ``silent`` or ``alarm``."""
    by_fault: bool = False
    """Whether a run without faults would have shown none of its findings."""
    ways: list[str] = field(default_factory=list)
    """What showed each of its findings: the call that failed, or ``the run without faults``."""
    ran: bool = False
    """Whether a program of its own did, and not only harnesses."""
    hooked: bool = False
    """Whether only hooks in a Python framework saw it, which make few calls fail."""
    reasons: list[str] = field(default_factory=list)
    endings: list[str] = field(default_factory=list)
    """What each of its programs said last, where it did not end well."""
    known: list[str] = field(default_factory=list)
    """What a run shows of a good one and its comments explain: ``// seen: GPU101: reason``."""
    seconds: float = 0.0
    witness: str = ""
    """What compute-sanitizer says (GPU only): of a bad one ``agrees``, or what it does not show; of
    a good one ``silent``, or what it reports."""


_WORST = (
    Outcome.NOT_RUNNABLE, Outcome.REFUTED, Outcome.KEPT, Outcome.NOT_REACHED, Outcome.CONFIRMED,
)  # fmt: skip


def judge_unit(unit: Unit, static: Sequence[Finding], device: str, seconds: float) -> Row:
    """Build, run and judge one unit."""
    from cudalint.runtime.confirm import ConfirmOptions, confirm
    from cudalint.runtime.harness.making import HarnessOptions
    from cudalint.runtime.sweep import Budget

    row = Row(unit.name, unit.code, unit.language, unit.bad, Outcome.NOT_RUNNABLE.value)
    started = time.monotonic()
    flags = ProjectFlags(plan_of(unit))
    targets = targets_for(unit, flags)
    if not targets and not static:
        row.reasons.append("no program")
        return row
    options = ConfirmOptions(
        device_of(unit, device), Budget(seconds), seconds=20.0, limits=limits_of(unit),
        harnesses=HarnessOptions(flags.of),
    )  # fmt: skip
    result = confirm(static, targets, options)
    told = [finding for finding in result.findings if finding.runtime is not None]
    # What is known to be told under another rule has to be shown under that one.
    own = [finding for finding in told if finding.code == unit.code] or (told if unit.bad else [])
    if not unit.bad:
        row.outcome = "silent"
        if result.failed:
            row.outcome = Outcome.NOT_RUNNABLE.value
            row.reasons += result.failed.values()
        confirmed = [f for f in own if f.runtime and f.runtime.outcome is Outcome.CONFIRMED]
        for finding in (*confirmed, *result.seen):
            if finding.severity is Severity.INFO and finding in result.seen:
                row.known.append(f"line {finding.span.row}: {finding.code} kept to the end")
                continue
            if finding in result.seen and (reason := seen_as_it_should_be(finding)):
                row.known.append(f"line {finding.span.row}: {finding.code} {reason}")
                continue
            row.outcome = "alarm"
            row.reasons.append(said(finding))
    elif not own and any(_at_todo(finding, unit) for finding in result.seen):
        row.outcome = Outcome.CONFIRMED.value
        row.ways.append(WITHOUT_FAULTS)
        row.reasons.append("only the run shows it")
    elif not own and not result.failed and not any(f.code == unit.code for f in static):
        row.outcome = MISSED
        row.reasons.append("no finding of its rule")
    elif not own:
        row.reasons += result.failed.values() or ["no run can show findings of this rule"]
    else:
        verdicts = [finding.runtime for finding in own if finding.runtime]
        worst = min(verdicts, key=lambda verdict: _WORST.index(verdict.outcome))
        row.outcome = worst.outcome.value
        row.ways += [v.evidence[0].fault or WITHOUT_FAULTS for v in verdicts if v.evidence]
        row.by_fault = bool(row.ways) and WITHOUT_FAULTS not in row.ways
        row.reasons += [
            f"line {finding.span.row}: {verdict.outcome.value}: {_why(verdict)}"
            for finding, verdict in zip(own, verdicts, strict=True)
            if verdict.outcome is not Outcome.CONFIRMED
        ]
    row.ran = bool(result.bases)
    row.endings += filter(None, (base.exit_text for base in result.bases.values()))
    row.hooked = any(base.hooked for base in result.bases.values())
    for base in result.bases.values():
        if not base.ended and row.outcome != Outcome.CONFIRMED.value:
            row.reasons.append(f"the run without faults: {base.result.ending}")
    if device == "gpu" and unit.language == "cpp":
        row.witness = witness_of(unit, result, targets, options)
    row.seconds = round(time.monotonic() - started, 2)
    return row


def _why(verdict: Verdict) -> str:
    return verdict.reason or "; ".join(one.message for one in verdict.evidence)


def seen_as_it_should_be(finding: Finding) -> str:
    """Why what a run shows is as it should be, by the comment on its line."""
    _, mark, reason = _line_of(finding).partition(f"seen: {finding.code}:")
    return reason.strip() if mark else ""


def _line_of(finding: Finding) -> str:
    path = Path(finding.filename)
    lines = path.read_text("utf-8").split("\n") if path.is_file() else []
    return lines[finding.span.row - 1] if 0 < finding.span.row <= len(lines) else ""


def witness_of(unit: Unit, result: Any, targets: Sequence[Any], options: Any) -> str:
    """What compute-sanitizer says of a unit: the same as the ledger, or where it differs."""
    from cudalint.runtime.sanitizer import LEAK, TOOL, SanitizerError

    if unit.bad:
        missing: list[str] = []
        agreed = 0
        for finding in result.findings:
            verdict = finding.runtime
            if verdict is None or verdict.outcome is not Outcome.CONFIRMED:
                continue
            if any(evidence.witness == TOOL for evidence in verdict.evidence):
                agreed += 1
            else:
                missing.append(f"line {finding.span.row}: {verdict.evidence[0].message}")
        return "; ".join(missing) if missing else "agrees" if agreed else ""
    from cudalint.runtime.confirm import TargetError, prepared
    from cudalint.runtime.second_witness import SecondWitness

    leaks: list[str] = []
    for target in targets:
        try:
            with prepared(target, options) as ready:
                records = SecondWitness(ready, options.device).records(None)
        except (SanitizerError, TargetError) as error:
            return str(error)
        leaks += [record.message for record in records if record.kind == LEAK]
    return "; ".join(leaks) if leaks else "silent"


def _at_todo(finding: Finding, unit: Unit) -> bool:
    """Whether a run found what the static rules are known to miss."""
    return f"todo: {unit.code}" in _line_of(finding)


def targets_for(unit: Unit, flags: ProjectFlags) -> list[Target]:
    """The programs of a unit, built and started as it says."""
    return [
        dataclasses.replace(target, arguments=unit.arguments, flags=flags.of(target.sources))
        for target in targets_of(unit.files, flags.include_folders)
    ]


def said(finding: Finding) -> str:
    return f"line {finding.span.row}: {finding.code} {finding.message}"


def device_of(unit: Unit, kind: str):  # type: ignore[no-untyped-def]
    from cudalint.apis.devices import parse_bytes
    from cudalint.cli import check
    from cudalint.runtime.devices import Gpu, Simulated

    if kind == "gpu":
        return Gpu.find()
    given = check.make_context("check", list(unit.options)).params
    memory = given["device_memory"]
    target = (given["target"] or ["sm_90"])[0]
    return Simulated(target, parse_bytes(memory) if memory else None)


def limits_of(unit: Unit) -> Any:
    """What the options of a fixture call too much."""
    from cudalint.apis.devices import limits_for
    from cudalint.cli import check
    from cudalint.runtime.observation import Limits

    given = check.make_context("check", list(unit.options)).params
    limits = limits_for(
        given["target"] or (),
        given["device_memory"],
        given["max_transfer"],
        given["large_allocation"],
    )
    return Limits(limits.max_transfer, limits.device_memory)
