"""The baseline: findings that a project has decided to live with for now, in a file that it keeps.

A line of the file is one finding, so that reviews and merges are easy; nothing in it is a line
number. What counts is the fingerprint, and how often it is there: the rest is for readers.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from cudalint.findings.finding import Finding, Known
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.project.toml import quoted, readable
from cudalint.project.units import size_text

VERSION = 1
_LARGEST = 64 * 1024**2
_CONFLICT = re.compile(rb"^(?:<<<<<<<|=======|>>>>>>>)", re.MULTILINE)
_FINGERPRINT = re.compile(r"[0-9a-f]{8,128}")
_HEADER = f"""\
# What cudalint knew of when it was told to: these findings are not reported. The file only shrinks;
# `cudalint --write-baseline` takes out what is mended.
version = {VERSION}
findings = [
"""


class BaselineError(ValueError):
    """A file that is no baseline; the message says why, with its name."""


class Entry(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """One finding. All but the fingerprint is for people."""

    path: str
    """Relative to the project's folder."""
    code: str
    function: str
    subject: str
    fingerprint: str

    @classmethod
    def of(cls, finding: Finding, path_of: Callable[[str], str]) -> Entry:
        """The entry of a finding; ``path_of`` makes its file's name relative."""
        path, function, subject = map(
            readable, (path_of(finding.filename), finding.function, finding.subject)
        )
        return cls(path, finding.code, function, subject, finding.fingerprint)

    def __str__(self) -> str:
        about = " of ".join(f"`{name}`" for name in (self.subject, self.function) if name)
        return f"{self.path}: {self.code}" + (f" {about}" if about else "")


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    findings: tuple[Entry, ...]


@dataclass(frozen=True)
class Baseline:
    """The entries of a baseline, in the order of its file."""

    path: Path
    entries: tuple[Entry, ...] = ()

    @classmethod
    def load(cls, path: Path) -> Baseline:
        """Read a file. Raises ``BaselineError``."""
        try:
            data = read_bytes(path)
        except UnreadableError as error:
            raise BaselineError(f"{path}: {error}") from None
        if len(data) > _LARGEST:
            raise BaselineError(f"{path}: is too large for a baseline ({size_text(len(data))})")
        try:
            file = msgspec.toml.decode(data, type=_File)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            if match := _CONFLICT.search(data):
                row = data.count(b"\n", 0, match.start()) + 1
                raise BaselineError(f"{path}: line {row}: a merge was not finished") from None
            raise BaselineError(f"{path}: is no baseline of cudalint: {error}") from None
        if file.version != VERSION:
            raise BaselineError(
                f"{path}: is a baseline of version {file.version}; this cudalint reads {VERSION}"
            )
        for entry in file.findings:
            if _FINGERPRINT.fullmatch(entry.fingerprint) is None:
                raise BaselineError(
                    f"{path}: is no baseline of cudalint: no fingerprint: {entry.fingerprint!r}"
                )
        return cls(path, file.findings)

    def marked(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings, with those marked as known that are in the baseline."""
        findings = list(findings)
        known = {number for number, _ in self._pairs(findings)}
        return [
            dataclasses.replace(finding, known=Known.BASELINE) if number in known else finding
            for number, finding in enumerate(findings)
        ]

    def missing(self, findings: Sequence[Finding]) -> list[Entry]:
        """The entries that none of the findings matches."""
        met = {number for _, number in self._pairs(findings)}
        return [entry for number, entry in enumerate(self.entries) if number not in met]

    def _pairs(self, findings: Sequence[Finding]) -> list[tuple[int, int]]:
        """The number of each finding that is in the baseline, and of its entry. The parts of one
        defect share a fingerprint: those of the same subject belong together, the others are
        counted."""
        entries: dict[str, list[int]] = defaultdict(list)
        for number, entry in enumerate(self.entries):
            entries[entry.fingerprint].append(number)
        left: list[int] = []
        pairs: list[tuple[int, int]] = []
        for number, finding in enumerate(findings):
            candidates = entries.get(finding.fingerprint)
            if not candidates or finding.suppressed is not None:
                continue
            subject = readable(finding.subject)
            same = next((one for one in candidates if self.entries[one].subject == subject), None)
            if same is None:
                left.append(number)
            else:
                candidates.remove(same)
                pairs.append((number, same))
        others = ((number, entries[findings[number].fingerprint]) for number in left)
        return [*pairs, *((number, known.pop(0)) for number, known in others if known)]


def render(entries: Iterable[Entry]) -> str:
    """The file that holds some entries: one line each, sorted."""
    lines = (
        f"  {{ path = {quoted(one.path)}, code = {quoted(one.code)}, "
        f"function = {quoted(one.function)}, subject = {quoted(one.subject)}, "
        f"fingerprint = {quoted(one.fingerprint)} }},\n"
        for one in sorted(entries)
    )
    return f"{_HEADER}{''.join(lines)}]\n"
