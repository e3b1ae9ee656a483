"""Confirms findings: builds the targets that they belong to, runs these, and asks for verdicts."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.runtime.assembler import assembled
from cudalint.runtime.build import BuildError, BuildOptions, Executable
from cudalint.runtime.cached_build import build_cached, ledger_environment
from cudalint.runtime.devices import Device
from cudalint.runtime.evidence import judged, measurable
from cudalint.runtime.frameworks.measures import OF_PARTS
from cudalint.runtime.frameworks.watches import GROWTH, watches_of
from cudalint.runtime.harness.judging import NO_PROGRAM, HarnessJudge, better, unreached
from cudalint.runtime.harness.making import HarnessOptions, Maker, NativeMaker, PythonMaker
from cudalint.runtime.injection import beside_the_ledger
from cudalint.runtime.ledger import build_ledger, host_environment
from cudalint.runtime.observation import Limits, Observation
from cudalint.runtime.preload import preload_environment
from cudalint.runtime.processes import ProcessLimits, run_command
from cudalint.runtime.question import real_path
from cudalint.runtime.scripts import prepared_script
from cudalint.runtime.seen_findings import seen_findings
from cudalint.runtime.sweep import Budget, BudgetSpentError, Laboratory, Prepared
from cudalint.runtime.targets import Target, target_for
from cudalint.runtime.toolkit import ToolkitError, cuda_include, find_nvcc
from cudalint.runtime.trace import Mode
from cudalint.runtime.verdicts import Judge

Progress = Callable[[str, int, int], None]
_BUILD_SECONDS = 900.0
PYTHON = (".py", ".ipynb")


@dataclass(frozen=True)
class ConfirmOptions:
    """How to confirm."""

    device: Device
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1
    seconds: float = 60.0
    """One run may take that long."""
    arguments: tuple[str, ...] = ()
    cache: Path | None = None
    limits: Limits = field(default_factory=Limits)
    """What is too much, where bytes are measured."""
    harnesses: HarnessOptions | None = None
    """How a harness is made for what no program reaches; ``None`` makes none."""


@dataclass(frozen=True)
class Ran:
    """What was built and run of a target."""

    built: tuple[tuple[str, ...], ...]
    """The commands that built it, now or earlier; none for a script."""
    command: tuple[str, ...]
    runs: int


@dataclass(frozen=True)
class Confirmed:
    """What confirming gave."""

    findings: tuple[Finding, ...]
    """Those given, with their verdicts, in their order."""
    seen: tuple[Finding, ...] = ()
    """Those that only a run showed."""
    bases: Mapping[str, Observation] = field(default_factory=dict)
    """The run without faults of each target, by its key."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Target key to the reason why it could not be run."""
    ran: Mapping[str, Ran] = field(default_factory=dict)
    """Target key to what was built and run."""
    harnesses: Mapping[str, int] = field(default_factory=dict)
    """The functions that harnesses called, and how often each was run."""


class TargetError(Exception):
    """A target cannot be run; says why in one line."""


def confirm(
    findings: Sequence[Finding],
    targets: Sequence[Target],
    options: ConfirmOptions,
    progress: Progress | None = None,
) -> Confirmed:
    """Judge findings by running the targets that they belong to; targets without findings are run
    once, for what only a run shows."""
    belonging: dict[str, list[int]] = {target.key: [] for target in targets}
    verdicts: dict[int, Verdict] = {}
    for number, finding in enumerate(findings):
        target = target_for(targets, Path(finding.filename))
        if target is not None:
            belonging[target.key].append(number)
        elif judged(finding.code) or measurable(finding.code):
            verdicts[number] = Verdict(Outcome.NOT_RUNNABLE, options.device.name, reason=NO_PROGRAM)
    tell = progress or (lambda stage, done, total: None)
    lock = threading.Lock()
    seen: dict[str, list[Finding]] = {}
    bases: dict[str, Observation] = {}
    failed: dict[str, str] = {}
    ran: dict[str, Ran] = {}
    done = 0

    def work(target: Target) -> None:
        nonlocal done
        numbers = belonging[target.key]
        own = [findings[number] for number in numbers]
        try:
            with prepared(target, options) as ready:
                laboratory = Laboratory(
                    ready, options.device, options.budget, options.limits, watches_of(own),
                    history=not own or any(finding.code not in GROWTH for finding in own),
                    parts=any(finding.code in OF_PARTS for finding in own),
                )  # fmt: skip
                found = assembled(
                    _judge(laboratory, own), own, target.sources, options.device, target.flags
                )
                with contextlib.suppress(BudgetSpentError):
                    bases[target.key] = laboratory.base()
                ran[target.key] = Ran(ready.built, ready.command, laboratory.runs)
        except TargetError as error:
            failed[target.key] = str(error)
            found = [
                Verdict(Outcome.NOT_RUNNABLE, options.device.name, reason=str(error))
                if judged(finding.code) or measurable(finding.code)
                else None
                for finding in own
            ]
        else:
            base = bases.get(target.key)
            if base is not None:
                seen[target.key] = _seen(laboratory, base, own)
        with lock:
            verdicts.update((n, v) for n, v in zip(numbers, found, strict=True) if v is not None)
            done += 1
            tell("running", done, len(targets))

    workers = options.jobs if options.device.mode is Mode.SIMULATE else 1
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        for future in [pool.submit(work, target) for target in targets]:
            future.result()
    harnesses: Mapping[str, int] = {}
    if options.harnesses is not None:
        harnesses = _ask_harnesses(findings, verdicts, options, options.harnesses)
    return Confirmed(
        tuple(
            dataclasses.replace(finding, runtime=verdicts.get(number))
            for number, finding in enumerate(findings)
        ),
        tuple(finding for target in targets for finding in seen.get(target.key, ())),
        bases,
        failed,
        ran,
        harnesses,
    )


