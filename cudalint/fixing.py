"""Mends what findings know a fix for: edits in memory, and lints again after each pass.

A fix that leaves its finding, brings about another or a text that no longer reads is taken back.
Nothing is written here.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cudalint.findings.finding import Finding
from cudalint.findings.fix import Applicability, Edit, together
from cudalint.fixes.applying import edited_bytes
from cudalint.linter import lint
from cudalint.neighbours import Neighbours
from cudalint.plan import Plan
from cudalint.project.files import FileError, SourceFile
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.project.writing import UnwritableError
from cudalint.reports.frames import location
from cudalint.reports.report import Report
from cudalint.source import Source
from cudalint.stages.run import Progress

_MOST_PASSES = 20
_Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Fixed:
    """What fixing came to."""

    report: Report
    """What is left."""
    contents: Mapping[Path, bytes]
    """The files that changed, as they are now,"""
    originals: Mapping[Path, bytes]
    """and as they were."""
    made: tuple[Finding, ...] = ()
    refused: tuple[FileError, ...] = ()
    """Fixes that would not have mended, and why."""


def fixable(finding: Finding, unsafe: bool) -> bool:
    """Whether a finding has a fix that may be made."""
    return (
        finding.fix is not None
        and finding.suppressed is None
        and finding.known is None
        and (unsafe or finding.fix.applicability is Applicability.SAFE)
    )


def fix(
    files: Sequence[SourceFile],
    plan: Plan,
    *,
    contents: Mapping[Path, bytes] | None = None,
    unsafe: bool = False,
    progress: Progress | None = None,
    supervised: bool = True,
    footprint: bool = False,
) -> Fixed:
    """Lint and mend until there is nothing left to mend."""
    everything = tuple(
        rule for rule in plan.known.values() if rule in plan.rules or not rule.preview
    )
    # Rules that nobody asked for still have to agree with what is written.
    wide = dataclasses.replace(plan, rules=everything)
    near = Neighbours()

    def linted(plan: Plan, changed: Mapping[Path, bytes]) -> Report:
        held = {**(contents or {}), **changed}
        return lint(
            files,
            plan,
            contents=held,
            progress=progress,
            supervised=supervised,
            footprint=footprint,
            near=near,
        )

    fixer = _Fixer(files, contents or {}, frozenset(rule.code for rule in plan.rules), unsafe)
    report = linted(plan, {})
    if report.interrupted or not any(map(fixer.is_wanted, report.findings)):
        return Fixed(report, {}, {})
    if wide.rules != plan.rules:
        report = linted(wide, {})
    for _ in range(_MOST_PASSES):
        after = fixer.pass_over(report, lambda changed: linted(wide, changed))
        if after is None:
            break
        report = after
    if wide.rules != plan.rules:
        report = linted(plan, fixer.changed)
    return Fixed(report, fixer.changed, fixer.originals, tuple(fixer.made), tuple(fixer.refused))


class _Fixer:
    """What has been mended so far."""

    def __init__(
        self,
        files: Sequence[SourceFile],
        contents: Mapping[Path, bytes],
        codes: frozenset[str],
        unsafe: bool,
    ) -> None:
        self.files = {file.filename: file for file in files}
        self.contents = contents
        self.codes = codes
        self.unsafe = unsafe
        self.changed: dict[Path, bytes] = {}
        self.originals: dict[Path, bytes] = {}
        self.made: list[Finding] = []
        self.refused: list[FileError] = []
        self._hopeless: set[tuple[_Key, str]] = set()

    def is_wanted(self, finding: Finding) -> bool:
        """Whether its fix is to be made, and has not failed before."""
        return (
            finding.code in self.codes
            and fixable(finding, self.unsafe)
            and (_key(finding), _message(finding)) not in self._hopeless
        )

    def pass_over(
        self, report: Report, linted: Callable[[Mapping[Path, bytes]], Report]
    ) -> Report | None:
        """Make as many fixes as go together; the report of what is left, ``None`` if none can."""
        chosen = self._chosen(report)
        while chosen:
            try:
                changed = self._edited(chosen, report.sources)
            except (UnreadableError, UnwritableError) as error:
                failed = [(one, f"the file {error}") for one in chosen]
            else:
                after = linted(changed)
                if after.interrupted:
                    return None  # what is missing there may be mended, or not looked at
                failed = _failed(chosen, report, after)
                if not failed:
                    self.changed = changed
                    self.made += chosen
                    return after
            for finding, reason in failed:
                self._refuse(finding, reason, report)
            chosen = [one for one in chosen if self.is_wanted(one)]
        return None

    def _refuse(self, finding: Finding, reason: str, report: Report) -> None:
        if not self.is_wanted(finding):
            return
        self._hopeless.add((_key(finding), _message(finding)))
        place = location(finding.filename, finding.span, report.sources)
        self.refused.append(FileError(place, f"{finding.code} is not fixed: {reason}"))

    def _chosen(self, report: Report) -> list[Finding]:
        """Those of the fixes that do not touch each other, the first of them where they do."""
        edits: tuple[Edit, ...] = ()
        chosen = []
        for finding in report.findings:
            if self.is_wanted(finding) and finding.fix is not None:
                both = together(edits, finding.fix.edits)
                if both is not None:
                    edits = both
                    chosen.append(finding)
        return chosen

    def _edited(
        self, chosen: Sequence[Finding], sources: Mapping[str, Source]
    ) -> dict[Path, bytes]:
        edits: tuple[Edit, ...] = ()
        for finding in chosen:
            edits = together(edits, finding.fix.edits if finding.fix else ()) or edits
        held = {**self.contents, **self.changed}
        changed = dict(self.changed)
        for name in {edit.filename for edit in edits}:
            file = self.files[name]
            own = [edit for edit in edits if edit.filename == name]
            data = held[file.path] if file.path in held else read_bytes(file.path)
            self.originals.setdefault(file.path, data)
            changed[file.path] = edited_bytes(data, sources[name], file.language, own)
        return changed


def _key(finding: Finding) -> _Key:
    return finding.code, finding.filename, finding.function, finding.subject


def _message(finding: Finding) -> str:
    return finding.fix.message if finding.fix is not None else ""


def _failed(chosen: Sequence[Finding], before: Report, after: Report) -> list[tuple[Finding, str]]:
    """The fixes after which something is not as it should be."""
    there, left = _counted(before), _counted(after)
    mended = Counter(map(_key, chosen))
    failed = [
        (one, "the finding would stay")
        for one in chosen
        if left[_key(one)] > there[_key(one)] - mended[_key(one)]
    ]
    for key in left:
        if left[key] > there[key]:
            failed += _blamed(chosen, key[1], key[2], f"{key[0]} would come of it")
    for error in set(after.errors) - set(before.errors):
        failed += _blamed(chosen, error.filename, "", f"the file {error.message}")
    return failed


def _counted(report: Report) -> Counter[_Key]:
    return Counter(map(_key, report.active))


def _blamed(
    chosen: Iterable[Finding], filename: str, function: str, reason: str
) -> list[tuple[Finding, str]]:
    """Who may have done it: the fixes in a function, else in its file, else all."""
    chosen = list(chosen)
    touching = [
        one
        for one in chosen
        if one.fix is not None and any(edit.filename == filename for edit in one.fix.edits)
    ]
    near = [one for one in touching if one.function == function]
    return [(one, reason) for one in near or touching or chosen]
