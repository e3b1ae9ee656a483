"""A static estimate of the device memory that a function needs at its peak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cudalint.analysis.facts import Peak

if TYPE_CHECKING:
    from cudalint.analysis.run import FunctionRun


def peaks_of(runs: Sequence[FunctionRun]) -> dict[int, Peak]:
    """The peaks of all Python functions of a run, by the ``id`` of their analyses."""
    found: dict[int, Peak] = {}
    for run in runs:
        if run.python and _may_allocate(run):
            from cudalint.analysis.footprint.machine import Machine

            peak = Machine(run.function, run.program, run.linker).run().peaks.peak()
            if peak is not None:
                found[id(run)] = peak
    own = {
        (run.filename, found[id(run)].span): found[id(run)]
        for run in runs
        if id(run) in found and _within(run, found[id(run)])
    }
    for run in runs:
        peak = found.get(id(run))
        if peak is not None and not _within(run, peak):
            other = own.get((peak.filename or run.filename, peak.span))
            if other is not None and other.bytes >= peak.bytes:
                found[id(run)] = replace(peak, inherited=True)
    return found


def _within(run: FunctionRun, peak: Peak) -> bool:
    """Whether a function reaches its peak in its own code."""
    span = run.function.span
    if peak.filename or run.function.kind == "module":
        return not peak.filename and peak.function == run.function.name
    return span.row <= peak.span.row <= span.end_row


def _may_allocate(run: FunctionRun) -> bool:
    """Whether a function works with a device at all."""
    return run.linker.touches_cuda(run.function, run.program)
