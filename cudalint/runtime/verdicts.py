"""Judges findings by runs: which calls to fail for which finding, and what the runs then say."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Evidence, Outcome, Verdict
from cudalint.runtime.events import Event, EventKind, Frame
from cudalint.runtime.evidence import (
    LEAKS,
    evidence_of,
    judged,
    kept,
    measurable,
    nothing_lost,
    unproven,
)
from cudalint.runtime.faults import HOST_APIS, SETTING, Fault
from cudalint.runtime.frameworks.growth import GrowthJudge
from cudalint.runtime.frameworks.measures import OF_RESUMED, REFUTABLE
from cudalint.runtime.frameworks.peaks import PeakJudge
from cudalint.runtime.frameworks.watches import GROWTH, PEAKS
from cudalint.runtime.observation import Observation
from cudalint.runtime.question import Question
from cudalint.runtime.second_witness import SecondWitness
from cudalint.runtime.stream_order import unseen_read, unsure_order
from cudalint.runtime.sweep import BudgetSpentError, Laboratory
from cudalint.runtime.trace import Mode

_MOST_FAULTS = 48
_MOST_LASTING_FAULTS = 12
_MOST_PER_PLACE = 3
_MOST_HOST_FAULTS = 12
_MOST_OTHERWISE = 6
_UNKNOWN = 999
"""``cudaErrorUnknown``, ``CUDA_ERROR_UNKNOWN``: the program may throw of it, where it ends of what
usually fails."""
_OF_CUDA = re.compile(r"cu(?:da)?[A-Z]")
"""Functions whose status that can be, those of no library."""
_SWEPT = LEAKS | {"GPU201", "GPU202", "GPU203", "GPU204", "GPU506"}
_SWEEP_ALONE = frozenset({"GPU506"})
"""What a run without faults cannot show."""
_PATHLESS = frozenset({"GPU101", "GPU105"})
"""What every path would show."""
_HOST_SIZES = frozenset({"GPU405"})
NOT_SIMULATED = "not simulated: "
"""So begins the note of a hook on what the program asked for and a pretended device cannot do."""
STANDS_IN = "small data stands in for "
"""The same of data: that nothing is wrong with so little of it says nothing."""
_RESUMED = "started again where a run before has left its files"
NEVER_CALLED = "the program never made the call at this line"
_DEPENDS = (
    "whether it happens depends on values that a kernel computes, and the simulated device computes"
    " none"
)


@dataclass
class _Tried:
    """What was tried for a finding."""

    faults: int = 0
    on_path: int = 0
    ended: int = 0
    depends: bool = False
    """Whether evidence came and went with values that a kernel should have computed."""
    kept: Evidence | None = None
    unproven: str = ""
    """Why what was not released is no evidence."""
    spent: bool = False
    fault: Fault | None = None
    """Of the run that was looked at last."""


class Judge:
    """Judges the findings of one target."""

    def __init__(self, laboratory: Laboratory, findings: Sequence[Finding] = ()) -> None:
        """``findings``: all of the target, which may hide each other's growth."""
        self._laboratory = laboratory
        self._growth = GrowthJudge(laboratory, findings)
        self._peaks = PeakJudge(laboratory, findings)
        self._device = laboratory.device.name
        self._second = SecondWitness(laboratory.prepared, laboratory.device)

    def verdict(self, finding: Finding) -> Verdict | None:
        """The verdict on a finding; ``None`` where no run can show such a thing."""
        verdict = self._verdict(finding)
        unshown = (Outcome.REFUTED, Outcome.NOT_REACHED)
        if verdict is not None and verdict.outcome in unshown and self._laboratory.runs:
            for note in self._laboratory.base().account.notes:
                if note.startswith(NOT_SIMULATED):
                    return Verdict(Outcome.NOT_RUNNABLE, self._device, reason=note)
                if note.startswith(STANDS_IN) and verdict.outcome is Outcome.REFUTED:
                    return Verdict(Outcome.NOT_REACHED, self._device, reason=note)
        return verdict

    def _verdict(self, finding: Finding) -> Verdict | None:
        if finding.code in GROWTH:
            return self._growth.verdict(finding)
        if finding.code in PEAKS:
            return self._peaks.verdict(finding)
        if not (judged(finding.code) or measurable(finding.code)):
            return None
        question = Question.of(finding)
        tried = _Tried()
        try:
            base = self._laboratory.base()
            if not base.events or self._missing_module(base):
                return self._not_runnable(base)
            if not (judged(finding.code) or finding.code in REFUTABLE or base.hooked):
                return None  # nothing here measures it
            if question.finding.code in LEAKS and question.never and nothing_lost(question, base):
                still = kept(question, base)
                if still is not None:
                    return Verdict(Outcome.KEPT, self._device, (still,))
                reason = "the run without faults released all of it"
                return Verdict(Outcome.REFUTED, self._device, reason=reason)
            evidence = self._shown(question, tried)
        except BudgetSpentError:
            tried.spent = True
            evidence = None
            try:
                base = self._laboratory.base()
            except BudgetSpentError:
                reason = "no time was left to run it"
                return Verdict(Outcome.NOT_REACHED, self._device, reason=reason)
        if evidence is not None:
            alone = tried.fault is not None and tried.fault.host  # only the ledger can do that
            second = () if alone else self._second.evidence(question, evidence, tried.fault)
            return Verdict(Outcome.CONFIRMED, self._device, (evidence, *second))
        return self._unconfirmed(question, base, tried)

    def _missing_module(self, base: Observation) -> bool:
        last = (base.result.stderr.strip().splitlines() or [""])[-1]
        return self._laboratory.prepared.python and last.startswith(
            (
                "ModuleNotFoundError",
                "ImportError",
                "AttributeError: cudalint simulates no",
                "NotSimulatedError",
            )
        )

    def _shown(self, question: Question, tried: _Tried) -> Evidence | None:
        """The evidence of the first run that shows it, whatever kernels would compute."""
        code = question.finding.code
        if code not in _SWEEP_ALONE:
            evidence = self._in_run(question, None, tried)
            if evidence is not None:
                return evidence
        if code in OF_RESUMED:
            return self._shown_by_resuming(question)
        if code not in _SWEPT:
            return None
        exited: list[Fault] = []
        for fault, on_path in self._faults(question):
            tried.faults += 1
            tried.on_path += on_path
            evidence = self._in_run(question, fault, tried)
            if evidence is not None:
                return evidence
            if code in LEAKS and _OF_CUDA.match(fault.api) and self._exits(fault):
                exited.append(fault)
        for fault in exited[:_MOST_OTHERWISE]:
            otherwise = dataclasses.replace(fault, status=_UNKNOWN)
            evidence = self._in_run(question, otherwise, _Tried())
            if evidence is not None:
                tried.fault = otherwise
                return evidence
        return self._shown_by_host_calls(question, tried)

    def _exits(self, fault: Fault) -> bool:
        return not fault.always and bool(self._laboratory.observe(fault).exits)

    def _shown_by_resuming(self, question: Question) -> Evidence | None:
        """Of a script that never came by: what it does where a run before has left its files."""
        prepared, base = self._laboratory.prepared, self._laboratory.base()
        came = any(question.place.index(event.stack) is not None for event in base.events)
        if came or not prepared.frameworks or prepared.folder is not None or not base.ended:
            return None
        evidence = evidence_of(question, self._laboratory.resumed())
        return dataclasses.replace(evidence, run=_RESUMED) if evidence is not None else None

    def _shown_by_host_calls(self, question: Question, tried: _Tried) -> Evidence | None:
        """The same with a call of the host's own failing, which only leads to a way out: without
        evidence it says nothing."""
        if question.never or tried.kept or not self._laboratory.prepared.host_calls:
            return None
        for fault in self._host_faults(question):
            if question.finding.code not in LEAKS and fault.api != SETTING:
                continue  # What is misused once the host has no memory is another question.
            alone = _Tried()
            evidence = self._in_run(question, fault, alone)
            if evidence is not None:
                tried.fault = fault
                return evidence
        return None

    def _host_faults(self, question: Question) -> Iterator[Fault]:
        """Those in the finding's function and on its lines; what asks for a setting, also while
        what the finding speaks of is held."""
        function = question.finding.function.rpartition("::")[2].partition("<")[0]
        places: set[tuple[Frame, ...]] = set()
        events = self._laboratory.with_host_calls().events
        spans = _lifetimes(question, events).spans
        for event in fallible_calls(events):
            near = any(question.place.shares(frame, function) for frame in event.stack) or any(
                place.index(event.stack) is not None for place in question.places
            )
            if event.api == SETTING:
                near = near or any(first < event.sequence < last for first, last in spans)
            if event.api in HOST_APIS and near and event.stack not in places:
                places.add(event.stack)
                yield Fault(call=event.call, api=event.api, host=True)
                if len(places) == _MOST_HOST_FAULTS:
                    return

    def _in_run(self, question: Question, fault: Fault | None, tried: _Tried) -> Evidence | None:
        tried.fault = fault
        seen = self._laboratory.observe(fault)
        # Whatever is misused after such an end, nobody can.
        tried.ended += seen.ended or (seen.terminated and question.finding.code not in LEAKS)
        evidence = evidence_of(question, seen)
        if evidence is None:
            if question.finding.code in LEAKS:
                tried.kept = tried.kept or kept(question, seen)
                tried.unproven = tried.unproven or unproven(question, seen)
            return None
        if not seen.account.tainted:
            return evidence
        varied = [evidence_of(question, other) for other in self._laboratory.varied(fault)]
        if varied and all(varied):
            return evidence
        tried.depends = True
        return None

    # Faults -------------------------------------------------------------------------------------

    def _faults(self, question: Question) -> Iterator[tuple[Fault, bool]]:
        """The calls to fail, those on the finding's own steps first; whether it is one of these."""
        calls = fallible_calls(self._laboratory.base().events)
        owned = _lifetimes(question, self._laboratory.base().events)
        failing = question.failing
        steps = (*failing, *question.places)
        chosen: dict[tuple[int, str], tuple[Event, bool]] = {}
        places: dict[tuple[Frame, ...], int] = {}

        def choose(event: Event, on_path: bool) -> None:
            if event.identity in chosen or event.identity in owned.releases:
                return
            # A loop makes the same call again and again: its first rounds tell enough.
            count = places.get(event.stack, 0)
            if count < _MOST_PER_PLACE:
                places[event.stack] = count + 1
                chosen[event.identity] = (event, on_path)

        for event in calls:
            if any(step.index(event.stack) is not None for step in failing):
                choose(event, True)
        for event in calls:
            if any(step.index(event.stack) is not None for step in steps):
                choose(event, False)
        for event in calls:
            if question.finding.code in LEAKS and any(
                first < event.sequence < last for first, last in owned.spans
            ):
                choose(event, False)
        function = question.finding.function.rpartition("::")[2].partition("<")[0]
        for event in calls:
            if any(question.place.shares(frame, function) for frame in event.stack):
                choose(event, False)
        kept = list(chosen.values())[:_MOST_FAULTS]
        for event, on_path in kept:
            yield Fault(call=event.call, api=event.api), on_path
        # What is tried again until it succeeds must fail each time.
        again: set[tuple[str, tuple[Frame, ...]]] = set()
        releasing = {event.api for event in calls if event.kind is EventKind.RELEASE}
        for event, on_path in kept:
            if event.api in releasing:
                continue  # What cannot be released is no leak of the program's.
            if (event.api, event.stack) not in again and len(again) < _MOST_LASTING_FAULTS:
                again.add((event.api, event.stack))
                yield Fault(call=event.call, api=event.api, always=True), on_path

    # Without evidence ---------------------------------------------------------------------------

    def _not_runnable(self, base: Observation) -> Verdict:
        result = base.result
        reason = result.problem or result.ending
        if self._laboratory.prepared.python:
            last = (result.stderr.strip().splitlines() or [""])[-1]
            reason = last or f"it never asked for cuda.bindings ({result.ending})"
        return Verdict(Outcome.NOT_RUNNABLE, self._device, reason=reason)

    def _unconfirmed(self, question: Question, base: Observation, tried: _Tried) -> Verdict:
        def unreached(reason: str) -> Verdict:
            return Verdict(Outcome.NOT_REACHED, self._device, reason=reason)

        if tried.depends:
            return unreached(_DEPENDS)
        if tried.kept is not None:
            return Verdict(Outcome.KEPT, self._device, (tried.kept,))
        if tried.unproven:
            return unreached(tried.unproven)
        if base.hooked and question.finding.code not in REFUTABLE:
            ending = f" ({base.exit_text})" if base.exit_text else ""
            return unreached(f"the hooks in Python frameworks cannot rule it out{ending}")
        if question.finding.code == "GPU408":
            return unreached(unseen_read(question, base, self._laboratory.device.mode))
        if not any(question.place.index(event.stack) is not None for event in base.events):
            ending = "" if base.ended else f": {base.result.ending}"
            return unreached(f"{NEVER_CALLED}{ending}")
        if tried.spent:
            return unreached("the budget was spent before every call on its path had failed")
        if not base.ended:
            return unreached(f"the program did not come to its end: {base.result.ending}")
        if tried.ended < tried.faults + (question.finding.code not in _SWEEP_ALONE):
            return unreached("with a call on its path failing, the program did not come to its end")
        unseen = self._path_not_run(question, base, tried)
        if unseen:
            return unreached(_DEPENDS if base.account.tainted else unseen)
        with_faults = f", also with each of {tried.faults} calls failing" if tried.faults else ""
        wrong = "all was released" if question.finding.code in LEAKS else "nothing was wrong"
        return Verdict(
            Outcome.REFUTED, self._device, reason=f"its path ran{with_faults}, and {wrong}"
        )

    def _path_not_run(self, question: Question, base: Observation, tried: _Tried) -> str:
        """Why it cannot be said that the path of a finding ran; empty where it did."""
        code = question.finding.code
        if code == "GPU202" and self._laboratory.device.mode is Mode.OBSERVE:
            return "the call ran; what a library does with a pointer cannot be seen"
        if code in LEAKS:
            if question.failing:
                if not tried.on_path and not any(event.call for event in base.events):
                    return "its CUDA runtime is static: no call of it can be made to fail"
                if not tried.on_path:
                    return "the call whose failure matters was never made"
                return (
                    "" if _all_ways(question, base) else "it names ways out that no call leads to"
                )
            if code in _PATHLESS and not question.sometimes:
                return ""
            return "what decides whether its path is taken is no call that can be made to fail"
        if code == "GPU206":
            unsure = unsure_order(question, base, self._laboratory.device.mode)
            if unsure:
                return unsure
        if code in _SWEPT or code == "GPU206":
            for place in question.places:
                if not any(place.index(event.stack) is not None for event in base.events):
                    return "the run took another path, and no failing call leads to it"
        if code == "GPU204":
            return "the call ran, with a pointer that happened to do no harm"
        if code == "GPU108":
            return "the call ran, when nothing was held that it could seem to release"
        if code in _HOST_SIZES:
            return "the call ran; what the host has on its side is not known to the ledger"
        return ""


