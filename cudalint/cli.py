"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudalint import __version__

if TYPE_CHECKING:
    from cudalint.project.config import Configuration
    from cudalint.reports.style import ColorChoice

CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130


class _DefaultCommand(click.Group):
    """A group whose first word may also be a path: then it means ``check``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version", "-V"}
        if not args or (args[0] not in self.commands and args[0] not in own):
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_DefaultCommand,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="cudalint %(version)s")
def cudalint() -> None:
    """Finds CUDA memory misuse in CUDA C++ and Python before it reaches a GPU.

    `cudalint PATH...` is short for `cudalint check PATH...`.
    """


def _list(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[str] | None:
    """Repeated and comma-separated values, joined; ``None`` when the option is absent."""
    entries = [entry.strip() for value in values for entry in value.split(",")]
    return [entry for entry in entries if entry] if values else None


def _paths(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[str] | None:
    return list(values) or None


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


_CONFIG_OPTIONS = _options(
    click.option(
        "--config",
        multiple=True,
        metavar="FILE|KEY=VALUE",
        help="A configuration file in place of the one found, or one setting (repeatable).",
    ),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
)

_SETTING_OPTIONS = _options(
    _many("--select", "select", "Rules to run: codes, prefixes, names, or ALL.", metavar="RULE"),
    _many("--ignore", "ignore", "Rules not to run.", metavar="RULE"),
    _many("--extend-select", "extend_select", "Rules to run as well.", metavar="RULE"),
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
        type=click.Choice(["full", "concise", "json"]),
        help="How findings are shown [default: full on a terminal, else concise].",
    ),
    click.option("--cache/--no-cache", default=None, help="Keep what was read of files."),
    click.option("--cache-dir", metavar="FOLDER", help="Where to keep it."),
    click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes."),
    click.option(
        "--time-limit", type=float, metavar="SECONDS", help="Limit for one file [default: 30]."
    ),
    click.option("--max-file-size", metavar="SIZE", help="Larger files are not read."),
)  # fmt: skip


@cudalint.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_SETTING_OPTIONS
@_CONFIG_OPTIONS
@click.option("--stdin-filename", metavar="NAME", help="What to take standard input (-) for.")
@click.option("-o", "--output-file", metavar="FILE", help="Write the report there.")
@click.option("-e", "--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--statistics", is_flag=True, help="Show counts for each rule instead.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colours [default: auto; NO_COLOR and FORCE_COLOR are obeyed].",
)
@click.option("-q", "--quiet", is_flag=True, help="No summary, no notes.")
@click.option("-v", "--verbose", is_flag=True, help="Say which files and settings are used.")
def check(paths: tuple[str, ...], **options: Any) -> int:
    """Lint files and folders (the default command; by default this folder).

    `-` reads standard input. Exit status: 0 clean, 1 findings at or above the fail level, 2 a
    problem with the usage, the configuration or a file.
    """
    from cudalint.commands.check import CheckOptions, run_check

    stdin = options["stdin_filename"]
    configuration = configuration_of((*paths, *([stdin] if stdin else ())), options)
    own = {name: options[name] for name in CheckOptions.__dataclass_fields__}
    return run_check(paths, configuration, CheckOptions(**own))


@cudalint.command()
@click.argument("rule", required=False, metavar="[CODE|NAME]")
@click.option("--all", "everything", is_flag=True, help="All rules.")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to show it."
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def rule(rule: str | None, everything: bool, output_format: str, color: ColorChoice) -> int:
    """Explain a rule: what it finds, why that is bad, and what to write instead."""
    from cudalint.commands.rule import run_rule

    if rule is None and not everything:
        raise click.UsageError("which rule? Give a code or a name, or --all.")
    return run_rule(rule, output_format, color)


@cudalint.command()
@click.argument("key", required=False)
@_SETTING_OPTIONS
@_CONFIG_OPTIONS
def config(key: str | None, **options: Any) -> int:
    """Show the settings in force and where each came from."""
    from cudalint.commands.config import run_config

    return run_config(key, configuration_of((), options))


@cudalint.command()
@_CONFIG_OPTIONS
@click.option("--cache-dir", metavar="FOLDER", help="The cache to delete.")
def clean(**options: Any) -> int:
    """Delete the cache."""
    from cudalint.plan import cache_folder
    from cudalint.project.cache import remove
    from cudalint.project.config import ConfigurationError
    from cudalint.project.paths import display_name

    folder = cache_folder(configuration_of((), options))
    try:
        removed = remove(folder)
    except OSError as error:
        raise ConfigurationError(f"clean: {error}") from None
    if removed:
        click.echo(f"Removed {display_name(folder)}")
    return CLEAN


def configuration_of(paths: Sequence[str], options: dict[str, Any]) -> Configuration:
    """The configuration for some paths; the options given are its last layer."""
    from cudalint.project.config import load
    from cudalint.project.settings import KEYS

    config, isolated = options["config"], options["isolated"]
    overrides = {
        name: value
        for key, value in options.items()
        if (name := key.replace("_", "-")) in KEYS and value is not None
    }
    start = [Path(path) for path in paths if path != "-"]
    return load(start, config=config, isolated=isolated, overrides=overrides)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status. Never a traceback, unless ``CUDALINT_TRACEBACK``."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        given = None if arguments is None else list(arguments)
        status = cudalint.main(given, "cudalint", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        return _refused(error)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not complain of it on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAN
    except Exception as error:
        return _failed(error)
    return status if isinstance(status, int) else CLEAN


def _refused(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    hint = f" (see `{context.command_path} --help`)" if context else ""
    click.echo(f"cudalint: {error.format_message()}{hint}", err=True)
    return FAILED


def _failed(error: Exception) -> int:
    from cudalint.project.config import ConfigurationError
    from cudalint.registry import RegistryError
    from cudalint.reports.style import escaped

    if os.environ.get("CUDALINT_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    if isinstance(error, ConfigurationError | RegistryError):
        click.echo(f"cudalint: {escaped(str(error))}", err=True)
        return FAILED
    text = escaped(f"{type(error).__name__}: {error}")
    hint = "CUDALINT_TRACEBACK=1 shows where; please report it"
    click.echo(f"cudalint: internal error: {text} ({hint})", err=True)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
