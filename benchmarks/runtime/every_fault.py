"""Good fixtures under every single fault: each call of the run fails once, and nothing may be lost
or misused by it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.runtime.judging import device_of, limits_of, said, seen_as_it_should_be, targets_for
from benchmarks.runtime.units import Unit, plan_of
from cudalint.findings.finding import Severity
from cudalint.runtime.compile_flags import ProjectFlags
from cudalint.runtime.events import Event

_MOST_PER_PLACE = 3
_TOLD = frozenset({"GPU101", "GPU106", "GPU107", "GPU201", "GPU202"})
"""Leaks, second releases, uses after release. That a program goes on with what it did not get is
the subject of GPU306 and GPU506."""


@dataclass
class FaultRow:
    """What came of one good fixture."""

    unit: str
    runs: int = 0
    survived: int = 0
    """Runs that came to their end: what the others held proves nothing."""
    alarms: list[str] = field(default_factory=list)
    not_run: str = ""


def try_every_fault(unit: Unit, device: str, seconds: float) -> FaultRow:
    """Run a good fixture with each of its calls failing, one at a time; in a loop the first few."""
    from cudalint.runtime.confirm import ConfirmOptions, TargetError, prepared
    from cudalint.runtime.sweep import Budget, BudgetSpentError, Laboratory

    row = FaultRow(unit.name)
    options = ConfirmOptions(
        device_of(unit, device), Budget(seconds), seconds=20.0, limits=limits_of(unit)
    )
    targets = targets_for(unit, ProjectFlags(plan_of(unit)))
    if not targets:
        row.not_run = "no program"
    for target in targets:
        try:
            with prepared(target, options) as ready:
                laboratory = Laboratory(ready, options.device, options.budget, options.limits)
                _try(laboratory, row)
        except TargetError as error:
            row.not_run = str(error)
        except BudgetSpentError:
            row.not_run = "no time was left for every call"
    return row


def _try(laboratory: Any, row: FaultRow) -> None:
    from cudalint.runtime.faults import Fault
    from cudalint.runtime.seen_findings import seen_findings
    from cudalint.runtime.verdicts import fallible_calls

    base = laboratory.base()
    roots, name = laboratory.prepared.roots, laboratory.device.name
    known = {_key(one) for one in seen_findings(base, (), roots, name)}
    for event in _few_of_each(fallible_calls(base.events)):
        seen = laboratory.observe(Fault(call=event.call, api=event.api))
        row.runs += 1
        row.survived += seen.ended
        seen = _without_unreleased(seen, base.events, event)
        for finding in seen_findings(seen, (), roots, name):
            harmless = finding.severity is Severity.INFO or seen_as_it_should_be(finding)
            told = finding.code in _TOLD and _key(finding) not in known
            if told and not harmless:
                evidence = finding.runtime.evidence[0].run if finding.runtime else ""
                row.alarms.append(f"{said(finding)}, when {evidence}")


def _few_of_each(calls: Sequence[Event]) -> Iterator[Event]:
    times: dict[object, int] = {}
    for event in calls:
        count = times[event.stack] = times.get(event.stack, 0) + 1
        if count <= _MOST_PER_PLACE:
            yield event


def _without_unreleased(seen: Any, base: Sequence[Event], failed: Event) -> Any:
    """What could not be released because that very call failed is not the program's fault, nor what
    would have gone with it: by a reset, with a context."""
    before = _held([event for event in base if event.call < failed.call])
    after = _held([event for event in base if event.call <= failed.call])
    spared = before - after
    leaks = tuple(event for event in seen.account.leaks if event.identity not in spared)
    return dataclasses.replace(seen, account=dataclasses.replace(seen.account, leaks=leaks))


def _held(events: Sequence[Event]) -> set[tuple[int, str]]:
    """The calls whose acquisitions are still held."""
    from cudalint.runtime.account import account

    return {event.identity for event in account(events).leaks}


def _key(finding: Any) -> tuple[str, str, int]:
    return finding.code, finding.filename, finding.span.row
