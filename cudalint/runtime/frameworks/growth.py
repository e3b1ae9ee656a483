"""Verdicts on what grows: samples of live memory at each pass over a line, with and without the
change that the rule suggests."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Evidence, Outcome, Verdict
from cudalint.runtime.evidence import shown
from cudalint.runtime.frameworks.programs import Sample
from cudalint.runtime.frameworks.watches import GROWTH, Watch, changed, place_of, watches_of
from cudalint.runtime.observation import Observation
from cudalint.runtime.sweep import BudgetSpentError, Laboratory
from cudalint.runtime.trace import Mode

WITNESS = "live memory"
_FEWEST_PASSES = 4
_WARM_UP = 2
"""Passes in which optimizers and libraries take what they keep."""
_CACHES = frozenset({"GPU608"})
_FEWEST_OF_A_CACHE = 3
"""Each pass is an entry: there is nothing to warm up."""
_SHARE = 0.8
"""Of the passes, how many must grow; and how few, for it not to be called growth."""
_REMAINS = 0.25
"""How much of the device's growth the change may leave."""
_GOES = 0.4
"""How much of the growth of the C heap must go with the change: other things grow there too."""
_LEAST_OF_A_GRAPH = 512
_HOST_KEPT = frozenset({"GPU601"})
"""What keeps host memory too: the nodes of a graph are objects of the C heap."""
_CHANGE_TEXT = {"GPU601": "`.detach()`", "GPU603": "a copy to the host"}


@dataclass(frozen=True)
class Fit:
    """How live memory went from pass to pass."""

    passes: int
    rising: float
    """The share of passes after the warm-up that added something."""
    per_pass: int
    """The median of what a pass added, in bytes."""
    total: int
    """From the first pass after the warm-up to the last."""

    @property
    def grows(self) -> bool:
        """By every pass, but for few."""
        return self.rising >= _SHARE and self.per_pass > 0 and self.total > 0


def unmeasured(mode: Mode) -> str:
    """Why a program that no hook sees is not measured."""
    if mode is Mode.SIMULATE:
        return "not simulated: Python frameworks other than PyTorch and CuPy"
    return "only scripts that import a framework are measured"


def not_measured(base: Observation) -> tuple[Outcome, str]:
    """What to say where a program never came to a watched line."""
    last = (base.result.stderr.strip().splitlines() or [""])[-1]
    missing = last.startswith(("ModuleNotFoundError", "ImportError", "NotSimulatedError"))
    if missing or base.result.trace is None:
        return Outcome.NOT_RUNNABLE, last or base.result.ending
    never = "the program never came to this line"
    return (
        Outcome.NOT_REACHED,
        f"{never}: {last or base.result.ending}" if base.exit_text else never,
    )


def fit(values: Sequence[int], fewest: int = _FEWEST_PASSES) -> Fit | None:
    """The growth of a series; ``None`` where it is too short to tell."""
    if len(values) < fewest:
        return None
    tail = values[max(0, min(_WARM_UP, len(values) - 4)) :]
    steps = [after - before for before, after in itertools.pairwise(tail)]
    rising = sum(step > 0 for step in steps) / len(steps)
    return Fit(len(values), rising, int(statistics.median(steps)), tail[-1] - tail[0])


def device_fit(samples: Sequence[Sample], fewest: int = _FEWEST_PASSES) -> Fit | None:
    """Of memory on the device."""
    return fit([sample.device for sample in samples], fewest)


def host_fit(samples: Sequence[Sample]) -> Fit | None:
    """Of the C heap; ``None`` where it could not be asked."""
    if any(sample.host < 0 for sample in samples):
        return None
    return fit([sample.host for sample in samples])


