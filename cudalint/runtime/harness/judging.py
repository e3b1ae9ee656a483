"""Judges findings that no program reaches by harnesses: each is built once, and run with arguments
of several sizes, so that nothing is confirmed by one that the code would refuse."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
from pathlib import Path

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.runtime.account import Account
from cudalint.runtime.devices import Device
from cudalint.runtime.events import Event, EventKind
from cudalint.runtime.evidence import LEAKS, judged
from cudalint.runtime.faults import Fault
from cudalint.runtime.harness.making import Made, Maker
from cudalint.runtime.harness.subjects import HarnessError
from cudalint.runtime.harness.writing import Harness
from cudalint.runtime.observation import Observation
from cudalint.runtime.question import Question, real_path
from cudalint.runtime.sweep import SPOIL, Budget, BudgetSpentError, Laboratory, Prepared
from cudalint.runtime.verdicts import NEVER_CALLED, Judge

_REJECTED = 86
"""The exit status of a harness where an exception came out of the function."""
_THROWN = re.compile(r"^cudalint: the function throws (.+)$", re.MULTILINE)
"""What it says then."""
_STANDS_IN = "cudalint: a class or function stands in"
"""What it says where such a one was made or called."""
_HELD = "it is still held at the end: by the program's own memory, or for its caller"
_NUMBER = "CUDALINT_HARNESS_NUMBER"
_CHOICE = "CUDALINT_HARNESS_CHOICE"
_RELEASING = "CUDALINT_HARNESS_RELEASING"
_PREPARING = "CUDALINT_HARNESS_PREPARING"
_ROOM = "CUDALINT_HARNESS_ROOM"
_ROOMS = (16, 320)
"""How many MiB a block of the harness has, and where nothing comes to its end with that."""
_COMPUTED = 1
"""Each byte of what a kernel should have computed, where nothing comes to its end with zeros: a
count of some millions, which can be allocated."""
_NONSENSE = (0, -1)
_BY_ARGUMENTS = frozenset({
    "GPU301", "GPU302", "GPU303", "GPU304", "GPU305", "GPU405", "GPU407", "GPU501", "GPU502",
})  # fmt: skip
"""What sizes decide: all that the code takes must show it."""
_BY_CRASHES = frozenset({"GPU207"})
"""What ends the program where it is shown."""
_ON_FAILURE = frozenset({"GPU102", "GPU103"})
"""What is left where a call fails: then its user has nothing to release."""
_LOST = frozenset({"GPU101", "GPU106"})
"""What a function loses, where it says so of every way out: else another than the caller may."""
_BY_USE = frozenset({"GPU205"})
"""What only the way that a class is used shows."""
NO_PROGRAM = "no program that was given runs this file"
_NOT_SO = (Outcome.REFUTED, Outcome.KEPT)
_DECISIVE = (Outcome.CONFIRMED, *_NOT_SO)


class HarnessJudge:
    """Judges the findings of one source."""

    def __init__(self, maker: Maker, device: Device, budget: Budget) -> None:
        self._maker = maker
        self._device = device
        self._budget = budget
        self._laboratories: dict[str, list[Laboratory]] = {}

    @property
    def ran(self) -> dict[str, int]:
        """The functions that were called, and how often the harnesses of each were run."""
        return {name: sum(one.runs for one in all_) for name, all_ in self._laboratories.items()}

    def verdict(self, finding: Finding) -> Verdict:
        """The verdict that a harness gives; it names the harness."""
        if not judged(finding.code) or finding.code in _BY_USE:
            return self._not_runnable("what shows it is how a program uses it")
        try:
            verdict = self._called(finding)
        except HarnessError as error:
            return self._not_runnable(str(error))
        if verdict.outcome not in _DECISIVE and self._budget.left > 0:
            with contextlib.suppress(HarnessError):
                other = self._called(finding, further=1)
                return other if other.outcome in _DECISIVE else verdict
        return verdict

    def _called(self, finding: Finding, further: int = 0) -> Verdict:
        harness, made = self._maker.make(finding, further=further)
        verdict = self._in_time(finding, harness, made)
        if made.incomplete and verdict.outcome not in _DECISIVE and self._budget.left > 0:
            harness, made = self._maker.make(finding, complete=True, further=further)
            verdict = self._in_time(finding, harness, made)
        return _named(verdict, f"harness of `{harness.name}`")

    def _in_time(self, finding: Finding, harness: Harness, made: Made) -> Verdict:
        try:
            return self._judged(finding, harness, made)
        except BudgetSpentError:
            return Verdict(Outcome.NOT_REACHED, self._device.name, reason="no time was left")

    def _not_runnable(self, reason: str) -> Verdict:
        return Verdict(Outcome.NOT_RUNNABLE, self._device.name, reason=f"no harness: {reason}")

    # Runs ---------------------------------------------------------------------------------------

    def _judged(self, finding: Finding, harness: Harness, made: Made) -> Verdict:
        found: list[Verdict] = []
        refused = ""
        for number in harness.numbers:
            verdict, why = self._with_number(finding, harness, made, number)
            refused = refused or why
            if verdict is None:
                continue
            found.append(verdict)
            if verdict.outcome is Outcome.CONFIRMED and finding.code not in _BY_ARGUMENTS:
                return verdict
        confirmed = [one for one in found if one.outcome is Outcome.CONFIRMED]
        if confirmed and len(confirmed) == len(found):
            return confirmed[0]
        if confirmed:
            return self._unreached("it depends on the sizes that it is given")
        if self._shown_by_nonsense(finding, harness, made):
            return self._unreached("only sizes of nothing and null pointers show it")
        # Arguments with which the code does not come there say nothing of what it does there.
        there = [one for one in found if not one.reason.startswith(NEVER_CALLED)]
        if there and all(one.outcome in _NOT_SO for one in there):
            return next((one for one in there if one.outcome is Outcome.KEPT), there[0])
        undecided = (one for one in there or found if one.outcome not in _NOT_SO)
        return next(undecided, self._unreached(f"the arguments that can be made up: {refused}"))

    def _with_number(
        self, finding: Finding, harness: Harness, made: Made, number: int
    ) -> tuple[Verdict | None, str]:
        """The verdict with sizes of one number, or why there is none; with values that the code
        compares its arguments with, and with an object that was prepared, where others say
        nothing."""
        verdict: Verdict | None = None
        refused = ""
        attempts = range(harness.choices + 1), range(harness.preparing + 1)
        rooms = _ROOMS if number == harness.numbers[0] else _ROOMS[:1]  # they take their time
        for room, choice, prepared in itertools.product(rooms, *attempts):
            if room != _ROOMS[0] and verdict is not None:
                break  # There was room enough.
            laboratory = self._laboratory(
                finding, harness, made, number, choice=choice, prepared=prepared, room=room
            )
            why = _refusal(finding, laboratory.base())
            refused = refused or why
            if why and laboratory.base().account.tainted:
                laboratory = self._laboratory(
                    finding, harness, made, number, choice=choice, prepared=prepared, room=room,
                    computed=_COMPUTED,
                )  # fmt: skip
                why = _refusal(finding, laboratory.base())
            if not why:
                verdict = Judge(laboratory, [finding]).verdict(finding)
                assert verdict is not None
                if verdict.outcome is Outcome.KEPT:
                    verdict = _of_caller(finding, verdict, laboratory.base())
                if verdict.outcome in _DECISIVE:
                    break
        return verdict, refused

    def _shown_by_nonsense(self, finding: Finding, harness: Harness, made: Made) -> bool:
        for number in _NONSENSE:
            laboratory = self._laboratory(finding, harness, made, number)
            verdict = Judge(laboratory, [finding]).verdict(finding)
            if verdict is not None and verdict.outcome is Outcome.CONFIRMED:
                return True
        return False

    def _unreached(self, reason: str) -> Verdict:
        return Verdict(Outcome.NOT_REACHED, self._device.name, reason=reason)

    def _laboratory(
        self,
        finding: Finding,
        harness: Harness,
        made: Made,
        number: int,
        *,
        choice: int = 0,
        prepared: int = 0,
        room: int = _ROOMS[0],
        computed: int | None = None,
    ) -> Laboratory:
        releasing = harness.releasing and finding.code in LEAKS - _ON_FAILURE
        settings = {
            _NUMBER: number, _CHOICE: choice, _RELEASING: int(releasing),
            _PREPARING: prepared, _ROOM: room,
        }  # fmt: skip
        if computed is not None:
            settings[SPOIL] = computed
        own = {name: str(value) for name, value in settings.items()}
        ready = dataclasses.replace(made.ready, environment={**made.ready.environment, **own})
        laboratory = _HarnessLaboratory(ready, self._device, self._budget, made.file)
        self._laboratories.setdefault(harness.name, []).append(laboratory)
        return laboratory


class _HarnessLaboratory(Laboratory):
    """Leaves out of each run what is wrong only with what the harness made itself."""

    def __init__(self, prepared: Prepared, device: Device, budget: Budget, file: Path) -> None:
        super().__init__(prepared, device, budget)
        self._file = real_path(str(file))

    def observe(self, fault: Fault | None, spoil: int | None = None) -> Observation:
        """One run."""
        return self._without_own(super().observe(fault, spoil))

    def with_host_calls(self) -> Observation:
        """The run without faults, in which the host's own calls count too."""
        return self._without_own(super().with_host_calls())

    def _without_own(self, seen: Observation) -> Observation:
        own = [
            (event.address, event.address + max(event.bytes, 1))
            for event in seen.events
            if event.kind is EventKind.ACQUIRE and self._is_own(event)
        ]

        def about_own(event: Event) -> bool:
            return any(
                low <= address < high
                for low, high in own
                for address in (event.address, event.source)
            )

        account = seen.account
        wrong = {event.stack for event in account.violations if about_own(event)}
        kept: Account = dataclasses.replace(
            account,
            leaks=tuple(event for event in account.leaks if not self._is_own(event)),
            kept=tuple(event for event in account.kept if not self._is_own(event)),
            violations=tuple(one for one in account.violations if one.stack not in wrong),
            failures=tuple(
                event
                for event in account.failures
                if event.stack not in wrong and not self._is_own(event)
            ),
        )
        return dataclasses.replace(seen, account=kept)

    def _is_own(self, event: Event) -> bool:
        """Whether no function of the source was on the stack, only the harness."""
        lines = [frame for frame in event.stack if frame.line]
        return bool(lines) and real_path(lines[0].filename) == self._file


