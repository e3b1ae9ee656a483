"""The ``check`` command: find files, lint them, report."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cudalint.linter import Progress, lint
from cudalint.plan import Plan, make_plan
from cudalint.project.config import Configuration, ConfigurationError
from cudalint.project.files import (
    STDIN_NAME,
    Discovery,
    FileError,
    SourceFile,
    discover,
    language_of,
)
from cudalint.project.paths import absolute, display_name
from cudalint.project.reading import Language, reason_of
from cudalint.reports.defects import told_once
from cudalint.reports.report import Report
from cudalint.reports.style import ColorChoice, Style, escaped, use_color

if TYPE_CHECKING:
    from cudalint.fixing import Fixed

CLEAN, FOUND, FAILED = 0, 1, 2
_MACHINE_FORMATS = frozenset({"json", "sarif", "github", "gitlab", "junit", "html"})
_PROGRESS_AFTER = 0.8
_CUDA_SIGNS = (b"#include", b"__global__", b"<<<", b";\n", b"//")


@dataclass(frozen=True)
class CheckOptions:
    """Options of the command that are no settings."""

    stdin_filename: str | None = None
    output_file: str | None = None
    exit_zero: bool = False
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    show_fixes: bool = False
    statistics: bool = False
    footprint: bool = False
    runtime_mode: Literal["auto", "gpu", "sim"] | None = None
    runtime_budget: float | None = None
    runtime_only_confirmed: bool = False
    timeline: str | None = None
    color: ColorChoice = "auto"
    quiet: bool = False
    verbose: bool = False


def run_check(paths: Sequence[str], configuration: Configuration, options: CheckOptions) -> int:
    """Lint and report; the exit status."""
    started = time.monotonic()
    plan = make_plan(configuration)
    contents: dict[Path, bytes] = {}
    found = _find(paths, plan, options, contents)
    if options.verbose:
        _say(f"configuration: {configuration.file or 'none found'}; project: {plan.root}")
        _say(f"rules: {', '.join(rule.code for rule in plan.rules)}")
        _say(f"files found: {len(found.files)}; workers: {plan.jobs}")
    fixed = None
    with _progress(options) as progress:
        if options.fix or options.diff:
            fixed = _fixed(found, plan, options, contents, progress)
            report = fixed.report
        else:
            report = lint(
                found.files, plan, contents=contents, progress=progress, footprint=options.footprint
            )
        if options.runtime_mode is not None:
            report = _confirmed(report, found.files, plan, options, progress)
    errors = {*report.errors, *found.errors}
    errors |= {FileError(name, "does not exist") for name in found.missing}
    report = dataclasses.replace(
        report,
        errors=tuple(sorted(errors)),
        documentation=plan.settings.documentation,
        named=plan.named,
    )
    report = told_once(report)
    _complain(report, options)
    if fixed is not None:
        from cudalint.commands.fix import tell

        tell(fixed, _say, options)
        if options.diff:
            return FAILED if errors else FOUND if fixed.contents else CLEAN
    # Where nothing could be linted, the errors have said it all.
    summarise = bool(found.files) and bool(report.files or not errors)
    # The fixed text of standard input has standard output to itself.
    fixes_stdin = options.fix and "-" in paths
    with contextlib.redirect_stdout(sys.stderr if fixes_stdin else sys.stdout):
        _write(report, plan, options, summarise=summarise)
    if not found.files and not errors and not options.quiet:
        _say("no CUDA C++ or Python files found")
    if options.verbose:
        _say(f"{report.files} files analysed in {time.monotonic() - started:.2f} s")
    return exit_status(report, plan, options)


def _fixed(
    found: Discovery,
    plan: Plan,
    options: CheckOptions,
    contents: dict[Path, bytes],
    progress: Progress | None,
) -> Fixed:
    from cudalint.commands.fix import show_diff, write
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
        show_diff(fixed, found.files, plan, options.color)
    else:
        write(fixed, found.files, contents)
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
        timeline=options.timeline,
        progress=progress,
        say=(lambda text: None) if options.quiet else _say,
    )


def exit_status(report: Report, plan: Plan, options: CheckOptions) -> int:
    """2 where anything could not be linted, 1 where a finding counts, else 0."""
    if report.errors:
        return FAILED
    return FOUND if report.fails(plan.fail_level) and not options.exit_zero else CLEAN


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
    if options.runtime_mode is None and (
        options.runtime_only_confirmed
        or options.runtime_budget is not None
        or options.timeline is not None
    ):
        raise ConfigurationError(
            "--runtime-budget, --runtime-only-confirmed, --timeline: only with --runtime"
        )
    if "-" in paths and options.runtime_mode is not None:
        raise ConfigurationError("--runtime: standard input cannot be run")
    if "-" not in paths:
        if options.stdin_filename:
            raise ConfigurationError("--stdin-filename: only with `-` for standard input")
        return found
    data = sys.stdin.buffer.read()
    file = _stdin_file(options.stdin_filename, data)
    contents[file.path] = data
    others = tuple(other for other in found.files if other.path != file.path)
    return Discovery((*others, file), found.errors, found.missing)


def _stdin_file(name: str | None, data: bytes) -> SourceFile:
    if name is None:
        notebook = data.lstrip().startswith(b"{") and b'"nbformat"' in data
        is_cuda = not notebook and any(sign in data for sign in _CUDA_SIGNS)
        language: Language = "cuda" if is_cuda else "python"
        suffix = ".cu" if is_cuda else ".ipynb" if notebook else ".py"
        return SourceFile(STDIN_NAME, absolute(f"stdin{suffix}"), language, explicit=True)
    path = absolute(name)
    return SourceFile(display_name(path), path, language_of(path) or "cuda", explicit=True)


# Output -----------------------------------------------------------------------------------------


def _say(text: str) -> None:
    print(f"cudalint: {escaped(text)}", file=sys.stderr)


def _complain(report: Report, options: CheckOptions) -> None:
    for error in report.errors:
        _say(str(error))
    if not options.quiet:
        for note in report.notes:
            _say(f"note: {note}")


def _write(report: Report, plan: Plan, options: CheckOptions, *, summarise: bool) -> None:
    target = options.output_file
    to_terminal = target is None and sys.stdout.isatty()
    kind = plan.settings.output_format or ("full" if to_terminal else "concise")
    colored = use_color(sys.stdout, options.color)
    style = Style(colored and target is None, links=colored and to_terminal)
    text = _render(report, kind, style, options)
    if options.footprint and kind not in _MACHINE_FORMATS and not options.statistics:
        from cudalint.reports import footprint

        text += ("\n" if text else "") + footprint.render(report, style)
    if target is None:
        _print(text)
    else:
        try:
            Path(target).write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise ConfigurationError(f"--output-file {target}: {reason_of(error)}") from None
    if summarise and not options.quiet and (kind != "json" or target is not None):
        from cudalint.reports.fixes import fixable
        from cudalint.reports.text import summary

        gap = "\n" if text and kind == "full" and target is None else ""
        _print(f"{gap}{summary(report, Style(colored))}\n")
        _print(fixable(report, unsafe=options.unsafe_fixes))


def _render(report: Report, kind: str, style: Style, options: CheckOptions) -> str:
    if options.statistics:
        from cudalint.reports import statistics

        return (
            statistics.render_json(report) if kind == "json" else statistics.render(report, style)
        )
    if kind == "json":
        from cudalint.reports import json

        return json.render(report)
    if kind == "concise":
        from cudalint.reports import concise

        return concise.render(report, style)
    from cudalint.reports import text

    columns = shutil.get_terminal_size((140, 24)).columns if sys.stdout.isatty() else 140
    return text.render(report, style, width=max(columns - 8, 60))


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough (`| head`); the exit status still counts.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
