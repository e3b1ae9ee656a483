"""Verdicts on what grows or stays: samples of live memory and of graphs at each pass over a line,
with and without the change that the rule suggests."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Evidence, Outcome, Verdict
from cudalint.runtime.evidence import shown
from cudalint.runtime.frameworks.programs import Sample
from cudalint.runtime.frameworks.retained import CHANGE as RELEASE
from cudalint.runtime.frameworks.retained import retained
from cudalint.runtime.frameworks.watches import (
    GROWTH,
    OF_CALLS,
    Kind,
    Watch,
    changed,
    watch_of,
    watches_of,
)
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
_OF_GRAPHS = OF_CALLS
"""Rules on graphs, whose nodes are counted: few passes tell."""
_FEWEST_OF_A_GRAPH = 3
_FEWEST_LATER_CALLS = 2
_RETAINED = frozenset({"GPU606"})
"""Rules on graphs that may be kept without growing."""
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


def nodes_fit(samples: Sequence[Sample]) -> Fit | None:
    """Of the nodes of graphs, which are objects of the host."""
    return fit([sample.nodes for sample in samples], _FEWEST_OF_A_GRAPH)


class GrowthJudge:
    """Judges the growth findings of one target."""

    def __init__(self, laboratory: Laboratory, findings: Sequence[Finding]) -> None:
        self._laboratory = laboratory
        self._findings = [one for one in findings if one.code in GROWTH]
        self._watches = tuple(one for one in watches_of(findings) if one.kind is not Kind.PEAK)
        self._device = laboratory.device.name

    def verdict(self, finding: Finding) -> Verdict:
        """The verdict on a growth finding."""
        if not self._laboratory.prepared.frameworks:
            return self._other(Outcome.NOT_RUNNABLE, unmeasured(self._laboratory.device.mode))
        watch = watch_of(self._watches, finding, Kind.GROWTH)
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
        of_graphs = finding.code in _OF_GRAPHS
        if len(plain) < (_FEWEST_OF_A_GRAPH if of_graphs else fewest):
            kept = self._kept_for_later_calls(finding, watch, base) if of_graphs else None
            return kept or self._too_few(plain, fewest, base)
        mended, left = self._with_changes(watch)
        if left is not None:
            plain = left.passes.get(watch.number, plain)
        after_samples = mended.passes.get(watch.number, ()) if mended is not None else ()
        device, after = device_fit(plain, fewest), device_fit(after_samples)
        if device is not None and device.grows and not _same(device, after):
            return self._grown(finding, device, after)
        nodes, nodes_after = nodes_fit(plain), nodes_fit(after_samples)
        if of_graphs and nodes is not None and nodes.grows:
            if nodes_after is None:
                return self._other(
                    Outcome.NOT_REACHED,
                    f"graphs grow by {nodes.per_pass:,} nodes per pass, the device's memory does"
                    " not; there was no run with the change to compare it with",
                )
            if nodes_after.per_pass < nodes.per_pass:
                return self._graph_grown(finding, nodes, nodes_after, device)
        if device is None:
            return self._too_few(plain, fewest, base)
        if finding.code in _RETAINED:
            return self._retained(finding, watch, device)
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

    def _too_few(self, plain: Sequence[Sample], fewest: int, base: Observation) -> Verdict:
        ending = f" ({base.exit_text})" if base.exit_text else ""
        reason = f"{len(plain)} passes over this line{ending}: {fewest} are needed"
        return self._other(Outcome.NOT_REACHED, reason)

    def _kept_for_later_calls(
        self, finding: Finding, watch: Watch, base: Observation
    ) -> Verdict | None:
        """Of a line that runs once: the nodes that are there at each later call of its function,
        and are not with the change."""
        calls = watch_of(self._watches, finding, Kind.CALLS).number
        if not base.passes.get(watch.number) or len(base.passes.get(calls, ())) < 2:
            return None
        mended, left = self._with_changes(watch)
        if mended is None:
            return None
        pairs = zip(
            (left or base).passes.get(calls, ()), mended.passes.get(calls, ()), strict=False
        )
        more = [(a.nodes - b.nodes, a.device - b.device) for a, b in pairs]
        later = list(itertools.dropwhile(lambda pair: pair[0] <= 0, more))
        nodes, device = (min((one[at] for one in later), default=0) for at in (0, 1))
        if len(later) < _FEWEST_LATER_CALLS or nodes <= 0:
            return None
        beside = f", which keep {device:,} bytes of the device," if device > 0 else ""
        message = (
            f"{nodes:,} nodes of its graph{beside} are there at each of {len(later)} later calls"
        )
        gone = f"with {_CHANGE_TEXT[finding.code]} in this line: none of them"
        return self._shown(finding, message, gone, device if device > 0 else None)

    def _graph_grown(self, finding: Finding, nodes: Fit, after: Fit, device: Fit | None) -> Verdict:
        message = f"graphs grow by {nodes.per_pass:,} nodes at each of {nodes.passes} passes"
        if device is not None and device.grows:
            message += (
                f"; the values themselves take {device.per_pass:,} bytes of the device per pass"
            )
        grown = f"{after.per_pass:,} nodes per pass" if after.grows else "no growth"
        gone = f"with {_CHANGE_TEXT[finding.code]} in this line: {grown} in {after.passes} passes"
        return self._shown(finding, message, gone)

    def _retained(self, finding: Finding, watch: Watch, device: Fit) -> Verdict:
        found = retained(self._laboratory, watch)
        if found.needed:
            return self._other(Outcome.REFUTED, found.needed)
        if found.bytes <= 0:
            return self._other(
                Outcome.REFUTED,
                f"the line ran {device.passes} times, memory did not grow, and graphs keep no more"
                f" than with {RELEASE}",
            )
        message = f"graphs keep {found.bytes:,} bytes after the pass that {RELEASE} lets go"
        gone = f"with {RELEASE} in this line: nothing of these in {found.passes} passes"
        if found.carried:
            gone += "; then a pass fails, which goes through the graph of an earlier one"
        return self._shown(finding, message, gone, found.bytes)

    def _grown(self, finding: Finding, device: Fit, after: Fit | None) -> Verdict:
        message = (
            f"device memory grows by {device.per_pass:,} bytes per pass,"
            f" {device.total:,} bytes in {device.passes} passes"
        )
        if after is None:
            return self._shown(finding, message, size=device.per_pass)
        grown = f"{after.per_pass:,} bytes per pass" if after.grows else "no growth"
        gone = f"with {_CHANGE_TEXT[finding.code]} in this line: {grown} in {after.passes} passes"
        return self._shown(finding, message, gone, device.per_pass, max(0, after.per_pass))

    def _shown(
        self,
        finding: Finding,
        message: str,
        changed: str = "",
        size: int | None = None,
        left: int = 0,
    ) -> Verdict:
        place = f"{shown(finding.filename)}:{finding.span.row}"
        stack = (f"{place} ({finding.function})" if finding.function else place,)
        evidence = [Evidence(message, bytes=size, stack=stack, witness=WITNESS)]
        if changed:
            run = "with the suggested change"
            evidence.append(Evidence(changed, run=run, bytes=left, stack=stack, witness=WITNESS))
        return Verdict(Outcome.CONFIRMED, self._device, tuple(evidence))

    def _with_changes(self, watch: Watch) -> tuple[Observation | None, Observation | None]:
        """The run with every line changed; and, where there are other lines, with every one but
        this: lines that keep the same graph hide each other's growth."""
        every = changed(self._watches, self._findings)
        if every is None:
            return None, None
        seen = self._laboratory.measure(every)
        if sum(one.kind is Kind.GROWTH for one in self._watches) == 1:
            return seen, None
        others = changed(self._watches, self._findings, leave=watch)
        return seen, self._laboratory.measure(others) if others is not None else None

    def _other(self, outcome: Outcome, reason: str) -> Verdict:
        return Verdict(outcome, self._device, reason=reason)


def _same(before: Fit, after: Fit | None) -> bool:
    """Whether the device's memory grows with the change as it did without."""
    return after is not None and after.grows and after.per_pass > _REMAINS * before.per_pass
