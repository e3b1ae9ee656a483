"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudalint import __version__
from cudalint.commands import completion as completions
from cudalint.commands.options import (
    RUNTIME_MODES,
    SectionedCommand,
    config_options,
    merge_options,
    run_options,
    setting_options,
    timeline_option,
)

if TYPE_CHECKING:
    from cudalint.project.config import Configuration
    from cudalint.reports.style import ColorChoice

CLEAN, FOUND, FAILED, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


class _DefaultCommand(click.Group):
    """A group whose first word may also be a path: then it means ``check``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version", "-V"}
        args = _without_values(args)
        if not args or (args[0] not in self.commands and args[0] not in own):
            args = ["check", *args]
            ctx.meta[completions.IMPLIED] = True
        return super().parse_args(ctx, args)


def _without_values(args: list[str]) -> list[str]:
    """``--runtime`` without a value is ``auto``, ``--add-ignore`` has no reason: the path after
    them is no value of theirs."""
    found: list[str] = []
    for number, word in enumerate(args):
        if word == "--":
            return found + args[number:]
        following = args[number + 1] if number + 1 < len(args) else ""
        alone = word == "--runtime" and following not in RUNTIME_MODES
        found.append(
            "--runtime=auto" if alone else "--add-ignore=" if word == "--add-ignore" else word
        )
    return found


@click.group(
    cls=_DefaultCommand,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="cudalint %(version)s")
def cudalint() -> None:
    """Finds CUDA memory misuse in CUDA C++ and Python before it reaches a GPU.

    `cudalint PATH...` is short for `cudalint check PATH...`.
    """


@cudalint.command(cls=SectionedCommand)
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completions.paths)
@setting_options
@config_options
@run_options
def check(paths: tuple[str, ...], **options: Any) -> int:
    """Lint files and folders; by default this one.

    `-` reads standard input. Exit status: 0 clean, 1 findings at or above the fail level, 2 a
    problem with the usage, the configuration or a file that was named, or a crash, 130 interrupted.
    """
    from cudalint.commands.check import CheckOptions, run_check

    stdin = options["stdin_filename"]
    own = CheckOptions(**{name: options[name] for name in CheckOptions.__dataclass_fields__})

    def configuration() -> Configuration:
        return configuration_of((*paths, *([stdin] if stdin else ())), options)

    if options["watch"]:
        if own.write_baseline or own.force_baseline or own.add_ignore is not None:
            raise click.UsageError("--watch: not with an option that writes.")
        from cudalint.commands.watch import run_watch

        return run_watch(
            paths, configuration, lambda: _told(lambda: run_check(paths, configuration(), own))
        )
    return run_check(paths, configuration(), own)


@cudalint.command(cls=SectionedCommand)
@click.argument("shards", nargs=-1, required=True, metavar="FILE...")
@setting_options
@config_options
@merge_options
def merge(shards: tuple[str, ...], **options: Any) -> int:
    """Report what the shards of a run found, as one run does.

    FILE is what `cudalint --shard 2/8 --output-file FILE` wrote, of each shard one; here are the
    same files, and the same settings. Exit status: that of `check`.
    """
    from cudalint.commands.check import CheckOptions
    from cudalint.commands.merge import run_merge

    own = {name: options[name] for name in CheckOptions.__dataclass_fields__ if name in options}
    return run_merge(shards, lambda paths: configuration_of(paths, options), CheckOptions(**own))


@cudalint.command(context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENT]...")
@click.option(
    "--runtime",
    "runtime_mode",
    type=click.Choice(RUNTIME_MODES),
    default="auto",
    help="Where: a GPU, a simulated device, or a GPU if there is one [default: auto].",
)
@click.option("--target", multiple=True, metavar="SM", help="The simulated compute capability.")
@click.option("--device-memory", metavar="SIZE", help="The simulated device's memory.")
@click.option("--time-limit", "limit", type=float, metavar="SECONDS", help="[default: none]")
@click.option("--output-format", "kind", type=click.Choice(["text", "json"]), default="text")
@click.option("--command-status", "own_status", is_flag=True, help="End with the command's status.")
@timeline_option
@config_options
def run(
    command: tuple[str, ...],
    runtime_mode: Any,
    limit: float | None,
    kind: str,
    timeline: str | None,
    own_status: bool,
    **options: Any,
) -> int:
    """Run any command under the ledger, and tell what it leaks.

    On a GPU, CUPTI sees every program; on a simulated device they need a shared CUDA runtime. Exit
    status: 0 nothing was lost or misused, 1 something was, 2 it could not be run, made no CUDA
    call, or did not come to its end; or the command's own.
    """
    from cudalint.commands.run import run_command

    if not command:
        raise click.UsageError("which command? `cudalint run -- ./program --its-option`.")
    options["target"] = list(options["target"]) or None
    configuration = configuration_of((), options)
    return run_command(
        command,
        configuration,
        runtime_mode,
        time_limit=limit,
        output_format=kind,
        timeline=timeline,
        own_status=own_status,
    )


@cudalint.command(context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND [ARGUMENT]...]")
@click.option("--explain", metavar="FILE", help="Explain an error text; `-` is standard input.")
@click.option("--snapshot", metavar="FILE", help="Explain a memory snapshot of PyTorch.")
@click.option("--machine", metavar="FILE", help="Explain what `--record` wrote elsewhere.")
@click.option("--record", metavar="FILE", help="Write what was seen, for a report of a bug.")
@click.option("--without-users", is_flag=True, help="Leave out users, and what they run.")
@click.option(
    "--runtime",
    "runtime_mode",
    type=click.Choice(RUNTIME_MODES),
    default="auto",
    help="Where a command runs: a GPU, a simulated device, or a GPU if there is one.",
)
@click.option("--target", multiple=True, metavar="SM", help="The simulated compute capability.")
@click.option("--device-memory", metavar="SIZE", help="The simulated device's memory.")
@click.option("--time-limit", "limit", type=float, metavar="SECONDS", help="[default: none]")
@click.option("--output-format", "kind", type=click.Choice(["text", "json"]), default="text")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
@config_options
def doctor(command: tuple[str, ...], **options: Any) -> int:
    """Explain out of memory: this machine's, a command's, an error text's, a snapshot's.

    Without arguments it looks at this machine's devices: what is free, what the largest block is,
    who holds the rest. Exit status: 0 nothing is wrong, 1 a cause was found, 2 there is no GPU or
    driver to ask, or the command could not be run.
    """
    from cudalint.commands.doctor import DoctorOptions, run_doctor

    options["target"] = list(options["target"]) or None
    own = {name: options.pop(name) for name in DoctorOptions.__dataclass_fields__}
    return run_doctor(command, configuration_of((), options), DoctorOptions(**own))


@cudalint.command()
@click.argument("rule", required=False, metavar="[CODE|NAME]", shell_complete=completions.rules)
@click.option("--all", "everything", is_flag=True, help="All rules.")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to show it."
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def rule(rule: str | None, everything: bool, output_format: str, color: ColorChoice) -> int:
    """Explain a rule.

    What it finds, why that is bad, and what to write instead.
    """
    from cudalint.commands.rule import run_rule

    if rule is None and not everything:
        raise click.UsageError("which rule? Give a code or a name, or --all.")
    return run_rule(rule, output_format, color)


@cudalint.command()
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to show it."
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def rules(output_format: str, color: ColorChoice) -> int:
    """List all rules, a line for each.

    Languages and libraries are those of the programs that each rule is tested with.
    """
    from cudalint.commands.rules import run_rules

    return run_rules(output_format, color)


@cudalint.command()
@click.argument("shell", type=click.Choice(completions.SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete options, rules and files.

    \b
    bash, in ~/.bashrc:  eval "$(cudalint completion bash)"
    zsh, in ~/.zshrc:    eval "$(cudalint completion zsh)"
    fish, once:          cudalint completion fish > ~/.config/fish/completions/cudalint.fish
    """
    click.echo(completions.script(cudalint, shell))