def _ask_harnesses(
    findings: Sequence[Finding],
    verdicts: dict[int, Verdict],
    options: ConfirmOptions,
    harnesses: HarnessOptions,
) -> Mapping[str, int]:
    """Puts what harnesses say in place of verdicts on what no program reached. How often each
    harness was run, by its name."""
    open_: dict[str, list[int]] = {}
    for number, finding in enumerate(findings):
        if unreached(verdicts.get(number)) and judged(finding.code):
            open_.setdefault(finding.filename, []).append(number)
    ran: dict[str, int] = {}

    def work(filename: str) -> None:
        maker = _maker(Path(filename), options, harnesses)
        judge = HarnessJudge(maker, options.device, options.budget)
        for number in open_[filename]:
            verdicts[number] = better(verdicts.get(number), judge.verdict(findings[number]))
        ran.update(judge.ran)

    with ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool:
        for future in [pool.submit(work, filename) for filename in open_]:
            future.result()
    return ran


def _maker(source: Path, options: ConfirmOptions, harnesses: HarnessOptions) -> Maker:
    path = Path(real_path(str(source)))
    if path.suffix in PYTHON:
        return PythonMaker(path, harnesses, options.device, options.seconds)
    return NativeMaker(
        path, harnesses, options.device, options.seconds, options.arguments, options.cache
    )


def _seen(laboratory: Laboratory, base: Observation, own: Sequence[Finding]) -> list[Finding]:
    """What only the run showed, whatever kernels would compute: where the host reads of that, it
    has to show with other values too."""

    def shown(observation: Observation) -> list[Finding]:
        roots, device = laboratory.prepared.roots, laboratory.device.name
        return list(seen_findings(observation, own, roots, device))

    found = shown(base)
    if not found or not base.account.tainted:
        return found
    try:
        others = [{_place(one) for one in shown(seen)} for seen in laboratory.varied(None)]
    except BudgetSpentError:
        return []
    return [one for one in found if all(_place(one) in places for places in others)]


def _place(finding: Finding) -> tuple[str, str, int]:
    return finding.code, finding.filename, finding.span.row


def _judge(laboratory: Laboratory, findings: Sequence[Finding]) -> list[Verdict | None]:
    judge = Judge(laboratory, findings)
    return [judge.verdict(finding) for finding in findings]


@contextlib.contextmanager
def prepared(target: Target, options: ConfirmOptions) -> Iterator[Prepared]:
    """The target, ready to run. ``TargetError`` says why it is not possible."""
    seconds = target.seconds or options.seconds
    if target.script is not None:
        try:
            yield prepared_script(
                target.script,
                (target.script,),
                options.device,
                seconds,
                target.arguments,
                target.environment,
                imports=target.covers,
            )
        except ToolkitError as error:
            raise TargetError(str(error)) from error
        return
    if target.run:
        try:
            environment = {
                **preload_environment(options.device),
                **beside_the_ledger(options.device),
                **target.environment,
            }
        except ToolkitError as error:
            raise TargetError(str(error)) from error
        folder = target.folder or Path.cwd()
        for command in target.build:
            _build_command(command, folder, target.environment)
        words = (*target.run, *target.arguments)
        yield Prepared(
            words, environment, folder, seconds=seconds, roots=target.roots, built=target.build
        )
        return
    executable = _built(target, options)
    yield Prepared(
        (str(executable.path), *target.arguments),
        {**ledger_environment(), **target.environment},
        seconds=seconds,
        roots=tuple(dict.fromkeys(source.parent for source in target.sources)),
        built=(executable.command,),
        host_calls=host_environment(build_ledger(cuda_include(find_nvcc()))),
    )


def _built(target: Target, options: ConfirmOptions) -> Executable:
    """Its executable; where another source beside it does not compile, without that one."""
    build_options = BuildOptions(
        target=options.device.target, flags=target.flags, arguments=options.arguments
    )
    failed: BuildError | None = None
    for sources in dict.fromkeys((target.sources, target.fewer or target.sources)):
        try:
            return build_cached(
                sources, build_options, included=target.covers, folder=options.cache
            )
        except BuildError as error:
            failed = failed or error
    assert failed is not None
    raise TargetError(f"does not build: {failed.reason}") from failed


def _build_command(command: tuple[str, ...], folder: Path, environment: Mapping[str, str]) -> None:
    limits = ProcessLimits(seconds=_BUILD_SECONDS)
    words = shlex.join(command)
    try:
        done = run_command(
            command, folder=folder, environment={**os.environ, **environment}, limits=limits
        )
    except OSError as error:
        raise TargetError(f"`{words}`: {error.strerror or error}") from error
    if done.timed_out:
        raise TargetError(f"`{words}` took more than {_BUILD_SECONDS:.0f} s")
    if done.exit_status != 0:
        output = (done.stdout + done.stderr).decode("utf-8", "replace").strip().splitlines()
        last = next((line for line in output if "error" in line.lower()), (output or [""])[-1])
        raise TargetError(f"`{words}` failed: {last.strip()}")
