"""Comments that silence findings, and those that silence nothing (GPU001).

Ours: ``cudalint: ignore[CODE, ...] reason`` on the line, or alone on the line above;
``cudalint: ignore-next-line[...]``; ``cudalint: file-ignore[...]``. Theirs: ``noqa: CODE``,
``flake8: noqa`` and ``ruff: noqa`` for a whole file, ``NOLINT(cudalint-NAME)``, ``NOLINTNEXTLINE``
and ``NOLINTBEGIN``/``NOLINTEND``. A suppression at the primary line or at any step of the finding's
path works; of several ways out, each needs its own. What other linters' comments say of other
linters' codes is theirs.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from cudalint.findings.comments import Comment, Comments, comments_of, conditional_rows
from cudalint.findings.finding import Finding, Way
from cudalint.project.reading import Language
from cudalint.project.settings import nearest
from cudalint.source import Source, Span

UNUSED_CODE = "GPU001"

_MENTIONED = re.compile(r"cudalint\s*:|noqa|NOLINT", re.IGNORECASE)
_OURS = re.compile(
    r"\bcudalint\s*:\s*(?P<word>ignore-next-line|file-ignore|ignore)(?![\w-])\s*(?:\[(?P<codes>[^\]]*)\])?",
    re.IGNORECASE,
)
_DIRECTIVES = ["ignore", "ignore-next-line", "file-ignore"]
_OTHER = re.compile(r"\bcudalint\s*:\s*(?P<word>[a-z][\w-]*)\s*(?:\[[^\]]*\]|\Z)", re.IGNORECASE)
"""Any other word is taken for a directive before a bracket or at the end, not within a sentence."""
_CODE = re.compile(r"[A-Z]+\d+")
_NOQA = re.compile(
    r"(?:\A|\#)\s*(?P<file>(?:flake8|ruff)\s*[:=]\s*)?noqa\b"
    r"(?P<codes>\s*:\s*[A-Z][A-Z0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)?",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"GPU\d{0,2}")
_NOLINT = re.compile(r"\bNOLINT(?P<word>NEXTLINE|BEGIN|END)?\b(?:\((?P<codes>[^)]*)\))?")
_SEPARATOR = re.compile(r"[\s,]+")


@dataclass(frozen=True)
class Suppression:
    """One comment's effect: on which rows it silences what."""

    text: str
    """As written: ``cudalint: ignore[GPU101]``."""
    span: Span
    codes: tuple[str, ...]
    """Upper-case codes or lower-case names or globs; empty silences everything."""
    rows: range | None
    """``None``: the whole file."""
    judged: bool = True
    """Whether it is reported when it silences nothing."""
    unknown_word: str = ""
    """What stands in place of ``ignore`` and means nothing."""

    def covers(self, first: int, last: int) -> bool:
        """Whether it applies to any of these rows."""
        return self.rows is None or (first < self.rows.stop and last >= self.rows.start)

    def matching(self, finding: Finding) -> str | None:
        """The entry that silences the finding; empty for a blanket one."""
        if not self.codes:
            return ""
        for code in self.codes:
            if is_code_of(code, finding.code) or fnmatchcase(finding.name, code):
                return code
        return None


def is_code_of(entry: str, code: str) -> bool:
    """Whether an entry is a rule's code or, as in ``noqa: GPU1``, the start of it."""
    return entry == code or (_PREFIX.fullmatch(entry) is not None and code.startswith(entry))


@dataclass
class FileSuppressions:
    """The suppressions of one file, and which of their entries silenced something."""

    suppressions: tuple[Suppression, ...]
    conditional: frozenset[int] = frozenset()
    used: set[tuple[int, str]] = field(default_factory=set)

    def find(self, finding: Finding, first: int, last: int) -> str | None:
        """The text of the suppression that silences a finding on these rows, noting its use.
        All that would are used: removing one of two leaves no doubt about the other."""
        text = None
        for number, suppression in enumerate(self.suppressions):
            if not suppression.covers(first, last):
                continue
            entry = suppression.matching(finding)
            if entry is not None:
                self.used.add((number, entry))
                text = text or suppression.text
        return text


def parse_suppressions(source: Source, language: Language) -> FileSuppressions:
    """The suppressions of one file."""
    if not _MENTIONED.search(source.text):
        return FileSuppressions(())
    comments = comments_of(source, language)
    found = tuple(_parse(comments, source))
    conditional = conditional_rows(source) if found and language == "cuda" else frozenset()
    return FileSuppressions(found, conditional)


