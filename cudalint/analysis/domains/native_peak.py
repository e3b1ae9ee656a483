"""The peak of functions whose memory is acquired and released by calls, from their paths.

The path engine says at each acquisition what is alive; what a callee needs for a moment comes on
top of what its caller holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.domain import Domain
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts import Holder, Peak
from cudalint.analysis.values.values import integer
from cudalint.program import Call
from cudalint.source import Span

SPACES = ("device", "array")


class NativePeaks(Domain):
    """Looks at what is alive after each call. Python's arrays count references: not here."""

    def called(self, run: FunctionRun, call: Call, states: Sequence[State]) -> None:
        for state in states if not run.python else ():
            if state.resources:
                run.log(NativePeak).look(state, call)


class NativePeak:
    """Collects the largest total over the paths of one function."""

    def __init__(self, run: FunctionRun) -> None:
        self.run = run
        self.bytes = 0
        self.span: Span | None = None
        self.holders: tuple[Holder, ...] = ()
        self.unknown: dict[str, None] = {}

    def look(self, state: State, call: Call) -> None:
        """A call came back; it may have acquired something."""
        run = self.run
        holders: list[Holder] = []
        total = 0
        for _, acquired in run.log(Recorder).held(state):
            info = acquired.info
            if acquired.managed or info.kind != "memory" or info.space not in SPACES:
                continue
            size = integer(acquired.bytes)
            if size is None:
                self.unknown.setdefault(acquired.bytes_text or acquired.shown)
                continue
            total += size
            if not size:
                continue
            holders.append(Holder(acquired.shown, size, acquired.span, filename=acquired.filename))
        inner = _callee_peak(run, call)
        if inner is not None and inner.bytes:
            total += inner.bytes
            holders.append(
                Holder(f"{call.name.rpartition('::')[2]}(...)", inner.bytes, call.span, True,
                       run.filename)
            )  # fmt: skip
            self.unknown.update(dict.fromkeys(inner.unknown))
        if total > self.bytes:
            self.bytes, self.span = total, call.span
            self.holders = tuple(sorted(holders, key=lambda h: (-h.bytes, h.span)))

    def peak(self) -> Peak | None:
        """What was found; ``None`` where nothing was acquired."""
        if self.span is None and not self.unknown:
            return None
        return Peak(self.bytes, self.span or Span(1, 1, 1, 1), self.holders, tuple(self.unknown))


def _callee_peak(run: FunctionRun, call: Call) -> Peak | None:
    """What a function of the run needs while it runs, beyond what it hands out."""
    return run.summaries.told(call.key, run.filename, _kept_back) if call.key else None


def _kept_back(callee: FunctionRun) -> Peak | None:
    if any(
        record.acquired.through is None and not record.released
        for record in callee.log(Recorder).records.values()
    ):
        return None  # what it acquires stays: the caller's state tells of it
    return callee.log(NativePeak).peak()
