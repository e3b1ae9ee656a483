"""The peaks of the functions of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import Peak
from cudalint.analysis.footprint.machine import Machine
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.symbols import Symbols, identity
from cudalint.apis.loader import ApiModels
from cudalint.apis.paths import parse_shape
from cudalint.program import Call


def peaks_of(runs: Sequence[FunctionRun], notable: int) -> dict[int, Peak]:
    """The peaks of all Python functions of a run, by the ``id`` of their analyses. Long functions
    in which fewer than ``notable`` bytes are alive are not followed to their end."""
    found: dict[int, Peak] = {}
    creating = runs[0].symbols.memo(_Creators).functions if runs else set()
    for run in runs:
        if run.python and identity(run.function) in creating:
            peak = Machine(run.function, run.program, run.symbols, notable).run().peaks.peak()
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


class _Creators:
    """The Python functions that make an array, or acquire memory, or call one that does: without,
    no size can be known."""

    def __init__(self, symbols: Symbols) -> None:
        self.functions = symbols.memo(CallGraph).reaching(
            identity(function)
            for function, program in symbols.functions()
            if program.language == "python"
            and any(_creates(call, symbols.models("python")) for _, call in calls(function))
        )


def _creates(call: Call, models: ApiModels) -> bool:
    model = models.lookup(call.name) if not call.name.startswith(".") else None
    if model is None:
        return False
    shape = model.returns.shape if model.returns is not None else None
    if not shape:
        return bool(model.acquires)
    return parse_shape(shape, model.parameters).kind in ("arguments", "dimensions", "range")
