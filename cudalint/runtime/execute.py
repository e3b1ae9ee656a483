"""Runs a target under the ledger: within limits, in a temporary folder, nothing left running."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cudalint.runtime.devices import Device
from cudalint.runtime.faults import VARIABLE, Fault
from cudalint.runtime.processes import ProcessLimits, run_command
from cudalint.runtime.trace import Trace, TraceError, read_trace

DEFAULT_MEMORY = 8 * 1024**3
_TRACE_LIMIT = 1024 * 1024 * 1024


@dataclass(frozen=True)
class Run:
    """One run of a target."""

    command: Sequence[str | Path]
    device: Device
    fault: Fault | None = None
    folder: Path | None = None
    """Where it runs; ``None`` is a fresh temporary folder, deleted afterwards."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to that of this process."""
    stdout: int | None = None
    """The file that it writes to where ``limits`` keep no output; ``None`` is ours."""
    limits: ProcessLimits = field(default_factory=lambda: ProcessLimits(memory=DEFAULT_MEMORY))


@dataclass(frozen=True)
class RunResult:
    """How a run ended and what it did."""

    exit_status: int | None
    signal: int | None
    timed_out: bool
    seconds: float
    stdout: str
    stderr: str
    output_cut: bool
    survivors: int
    """Processes that it left behind, which were ended."""
    trace: Trace | None
    """Of the process that was started; ``None`` where it never loaded the ledger."""
    children: tuple[Trace, ...] = ()
    """Of processes that it forked or started, those that used CUDA."""
    problem: str = ""
    """Why there is no trace, or why one cannot be read."""

    @property
    def ended(self) -> bool:
        """Whether it came to its end by itself, with whatever exit status."""
        return self.exit_status is not None and not self.timed_out

    @property
    def ending(self) -> str:
        """In words: ``exit status 1``, ``killed by SIGSEGV``, ``time limit``."""
        if self.timed_out:
            return f"stopped after {self.seconds:.3g} s (time limit)"
        if self.signal is not None:
            try:
                return f"killed by {signal.Signals(self.signal).name}"
            except ValueError:
                return f"killed by signal {self.signal}"
        return f"exit status {self.exit_status}"


def execute(run: Run) -> RunResult:
    """Run a target that was built against the ledger (``build``). ``OSError`` where it cannot be
    started at all."""
    with tempfile.TemporaryDirectory(prefix="cudalint-run-", ignore_cleanup_errors=True) as name:
        temporary = Path(name)
        traces = temporary / "trace"
        traces.mkdir()
        work = temporary / "work"
        work.mkdir()
        completed = run_command(
            run.command,
            folder=run.folder or work,
            environment=_environment(run, traces, work),
            limits=run.limits,
            stdout=run.stdout,
        )
        main: Trace | None = None
        children: list[Trace] = []
        problems: list[str] = []
        for path in sorted(traces.iterdir()):
            try:
                trace = read_trace(path)
            except TraceError as error:
                problems.append(str(error).replace(f"{traces}/", ""))
                continue
            if trace.process != completed.pid:
                children.append(trace)
            elif main is None or len(trace.events) > len(main.events):
                # The ledger and the injection can both be in it: one of them saw nothing.
                main = trace
        if main is None and not problems:
            problems.append("the program never loaded the ledger: it was not built against it")
        return RunResult(
            exit_status=completed.exit_status,
            signal=completed.signal,
            timed_out=completed.timed_out,
            seconds=completed.seconds,
            stdout=completed.stdout.decode("utf-8", "replace"),
            stderr=completed.stderr.decode("utf-8", "replace"),
            output_cut=completed.output_cut,
            survivors=completed.survivors,
            trace=main,
            children=tuple(children),
            problem="; ".join(problems),
        )


def _environment(run: Run, traces: Path, work: Path) -> dict[str, str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("CUDALINT_")
    }
    environment["TMPDIR"] = str(work)
    environment.update(run.environment)
    environment.update(run.device.environment())
    environment["CUDALINT_TRACE"] = str(traces / "trace")
    environment["CUDALINT_TRACE_LIMIT"] = str(_TRACE_LIMIT)
    if run.fault is not None:
        environment.update(run.fault.environment())
    else:
        environment.pop(VARIABLE, None)
    return environment
