"""``doctor -- CMD``: a command under the ledger, and its out of memory."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from cudalint.doctor.causes.failures import gpu_of
from cudalint.doctor.causes.machines import taken_by_others
from cudalint.doctor.episode import enough, failure_of, merged
from cudalint.doctor.errors import understand
from cudalint.doctor.record import Failure, Machine
from cudalint.runtime.devices import Device
from cudalint.runtime.events import Event
from cudalint.runtime.execute import Run, RunResult, execute
from cudalint.runtime.frames import Resolver
from cudalint.runtime.frameworks.told import peak_of, watched
from cudalint.runtime.injection import watching_environment
from cudalint.runtime.processes import ProcessLimits
from cudalint.runtime.python_programs import STACKS, read_stacks, script_environment
from cudalint.runtime.toolkit import ToolkitError
from cudalint.runtime.trace import Mode, Trace

_OUTPUT = 64 * 1024**2
_RECKONED = "what was free when it failed is reckoned: free before the run, less what it held"


@dataclass(frozen=True)
class Watched:
    """What a run showed."""

    result: RunResult
    failure: Failure | None
    seen: bool
    """Whether any call of CUDA was seen."""
    peak: int


def watch(
    command: Sequence[str],
    device: Device,
    machine: Machine | None,
    *,
    product: int | None,
    seconds: float | None,
    say: Callable[[str], None],
) -> Watched:
    """Run it in the current folder; ``product`` is the memory of the whole device where the one at
    hand is a part of it. ``ToolkitError`` and ``OSError`` where it cannot be run."""
    simulated = device.mode is Mode.SIMULATE
    with watched(device) as hooks, tempfile.TemporaryDirectory(prefix="cudalint-stacks-") as folder:
        stacks = Path(folder) / "stacks"
        environment = hooks.environment | _watching(device, say)
        if simulated:
            environment |= script_environment() | {STACKS: str(stacks)}
        limits = ProcessLimits(seconds=seconds or float("inf"), output=_OUTPUT, file=None)
        result = execute(
            Run(command, device, folder=Path.cwd(), environment=environment, limits=limits)
        )
        traces = [trace for trace in (result.trace, *result.children) if trace is not None]
        resolver = Resolver()
        native = {trace.process: _events(trace, stacks, resolver) for trace in traces}
        hooked = {one.trace.process: one.trace for one in hooks.traces()}
    failures = [
        found
        for process in dict.fromkeys([*native, *hooked])
        if (found := _of_process(process, native, traces, hooked)) is not None
    ]
    told = understand(f"{result.stdout}\n{result.stderr}")
    if told is None and result.signal == signal.SIGKILL and not result.timed_out:
        told = understand("Killed")
    failure = failures[0] if failures else told
    if failure is not None and told is not None and failures:
        failure = _filled(failure, told)
    if failure is not None:
        failure = _on(device, machine, failure, product)
    traces_of = [*native.values(), *(one.events for one in hooked.values())]
    peaks = [peak_of(tuple(events))[0] for events in traces_of]
    seen = any(event.api for events in native.values() for event in events)
    return Watched(result, failure, seen or bool(hooked), max(peaks, default=0))


def _watching(device: Device, say: Callable[[str], None]) -> dict[str, str]:
    """On a GPU, hooks in Python's frameworks are something, too."""
    try:
        return watching_environment(device, say)
    except ToolkitError as error:
        if device.mode is Mode.SIMULATE:
            raise
        say(f"note: only Python frameworks are watched: {error}")
        return {}


def _events(trace: Trace, stacks: Path, resolver: Resolver) -> tuple[Event, ...]:
    python = read_stacks(stacks, trace.process)
    if python.ranges:
        return python.put_into(trace.events)
    return resolver.resolve_events(trace.events)


def _of_process(
    process: int,
    native: Mapping[int, Sequence[Event]],
    traces: Sequence[Trace],
    hooked: Mapping[int, Trace],
) -> Failure | None:
    below = above = None
    for trace in traces:
        if trace.process == process:
            below = failure_of(
                native[process], memory=trace.memory, simulated=trace.mode is Mode.SIMULATE,
                complete=trace.complete, process=process,
            )  # fmt: skip
    if process in hooked:
        one = hooked[process]
        above = failure_of(one.events, complete=one.complete, process=process)
    return merged(below, above)


def _filled(failure: Failure, told: Failure) -> Failure:
    """With what the program's own error text adds."""
    if told.memory != failure.memory:
        return failure
    names = ("asked", "total", "free", "cached", "process", "others", "limit")
    missing = {
        name: getattr(told, name)
        for name in names
        if getattr(failure, name) is None and getattr(told, name) is not None
    }
    return msgspec.structs.replace(
        failure, framework=failure.framework or told.framework, **missing
    )


def _on(device: Device, machine: Machine | None, failure: Failure, product: int | None) -> Failure:
    """With what is known of the device."""
    failure = msgspec.structs.replace(failure, source="command", device_name=device.name)
    if failure.memory != "device":
        return failure
    measured = machine.measured if machine is not None else ()
    known = next((one for one in measured if one.ordinal == (failure.device or 0)), None)
    total = failure.total or (known.total if known is not None else 0) or device.memory
    free, notes = failure.free, failure.notes
    held = failure.process if failure.process is not None else failure.live
    if free is None and known is not None and not known.error and held is not None:
        free, notes = max(known.free - held, 0), (*notes, _RECKONED)
    others = failure.others
    gpu = gpu_of(failure, machine)
    if others is None and gpu is not None:
        others = taken_by_others(gpu)
    failure = msgspec.structs.replace(
        failure, total=total, product=product, free=free, others=others, notes=notes
    )
    if not failure.room and failure.asked and free is not None:
        room = enough(failure.sites, failure.asked - free)
        failure = msgspec.structs.replace(failure, room=room)
    return failure
