"""Lints the programs, and says which flaws are found and which twins are accused."""

from __future__ import annotations

import dataclasses
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import common
from benchmarks.variants.programs import Case
from cudalint.linter import lint
from cudalint.plan import Plan
from cudalint.project.files import discover


@dataclass(frozen=True)
class Said:
    """A finding: where, and by which rule."""

    file: str
    row: int
    code: str

    def __str__(self) -> str:
        return f"{self.code} at {self.file}:{self.row}"


@dataclass(frozen=True)
class Result:
    """What came of one program."""

    case: Case
    said: tuple[Said, ...]
    failed: str = ""

    @property
    def is_found(self) -> bool:
        """Whether a bad program's flaw is found, where it may be told."""
        return self.case.bad and any(self._fits(one) for one in self.said)

    @property
    def is_accused(self) -> bool:
        """Whether anything is said of a correct program."""
        return not self.case.bad and bool(self.said)

    @property
    def beside(self) -> tuple[Said, ...]:
        """What else is said of a bad program."""
        return tuple(one for one in self.said if self.case.bad and not self._fits(one))

    def _fits(self, one: Said) -> bool:
        return one.code in self.case.codes and one.row in self.case.rows[one.file]


def judge(cases: Sequence[Case], scratch: Path, workers: int = 2) -> list[Result]:
    """Write the programs, each to a folder of its own, and lint each alone."""
    folders = [write(case, scratch / case.name) for case in cases]
    with multiprocessing.get_context("spawn").Pool(workers, _prepare, (scratch,)) as pool:
        said = pool.map(_lint, folders, chunksize=4)
    return [Result(case, found, failed) for case, (found, failed) in zip(cases, said, strict=True)]


def write(case: Case, folder: Path) -> Path:
    """Write a program's files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in case.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


_plan: Plan
"""Of a worker: looked up once; the precompiled headers are shared."""


def _prepare(scratch: Path) -> None:
    global _plan
    _plan = common.plan_for([scratch], scratch / "cache", 1, preview=True)


def _lint(folder: Path) -> tuple[tuple[Said, ...], str]:
    plan = dataclasses.replace(_plan, root=folder)
    files = discover([folder], plan.settings, folder).files
    report = lint(files, plan, supervised=False)
    found = {Said(Path(one.filename).name, one.span.row, one.code) for one in report.active}
    failed = "; ".join(map(str, (*report.errors, *report.notes)))
    return tuple(sorted(found, key=lambda one: (one.file, one.row, one.code))), failed
