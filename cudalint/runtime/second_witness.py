"""Asks compute-sanitizer for what the ledger says: the same run, with the same call failing, seen
by a tool that knows nothing of ours."""

from __future__ import annotations

import os

from cudalint.findings.verdict import Evidence
from cudalint.runtime.devices import Device, Gpu
from cudalint.runtime.evidence import LEAKS, stack_text
from cudalint.runtime.faults import Fault
from cudalint.runtime.processes import ProcessLimits
from cudalint.runtime.question import Question
from cudalint.runtime.sanitizer import API, LEAK, TOOL, Record, SanitizerError, run_sanitizer
from cudalint.runtime.sweep import Prepared

_MISUSE = frozenset({
    "GPU201", "GPU202", "GPU203", "GPU204", "GPU205", "GPU301", "GPU302", "GPU303", "GPU304",
    "GPU305", "GPU405", "GPU406",
})  # fmt: skip


class SecondWitness:
    """The runs of one target under compute-sanitizer, each made once, when it is asked for."""

    def __init__(self, prepared: Prepared, device: Device) -> None:
        self._prepared = prepared
        self._device = device
        self._tool = device.sanitizer if isinstance(device, Gpu) else None
        self._kept: dict[Fault | None, tuple[Record, ...] | SanitizerError] = {}

    def evidence(self, question: Question, first: Evidence, fault: Fault | None) -> list[Evidence]:
        """What it says of a finding that a run of the ledger, with that fault, showed."""
        code = question.finding.code
        if self._tool is None or code not in LEAKS | _MISUSE:
            return []
        try:
            records = self.records(fault)
        except SanitizerError:
            return []
        return [
            Evidence(
                record.message,
                first.run,
                first.fault,
                record.bytes if record.kind == LEAK else None,
                stack_text(record.stack),
                TOOL,
            )
            for record in records
            if agrees(question, record)
        ][:1]

    def records(self, fault: Fault | None) -> tuple[Record, ...]:
        """All that it reports of a run; ``SanitizerError`` where it could not be had."""
        known = self._kept.get(fault)
        if known is None:
            try:
                known = self._run(fault)
            except SanitizerError as error:
                known = error
            self._kept[fault] = known
        if isinstance(known, SanitizerError):
            raise known
        return known

    def _run(self, fault: Fault | None) -> tuple[Record, ...]:
        prepared = self._prepared
        if self._tool is None:
            raise SanitizerError(f"{TOOL} is not installed, or there is no GPU to run it on")
        environment = {
            **{name: text for name, text in os.environ.items() if name[:9] != "CUDALINT_"},
            **prepared.environment,
            **self._device.environment(),
            **(fault.environment() if fault else {}),
        }
        return run_sanitizer(
            self._tool,
            prepared.command,
            folder=prepared.folder,
            environment=environment,
            # It slows programs down.
            limits=ProcessLimits(seconds=3 * prepared.seconds),
        )


def agrees(question: Question, record: Record) -> bool:
    """Whether a record says the same as a finding: the same kind of thing on the same lines."""
    places = question.places if question.finding.code == "GPU104" else (question.place,)
    on_lines = any(
        place.index(record.stack) is not None
        or (record.device is not None and place.holds(record.device))
        for place in places
    )
    if question.finding.code in LEAKS:
        return record.kind == LEAK and on_lines
    if question.finding.code == "GPU205":
        # The release by a destructor is on none of the finding's own lines.
        return record.kind == API and "Free" in record.api
    return record.kind != LEAK and on_lines
