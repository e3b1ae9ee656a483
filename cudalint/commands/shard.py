"""``check --shard 2/8``: analyse a share of the parts, for ``cudalint merge``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from cudalint.commands.output import save
from cudalint.linter import lint_shard
from cudalint.plan import Plan
from cudalint.project.config import COMMAND_LINE, Configuration, ConfigurationError
from cudalint.project.files import Discovery
from cudalint.project.outputs import parse_output
from cudalint.reports.text import plural
from cudalint.shards import Shard
from cudalint.stages.run import Progress

_DONE, _FAILED, _INTERRUPTED = 0, 2, 130


@dataclass(frozen=True)
class ShardOptions:
    """What is asked for."""

    shard: Shard
    output_file: str | None
    footprint: bool
    quiet: bool


def run_shard(
    paths: Sequence[str],
    found: Discovery,
    plan: Plan,
    configuration: Configuration,
    options: ShardOptions,
    progress: Progress | None,
    say: Callable[[str], None],
) -> int:
    """Lint a share and write what was found. The exit status is 0 whatever that is: `merge` has the
    word."""
    target = _target(paths, found, configuration, options.output_file)
    report = lint_shard(
        found.files, plan, options.shard, progress=progress, footprint=options.footprint
    )
    if report is None:
        say("interrupted: nothing was written")
        return _INTERRUPTED
    report = msgspec.structs.replace(
        report,
        paths=list(paths),
        errors=sorted({*report.errors, *found.errors}),
    )
    for error in report.errors:
        say(str(error))
    if target is None:
        sys.stdout.write(report.encode())
    else:
        save(target, report.encode())
    if not options.quiet:
        say(f"shard {report.shard}/{report.of}: {plural(len(report.parts), 'part')} analysed")
    return _FAILED if any(error.fatal for error in report.errors) else _DONE


def _target(
    paths: Sequence[str], found: Discovery, configuration: Configuration, output_file: str | None
) -> str | None:
    """The file to write; ``None`` is standard output. ``ConfigurationError`` where an option has no
    meaning for a shard."""
    settings = configuration.settings
    outputs = settings.output if configuration.origin("output") == COMMAND_LINE else ()
    parsed = [parse_output(entry) for entry in outputs]
    formats = {one.kind for one in parsed} | (
        {settings.output_format} if configuration.origin("output-format") == COMMAND_LINE else set()
    )
    if formats - {"json"} or len(parsed) > 1:
        raise ConfigurationError("--shard: is written as json; `cudalint merge` writes all formats")
    if "-" in paths or any(file.explicit for file in found.files):
        raise ConfigurationError("--shard: takes folders: with single files, others count as well")
    return output_file or (parsed[0].file if parsed else None)