class GrowthJudge:
    """Judges the growth findings of one target."""

    def __init__(self, laboratory: Laboratory, findings: Sequence[Finding]) -> None:
        self._laboratory = laboratory
        self._findings = [one for one in findings if one.code in GROWTH]
        self._watches = tuple(one for one in watches_of(findings) if not one.peak)
        self._device = laboratory.device.name

    def verdict(self, finding: Finding) -> Verdict:
        """The verdict on a growth finding."""
        if not self._laboratory.prepared.frameworks:
            return self._other(Outcome.NOT_RUNNABLE, unmeasured(self._laboratory.device.mode))
        watch = next(one for one in self._watches if (one.file, one.row) == place_of(finding))
        try:
            base = self._laboratory.base()
            if base.result.trace is None or not base.passes:
                return self._other(*not_measured(base))
            return self._measured(finding, watch, base)
        except BudgetSpentError:
            return self._other(Outcome.NOT_REACHED, "no time was left to run it")

    def _measured(self, finding: Finding, watch: Watch, base: Observation) -> Verdict:
        """Compares the run in which only this line is as it was with one where all are changed."""
        plain = base.passes.get(watch.number, ())
        fewest = _FEWEST_OF_A_CACHE if finding.code in _CACHES else _FEWEST_PASSES
        device = device_fit(plain, fewest)
        if device is None:
            ending = "" if base.exit_text == "" else f" ({base.exit_text})"
            reason = f"{len(plain)} passes over this line{ending}: {fewest} are needed"
            return self._other(Outcome.NOT_REACHED, reason)
        mended, left = self._with_changes(watch)
        if left is not None:
            plain = left
            device = device_fit(left) or device
        after = device_fit(mended) if mended is not None else None
        if device.grows and not _same(device, after):
            return self._grown(finding, device, after)
        host, host_after = host_fit(plain), host_fit(mended) if mended is not None else None
        if finding.code in _HOST_KEPT and host is not None and host.grows:
            if host_after is None:
                return self._other(
                    Outcome.NOT_REACHED,
                    f"the host's memory grows by {host.per_pass:,} bytes per pass, the device's"
                    " does not; there was no run with the change to compare it with",
                )
            gone = host.per_pass - host_after.per_pass
            if gone >= max(_LEAST_OF_A_GRAPH, _GOES * host.per_pass):
                return self._confirmed(finding, _graphs(host, device), host, host_after)
        if device.grows and after is not None:
            return self._other(
                Outcome.REFUTED,
                f"memory grows by {device.per_pass:,} bytes per pass, and by"
                f" {after.per_pass:,} with {_CHANGE_TEXT[finding.code]}: this line is not why",
            )
        if device.rising > 1 - _SHARE and device.total > 0:
            return self._other(
                Outcome.NOT_REACHED,
                f"memory grew in {device.rising:.0%} of {device.passes} passes only",
            )
        return self._other(
            Outcome.REFUTED, f"the line ran {device.passes} times, and memory did not grow"
        )

    def _grown(self, finding: Finding, device: Fit, after: Fit | None) -> Verdict:
        message = (
            f"device memory grows by {device.per_pass:,} bytes per pass,"
            f" {device.total:,} bytes in {device.passes} passes"
        )
        return self._confirmed(finding, message, device, after)

    def _confirmed(self, finding: Finding, message: str, fit: Fit, after: Fit | None) -> Verdict:
        place = f"{shown(finding.filename)}:{finding.span.row}"
        stack = (f"{place} ({finding.function})" if finding.function else place,)
        evidence = [Evidence(message, bytes=fit.per_pass, stack=stack, witness=WITNESS)]
        if after is not None:
            grown = f"{after.per_pass:,} bytes per pass" if after.grows else "no growth"
            change = _CHANGE_TEXT[finding.code]
            evidence.append(
                Evidence(
                    f"with {change} in this line: {grown} in {after.passes} passes",
                    run="with the suggested change",
                    bytes=max(0, after.per_pass),
                    stack=stack,
                    witness=WITNESS,
                )
            )
        return Verdict(Outcome.CONFIRMED, self._device, tuple(evidence))

    def _with_changes(
        self, watch: Watch
    ) -> tuple[tuple[Sample, ...] | None, tuple[Sample, ...] | None]:
        """The samples with every line changed; and, where there are other lines, with every one
        but this: lines that keep the same graph hide each other's growth."""
        every = changed(self._watches, self._findings)
        if every is None:
            return None, None
        samples = self._laboratory.measure(every).passes.get(watch.number)
        if samples is None or len(self._watches) == 1:
            return samples, None
        others = changed(self._watches, self._findings, leave=watch)
        if others is None:
            return samples, None
        return samples, self._laboratory.measure(others).passes.get(watch.number)

    def _other(self, outcome: Outcome, reason: str) -> Verdict:
        return Verdict(outcome, self._device, reason=reason)


def _same(before: Fit, after: Fit | None) -> bool:
    """Whether the device's memory grows with the change as it did without."""
    return after is not None and after.grows and after.per_pass > _REMAINS * before.per_pass


def _graphs(host: Fit, device: Fit) -> str:
    text = (
        f"host memory grows by {host.per_pass:,} bytes at each of {host.passes} passes: the graphs,"
        " without the device buffers that backward() has freed"
    )
    if device.grows:
        text += f"; the values themselves take {device.per_pass:,} bytes of the device per pass"
    return text
