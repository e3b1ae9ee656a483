"""The ``run`` command: any command under the ledger, and what it leaves behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from cudalint.commands.runtime import RuntimeMode, choose_device
from cudalint.commands.timeline import check_page, recorded_process, write_page
from cudalint.plan import make_plan
from cudalint.project.config import Configuration, ConfigurationError
from cudalint.reports.style import escaped

CLEAN, FOUND, FAILED = 0, 1, 2
_MOST_SITES = 50
_UNSEEN = (
    "it uses no CUDA, or, where no CUPTI sees that, a static CUDA runtime (build with"
    " `-cudart shared`; CMake: CMAKE_CUDA_RUNTIME_LIBRARY=Shared)"
)


def run_command(
    command: Sequence[str],
    configuration: Configuration,
    mode: RuntimeMode,
    *,
    time_limit: float | None = None,
    output_format: str = "text",
    timeline: str | None = None,
) -> int:
    """Run it, pass on what it prints, and tell of leaks and misuse; the exit status: 0 clean, 1
    where there are any, 2 where it could not be run or used no CUDA."""
    from cudalint.runtime.account import account
    from cudalint.runtime.execute import Run, execute
    from cudalint.runtime.frames import Resolver
    from cudalint.runtime.frameworks.told import lines, told, watched, without_caches
    from cudalint.runtime.injection import watching_environment
    from cudalint.runtime.processes import ProcessLimits
    from cudalint.runtime.toolkit import ToolkitError

    if timeline is not None:
        check_page(timeline)
    plan = make_plan(configuration)
    device = choose_device(mode, plan, _say)
    seconds = time_limit or plan.settings.runtime.time_limit
    try:
        with watched(device) as hooks:
            result = execute(
                Run(
                    _located(command),
                    device,
                    folder=Path.cwd(),
                    environment=hooks.environment | watching_environment(device, _say),
                    limits=ProcessLimits(seconds=seconds, output=64 * 1024 * 1024),
                )
            )
            frameworks = [told(trace) for trace in hooks.traces()]
    except ToolkitError as error:
        raise ConfigurationError(f"run: {error}") from None
    except OSError as error:
        raise ConfigurationError(f"run: {command[0]}: {error.strerror or error}") from None
    print(result.stdout, end="", file=sys.stderr if output_format == "json" else sys.stdout)
    print(result.stderr, end="", file=sys.stderr)
    resolver = Resolver()
    hooked = {one["process"] for one in frameworks}
    processes: list[dict[str, Any]] = []
    recorded: list[Any] = []
    for trace in (result.trace, *result.children):
        if trace is None:
            continue
        events = resolver.resolve_events(trace.events)
        if timeline is not None:
            recorded.append(recorded_process(command, result, trace, events, device))
        if any(event.api for event in events):
            summary = account(events)
            if trace.process in hooked:
                summary = without_caches(summary)
            processes.append(_told(trace.process, summary, complete=trace.complete))
    if timeline is not None:
        failed = {} if recorded else {command[0]: result.problem or result.ending}
        write_page(timeline, recorded, failed)
    found = any(process["leaks"] or process["violations"] for process in processes)
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
        for process in processes:
            for line in _lines(process, many=len(processes) > 1):
                _say(line)
        for one in frameworks:
            for line in lines(one):
                _say(line)
    if result.problem and not (processes or frameworks):
        _say(result.problem)
    if not (processes or frameworks):
        _say(f"{command[0]} ({result.ending}) made no CUDA call that could be seen: {_UNSEEN}")
        return FAILED
    if result.exit_status != 0:
        _say(f"{command[0]}: {result.ending}")
    return FOUND if found else CLEAN


def _located(command: Sequence[str]) -> list[str]:
    first = Path(command[0])
    return [str(first.absolute()) if len(first.parts) > 1 else command[0], *command[1:]]


def _told(process: int, summary: Any, *, complete: bool) -> dict[str, Any]:
    from cudalint.runtime.evidence import stack_text

    sites: dict[tuple[str, ...], dict[str, Any]] = {}
    for event in summary.leaks if complete else ():
        stack = stack_text(event.stack)
        site = sites.setdefault(
            (event.api, event.family, *stack),
            {"api": event.api, "family": event.family, "count": 0, "bytes": 0, "stack": stack},
        )
        site["count"] += 1
        site["bytes"] += event.bytes
    return {
        "process": process,
        "complete": complete,
        "peak": summary.peak,
        "leaks": list(sites.values()),
        "violations": [
            {"what": event.violation.label, "message": event.text, "stack": stack_text(event.stack)}
            for event in summary.violations
        ],
        "failures": [
            {"api": event.api, "status": event.status, "stack": stack_text(event.stack)}
            for event in summary.failures
        ],
        "notes": list(summary.notes),
    }


def _lines(process: dict[str, Any], *, many: bool) -> Iterator[str]:
    if many:
        yield f"process {process['process']}:"
    for one in process["violations"][:_MOST_SITES]:
        yield f"{one['what']}: {one['message']}"
        yield from (f"    at {frame}" for frame in one["stack"])
    for site in process["leaks"][:_MOST_SITES]:
        times = f" in {site['count']} allocations" if site["count"] > 1 else ""
        amount = f"{site['bytes']:,} bytes" if site["bytes"] else f"{site['count']}"
        yield f"leaked: {amount} of {site['family']}{times}, from {site['api']}"
        yield from (f"    at {frame}" for frame in site["stack"])
    if not process["complete"]:
        yield "the process did not come to its end: its leaks are not known"
    leaked = sum(site["bytes"] for site in process["leaks"])
    yield (
        f"{len(process['leaks'])} leaking sites, {leaked:,} bytes;"
        f" {len(process['violations'])} misuses; peak {process['peak']:,} bytes"
    )


def _say(text: str) -> None:
    print(f"cudalint: {escaped(text)}", file=sys.stderr)
