"""``--timeline``: the page of what runs held over time. Loads nothing heavy before it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cudalint.findings.finding import Finding
from cudalint.project.config import ConfigurationError
from cudalint.project.paths import relative_name

if TYPE_CHECKING:
    from cudalint.runtime.confirm import Confirmed
    from cudalint.runtime.devices import Device
    from cudalint.runtime.events import Event
    from cudalint.runtime.execute import RunResult
    from cudalint.runtime.targets import Target
    from cudalint.runtime.timeline.model import Recorded
    from cudalint.runtime.trace import Trace


def check_page(name: str) -> None:
    """Refuse what could not be written, before anything runs."""
    from cudalint.runtime.timeline.page import TimelineError, check_timeline

    try:
        check_timeline(Path(name))
    except TimelineError as error:
        raise ConfigurationError(str(error)) from None


def write_page(
    name: str,
    recorded: Sequence[Recorded],
    failed: Mapping[str, str],
    findings: Sequence[Finding] = (),
) -> None:
    """Write the page."""
    from cudalint.runtime.timeline.page import TimelineError, write_timeline

    try:
        write_timeline(recorded, findings, Path(name), failed)
    except TimelineError as error:
        raise ConfigurationError(str(error)) from None


def recorded_targets(
    targets: Sequence[Target], confirmed: Confirmed, device: Device
) -> tuple[list[Recorded], dict[str, str]]:
    """The runs without faults of the targets; and which did not run, and why."""
    from cudalint.runtime.timeline.model import Recorded

    runs: list[Recorded] = []
    failed: dict[str, str] = {}
    for target in targets:
        title = _title(target)
        base = confirmed.bases.get(target.key)
        if base is None or base.result.trace is None:
            known = base.result.problem if base is not None else ""
            failed[title] = confirmed.failed.get(target.key) or known or "no time was left for it"
            continue
        trace = base.result.trace
        own = target.sources or (() if target.script is None else (target.script,))
        runs.append(
            Recorded(
                title, base.events, trace.mode, trace.memory, device.name, base.result.ending,
                base.ended, own or target.roots,
            )
        )  # fmt: skip
    return runs, failed


def recorded_process(
    command: Sequence[str],
    result: RunResult,
    trace: Trace,
    events: Sequence[Event],
    device: Device,
) -> Recorded:
    """One process of a command."""
    from cudalint.runtime.timeline.model import Recorded

    main = trace is result.trace
    title = " ".join(command) if main else f"{command[0]}, process {trace.process}"
    ending = result.ending if main else ""
    return Recorded(
        title, events, trace.mode, trace.memory, device.name, ending, trace.complete
    )  # fmt: skip


def _title(target: Target) -> str:
    path = Path(target.name)
    return relative_name(path, Path.cwd()) if path.is_absolute() else target.name