def _refusal(finding: Finding, base: Observation) -> str:
    """Why a run without faults proves nothing: its arguments were none that the code takes; empty
    where it does."""
    if not base.ended and finding.code not in _BY_CRASHES:
        ending = base.exit_text.removesuffix(f": {_STANDS_IN}") or base.result.ending
        return f"the function does not come to its end ({ending})"
    thrown = _THROWN.search(base.result.stderr)
    if thrown:
        return f"the function throws {thrown[1]}"
    if base.result.exit_status == _REJECTED:
        return "the function throws, or needs what cannot be made up"
    if base.ended and base.called_exit and base.result.exit_status:
        return f"the function ends the program ({base.exit_text})"
    failures = [event for event in base.account.failures if not event.injected]
    if failures and finding.code in LEAKS:
        return f"{failures[0].api} fails with status {failures[0].status}"
    return ""


def _of_caller(finding: Finding, verdict: Verdict, base: Observation) -> Verdict:
    """The verdict on what is still held at the end: it is not lost, but that says nothing where
    what should hold it was made up, or where it matters that a class or a failing call keeps it."""
    never = finding.code in _LOST and Question.of(finding).never
    if never and _STANDS_IN not in base.result.stderr.splitlines():
        return dataclasses.replace(verdict, reason=_HELD)
    return Verdict(Outcome.NOT_REACHED, verdict.device, reason=_HELD)


def _named(verdict: Verdict, name: str) -> Verdict:
    evidence = tuple(dataclasses.replace(one, run=f"{name}, {one.run}") for one in verdict.evidence)
    reason = f"{name}: {verdict.reason}" if verdict.reason else ""
    return dataclasses.replace(verdict, evidence=evidence, reason=reason)


def better(program: Verdict | None, harness: Verdict) -> Verdict:
    """Of the verdict that programs gave and that of a harness, the one that says more."""
    if program is None or program.reason == NO_PROGRAM or harness.outcome is Outcome.CONFIRMED:
        return harness
    if harness.outcome in _NOT_SO and _never_ran(program):
        return harness
    return dataclasses.replace(program, reason=f"{program.reason}; {harness.reason}")


def unreached(verdict: Verdict | None) -> bool:
    """Whether no program that was run reaches a finding with this verdict, or not by the way that
    matters."""
    return verdict is not None and verdict.outcome in (Outcome.NOT_RUNNABLE, Outcome.NOT_REACHED)


def _never_ran(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.NOT_RUNNABLE or verdict.reason.startswith(NEVER_CALLED)