@cudalint.command(cls=SectionedCommand)
@click.argument("key", required=False)
@setting_options
@config_options
def config(key: str | None, **options: Any) -> int:
    """Show the settings in force and where each came from."""
    from cudalint.commands.config import run_config

    return run_config(key, configuration_of((), options))


@cudalint.command()
@click.argument("folder", default=".", type=click.Path())
@click.option("--force", is_flag=True, help="Write over what `init` may have written before.")
@click.option(
    "--models/--no-models",
    default=True,
    help="Look for allocators of your own; takes as long as linting.",
)
def init(folder: str, **options: bool) -> int:
    """Write a configuration for what is found in a folder.

    A table in its pyproject.toml where there is one, else a cudalint.toml. Devices, headers, tests
    and third-party folders are those that the build files name; nothing of the project is run.
    """
    from cudalint.commands.init import InitOptions, run_init

    return run_init(Path(folder), InitOptions(**options))


@cudalint.command()
@click.option(
    "--tcp",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Listen on a port of this machine (0: any) [default: the standard streams].",
)
def server(tcp: int | None) -> int:
    """Serve an editor: the Language Server Protocol.

    Needs `pip install 'cudalint[server]'`. Set-ups for editors: docs/editors.md.
    """
    from importlib.util import find_spec

    if find_spec("pygls") is None:
        raise click.ClickException("the server needs pygls: pip install 'cudalint[server]'")
    from cudalint.server.wires import serve

    return serve(tcp)


@cudalint.command()
@config_options
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
    _end_in_order()
    given = None if arguments is None else list(arguments)
    return _told(lambda: cudalint.main(given, "cudalint", standalone_mode=False))


def _told(run: Callable[[], Any]) -> int:
    """The exit status of what is run; what goes wrong is said."""
    try:
        status = run()
        sys.stdout.flush()
    except click.ClickException as error:
        return _refused(error)
    except (click.Abort, KeyboardInterrupt):
        click.echo("cudalint: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not complain of it on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAN
    except Exception as error:
        return _failed(error)
    return status if isinstance(status, int) else CLEAN


def _end_in_order() -> None:
    """SIGTERM (a cancelled CI job, `timeout`) stops the workers too, and what they have started."""

    def end(*_: object) -> None:
        sys.exit(TERMINATED)

    with contextlib.suppress(ValueError):  # not the main thread: whoever has it decides
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, end)


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
