"""``cudalint merge``: the reports of all shards as the report of one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudalint.commands.check import CheckOptions, run_check
from cudalint.project.config import Configuration
from cudalint.shards import read_shards


def run_merge(
    files: Sequence[str],
    configuration: Callable[[Sequence[str]], Configuration],
    options: CheckOptions,
) -> int:
    """Report what all shards found; the exit status is that of a run that is not split."""
    shards = read_shards(files)
    paths = shards[0].paths
    return run_check(paths, configuration(paths), options, shards)
