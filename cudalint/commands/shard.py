"""``check --shard 2/8``: analyse a share of the parts, for ``cudalint merge``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.commands.output import save
from cudalint.linter import Progress, lint_shard
from cudalint.plan import Plan
from cudalint.project.config import COMMAND_LINE, Configuration, ConfigurationError
from cudalint.project.files import Discovery
from cudalint.project.outputs import parse_output
from cudalint.reports.text import plural
from cudalint.shards import Shard

if TYPE_CHECKING:
    from cudalint.commands.check import CheckOptions

_DONE, _FAILED, _INTERRUPTED = 0, 2, 130


def run_shard(
    paths: Sequence[str],
    found: Discovery,
    plan: Plan,
    configuration: Configuration,
    options: CheckOptions,
    progress: Progress | None,
    say: Callable[[str], None],
) -> int:
    """Lint a share and write what was found. The exit status is 0 whatever that is: `merge` has the
    word."""
    assert options.shard is not None
    shard = Shard.parse(options.shard)
    target = _target(paths, found, configuration, options)
    report = lint_shard(found.files, plan, shard, progress=progress, footprint=options.footprint)
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
        say(f"shard {options.shard}: {plural(len(report.parts), 'part')} analysed")
    return _FAILED if any(error.fatal for error in report.errors) else _DONE


def _target(
    paths: Sequence[str], found: Discovery, configuration: Configuration, options: CheckOptions
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
    if (
        options.fix or options.diff or options.statistics or options.diff_base is not None
        or options.runtime_mode is not None or options.add_ignore is not None
        or options.write_baseline or options.force_baseline
    ):  # fmt: skip
        raise ConfigurationError(
            "--shard: not with --fix, --diff, --diff-base, --runtime, --statistics, --add-ignore "
            "or a baseline that is written: a shard has some of the findings"
        )
    return options.output_file or (parsed[0].file if parsed else None)
