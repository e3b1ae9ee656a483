"""What stands around the files that are linted, and what it says of the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cudalint.doubts import doubts
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.plan import Plan
from cudalint.project.cache import digest, file_digest
from cudalint.project.files import FileError, SourceFile
from cudalint.project.reading import decode
from cudalint.selection import ReadFile
from cudalint.source import is_header
from cudalint.stages.run import Run

if TYPE_CHECKING:
    from cudalint.neighbours import Neighbours


def unsaved_headers(contents: Mapping[Path, bytes]) -> tuple[tuple[str, str], ...]:
    """Headers whose text is not what the disk holds."""
    found = []
    for path, data in sorted(contents.items()):
        if is_header(path.name) and file_digest(str(path)) not in ("", digest(data)):
            found.append((str(path), decode(data, "cuda").text))
    return tuple(found)


def neighbours(
    findings: Sequence[Finding],
    files: Sequence[SourceFile],
    read: Sequence[ReadFile],
    plan: Plan,
    contents: Mapping[Path, bytes],
    near: Neighbours | None,
) -> list[ReadFile]:
    """What stands near the files that somebody named, where a class is accused of what another file
    may do, or where a comment may answer such a finding; and where a function loses something, all
    that may call it, or nothing: who knows but some callers does not know how often it runs."""
    from cudalint.analysis.rules import ClassRule
    from cudalint.neighbours import MOST_READ, Neighbours

    near = near or Neighbours()
    classes = {one.filename for one in findings if issubclass(plan.known[one.code], ClassRule)}
    losing = {one.filename for one in findings if one.within and one.severity is Severity.WARNING}
    named = [one for one in read if one.file.explicit and one.file.language == "cuda"]
    asking = [
        one.file
        for one in named
        if one.file.filename in classes or b"cudalint" in one.data or b"NOLINT" in one.data
    ]
    if asking:
        return near.of(asking, files, plan, contents)
    asking = [one.file for one in named if one.file.filename in losing]
    found = near.of(asking, files, plan, contents) if asking else []
    return found if len(found) < MOST_READ else []


def with_doubts(
    findings: Sequence[Finding],
    known: Sequence[SourceFile],
    contents: Mapping[Path, bytes],
    run: Run,
) -> list[Finding]:
    """The findings; of low confidence where a file that was not read may prove them wrong."""
    lost = {one.filename for one in run.errors if not one.was_read}
    unread = {file.filename: file for file in known if file.filename in lost}
    sure = (one for one in findings if one.confidence is not Confidence.LOW)
    found = doubts({one.rests_on for one in sure}, unread.values(), contents)
    for name, steps in found.items():
        what = f"names `{name}`: findings that this may prove wrong have low confidence"
        run.notes += [FileError(step.filename, what) for step in steps]
    kept = []
    for finding in findings:
        steps = found.get(finding.rests_on, [])
        kept.append(finding.doubted(*steps) if steps else finding)
        if steps:  # nobody knows whether a comment there is needed
            run.unread.setdefault(finding.filename, []).append(finding.span)
    return kept


def forget(untold: set[str], findings: list[Finding], run: Run) -> None:
    """Drop what was found in files of which nothing is told."""
    findings[:] = [one for one in findings if one.filename not in untold]
    run.errors = [one for one in run.errors if one.filename not in untold]
    run.notes = [one for one in run.notes if one.filename not in untold]
    run.footprints = [one for one in run.footprints if one.filename not in untold]