def suppress(findings: Iterable[Finding], files: Mapping[str, FileSuppressions]) -> list[Finding]:
    """The findings, with ``suppressed`` set where a comment silences them."""
    return [_suppressed(finding, files) for finding in findings]


def _suppressed(finding: Finding, files: Mapping[str, FileSuppressions]) -> Finding:
    ways = finding.ways or (Way(finding.span, finding.message, finding.steps),)
    own = files.get(finding.filename)
    texts = [own.find(finding, finding.span.row, finding.span.end_row) if own else None]
    left = []
    for way in ways:
        ends = {other.span.row for other in ways if other.span.row != way.span.row}
        found = [
            # A step may span a whole statement with a body; its first line is where a comment
            # belongs. One where another way ends speaks of that one.
            files[step.filename].find(finding, step.span.row, step.span.row)
            for step in way.steps
            if step.filename in files and step.span.row not in ends
        ]
        texts += found
        if not any(found):
            left.append(way)
    text = next((text for text in texts if text is not None), None)
    if text is None:
        return finding
    if left and texts[0] is None:
        return dataclasses.replace(finding, message=left[0].message, steps=left[0].steps)
    return dataclasses.replace(finding, suppressed=text)


@dataclass(frozen=True)
class UnusedSuppression:
    """A suppression, or some entries of one, that silenced nothing."""

    span: Span
    text: str
    codes: tuple[str, ...]
    """The entries that silenced nothing; empty: it names no rule at all."""
    unknown: tuple[str, ...] = ()
    """Those of them that are no rule's."""
    suggestions: tuple[str, ...] = ()
    """The rules that the unknown ones most likely mean; the directive, where it is no directive."""
    others: tuple[str, ...] = ()
    """The codes of what is found there and not silenced."""
    unknown_word: str = ""


def unused_suppressions(
    file: FileSuppressions,
    *,
    known: Mapping[str, str],
    ran: Collection[str],
    unread: Sequence[Span] = (),
    found: Mapping[int, Collection[str]] | None = None,
) -> Iterator[UnusedSuppression]:
    """What GPU001 reports of one file.

    ``known`` maps every rule's code to its name; ``ran`` are the codes of the rules that ran;
    ``unread`` are the parts of the file that could not be read, where nothing can be said;
    ``found`` are the codes of what nothing silences, by the rows of its path.
    """
    code_of = {name: code for code, name in known.items()}
    for number, suppression in enumerate(file.suppressions):
        if not suppression.judged or _out_of_sight(suppression, file, unread):
            continue
        if word := suppression.unknown_word:
            meant = nearest(word, _DIRECTIVES) or "ignore"
            yield UnusedSuppression(
                suppression.span, suppression.text, (), suggestions=(meant,), unknown_word=word
            )
            continue
        unused: list[str] = []
        unknown: list[str] = []
        for entry in suppression.codes:
            code = entry if entry in known else code_of.get(entry)
            if _PREFIX.fullmatch(entry):
                if (number, entry) not in file.used and any(is_code_of(entry, one) for one in ran):
                    unused.append(entry)
            elif code is None:
                if "*" not in entry:
                    unknown.append(entry)
            elif code in ran and code != UNUSED_CODE and (number, entry) not in file.used:
                unused.append(code)
        if unused or unknown or not suppression.codes:
            names = [*known, *code_of]
            near = (None if _CODE.fullmatch(one) else nearest(one, names) for one in unknown)
            yield UnusedSuppression(
                suppression.span,
                suppression.text,
                (*unused, *unknown),
                tuple(unknown),
                tuple(dict.fromkeys(name for name in near if name)),
                tuple(_others(suppression, found or {})) if unused else (),
            )


def _others(suppression: Suppression, found: Mapping[int, Collection[str]]) -> list[str]:
    rows = suppression.rows or ()
    return sorted({code for row in rows for code in found.get(row, ())} - {UNUSED_CODE})


def _out_of_sight(suppression: Suppression, file: FileSuppressions, unread: Sequence[Span]) -> bool:
    if suppression.rows is None:
        return bool(unread)
    rows = suppression.rows
    return suppression.span.row in file.conditional or any(
        span.row < rows.stop and span.end_row >= rows.start for span in unread
    )


