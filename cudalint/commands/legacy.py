"""What ``check`` does for projects that begin with findings: baselines, changes, suppressions."""

from __future__ import annotations

import dataclasses
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cudalint.findings.baseline import Baseline, Entry, render
from cudalint.findings.finding import Finding
from cudalint.findings.fix import Edit
from cudalint.findings.ignoring import ignoring
from cudalint.findings.suppressions import UNUSED_CODE
from cudalint.plan import Plan
from cudalint.project.config import ConfigurationError
from cudalint.project.files import STDIN_NAME, SourceFile
from cudalint.project.paths import display_name, relative_name
from cudalint.project.reading import UnreadableError, decode, read_bytes
from cudalint.project.toml import readable
from cudalint.project.writing import (
    UnwritableError,
    apply_edits,
    encode,
    rewrite,
    write_atomically,
)
from cudalint.reports.report import Report
from cudalint.reports.text import plural
from cudalint.source import Source

if TYPE_CHECKING:
    from cudalint.project.changes import Changes

Say = Callable[[str], None]
_MOST_NAMED = 3


class LegacyOptions(Protocol):
    """What of the command's options speaks of findings that were there before."""

    @property
    def add_ignore(self) -> str | None: ...  # noqa: D102
    @property
    def diff_base(self) -> str | None: ...  # noqa: D102
    @property
    def write_baseline(self) -> bool: ...  # noqa: D102
    @property
    def force_baseline(self) -> bool: ...  # noqa: D102
    @property
    def quiet(self) -> bool: ...  # noqa: D102


class Legacy:
    """What is asked for, checked before anything is linted."""

    def __init__(self, files: Sequence[SourceFile], plan: Plan, options: LegacyOptions) -> None:
        self.files = files
        self.plan = plan
        self.options = options
        self.writes = options.write_baseline or options.force_baseline
        if self.writes and plan.baseline is None:
            raise ConfigurationError("--write-baseline: to which file? `--baseline FILE` names it")
        if self.writes and options.diff_base is not None:
            raise ConfigurationError(
                "--write-baseline: not with --diff-base: a baseline holds all findings"
            )
        if options.add_ignore is not None and (
            self.writes or any(file.filename == STDIN_NAME for file in files)
        ):
            raise ConfigurationError(
                "--add-ignore: neither with --write-baseline nor for standard input"
            )
        base = options.diff_base
        self.changes = changes_of(base, files, plan) if base is not None else None

    def judged(self, report: Report, say: Say) -> Report:
        """The report, with what is no news set aside, and what was asked for written: but for a
        run that was stopped, of which nobody knows what it would have found."""
        writes = self.writes and not report.interrupted
        if writes:
            force = self.options.force_baseline
            report = write_baseline(report, self.files, self.plan, say, force=force)
        elif self.plan.baseline is not None:
            quiet = self.options.quiet
            report = with_baseline(
                report, self.files, self.plan, (lambda _: None) if quiet else say
            )
        if self.changes is not None:
            report = only_changed(report, self.changes)
        if self.options.add_ignore is not None and not report.interrupted:
            report = add_ignores(report, self.files, self.options.add_ignore, say)
        return report


# Changes ----------------------------------------------------------------------------------------


def changes_of(revision: str, files: Sequence[SourceFile], plan: Plan) -> Changes:
    """What has changed since a revision in the repository of the files."""
    from cudalint.project.changes import ChangesError, changes_since

    folders = [str(file.path.parent) for file in files] or [str(plan.root)]
    try:
        return changes_since(revision, Path(os.path.commonpath(folders)))
    except ChangesError as error:
        raise ConfigurationError(f"--diff-base: {error}") from None


def only_changed(report: Report, changes: Changes) -> Report:
    """The report with those findings set aside whose path no change touches."""
    from cudalint.findings.unchanged import set_aside

    notebooks = {name for name, source in report.sources.items() if source.cells}
    findings = set_aside(report.findings, changes, notebooks)
    return dataclasses.replace(report, findings=tuple(findings))


# Baseline ---------------------------------------------------------------------------------------


def with_baseline(report: Report, files: Sequence[SourceFile], plan: Plan, say: Say) -> Report:
    """The report, marked by the baseline; what of it is mended is said."""
    assert plan.baseline is not None
    # Once more: a run may have shown other findings.
    report = dataclasses.replace(report, findings=tuple(plan.baseline.marked(report.findings)))
    found = [file for file in files if not file.explicit]
    if stale := _stale(plan.baseline, report, found, plan):
        named = "; ".join(map(str, stale[:_MOST_NAMED]))
        more = f"; and {len(stale) - _MOST_NAMED} more" if len(stale) > _MOST_NAMED else ""
        say(
            f"note: mended, but still in the baseline: {named}{more} "
            "(`--write-baseline` takes out what is mended)"
        )
    return report


