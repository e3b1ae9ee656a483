"""``check --runtime``: the findings of a report, confirmed by running the programs they are in."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cudalint.commands.timeline import check_page, recorded_targets, write_page
from cudalint.findings.finding import Finding, Severity
from cudalint.findings.fingerprint import fingerprinted
from cudalint.findings.suppressions import parse_suppressions, suppress
from cudalint.findings.verdict import Outcome
from cudalint.plan import Plan
from cudalint.project.config import ConfigurationError
from cudalint.project.files import SourceFile
from cudalint.project.ignore import Patterns
from cudalint.project.paths import relative_name
from cudalint.project.settings import TargetSettings
from cudalint.reports.report import Report
from cudalint.reports.text import plural

if TYPE_CHECKING:
    from cudalint.runtime.confirm import Confirmed
    from cudalint.runtime.devices import Device
    from cudalint.runtime.targets import Target

RuntimeMode = Literal["auto", "gpu", "sim"]
_MOST_NAMES = 5
_LANGUAGE = {".py": "python", ".ipynb": "python"}


def confirm_report(
    report: Report,
    files: Sequence[SourceFile],
    plan: Plan,
    mode: RuntimeMode,
    *,
    budget: float | None = None,
    only_confirmed: bool = False,
    harness: bool = True,
    keep_harness: Path | None = None,
    timeline: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    say: Callable[[str], None] = lambda text: None,
    verbose: bool = False,
) -> Report:
    """The report with verdicts, and with what only the runs showed; ``timeline`` is the page to
    write of the runs without faults; ``harness``: whether programs are written for what none
    reaches, which ``keep_harness`` keeps."""
    from cudalint.runtime.compile_flags import ProjectFlags
    from cudalint.runtime.confirm import ConfirmOptions, confirm
    from cudalint.runtime.frameworks.programs import stand_ins_environment
    from cudalint.runtime.harness.making import HarnessOptions
    from cudalint.runtime.observation import Limits
    from cudalint.runtime.sweep import Budget
    from cudalint.runtime.targets import targets_of

    settings = plan.settings.runtime
    device = choose_device(mode, plan, say)
    targets = configured(settings.targets, plan, files)
    project = ProjectFlags(plan)
    if not targets:
        targets = [
            dataclasses.replace(
                target,
                arguments=settings.arguments,
                environment={**stand_ins_environment(settings.stand_ins), **settings.environment},
                flags=project.of(target.sources),
            )
            for target in targets_of([file.path for file in files], project.include_folders)
        ]
    options = ConfirmOptions(
        device,
        Budget(budget or settings.budget),
        jobs=plan.jobs,
        seconds=settings.time_limit,
        arguments=settings.build_arguments,
        limits=Limits(plan.limits.max_transfer, plan.limits.device_memory),
        harnesses=HarnessOptions(project.of, keep_harness) if harness else None,
    )
    if timeline is not None:
        check_page(timeline)
    result = confirm(report.findings, targets, options, progress)
    for target in targets:
        if target.key in result.failed:
            say(f"not run: {relative_name(Path(target.name), Path.cwd())}: "
                f"{result.failed[target.key]}")  # fmt: skip
    for line in _what_ran(targets, result, device, verbose=verbose):
        say(line)
    findings = [*map(_harmless, result.findings), *_kept(result.seen, report, plan)]
    if timeline is not None:
        write_page(timeline, *recorded_targets(targets, result, device), findings)
    if only_confirmed:
        findings = [
            finding
            for finding in findings
            if finding.runtime is not None and finding.runtime.outcome is Outcome.CONFIRMED
        ]
    findings.sort(key=lambda finding: (finding.filename, finding.span, finding.code))
    named = fingerprinted(findings, lambda name: relative_name(Path(name), plan.root))
    return dataclasses.replace(report, findings=tuple(named))


def _what_ran(
    targets: Sequence[Target], result: Confirmed, device: Device, *, verbose: bool
) -> Iterator[str]:
    """What was built and run: one line, or all commands."""
    names: list[str] = []
    for target in targets:
        ran = result.ran.get(target.key)
        if ran is None:
            continue
        path = Path(target.name)
        names.append(relative_name(path, Path.cwd()) if path.is_absolute() else target.name)
        if verbose:
            yield from (f"built: {shlex.join(words)}" for words in ran.built if words)
            yield f"ran {plural(ran.runs, 'time')}: {shlex.join(ran.command)}"
    runs = sum(ran.runs for ran in result.ran.values())
    called = list(result.harnesses)
    if names:
        yield (
            f"ran {plural(len(names), 'program')}, {plural(runs, 'time')} in all, on"
            f" {device.name}: {_few(names)}"
        )
    if called:
        yield (
            f"ran harnesses of {plural(len(called), 'function')},"
            f" {plural(sum(result.harnesses.values()), 'time')} in all, on {device.name}:"
            f" {_few(called)}"
        )
    if not names and not called:
        yield "no program was run: none was found or could be built"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _harmless(finding: Finding) -> Finding:
    """What a run showed to be kept on purpose is worth a word, not a warning."""
    if finding.runtime is None or finding.runtime.outcome is not Outcome.KEPT:
        return finding
    return dataclasses.replace(finding, severity=Severity.INFO)


def choose_device(mode: RuntimeMode, plan: Plan, say: Callable[[str], None]) -> Device:
    """The device to run on; ``auto`` is a GPU where there is one."""
    _need_elftools()
    from cudalint.apis.devices import parse_bytes
    from cudalint.runtime.devices import Gpu, Simulated

    missing = ""
    if mode != "sim":
        try:
            return Gpu.find()
        except ValueError as error:
            if mode == "gpu":
                raise ConfigurationError(f"--runtime=gpu: {error}") from None
            missing = str(error).removeprefix("native: ").partition(";")[0]
    memory = plan.settings.device_memory
    target = next((target for target in plan.settings.target if target != "native"), "sm_90")
    if missing:
        say(f"note: {missing}: simulating {target}")
    try:
        return Simulated(target, parse_bytes(memory) if memory else None)
    except ValueError as error:
        raise ConfigurationError(f"--target: {error}") from None


def _need_elftools() -> None:
    """Without it no event has a line, and nothing could be told."""
    import importlib.util

    if importlib.util.find_spec("elftools") is None:
        raise ConfigurationError(
            "--runtime: pyelftools is needed for the lines of native stacks:"
            " pip install 'cudalint[runtime]'"
        )


def configured(
    targets: Sequence[TargetSettings], plan: Plan, files: Sequence[SourceFile]
) -> list[Target]:
    """The targets that the configuration names."""
    from cudalint.runtime.targets import Target

    found: list[Target] = []
    for one in targets:
        patterns = Patterns(one.covers)
        covers = tuple(
            Path(os.path.realpath(file.path))
            for file in files
            if one.covers and patterns.match(relative_name(file.path, plan.root))
        )
        found.append(
            Target(
                name=one.name,
                build=tuple(_words(command) for command in one.build),
                run=_words(one.run),
                folder=Path(os.path.normpath(plan.root / one.folder)),
                arguments=one.arguments,
                environment=one.environment,
                seconds=one.time_limit,
                covers=covers,
                roots=(plan.root,),
            )
        )
    return found


def _words(command: str | tuple[str, ...]) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command)) if isinstance(command, str) else command
    except ValueError as error:
        raise ConfigurationError(f"`runtime.targets`: `{command}`: {error}") from None
    if not words:
        raise ConfigurationError("`runtime.targets`: an empty command")
    return words


def _kept(seen: Sequence[Finding], report: Report, plan: Plan) -> list[Finding]:
    """What settings and comments leave of the findings that only a run showed."""
    chosen = {rule.code for rule in plan.rules}
    found = [
        dataclasses.replace(finding, severity=plan.severities.get(finding.code, finding.severity))
        for finding in seen
        if finding.code in chosen and finding.code not in plan.ignored_in(finding.filename)
    ]
    names = {finding.filename for finding in found} & set(report.sources)
    comments = {
        name: parse_suppressions(
            report.sources[name], "python" if Path(name).suffix in _LANGUAGE else "cuda"
        )
        for name in names
    }
    return list(suppress(found, comments))
