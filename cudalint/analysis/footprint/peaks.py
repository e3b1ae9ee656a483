"""The peaks of the functions of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import Peak
from cudalint.analysis.footprint.machine import Machine
from cudalint.analysis.shape.operations import calls
from cudalint.apis.paths import parse_shape
from cudalint.program import Call, Function

MOST_DEPTH = 8


def peaks_of(runs: Sequence[FunctionRun]) -> dict[int, Peak]:
    """The peaks of all Python functions of a run, by the ``id`` of their analyses."""
    found: dict[int, Peak] = {}
    creators = _Creators()
    for run in runs:
        if run.python and creators.creates(run, run.function):
            peak = Machine(run.function, run.program, run.symbols).run().peaks.peak()
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
    """Which functions make an array, or acquire memory, or call one that does: without, no size
    can be known."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], bool] = {}

    def creates(self, run: FunctionRun, function: Function, depth: int = 0) -> bool:
        """Whether a function does."""
        identity = (function.filename, function.key)
        if identity not in self._known:
            self._known[identity] = False  # of functions that call each other, the others decide
            self._known[identity] = depth < MOST_DEPTH and any(
                self._call(run, function, call, depth) for _, call in calls(function)
            )
        return self._known[identity]

    def _call(self, run: FunctionRun, function: Function, call: Call, depth: int) -> bool:
        model = run.models.lookup(call.name) if call.name and call.name[0] != "." else None
        if model is not None and (model.acquires or (model.returns and model.returns.shape)):
            returns = model.returns
            if returns is None or not returns.shape:
                return True
            return parse_shape(returns.shape, model.parameters).kind in _CREATING
        callee = run.symbols.function(call.key, function.filename) if call.key else None
        return callee is not None and self.creates(run, callee, depth + 1)


_CREATING = ("arguments", "dimensions", "range")
