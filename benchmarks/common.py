"""What the benchmarks share: a plan, the files of some paths, workers' progress, tables."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cudalint.loading import load as load_file
from cudalint.plan import Plan, make_plan
from cudalint.project.config import load
from cudalint.project.files import SourceFile, discover
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.source import Source


@dataclass(frozen=True)
class Program:
    """A file of CUDA or of Python that mentions CUDA, read."""

    file: SourceFile
    data: bytes
    source: Source


def plan_for(paths: Sequence[Path], cache: Path | None, jobs: int = 2) -> Plan:
    """The default rules and limits, whatever configuration stands near the paths."""
    overrides: dict[str, object] = {"jobs": jobs}
    if cache is None:
        overrides["cache"] = False
    else:
        overrides["cache-dir"] = str(cache)
    return make_plan(load(paths, isolated=True, overrides=overrides))


def read_programs(paths: Sequence[Path], plan: Plan) -> list[Program]:
    """The files that the linter would analyse."""
    found = discover(paths, plan.settings, plan.root)
    return [program for file in found.files if (program := _read(file, plan)) is not None]


def _read(file: SourceFile, plan: Plan) -> Program | None:
    try:
        loaded = load_file(file, read_bytes(file.path), plan.max_file_size)
    except UnreadableError:
        return None
    return Program(file, loaded.data, loaded.source) if loaded else None


class Counter:
    """Says on a terminal how far the work is."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self.shown = time.monotonic()

    def step(self) -> None:
        """One more is done."""
        self.done += 1
        now = time.monotonic()
        if sys.stderr.isatty() and (now - self.shown > 0.2 or self.done == self.total):
            self.shown = now
            end = "\n" if self.done == self.total else ""
            print(f"\r{self.what}: {self.done}/{self.total}", end=end, file=sys.stderr, flush=True)


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines with aligned columns; the first is left-aligned, the others right-aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()
