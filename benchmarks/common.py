"""What the benchmarks share: a plan, the files of some paths, workers' progress, tables."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from cudalint.plan import Plan, make_plan
from cudalint.project.config import load
from cudalint.project.files import discover
from cudalint.registry import all_rules
from cudalint.selection import ReadFile, select

EVERYWHERE = frozenset(("GPU306", "GPU403"))
"""Preview rules that tell of most launches and copies: right, and programs are not about them."""


def preview_rules() -> frozenset[str]:
    """The codes of what is told on request only."""
    return frozenset(code for code, rule in all_rules().items() if rule.preview)


def previewed() -> str:
    """The preview rules that fixtures are linted with, as a list for the command line."""
    return ",".join(sorted(preview_rules() - EVERYWHERE))


def plan_for(
    paths: Sequence[Path], cache: Path | None, jobs: int = 2, *, preview: bool = False
) -> Plan:
    """The default rules and limits, whatever configuration stands near the paths; ``preview``: what
    is only shown on request too."""
    overrides: dict[str, object] = {"jobs": jobs}
    if preview:
        overrides |= {"preview": True, "ignore": sorted(EVERYWHERE)}
    if cache is None:
        overrides["cache"] = False
    else:
        overrides["cache-dir"] = str(cache)
    return make_plan(load(paths, isolated=True, overrides=overrides))


def read_programs(paths: Sequence[Path], plan: Plan) -> list[ReadFile]:
    """The files that the linter would analyse."""
    return select(discover(paths, plan.settings, plan.root).files, plan, {}).read


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
