"""The options of the command line, in sections. Imports click and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from cudalint.commands import completion

_SECTIONS = {
    "Rules": (
        "select", "ignore", "extend_select", "per_file_ignores", "preview", "fail_level",
    ),
    "Files": (
        "exclude", "extend_exclude", "force_exclude", "respect_gitignore", "max_file_size",
        "stdin_filename", "show_files",
    ),
    "Legacy": ("baseline", "write_baseline", "force_baseline", "diff_base", "add_ignore"),
    "Fixes": ("fix", "unsafe_fixes", "diff", "show_fixes"),
    "Devices": ("target", "device_memory", "max_transfer", "large_allocation"),
    "Code": ("include_folders", "defines", "standard", "compile_commands", "models"),
    "Output": (
        "output", "output_format", "output_file", "footprint", "statistics", "color", "quiet",
        "verbose", "exit_zero",
    ),
    "Runtime": (
        "runtime_mode", "runtime_budget", "runtime_only_confirmed", "no_harness", "keep_harness",
        "timeline",
    ),
    "Running": (
        "watch", "jobs", "executor", "scheduler", "shard", "time_limit", "cache", "cache_dir",
        "cache_size", "config", "isolated", "help",
    ),
}  # fmt: skip
RUNTIME_MODES = ("auto", "gpu", "sim")


class SectionedCommand(click.Command):
    """A command whose help lists the options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section that has options."""
        records = {
            parameter.name: record
            for parameter in self.get_params(ctx)
            if (record := parameter.get_help_record(ctx)) is not None
        }
        for title, names in _SECTIONS.items():
            rows = [records[name] for name in names if name in records]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _list(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[str] | None:
    """Repeated and comma-separated values, joined; ``None`` when the option is absent."""
    entries = [entry.strip() for value in values for entry in value.split(",")]
    return [entry for entry in entries if entry] if values else None


def _paths(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[str] | None:
    return list(values) or None


def _kinds(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from cudalint.project.outputs import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete)]


def _per_file(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[str, list[str]] | None:
    found: dict[str, list[str]] = {}
    for value in values:
        pattern, colon, rules = value.rpartition(":")
        if not colon or not pattern or not rules:
            raise click.BadParameter(f"{value!r} is not PATTERN:RULE[,RULE...]")
        found.setdefault(pattern, []).extend(rules.split(","))
    return found or None


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _many(name: str, key: str, help: str, **more: Any) -> Callable[[Any], Any]:
    return click.option(name, key, multiple=True, callback=_list, help=help, **more)


def _rules(name: str, key: str, help: str) -> Callable[[Any], Any]:
    return _many(name, key, help, metavar="RULE", shell_complete=completion.rules)


config_options = _options(
    click.option(
        "--config",
        multiple=True,
        metavar="FILE|KEY=VALUE",
        help="A configuration file in place of the one found, or one setting (repeatable).",
    ),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
)

setting_options = _options(
    _rules("--select", "select", "Rules to run: codes, prefixes, names, or ALL."),
    _rules("--ignore", "ignore", "Rules not to run."),
    _rules("--extend-select", "extend_select", "Rules to run as well."),
    click.option(
        "--per-file-ignores",
        multiple=True,
        callback=_per_file,
        metavar="PATTERN:RULE",
        help="Rules that are silent in some files.",
    ),
    click.option("--preview/--no-preview", default=None, help="Preview rules, low confidence too."),
    click.option(
        "--fail-level",
        type=click.Choice(["error", "warning", "info"]),
        help="The least severity that makes the exit status 1 [default: warning].",
    ),
    click.option(
        "--baseline", metavar="FILE", help="Findings that are known: they are not reported."
    ),
    _many(
        "--test-files", "test_files", "Tests, as in .gitignore: warnings there are info.",
        metavar="PATTERN",
    ),
    _many("--exclude", "exclude", "What not to lint, as in .gitignore.", metavar="PATTERN"),
    _many("--extend-exclude", "extend_exclude", "What else not to lint.", metavar="PATTERN"),
    click.option(
        "--force-exclude/--no-force-exclude",
        default=None,
        help="Exclude also what is named explicitly.",
    ),
    click.option(
        "--respect-gitignore/--no-respect-gitignore",
        default=None,
        help="Leave out what git ignores [default: yes].",
    ),
    _many(
        "--target", "target", "Compute capability (sm_86) or native: its limits apply.",
        metavar="SM",
    ),
    click.option("--device-memory", metavar="SIZE", help="Budget of one allocation: 16GiB."),
    click.option(
        "--max-transfer", metavar="SIZE", help="Largest copy in one piece [default: 256MiB]."
    ),
    click.option(
        "--large-allocation",
        metavar="SIZE",
        help="What is large to hold while the program waits [default: 1GiB].",
    ),
    click.option(
        "--models", multiple=True, callback=_paths, metavar="FILE", help="Own API models (TOML)."
    ),
    click.option(
        "-I",
        "--include-folder",
        "include_folders",
        multiple=True,
        callback=_paths,
        metavar="FOLDER",
        help="Where C++ headers are.",
    ),
    click.option(
        "-D",
        "--define",
        "defines",
        multiple=True,
        callback=_paths,
        metavar="NAME[=VALUE]",
        help="A C++ macro.",
    ),
    click.option("--standard", metavar="STD", help="The C++ standard: c++20."),
    click.option(
        "-p", "--compile-commands", metavar="PATH", help="A compile_commands.json or its folder."
    ),
    click.option(
        "--output-format",
        metavar="KIND",
        shell_complete=_kinds,
        help="How findings are shown [default: full on a terminal, else concise].",
    ),
    click.option(
        "--output",
        multiple=True,
        callback=_paths,
        metavar="KIND[=FILE]",
        shell_complete=_kinds,
        help="A report, repeatable: full, concise, json, json-lines, sarif, github, gitlab, junit, "
        "markdown or html.",
    ),
    click.option("--cache/--no-cache", default=None, help="Keep what was read of files."),
    click.option("--cache-dir", metavar="FOLDER", help="Where to keep it."),
    click.option("--cache-size", metavar="SIZE", help="How much of it [default: 1GiB]."),
    click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes."),
    click.option(
        "--time-limit", type=float, metavar="SECONDS",
        help="CPU seconds for one file [default: 30].",
    ),
    click.option("--max-file-size", metavar="SIZE", help="Larger files are not read."),
)  # fmt: skip

timeline_option = click.option(
    "--timeline", metavar="FILE.html", help="Write what the runs held over time as a page."
)

merge_options = _options(
    click.option(
        "--diff-base", metavar="REV", help="Report only what touches lines changed since REV (git)."
    ),
    click.option("-o", "--output-file", metavar="FILE", help="Write the report there."),
    click.option("-e", "--exit-zero", is_flag=True, help="Exit with 0 even if there are findings."),
    click.option(
        "--footprint", is_flag=True, help="Show each function's peak of live device memory too."
    ),
    click.option("--statistics", is_flag=True, help="Show counts for each rule instead."),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help="Colours [default: auto; NO_COLOR and FORCE_COLOR are obeyed].",
    ),
    click.option("-q", "--quiet", is_flag=True, help="No summary, no notes."),
    click.option("-v", "--verbose", is_flag=True, help="Say which files and settings are used."),
)

run_options = _options(
    click.option("--stdin-filename", metavar="NAME", help="What to take standard input (-) for."),
    click.option(
        "--executor",
        type=click.Choice(["local", "dask"]),
        default="local",
        help="Who does the work: processes here, or a Dask cluster [default: local].",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="The cluster's scheduler: tcp://host:8786."
    ),
    click.option(
        "--shard", metavar="N/COUNT", help="Analyse a share; `cudalint merge` reports of all."
    ),
    click.option("--watch", is_flag=True, help="Lint again whenever a file changes."),
    click.option(
        "--write-baseline", is_flag=True, help="Write the baseline: one that exists only shrinks."
    ),
    click.option(
        "--force-baseline", is_flag=True, help="Write the baseline, new findings included."
    ),
    click.option(
        "--add-ignore",
        metavar="[=REASON]",
        help="Write a comment at each finding that suppresses it.",
    ),
    click.option("--fix", is_flag=True, help="Mend what can be mended, then report what is left."),
    click.option(
        "--unsafe-fixes", is_flag=True, help="Take fixes that a reader should look at too."
    ),
    click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing."),
    click.option("--show-fixes", is_flag=True, help="List the fixes that were made."),
    click.option(
        "--show-files", is_flag=True, help="Show which files are linted, and why or why not."
    ),
    click.option(
        "--runtime",
        "runtime_mode",
        is_flag=False,
        flag_value="auto",
        type=click.Choice(RUNTIME_MODES),
        metavar="[auto|gpu|sim]",
        help="Build and run the programs too: on a GPU, or on a simulated one.",
    ),
    click.option(
        "--runtime-budget", type=float, metavar="SECONDS", help="For all runs [default: 600]."
    ),
    click.option(
        "--runtime-only-confirmed", is_flag=True, help="Report only what a run confirmed."
    ),
    click.option(
        "--no-harness", is_flag=True, help="Write no programs for functions that none reaches."
    ),
    click.option("--keep-harness", metavar="DIR", help="Keep the programs that it writes there."),
    timeline_option,
    merge_options,
)