def _all_ways(question: Question, base: Observation) -> bool:
    """Whether a call that can be made to fail stands at each other way out that it names."""
    calls = fallible_calls(base.events)
    ways = question.other_ways
    return ways is not None and all(
        any(way.index(event.stack) is not None for event in calls) for way in ways
    )


def fallible_calls(events: Sequence[Event]) -> list[Event]:
    """The fallible calls of a run, one event for each."""
    found: dict[tuple[int, str], Event] = {}
    for event in events:
        if event.call and event.api and not event.status:
            found.setdefault(event.identity, event)
    return list(found.values())


@dataclass(frozen=True)
class _Lifetimes:
    """The resources acquired at a finding's place: from when to when, and released by which."""

    spans: tuple[tuple[int, int], ...]
    releases: frozenset[tuple[int, str]]


def _lifetimes(question: Question, events: Sequence[Event]) -> _Lifetimes:
    open_: dict[tuple[str, int], int] = {}
    spans: list[tuple[int, int]] = []
    releases: set[tuple[int, str]] = set()
    last = 0
    for event in events:
        last = event.sequence
        key = (event.family, event.address)
        if event.kind is EventKind.ACQUIRE and question.place.index(event.stack) is not None:
            open_[key] = event.sequence
        elif event.kind is EventKind.RELEASE and key in open_:
            spans.append((open_.pop(key), event.sequence))
            releases.add(event.identity)
    spans += [(first, last) for first in open_.values()]
    return _Lifetimes(tuple(spans), frozenset(releases))
