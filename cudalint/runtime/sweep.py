"""Runs a target again and again: once without faults, then with one call failing at a time.

Nothing here knows of findings: ``verdicts`` asks for runs. What was run once is kept.
"""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cudalint.runtime.account import Account, account
from cudalint.runtime.devices import Device
from cudalint.runtime.events import Event, EventKind, Frame
from cudalint.runtime.execute import Run, RunResult, execute
from cudalint.runtime.faults import Fault
from cudalint.runtime.frames import Resolver
from cudalint.runtime.frameworks import programs as frameworks
from cudalint.runtime.frameworks.watches import Watch
from cudalint.runtime.frameworks.watches import environment as watch_environment
from cudalint.runtime.observation import Limits, Observation
from cudalint.runtime.processes import ProcessLimits
from cudalint.runtime.python_programs import STACKS, read_stacks
from cudalint.runtime.trace import Mode, Trace

SPOIL = "CUDALINT_SPOIL"
SPOILS = (0xFF, 0x3F, 0x00)
"""Bytes that stand for what a kernel should have computed: NaN and -1, 0.7, 0."""

_SECONDS = 60.0
_MEMORY = 8 * 1024**3
_MOST_KEPT_EVENTS = 20_000


@dataclass(frozen=True)
class Prepared:
    """A target that can be run."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    seconds: float = _SECONDS
    roots: tuple[Path, ...] = ()
    """The folders of its own sources."""
    python: bool = False
    """Whether it is a script, whose own stacks count."""
    host_calls: Mapping[str, str] = field(default_factory=dict)
    """What has the host's own calls count too; empty where that is not possible."""
    built: tuple[tuple[str, ...], ...] = ()
    """The commands that built it."""
    frameworks: bool = False
    """Whether it is a script that is watched by hooks in Python frameworks, not by the ledger."""


class BudgetSpentError(Exception):
    """No time or no runs are left."""


@dataclass
class Budget:
    """What a whole sweep may use."""

    seconds: float = 600.0
    runs: int = 2000
    started: float = field(default_factory=time.monotonic)
    used: int = 0

    def take(self) -> None:
        """Count a run; ``BudgetSpentError`` where none is left."""
        if self.used >= self.runs or self.left <= 0:
            raise BudgetSpentError
        self.used += 1

    @property
    def left(self) -> float:
        """Seconds."""
        return self.seconds - (time.monotonic() - self.started)