def write_baseline(
    report: Report, files: Sequence[SourceFile], plan: Plan, say: Say, *, force: bool
) -> Report:
    """Write the baseline, and the report marked by it. One that is there only shrinks, unless
    ``force`` says otherwise."""
    old = plan.baseline
    assert old is not None
    report = dataclasses.replace(report, findings=tuple(old.marked(report.findings)))
    exists = old.path.exists()
    stale = _stale(old, report, files, plan)
    kept = list(old.entries)
    for entry in stale:
        kept.remove(entry)
    new = [Entry.of(finding, _namer(plan)) for finding in report.active]
    added = new if force or not exists else []
    written = Baseline(old.path, tuple(sorted([*kept, *added])))
    if not exists or written.entries != old.entries:
        _write(written)
    name = display_name(old.path)
    if not exists:
        say(f"{name}: written, {len(added)} in it")
    else:
        say(f"{name}: {len(kept)} kept, {len(stale)} taken out, {len(added)} added")
    if left := len(new) - len(added):
        say(
            f"{name}: {plural(left, 'new finding')} not taken in: a baseline only shrinks "
            "(`--force-baseline` adds them)"
        )
    return dataclasses.replace(report, findings=tuple(written.marked(report.findings)))


def _write(baseline: Baseline) -> None:
    try:
        write_atomically(baseline.path, render(baseline.entries).encode())
    except UnwritableError as error:
        raise ConfigurationError(f"--write-baseline: {baseline.path}: {error}") from None


def _stale(
    baseline: Baseline, report: Report, files: Sequence[SourceFile], plan: Plan
) -> list[Entry]:
    """The entries whose finding is gone: of files that were looked at or do not exist any more, by
    rules that were asked."""
    failed = {error.filename for error in report.errors}
    name = _namer(plan)
    looked_at = {
        readable(name(file.filename)): plan.ignored_in(file.filename)
        for file in files
        if file.filename not in failed
    }
    ran = {rule.code for rule in plan.rules}
    stale = []
    for entry in baseline.missing(report.findings):
        if entry.path in looked_at:
            asked = ran - looked_at[entry.path]
            if entry.code in asked or entry.code not in plan.known:
                stale.append(entry)
        elif not os.path.lexists(plan.root / entry.path):
            stale.append(entry)
    return stale


def _namer(plan: Plan) -> Callable[[str], str]:
    return lambda filename: relative_name(Path(filename), plan.root)


# Comments ---------------------------------------------------------------------------------------


def add_ignores(report: Report, files: Sequence[SourceFile], reason: str, say: Say) -> Report:
    """Write a suppression at each active finding; the report as if they had been there."""
    by_name = {file.filename: file for file in files}
    active: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.active:
        active[finding.filename].append(finding)
    written: set[int] = set()
    comments = changed = 0
    for filename, findings in active.items():
        try:
            if filename not in by_name or filename not in report.sources:
                raise UnwritableError("is not one of the files that are linted")
            edits, left = _ignored(by_name[filename], report.sources[filename], findings, reason)
        except UnwritableError as error:
            say(f"{filename}: left as it is: {error}")
            continue
        unused = [finding for finding in left if finding.code == UNUSED_CODE]
        for finding in left:
            if finding not in unused:
                say(f"{filename}:{finding.span.row}: no comment there can suppress {finding.code}")
        if unused:
            say(f"{filename}: {UNUSED_CODE} is left: take the unused suppressions out")
        comments += len(edits)
        changed += bool(edits)
        kept = {id(finding) for finding in left}
        written |= {id(finding) for finding in findings if id(finding) not in kept}
    say(f"{plural(comments, 'comment')} written in {plural(changed, 'file')}")
    return dataclasses.replace(
        report,
        findings=tuple(
            dataclasses.replace(finding, suppressed=f"cudalint: ignore[{finding.code}]")
            if id(finding) in written
            else finding
            for finding in report.findings
        ),
    )


def _ignored(
    file: SourceFile, source: Source, findings: Sequence[Finding], reason: str
) -> tuple[list[Edit], list[Finding]]:
    """Write the comments of one file. What was done, and what could not be."""
    if source.cells:
        raise UnwritableError("comments are not written into notebooks")
    try:
        before = read_bytes(file.path)
        if decode(before, file.language).text != source.text:
            raise UnwritableError("has changed in the meantime")
    except UnreadableError as error:
        raise UnwritableError(str(error)) from None
    edits, left = ignoring(findings, source, file.language, reason)
    if edits:
        after = encode(apply_edits(source.text, edits), before, file.language)
        rewrite(file.path, before, after)
    return edits, left
