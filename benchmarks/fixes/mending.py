"""Mends fixtures in memory, and looks at what became of them with fresh eyes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cudalint.cli import check, configuration_of
from cudalint.findings.finding import Finding
from cudalint.fixing import Fixed, fix
from cudalint.linter import lint
from cudalint.loading import load
from cudalint.plan import Plan, make_plan
from cudalint.project.files import SourceFile, discover
from cudalint.reports.report import Report

Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Mended:
    """A unit before and after all of its fixes, the unsafe ones too."""

    files: tuple[SourceFile, ...]
    plan: Plan
    before: Report
    fixed: Fixed
    after: Report
    """Linted afresh."""


def mend(unit: Path, options: Sequence[str], cache: Path, *, unsafe: bool = True) -> Mended:
    """Lint a file or a project with some options, and make its fixes in memory."""
    arguments = [*options, "--isolated", "--cache-dir", str(cache), str(unit)]
    context = check.make_context("check", arguments)
    plan = make_plan(configuration_of((str(unit),), dict(context.params)))
    files = discover([unit], plan.settings, plan.root).files
    before = lint(files, plan, supervised=False)
    fixed = fix(files, plan, unsafe=unsafe, supervised=False)
    after = lint(files, plan, contents=fixed.contents, supervised=False)
    return Mended(files, plan, before, fixed, after)


def key(finding: Finding) -> Key:
    """What a finding is known by before and after."""
    return finding.code, finding.filename, finding.function, finding.subject


def counted(findings: Sequence[Finding]) -> Counter[Key]:
    """How many there are of each."""
    return Counter(map(key, findings))


def faults(mended: Mended) -> Iterator[str]:
    """What is wrong with the fixes of a unit."""
    yield from (f"offered and taken back: {refusal}" for refusal in mended.fixed.refused)
    before, after = counted(mended.before.active), counted(mended.after.active)
    offered = counted([finding for finding in mended.before.active if finding.fix is not None])
    for one, count in (counted(mended.fixed.made) | offered).items():
        if after[one] > before[one] - count:
            yield f"{one} is still there"
    for one in after:
        if after[one] > before[one]:
            yield f"{one} has come about"
    if mended.after.errors != mended.before.errors:
        yield f"cannot be linted any more: {mended.after.errors}"
    again = fix(
        mended.files,
        mended.plan,
        contents=mended.fixed.contents,
        unsafe=True,
        supervised=False,
    )
    if again.made:
        yield f"the second time, {len(again.made)} more fixes are made"
    yield from _badly_written(mended)


def _badly_written(mended: Mended) -> Iterator[str]:
    originals: Mapping[Path, bytes] = mended.fixed.originals
    for file in mended.files:
        if file.path not in mended.fixed.contents:
            continue
        old, new = originals[file.path], mended.fixed.contents[file.path]
        if (b"\r\n" in old) != (b"\r\n" in new) or new.count(b"\r") != new.count(b"\r\n"):
            yield f"{file.filename}: its line ends have changed"
        loaded = load(file, new, mended.plan.max_file_size)
        if loaded is not None and file.language == "python":
            try:
                ast.parse(loaded.source.text)
            except SyntaxError as error:
                yield f"{file.filename}: {error}"
        edits = [
            edit
            for finding in mended.fixed.made
            if finding.fix is not None
            for edit in finding.fix.edits
            if edit.filename == file.filename
        ]
        touched = sum(edit.span.end_row - edit.span.row + 1 for edit in edits)
        gone = _lines(old) - _lines(new)
        if gone.total() > touched:
            yield f"{file.filename}: {gone.total()} lines have changed, and {touched} were meant to"


def _lines(data: bytes) -> Counter[bytes]:
    return Counter(line.strip() for line in data.split(b"\n"))
