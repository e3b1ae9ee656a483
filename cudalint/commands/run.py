"""The ``run`` command: any command under the ledger, and what it leaves behind."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint.commands.runtime import RuntimeMode, choose_device
from cudalint.commands.timeline import check_page, recorded_process, write_page
from cudalint.plan import make_plan
from cudalint.project.config import Configuration, ConfigurationError
from cudalint.reports.style import escaped

if TYPE_CHECKING:
    from cudalint.runtime.execute import RunResult
    from cudalint.runtime.processes import ProcessLimits

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
    from cudalint.runtime.account import account
    from cudalint.runtime.execute import Run, execute
    from cudalint.runtime.frames import Resolver
    from cudalint.runtime.frameworks.told import lines, told, watched, without_caches
    from cudalint.runtime.injection import watching_environment
    from cudalint.runtime.process_report import calls, job_lines, process_lines, process_told
    from cudalint.runtime.toolkit import ToolkitError

    if timeline is not None:
        check_page(timeline)
    device = choose_device(mode, make_plan(configuration), _say)
    try:
        with watched(device) as hooks, _ended_with_us():
            watching = watching_environment(device, _say)
            result = execute(
                Run(
                    _located(command),
                    device,
                    folder=Path.cwd(),
                    environment=_own_folder() | hooks.environment | watching,
                    limits=_limits(time_limit),
                    stdout=2 if output_format == "json" else None,
                )
            )
            frameworks = [told(trace) for trace in hooks.traces()]
    except ToolkitError as error:
        raise ConfigurationError(f"run: {error}") from None
    except OSError as error:
        raise ConfigurationError(f"run: {command[0]}: {error.strerror or error}") from None
    resolver = Resolver()
    hooked = {one["process"] for one in frameworks}
    processes: list[dict[str, Any]] = []
    recorded: list[Any] = []
    worked = 0
    for trace in (result.trace, *result.children):
        if trace is None:
            continue
        events = resolver.resolve_events(trace.events)
        if timeline is not None:
            recorded.append(recorded_process(command, result, trace, events, device))
        made, succeeded = calls(events)
        worked += succeeded
        if made:
            summary = account(events)
            if trace.process in hooked:
                summary = without_caches(summary)
            processes.append(process_told(trace.process, events, summary, complete=trace.complete))
    if timeline is not None:
        failed = {} if recorded else {command[0]: result.problem or result.ending}
        write_page(timeline, recorded, failed)
    if output_format == "json":
        data = {
            "schema_version": 1,
            "command": list(command),
            "device": device.name,
            "ending": result.ending,
            "processes": processes,
            "frameworks": frameworks,
        }
        print(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())
    else:
        for process in processes if worked else ():
            for line in process_lines(process, many=len(processes) > 1):
                _say(line)
        for one in frameworks:
            for line in lines(one):
                _say(line)
        if len(processes) > 1:
            for line in job_lines(processes):
                _say(line)
        if worked and not all(process["has_lines"] for process in processes):
            _say(_WITHOUT_LINES)
    status = _status(processes, bool(frameworks) or worked > 0)
    if not (processes or frameworks):
        if result.problem:
            _say(result.problem)
        _say(f"{command[0]} ({result.ending}) made no CUDA call that could be seen: {_UNSEEN}")
    elif not (worked or frameworks):
        _say(f"{command[0]} ({result.ending}): {_REFUSED}")
    elif result.exit_status != 0:
        _say(f"{command[0]}: {result.ending}")
    return _own_status(result) if own_status else status


def _status(processes: Sequence[dict[str, Any]], seen: bool) -> int:
    if any(process["leaks"] or process["violations"] for process in processes):
        return FOUND
    complete = all(process["complete"] for process in processes)
    return CLEAN if seen and complete else FAILED


def _own_status(result: RunResult) -> int:
    """As a shell says it."""
    if result.timed_out:
        return _TIMED_OUT
    if result.signal is not None:
        return _KILLED + result.signal
    return result.exit_status or CLEAN


def _limits(seconds: float | None) -> ProcessLimits:
    """What the command would have without us."""
    from cudalint.runtime.processes import ProcessLimits

    return ProcessLimits(seconds=seconds, output=None, file=None, core=None)


def _own_folder() -> dict[str, str]:
    """What it leaves in its folder for temporary files stays there."""
    import tempfile

    return {"TMPDIR": tempfile.gettempdir()}


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
