"""Writes the reports of a run: each in its format, to its file or to standard output."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cudalint.project.config import COMMAND_LINE, Configuration, ConfigurationError
from cudalint.project.outputs import Output, parse_output
from cudalint.project.reading import reason_of
from cudalint.reports.fixes import fixable
from cudalint.reports.formats import FORMATS, render
from cudalint.reports.report import Report
from cudalint.reports.style import ColorChoice, Style, use_color
from cudalint.reports.text import summary


@dataclass(frozen=True)
class Presentation:
    """How reports are shown, whatever their format."""

    color: ColorChoice = "auto"
    quiet: bool = False
    statistics: bool = False
    """Counts for each rule instead."""
    footprint: bool = False
    unsafe_fixes: bool = False
    """They are counted among those that can be made."""


def chosen_outputs(
    configuration: Configuration, output_file: str | None, presentation: Presentation
) -> tuple[Output, ...]:
    """The reports to write. ``ConfigurationError`` where they are in each other's way: before
    anything is linted."""
    settings = configuration.settings
    outputs = tuple(parse_output(entry) for entry in settings.output)
    if output_file is not None and configuration.origin("output") == COMMAND_LINE:
        raise ConfigurationError(
            f"--output-file {output_file}: `--output KIND=FILE` names files itself"
        )
    if not outputs or output_file is not None:
        to_terminal = output_file is None and sys.stdout.isatty()
        kind = settings.output_format or ("full" if to_terminal else "concise")
        outputs = (Output(kind, output_file),)
    key = "output" if output_file is None else "--output-file"
    for output in outputs:
        if output.file is not None:
            _check_file(output.file, key)
        if presentation.statistics and FORMATS[output.kind].machine and output.kind != "json":
            raise ConfigurationError(
                f"--statistics: counts are shown as text or as json, not as {output.kind}"
            )
    _check_together(outputs)
    return outputs


def _check_file(file: str, key: str) -> None:
    path = Path(file)
    wrong = errno.EISDIR if path.is_dir() else 0 if path.parent.is_dir() else errno.ENOENT
    if wrong:
        raise ConfigurationError(f"{key} {file}: {os.strerror(wrong)}")


def _check_together(outputs: Sequence[Output]) -> None:
    files = [output.file for output in outputs if output.file is not None]
    twice = next((file for file in files if files.count(file) > 1), None)
    if twice is not None:
        raise ConfigurationError(f"output: two reports would be written to {twice}")
    shown = [output for output in outputs if output.file is None]
    whole = next((output for output in shown if FORMATS[output.kind].machine), None)
    if whole is not None and len(shown) > 1:
        raise ConfigurationError(
            f"output: {' and '.join(map(str, shown))} on standard output: {whole} must be alone "
            f"there (`{whole}=FILE` writes a file)"
        )


def write(
    report: Report,
    outputs: Sequence[Output],
    presentation: Presentation,
    *,
    summarise: bool,
) -> None:
    """Write all reports, files first, and on standard output the summary that people want."""
    shown = ""
    for output in outputs:
        text = _text(report, output, presentation)
        if output.file is None:
            shown += text
        else:
            save(output.file, text)
    _print(shown)
    to_people = all(output.file or not FORMATS[output.kind].machine for output in outputs)
    if summarise and to_people and not presentation.quiet:
        full = any(output == Output("full") for output in outputs)
        colored = use_color(sys.stdout, presentation.color)
        gap = "\n" if shown and full else ""
        _print(f"{gap}{summary(report, Style(colored))}\n")
        _print(fixable(report, unsafe=presentation.unsafe_fixes))


def _text(report: Report, output: Output, presentation: Presentation) -> str:
    style = _style(output, presentation)
    if presentation.statistics:
        from cudalint.reports import statistics

        as_json = output.kind == "json"
        return statistics.render_json(report) if as_json else statistics.render(report, style)
    text = render(output.kind, report, style)
    if presentation.footprint and not FORMATS[output.kind].machine:
        from cudalint.reports import footprint

        text += ("\n" if text else "") + footprint.render(report, style)
    return text


def _style(output: Output, presentation: Presentation) -> Style:
    if output.file is not None:
        return Style()
    colored, terminal = use_color(sys.stdout, presentation.color), sys.stdout.isatty()
    columns = shutil.get_terminal_size((140, 24)).columns if terminal else 140
    return Style(colored, links=colored and terminal, width=max(columns - 8, 60))


def save(file: str, text: str) -> None:
    """Write a report to a file. Raises ``ConfigurationError``."""
    try:
        Path(file).write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else str(error)
        raise ConfigurationError(f"output {file}: {reason}") from None


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough (`| head`); the exit status still counts.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