class Laboratory:
    """The runs of one target on one device."""

    def __init__(
        self,
        prepared: Prepared,
        device: Device,
        budget: Budget,
        limits: Limits | None = None,
        watches: Sequence[Watch] = (),
        *,
        history: bool = True,
        parts: bool = False,
    ) -> None:
        """``watches`` are the lines where scripts of Python frameworks are measured; ``history``:
        whether each of their allocations is asked for as well; ``parts``: and how much of each
        their operations take."""
        self.prepared = prepared
        self.device = device
        self._budget = budget
        self._limits = limits or Limits()
        self._watches = tuple(watches)
        self._asked = {} if history else {frameworks.HISTORY: "0"}
        if parts:
            self._asked[frameworks.PARTS] = "1"
        self.runs = 0
        """How many there were."""
        self._resolver = Resolver()
        self._kept: dict[tuple[object, ...], Observation] = {}

    def base(self) -> Observation:
        """The run without faults."""
        return self.observe(None)

    def with_host_calls(self) -> Observation:
        """The run without faults, in which the host's own calls count too."""
        key = ("host calls",)
        known = self._kept.get(key)
        if known is None:
            self._take()
            known = self._kept[key] = self._observe(None, None, host=True)
        return known

    def observe(self, fault: Fault | None, spoil: int | None = None) -> Observation:
        """One run; ``spoil`` is the byte in place of what kernels should have computed."""
        key = (fault, spoil)
        known = self._kept.get(key)
        if known is None:
            self._take()
            known = self._observe(fault, spoil)
            # The run without faults is asked for again and again; others, only when they are small.
            if fault is None or len(known.events) <= _MOST_KEPT_EVENTS:
                self._kept[key] = known
        return known

    def _take(self) -> None:
        self._budget.take()
        self.runs += 1

    def measure(self, watches: Sequence[Watch]) -> Observation:
        """A run without faults, with these lines watched and changed as they say."""
        key = ("watches", tuple(watches))
        known = self._kept.get(key)
        if known is None:
            self._take()
            known = self._observe_frameworks(None, watches)
            self._kept[key] = known
        return known

    def resumed(self) -> Observation:
        """A run without faults that finds what one before has left in its working folder; where
        that left nothing, that one."""
        key = ("resumed",)
        if key not in self._kept:
            with tempfile.TemporaryDirectory(
                prefix="cudalint-resumed-", ignore_cleanup_errors=True
            ) as name:
                folder = Path(name)
                self._take()
                seen = self._observe_frameworks(None, (), folder)
                if any(folder.iterdir()):
                    self._take()
                    seen = self._observe_frameworks(None, (), folder)
                self._kept[key] = seen
        return self._kept[key]

    def _observe_frameworks(
        self, fault: Fault | None, watches: Sequence[Watch], folder: Path | None = None
    ) -> Observation:
        with tempfile.TemporaryDirectory(prefix="cudalint-frameworks-") as name:
            file = Path(name) / "trace"
            environment = {
                **self.prepared.environment,
                **watch_environment(watches),
                **self._asked,
                frameworks.TRACE: str(file),
            }
            result = self._run(fault, environment, folder)
            traces = frameworks.read_traces(file)
        main = max(traces, key=lambda one: len(one.trace.events), default=None)
        if main is None:
            return Observation(fault, (), account(()), result, hooked=True)
        result = dataclasses.replace(result, trace=main.trace, problem="")
        events = main.trace.events
        return Observation(
            fault,
            events,
            account(events),
            result,
            main.exits,
            main.trace.complete,
            limits=self._limits,
            passes=main.passes,
            refused=main.refused,
            hooked=True,
        )

    def _observe(
        self, fault: Fault | None, spoil: int | None, *, host: bool = False
    ) -> Observation:
        prepared = self.prepared
        if prepared.frameworks:
            return self._observe_frameworks(fault, self._watches)
        environment = dict(prepared.environment)
        if host or (fault is not None and fault.host):
            environment.update(prepared.host_calls)
        if spoil is not None:
            environment[SPOIL] = str(spoil)
        with tempfile.TemporaryDirectory(prefix="cudalint-stacks-") as name:
            stacks = Path(name) / "stacks"
            if prepared.python:
                environment[STACKS] = str(stacks)
            result = self._run(fault, environment)
            parts = [self._read(trace, stacks) for trace in _using_cuda(result)]
        return dataclasses.replace(_joined(fault, result, parts), limits=self._limits)

    def _read(self, trace: Trace, stacks: Path) -> _Part:
        if self.prepared.python:
            python = read_stacks(stacks, trace.process)
            return _Part(python.put_into(trace.events), python.exits, trace.complete)
        events = self._resolver.resolve_events(trace.events)
        notes = [event for event in events if event.kind is EventKind.NOTE]
        exits = tuple(event.stack for event in notes if event.api == "exit")
        uncaught = next((event.text for event in notes if event.api == "uncaught"), "")
        return _Part(events, exits, trace.complete, uncaught)

    def _run(
        self, fault: Fault | None, environment: Mapping[str, str], folder: Path | None = None
    ) -> RunResult:
        prepared = self.prepared
        return execute(
            Run(
                prepared.command,
                self.device,
                fault=fault,
                folder=folder or prepared.folder,
                environment=environment,
                limits=ProcessLimits(
                    seconds=max(1.0, min(prepared.seconds, self._budget.left)),
                    memory=_MEMORY if self.device.mode is Mode.SIMULATE else None,
                ),
            )
        )

    def varied(self, fault: Fault | None) -> list[Observation]:
        """The same run with other values in place of what kernels should have computed; those that
        such values made crash are left out."""
        if self.device.mode is not Mode.SIMULATE:
            return []
        found = (self.observe(fault, spoil) for spoil in SPOILS)
        return [one for one in found if one.ended]


@dataclass(frozen=True)
class _Part:
    """What one process showed."""

    events: tuple[Event, ...]
    exits: tuple[tuple[Frame, ...], ...]
    complete: bool
    uncaught: str = ""


def _using_cuda(result: RunResult) -> list[Trace]:
    """The traces that tell of CUDA: of the process that was started, of those that it started; a
    test runner makes no call itself."""
    traces = [trace for trace in (result.trace, *result.children) if trace is not None]
    using = [trace for trace in traces if any(event.call for event in trace.events)]
    return using or traces[:1]


def _joined(fault: Fault | None, result: RunResult, parts: list[_Part]) -> Observation:
    if len(parts) == 1:
        (part,) = parts
        return Observation(
            fault, part.events, account(part.events), result, part.exits, part.complete,
            part.uncaught,
        )  # fmt: skip
    accounts = [account(part.events) for part in parts]
    injected = (one.injected for one in accounts if one.injected is not None)
    return Observation(
        fault,
        tuple(event for part in parts for event in part.events),
        Account(
            leaks=tuple(event for one in accounts for event in one.leaks),
            kept=tuple(event for one in accounts for event in one.kept),
            reset=tuple(event for one in accounts for event in one.reset),
            violations=tuple(event for one in accounts for event in one.violations),
            failures=tuple(event for one in accounts for event in one.failures),
            notes=tuple(note for one in accounts for note in one.notes),
            tainted=tuple(event for one in accounts for event in one.tainted),
            peak=max((one.peak for one in accounts), default=0),
            injected=next(injected, None),
        ),
        result,
        tuple(stack for part in parts for stack in part.exits),
        bool(parts) and all(part.complete for part in parts),
        next((part.uncaught for part in parts if part.uncaught), ""),
    )