def _parse(comments: Comments, source: Source) -> Iterator[Suppression]:
    last_row = len(source.lines)
    open_ranges: list[tuple[Comment, str, tuple[str, ...]]] = []
    for comment in comments.comments:
        if not _MENTIONED.search(comment.text):
            continue
        span = Span(comment.row, comment.column, comment.end_row, comment.end_column)
        target = _in_cell(_target_rows(comment, comments), comment, source)
        following = _in_cell(_row_range(comments.next_code_row(comment.end_row)), comment, source)
        if not comment.in_string:
            target, following = comments.with_strings(target), comments.with_strings(following)
        for match in _OURS.finditer(comment.text):
            word = match["word"].lower()
            codes = _codes(match["codes"])
            if word == "file-ignore":
                if comment.in_string:
                    continue  # quoted, more likely than meant
                rows = None
            else:
                rows = following if word == "ignore-next-line" else target
            # Without a code it silences nothing, and GPU001 says so. A string may only quote one.
            yield Suppression(
                _text(match), span, codes, rows if codes else range(0), not comment.in_string
            )
        for match in _OTHER.finditer(comment.text):
            if match["word"].lower() not in _DIRECTIVES:
                judged = not comment.in_string
                yield Suppression(
                    _text(match), span, (), range(0), judged, unknown_word=match["word"]
                )
        if noqa := _NOQA.search(comment.text):
            codes = _codes((noqa["codes"] or "").partition(":")[2].upper())
            ours = tuple(code for code in codes if code.startswith("GPU"))
            if (ours or not codes) and not comment.in_string:
                line = range(comment.row, comment.row + 1)
                row = None if noqa["file"] else comments.with_strings(line)
                text = _text(noqa).lstrip("# ")
                yield Suppression(text, span, ours, row, judged=bool(ours))
        for match in _NOLINT.finditer(comment.text):
            nolint = _nolint_codes(match["codes"])
            if nolint is None:
                continue
            word = match["word"] or ""
            if word == "BEGIN":
                open_ranges.append((comment, _text(match), nolint))
            elif word == "END":
                for begin in reversed(open_ranges):
                    if begin[2] == nolint:
                        open_ranges.remove(begin)
                        yield _ranged(begin, comment.row)
                        break
            else:
                rows = following if word == "NEXTLINE" else range(comment.row, comment.end_row + 1)
                judged = bool(nolint) and not comment.in_string
                yield Suppression(_text(match), span, nolint, rows, judged)
    for begin in open_ranges:
        yield _ranged(begin, last_row)


def _ranged(begin: tuple[Comment, str, tuple[str, ...]], last: int) -> Suppression:
    comment, text, codes = begin
    span = Span(comment.row, comment.column, comment.end_row, comment.end_column)
    return Suppression(text, span, codes, range(comment.row, last + 1), judged=bool(codes))


def _target_rows(comment: Comment, comments: Comments) -> range:
    """The comment's own rows; where no code stands there, the next row with code."""
    if comments.alone(comment):
        return _row_range(comments.next_code_row(comment.end_row))
    return range(comment.row, comment.end_row + 1)


def _in_cell(rows: range, comment: Comment, source: Source) -> range:
    """No comment reaches from one cell of a notebook into the next."""
    if rows and source.cell_at(rows.start) != source.cell_at(comment.row):
        return range(0)
    return rows


def _row_range(row: int | None) -> range:
    return range(0) if row is None else range(row, row + 1)


def _codes(text: str | None) -> tuple[str, ...]:
    """The entries of a list: codes upper-case, names lower-case."""
    entries = (entry for entry in _SEPARATOR.split(text or "") if entry)
    return tuple(
        entry.upper() if entry[-1:].isdigit() or entry.upper() == "GPU" else entry.lower()
        for entry in entries
    )


def _nolint_codes(text: str | None) -> tuple[str, ...] | None:
    """Our entries of a NOLINT list; empty for a blanket one; ``None`` if all are foreign."""
    if text is None:
        return ()
    entries = [entry for entry in _SEPARATOR.split(text) if entry]
    if not entries or "*" in entries:
        return ()
    ours = [entry.removeprefix("cudalint-") for entry in entries if entry.startswith("cudalint-")]
    return _codes(",".join(ours)) if ours else None


def _text(match: re.Match[str]) -> str:
    return " ".join(match[0].split())
