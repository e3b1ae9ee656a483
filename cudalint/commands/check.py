"""The ``check`` command: find files, lint them, report."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cudalint.commands.legacy import Legacy
from cudalint.commands.output import Presentation, chosen_outputs, write
from cudalint.linter import lint
from cudalint.plan import Plan, make_plan
from cudalint.project.cache import is_usable
from cudalint.project.config import Configuration, ConfigurationError
from cudalint.project.files import (
    NO_SOURCE,
    STDIN_NAME,
    Discovery,
    FileError,
    SourceFile,
    discover,
    language_of,
)
from cudalint.project.paths import absolute, display_name
from cudalint.project.reading import Language
from cudalint.reports.copies import copies_told_once
from cudalint.reports.defects import told_once
from cudalint.reports.report import Checkout, Report
from cudalint.reports.style import ColorChoice, escaped
from cudalint.reports.text import plural
from cudalint.selection import EMPTY
from cudalint.stages.run import Progress

if TYPE_CHECKING:
    from cudalint.commands.shard import ShardOptions
    from cudalint.fixing import Fixed
    from cudalint.shards import ShardReport

CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130
_PROGRESS_AFTER = 0.8
_CUDA_SIGNS = (b"#include", b"__global__", b"<<<", b";\n", b"//")


@dataclass(frozen=True)
class CheckOptions:
    """Options of the command that are no settings."""

    stdin_filename: str | None = None
    executor: Literal["local", "dask"] = "local"
    scheduler: str | None = None
    shard: str | None = None
    output_file: str | None = None
    exit_zero: bool = False
    statistics: bool = False
    add_ignore: str | None = None
    diff_base: str | None = None
    write_baseline: bool = False
    force_baseline: bool = False
    footprint: bool = False
    runtime_mode: Literal["auto", "gpu", "sim"] | None = None
    runtime_budget: float | None = None
    runtime_only_confirmed: bool = False
    no_harness: bool = False
    keep_harness: str | None = None
    timeline: str | None = None
    color: ColorChoice = "auto"
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    show_fixes: bool = False
    quiet: bool = False
    verbose: bool = False
    show_files: bool = False


def run_check(
    paths: Sequence[str],
    configuration: Configuration,
    options: CheckOptions,
    shards: Sequence[ShardReport] = (),
) -> int:
    """Lint and report; the exit status. ``shards`` have linted already."""
    started = time.monotonic()
    writes = options.write_baseline or options.force_baseline
    plan = dataclasses.replace(
        make_plan(configuration, new_baseline=writes), scheduler=_scheduler(options)
    )
    presentation = Presentation(
        options.color, options.quiet, options.statistics, options.footprint, options.unsafe_fixes
    )
    outputs = chosen_outputs(configuration, options.output_file, presentation)
    contents: dict[Path, bytes] = {}
    found = _find(paths, plan, options, contents)
    for warning in plan.warnings if not options.quiet else ():
        _say(f"warning: {warning}")
    legacy = Legacy(found.files, plan, options)
    if options.verbose:
        _say(f"configuration: {configuration.file or 'none found'}; project: {plan.root}")
        _say(f"rules: {', '.join(rule.code for rule in plan.rules)}")
        _say(f"files found: {len(found.files)}; workers: {plan.jobs}")
    if options.show_files:
        from cudalint.commands.show_files import show_files

        return show_files(found, plan, contents)
    if options.shard is not None:
        from cudalint.commands.shard import run_shard

        with _progress(options) as progress:
            asked = _shard_options(options)
            return run_shard(paths, found, plan, configuration, asked, progress, _say)
    fixed = None
    with _progress(options) as progress:
        if options.fix or options.diff:
            fixed = _fixed(found, plan, options, contents, progress)
            report = fixed.report
        else:
            report = lint(
                found.files,
                plan,
                contents=contents,
                progress=progress,
                footprint=options.footprint,
                shards=shards,
            )
        if options.runtime_mode is not None and not report.interrupted:
            try:
                report = _confirmed(report, found.files, plan, options, progress)
            except KeyboardInterrupt:
                report = dataclasses.replace(report, interrupted=True)
    errors = {*report.errors, *found.errors}
    report = dataclasses.replace(
        report,
        errors=tuple(sorted(errors)),
        documentation=plan.settings.documentation,
        named=plan.named,
        fail_level=plan.fail_level,
        rules=plan.rules,
        checkout=Checkout.here(),
    )
    report = copies_told_once(told_once(legacy.judged(report, _say)))
    _complain(report, options)
    if fixed is not None:
        from cudalint.commands.fix import tell

        tell(fixed, _say, options)
        if options.diff:
            return FAILED if _failed(report) else FOUND if fixed.contents else CLEAN
    # Where nothing could be linted, the errors have said it all.
    summarise = bool(found.files) and bool(report.files or not errors)
    # The fixed text of standard input has standard output to itself.
    fixes_stdin = options.fix and "-" in paths
    with contextlib.redirect_stdout(sys.stderr if fixes_stdin else sys.stdout):
        write(report, outputs, presentation, summarise=summarise)
    if not found.files and not errors and not options.quiet:
        _say("no CUDA C++ or Python files found")
    whole = not paths or plan.root in map(absolute, paths)
    if options.verbose or (whole and not options.quiet):
        for pattern in plan.idle_patterns(file.filename for file in found.files):
            _say(f"note: `per-file-ignores`: no file matches `{pattern}`")
    if options.verbose:
        for fate in report.fates:
            if fate.reason == EMPTY:
                _say(f"note: {fate.filename}: {EMPTY}")
        _say(
            f"not in the cache: {plural(report.read_anew, 'file')} read, "
            f"{plural(report.analysed_anew, 'file')} analysed with what they are linked with"
        )
        if plan.cache_folder is not None and not is_usable(plan.cache_folder):
            _say(f"the cache is not used: {plan.cache_folder} is a link, or no key can be kept")
        _say(f"{plural(report.files, 'file')} analysed in {time.monotonic() - started:.2f} s")
    if report.interrupted:
        _say("interrupted: what was found until then is shown, the rest was not analysed")
    return exit_status(report, plan, options)


def _fixed(
    found: Discovery,
    plan: Plan,
    options: CheckOptions,
    contents: dict[Path, bytes],
    progress: Progress | None,
) -> Fixed:
    from cudalint.commands import fix as fixes
    from cudalint.fixing import fix

    fixed = fix(
        found.files,
        plan,
        contents=contents,
        unsafe=options.unsafe_fixes,
        progress=progress,
        footprint=options.footprint,
    )
    if options.diff:
        fixes.show_diff(fixed, found.files, plan, options.color)
    else:
        fixes.write(fixed, found.files, contents)
    return fixed


def _confirmed(
    report: Report,
    files: Sequence[SourceFile],
    plan: Plan,
    options: CheckOptions,
    progress: Progress | None,
) -> Report:
    from cudalint.commands.runtime import confirm_report

    assert options.runtime_mode is not None
    return confirm_report(
        report,
        files,
        plan,
        options.runtime_mode,
        budget=options.runtime_budget,
        only_confirmed=options.runtime_only_confirmed,
        harness=not options.no_harness,
        keep_harness=Path(options.keep_harness) if options.keep_harness else None,
        timeline=options.timeline,
        progress=progress,
        say=(lambda text: None) if options.quiet else _say,
        verbose=options.verbose,
    )


def exit_status(report: Report, plan: Plan, options: CheckOptions) -> int:
    """130 where somebody stopped it, 2 where something that was asked for could not be linted, 1
    where a finding counts, else 0."""
    if report.interrupted:
        return INTERRUPTED
    if _failed(report):
        return FAILED
    return FOUND if report.fails(plan.fail_level) and not options.exit_zero else CLEAN


def _failed(report: Report) -> bool:
    return any(error.fatal for error in report.errors)


def _scheduler(options: CheckOptions) -> str | None:
    if (options.executor == "dask") != (options.scheduler is not None):
        raise ConfigurationError("--executor dask and --scheduler ADDRESS: only together")
    return options.scheduler


def _shard_options(options: CheckOptions) -> ShardOptions:
    from cudalint.commands.shard import ShardOptions
    from cudalint.shards import Shard

    assert options.shard is not None
    if (
        options.fix or options.diff or options.statistics or options.diff_base is not None
        or options.runtime_mode is not None or options.add_ignore is not None
        or options.write_baseline or options.force_baseline
    ):  # fmt: skip
        raise ConfigurationError(
            "--shard: not with --fix, --diff, --diff-base, --runtime, --statistics, --add-ignore "
            "or a baseline that is written: a shard has some of the findings"
        )
    return ShardOptions(
        Shard.parse(options.shard), options.output_file, options.footprint, options.quiet
    )


# Files ------------------------------------------------------------------------------------------


def _find(
    paths: Sequence[str], plan: Plan, options: CheckOptions, contents: dict[Path, bytes]
) -> Discovery:
    named = [Path(path) for path in paths if path != "-"]
    if not paths:
        named = [Path()]
    found = discover(named, plan.settings, plan.root)
    if options.show_fixes and not (options.fix or options.diff):
        raise ConfigurationError("--show-fixes: only with --fix or --diff")
    if (options.fix or options.diff) and options.diff_base is not None:
        raise ConfigurationError(
            "--fix, --diff: not with --diff-base: they would mend what did not change too"
        )
    if (options.fix or options.diff) and options.add_ignore is not None:
        raise ConfigurationError(
            "--add-ignore: not with --fix or --diff: mend first, then ignore what is left"
        )
    if options.runtime_mode is None and (
        options.runtime_only_confirmed
        or options.runtime_budget is not None
        or options.no_harness
        or options.keep_harness is not None
        or options.timeline is not None
    ):
        raise ConfigurationError(
            "--runtime-budget, --runtime-only-confirmed, --no-harness, --keep-harness, --timeline:"
            " only with --runtime"
        )
    if options.no_harness and options.keep_harness is not None:
        raise ConfigurationError("--keep-harness: not with --no-harness")
    if "-" in paths and options.runtime_mode is not None:
        raise ConfigurationError("--runtime: standard input cannot be run")
    if "-" not in paths:
        if options.stdin_filename:
            raise ConfigurationError("--stdin-filename: only with `-` for standard input")
        return found
    data = sys.stdin.buffer.read()
    file = _stdin_file(options.stdin_filename, data)
    if file is None:
        refused = FileError(options.stdin_filename or STDIN_NAME, NO_SOURCE)
        return dataclasses.replace(found, errors=(*found.errors, refused))
    contents[file.path] = data
    others = tuple(other for other in found.files if other.path != file.path)
    return dataclasses.replace(found, files=(*others, file))


def _stdin_file(name: str | None, data: bytes) -> SourceFile | None:
    if name is None:
        notebook = data.lstrip().startswith(b"{") and b'"nbformat"' in data
        is_cuda = not notebook and any(sign in data for sign in _CUDA_SIGNS)
        language: Language = "cuda" if is_cuda else "python"
        suffix = ".cu" if is_cuda else ".ipynb" if notebook else ".py"
        return SourceFile(STDIN_NAME, absolute(f"stdin{suffix}"), language, explicit=True)
    path = absolute(name)
    known = language_of(path)
    return SourceFile(display_name(path), path, known, explicit=True) if known else None


# Notes ------------------------------------------------------------------------------------------


def _say(text: str) -> None:
    print(f"cudalint: {escaped(text)}", file=sys.stderr)


def _complain(report: Report, options: CheckOptions) -> None:
    for error in report.errors:
        _say(str(error))
    if not options.quiet:
        for note in report.notes:
            _say(f"note: {note}")


# Progress ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def _progress(options: CheckOptions) -> Iterator[Progress | None]:
    """A progress bar on a terminal, once the work turns out to be long."""
    if options.quiet or not sys.stderr.isatty() or os.environ.get("CI"):
        yield None
        return
    bar = _Bar()
    try:
        yield bar.update
    finally:
        bar.close()


class _Bar:
    def __init__(self) -> None:
        self.started = time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def update(self, stage: str, done: int, total: int) -> None:
        if self.bar is None:
            if time.monotonic() - self.started < _PROGRESS_AFTER:
                return
            from rich.console import Console
            from rich.progress import Progress as RichProgress

            # No refreshing thread: workers are forked while it would run.
            self.bar = RichProgress(
                console=Console(stderr=True), transient=True, auto_refresh=False
            )
            self.bar.start()
            self.task = self.bar.add_task(stage, total=total)
        self.bar.update(self.task, description=stage, completed=done, total=total, refresh=True)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
