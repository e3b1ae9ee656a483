"""Writes suppressions: the edits that put ``cudalint: ignore[CODE] reason`` where findings are.

Several places may do; each is tried on the text, and the first is taken whose comment is read back
as one that silences the finding. No string and no line of code is changed.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from cudalint.findings.comments import Comments, comments_of
from cudalint.findings.finding import Finding
from cudalint.findings.fix import Edit
from cudalint.findings.suppressions import (
    UNUSED_CODE,
    FileSuppressions,
    Suppression,
    parse_suppressions,
)
from cudalint.project.reading import Language
from cudalint.project.writing import apply_edits
from cudalint.source import Source, Span

_CODES = re.compile(r"\bcudalint\s*:\s*ignore(?:-next-line)?\b\s*\[(?P<codes>[^\]]*)\]", re.I)
_SPACES = re.compile(r"[ \t]*")


def ignoring(
    findings: Iterable[Finding], source: Source, language: Language, reason: str = ""
) -> tuple[list[Edit], list[Finding]]:
    """The edits that suppress findings of one file, and the findings that no comment can suppress.
    A suppression that suppresses nothing (GPU001) needs no second one: it is left."""
    left: list[Finding] = []
    rows: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.code == UNUSED_CODE:
            left.append(finding)
        else:
            rows[finding.span.row].append(finding)
    writer = _Writer(source, language, reason)
    places = {row: writer.places(row, found) for row, found in sorted(rows.items())}
    chosen: dict[int, Edit] = {}
    # Each round moves those on that the last one has not silenced:
    while silent := writer.not_silenced(rows, list(chosen.values())):
        for row in silent:
            chosen.pop(row, None)
            if edit := next(places[row], None):
                chosen[row] = edit
            else:
                left += rows.pop(row)
    return [chosen[row] for row in sorted(chosen)], left


class _Writer:
    def __init__(self, source: Source, language: Language, reason: str) -> None:
        self.source = source
        self.python = language == "python"
        self.language: Language = language
        self.reason = _one_line(reason)
        self.comments: Comments = comments_of(source, language)
        self.known: FileSuppressions = parse_suppressions(source, language)

    def places(self, row: int, findings: Sequence[Finding]) -> Iterator[Edit]:
        """Edits that may do for the findings of a row, the best first."""
        codes = list(dict.fromkeys(finding.code for finding in findings))
        for suppression in self.known.suppressions:
            if suppression.rows is not None and row in suppression.rows and suppression.judged:
                yield from self._merged(suppression, codes)
        text = f"cudalint: ignore[{', '.join(codes)}]{self.reason and ' ' + self.reason}"
        if self.python:
            yield from self._in_python(row, findings, text)
        else:
            yield from self._in_cpp(row, findings, text)

    def _merged(self, suppression: Suppression, codes: Sequence[str]) -> Iterator[Edit]:
        """The codes in the list of a comment that is there."""
        span = suppression.span
        start = self._offset(span.row, span.column)
        text = self.source.text[start : self._offset(span.end_row, span.end_column)]
        for match in _CODES.finditer(text):
            if " ".join(match[0].split()) == suppression.text:
                missing = [code for code in codes if code not in suppression.codes]
                known = match["codes"].rstrip()
                added = ", ".join(([""] if known.strip() else []) + missing)
                end = start + match.start("codes") + len(known)
                yield self._insert(end, added)
                return

    def _in_python(self, row: int, findings: Sequence[Finding], text: str) -> Iterator[Edit]:
        rows = range(row, row + 1)
        for first, end in self.comments.strings:
            if first < row < end:
                rows = range(first, end + 1)
        rows = self.comments.with_strings(rows)
        last = max(finding.span.end_row for finding in findings)
        for candidate in dict.fromkeys((row, rows.stop - 1, last, *range(row + 1, last))):
            line = self.source.line(candidate).rstrip()
            if not line.endswith("\\"):
                yield self._insert(self._offset(candidate, len(line) + 1), f"  # {text}")
        if self.source.line(row - 1).rstrip().endswith("\\"):
            return
        indentation = _SPACES.match(self.source.line(row))
        start = self._offset(row, 1)
        newline = "\r\n" if self.source.text[start:].partition("\n")[0].endswith("\r") else "\n"
        yield self._insert(start, f"{indentation[0] if indentation else ''}# {text}{newline}")

    def _in_cpp(self, row: int, findings: Sequence[Finding], text: str) -> Iterator[Edit]:
        line = self.source.line(row).rstrip()
        block = text.replace("*/", "* /")
        if not line.endswith("\\"):
            yield self._insert(self._offset(row, len(line) + 1), f"  // {text}")
        else:
            # The macro goes on behind it.
            code = line.removesuffix("\\").rstrip()
            gap = "" if line[len(code) : len(code) + 1].isspace() else " "
            yield self._insert(self._offset(row, len(code) + 1), f"  /* {block} */{gap}")
        column = min(finding.span.column for finding in findings)
        yield self._insert(self._offset(row, column), f"/* {block} */ ")

    def not_silenced(self, rows: dict[int, list[Finding]], edits: Sequence[Edit]) -> list[int]:
        """The rows of which some finding is still told once the edits are made."""
        text = apply_edits(self.source.text, edits)
        after = parse_suppressions(Source(self.source.filename, text), self.language)
        added = [edit.span.row for edit in edits if edit.text.endswith("\n")]
        return [
            row
            for row, findings in rows.items()
            if not all(_is_silenced(finding, after, added) for finding in findings)
        ]

    def _offset(self, row: int, column: int) -> int:
        return self.source.line_starts[row - 1] + column - 1

    def _insert(self, offset: int, text: str) -> Edit:
        return Edit(self.source.filename, self.source.span(offset, offset), text)


def _is_silenced(finding: Finding, after: FileSuppressions, added: Sequence[int]) -> bool:
    """Whether a finding is suppressed in a text with lines added before some rows."""
    moved = sum(row <= finding.span.row for row in added)
    span = finding.span
    place = Span(span.row + moved, span.column, span.end_row + moved, span.end_column)
    found = dataclasses.replace(finding, span=place)
    return after.find(found, place.row, place.end_row) is not None


def _one_line(reason: str) -> str:
    """A reason as it can stand at the end of a comment: a backslash there would draw the next line
    into it."""
    text = "".join(one if one.isprintable() else " " for one in reason)
    return " ".join(text.split()).rstrip("\\ ")
