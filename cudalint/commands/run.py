"""The ``run`` command: any command under the ledger, and what it leaves behind."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint.commands.runtime import RuntimeMode, choose_device
from cudalint.commands.timeline import check_page, recorded_process, write_page
from cudalint.plan import make_plan
from cudalint.project.config import Configuration, ConfigurationError
from cudalint.reports.style import escaped

if TYPE_CHECKING:
    from cudalint.runtime.devices import Device
    from cudalint.runtime.events import Event
    from cudalint.runtime.execute import RunResult
    from cudalint.runtime.trace import Trace

CLEAN, FOUND, FAILED = 0, 1, 2
_TIMED_OUT, _KILLED = 124, 128
_UNSEEN = (
    "it uses no CUDA, or, where no CUPTI sees that, a static CUDA runtime (build with"
    " `-cudart shared`; CMake: CMAKE_CUDA_RUNTIME_LIBRARY=Shared)"
)
_REFUSED = (
    "no call of CUDA worked, and nothing was seen: a static CUDA runtime and the package"
    " cuda.bindings ask for a driver, which a simulated device has not (build with"
    " `-cudart shared`; CMake: CMAKE_CUDA_RUNTIME_LIBRARY=Shared; Python: `cudalint --runtime=sim"
    " SCRIPT.py`)"
)
_WITHOUT_LINES = "note: build with -g (nvcc: -g -lineinfo) for files and lines"


def run_command(
    command: Sequence[str],
    configuration: Configuration,
    mode: RuntimeMode,
    *,
    time_limit: float | None = None,
    output_format: str = "text",
    timeline: str | None = None,
    own_status: bool = False,
) -> int:
    """Run it, and tell of leaks and misuse; the exit status: 0 clean, 1 where there are any, 2
    where it could not be run, used no CUDA, or did not come to its end; with ``own_status`` the
    command's own."""
    if timeline is not None:
        check_page(timeline)
    device = choose_device(mode, make_plan(configuration), _say)
    as_json = output_format == "json"
    result, hooked = _watched(command, device, time_limit, stdout=2 if as_json else None)
    seen = _seen(result, hooked)
    if timeline is not None:
        pages = [
            recorded_process(command, result, trace, events, device)
            for trace, events in seen.traces
        ]
        failed = {} if pages else {command[0]: result.problem or result.ending}
        write_page(timeline, pages, failed)
    if as_json:
        data = {
            "schema_version": 1,
            "command": list(command),
            "device": device.name,
            "ending": result.ending,
            "processes": seen.processes,
            "frameworks": seen.frameworks,
        }
        print(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())
    else:
        for line in _lines(seen):
            _say(line)
    for line in _ending(command[0], result, seen):
        _say(line)
    return _own_status(result) if own_status else _status(seen)


@dataclass(frozen=True)
class _Seen:
    """What was seen of a command."""

    traces: list[tuple[Trace, tuple[Event, ...]]]
    processes: list[dict[str, Any]]
    """Those that called CUDA."""
    frameworks: list[dict[str, object]]
    worked: bool
    """Whether any call did."""


def _watched(
    command: Sequence[str], device: Device, seconds: float | None, stdout: int | None
) -> tuple[RunResult, list[dict[str, object]]]:
    """Run it under the ledger, with what it would have without us."""
    from cudalint.runtime.execute import Run, execute
    from cudalint.runtime.frameworks.told import told, watched
    from cudalint.runtime.injection import watching_environment
    from cudalint.runtime.processes import ProcessLimits
    from cudalint.runtime.toolkit import ToolkitError

    limits = ProcessLimits(seconds=seconds, output=None, file=None, core=None)
    # What it leaves in its folder for temporary files stays there.
    own = {"TMPDIR": tempfile.gettempdir()}
    try:
        with watched(device) as hooks, _ended_with_us():
            environment = own | hooks.environment | watching_environment(device, _say)
            result = execute(
                Run(
                    _located(command), device, folder=Path.cwd(), environment=environment,
                    limits=limits, stdout=stdout,
                )
            )  # fmt: skip
            return result, [told(trace) for trace in hooks.traces()]
    except ToolkitError as error:
        raise ConfigurationError(f"run: {error}") from None
    except OSError as error:
        raise ConfigurationError(f"run: {command[0]}: {error.strerror or error}") from None


def _seen(result: RunResult, frameworks: list[dict[str, object]]) -> _Seen:
    from cudalint.runtime.account import account
    from cudalint.runtime.frames import Resolver
    from cudalint.runtime.frameworks.told import without_caches
    from cudalint.runtime.process_report import calls, process_told

    resolver = Resolver()
    hooked = {one["process"] for one in frameworks}
    found = _Seen([], [], frameworks, worked=False)
    for trace in (result.trace, *result.children):
        if trace is None:
            continue
        events = resolver.resolve_events(trace.events)
        found.traces.append((trace, events))
        made, succeeded = calls(events)
        found = dataclasses.replace(found, worked=found.worked or succeeded > 0)
        if made:
            summary = account(events)
            if trace.process in hooked:
                summary = without_caches(summary)
            found.processes.append(
                process_told(trace.process, events, summary, complete=trace.complete)
            )
    return found


def _lines(seen: _Seen) -> Iterator[str]:
    from cudalint.runtime.frameworks.told import lines
    from cudalint.runtime.process_report import job_lines, process_lines

    many = len(seen.processes) > 1
    for process in seen.processes if seen.worked else ():
        yield from process_lines(process, many=many)
    for one in seen.frameworks:
        yield from lines(one)
    if many:
        yield from job_lines(seen.processes)
    if seen.worked and not all(process["has_lines"] for process in seen.processes):
        yield _WITHOUT_LINES


def _ending(name: str, result: RunResult, seen: _Seen) -> Iterator[str]:
    if not (seen.processes or seen.frameworks):
        if result.problem:
            yield result.problem
        yield f"{name} ({result.ending}) made no CUDA call that could be seen: {_UNSEEN}"
    elif not (seen.worked or seen.frameworks):
        yield f"{name} ({result.ending}): {_REFUSED}"
    elif result.exit_status != 0:
        yield f"{name}: {result.ending}"


def _status(seen: _Seen) -> int:
    if any(process["leaks"] or process["violations"] for process in seen.processes):
        return FOUND
    complete = all(process["complete"] for process in seen.processes)
    return CLEAN if complete and (seen.worked or seen.frameworks) else FAILED


def _own_status(result: RunResult) -> int:
    """As a shell says it."""
    if result.timed_out:
        return _TIMED_OUT
    if result.signal is not None:
        return _KILLED + result.signal
    return result.exit_status or CLEAN


@contextlib.contextmanager
def _ended_with_us() -> Iterator[None]:
    """A SIGTERM ends the command too: its group is not ours."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(_KILLED + number)

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _located(command: Sequence[str]) -> list[str]:
    first = Path(command[0])
    return [str(first.absolute()) if len(first.parts) > 1 else command[0], *command[1:]]


def _say(text: str) -> None:
    print(f"cudalint: {escaped(text)}", file=sys.stderr)
