"""Verdicts on what a line takes at most: its peak as it is, and with the change that the rule
suggests."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Evidence, Outcome, Verdict
from cudalint.runtime.evidence import shown
from cudalint.runtime.frameworks.growth import WITNESS, not_measured, unmeasured
from cudalint.runtime.frameworks.programs import Sample
from cudalint.runtime.frameworks.watches import UNRECORDED, Kind, watch_of, watches_of
from cudalint.runtime.sweep import BudgetSpentError, Laboratory

_LEAST_OF_A_GRAPH = 512
_CHANGE = "`torch.no_grad()`"


class PeakJudge:
    """Judges the findings on peaks of one target."""

    def __init__(self, laboratory: Laboratory, findings: Sequence[Finding]) -> None:
        self._laboratory = laboratory
        self._watches = watches_of(findings)
        self._device = laboratory.device.name

    def verdict(self, finding: Finding) -> Verdict:
        """Confirmed where the peak is lower with the change."""
        laboratory = self._laboratory
        if not laboratory.prepared.frameworks:
            return self._other(Outcome.NOT_RUNNABLE, unmeasured(laboratory.device.mode))
        watch = watch_of(self._watches, finding, Kind.PEAK)
        try:
            base = laboratory.base()
            plain = base.passes.get(watch.number, ())
            if base.result.trace is None or not plain:
                return self._other(*not_measured(base))
            mended = laboratory.measure(
                [
                    dataclasses.replace(one, change=UNRECORDED) if one == watch else one
                    for one in self._watches
                ]
            )
        except BudgetSpentError:
            return self._other(Outcome.NOT_REACHED, "no time was left to run it")
        after = mended.passes.get(watch.number, ())
        if mended.exit_text and not base.exit_text:
            return self._other(
                Outcome.REFUTED,
                f"with {_CHANGE} in this line the program fails ({mended.exit_text}): it needs the"
                " graph",
            )
        return self._compared(finding, plain, after)

    def _compared(
        self, finding: Finding, plain: Sequence[Sample], after: Sequence[Sample]
    ) -> Verdict:
        """The device's peak; where that is the same, what the line leaves in the host's memory."""
        device, device_after = (max((one.device for one in s), default=0) for s in (plain, after))
        host, host_after = (
            int(statistics.median([one.host for one in s] or [0])) for s in (plain, after)
        )
        where, most, least = "device", device, device_after
        if device <= device_after and host - host_after >= _LEAST_OF_A_GRAPH:
            where, most, least = "host", host, host_after
        if not device and where == "device":
            return self._other(Outcome.NOT_REACHED, "the line takes nothing of the device")
        if not after or least >= most:
            return self._other(
                Outcome.REFUTED,
                f"the peak is {device:,} bytes of the device, with {_CHANGE} in this line as well",
            )
        place = f"{shown(finding.filename)}:{finding.span.row}"
        stack = (f"{place} ({finding.function})" if finding.function else place,)
        takes = f"takes {most:,} bytes of the {where} at most in {len(plain)} passes"
        if where == "host":
            takes = f"leaves {most:,} bytes in the host's memory at each pass"
        evidence = (
            Evidence(
                f"the line {takes}, {most - least:,} of them for graphs that nothing goes back"
                " through",
                bytes=most,
                stack=stack,
                witness=WITNESS,
            ),
            Evidence(
                f"with {_CHANGE} in this line: {least:,} bytes",
                run="with the suggested change",
                bytes=least,
                stack=stack,
                witness=WITNESS,
            ),
        )
        return Verdict(Outcome.CONFIRMED, self._device, evidence)

    def _other(self, outcome: Outcome, reason: str) -> Verdict:
        return Verdict(outcome, self._device, reason=reason)
