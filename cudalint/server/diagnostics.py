"""Findings as an editor shows them."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from cudalint.findings.finding import Finding, Severity, Step
from cudalint.findings.rule import page_url
from cudalint.findings.suppressions import UNUSED_CODE
from cudalint.project.files import language_of
from cudalint.project.paths import absolute, display_name
from cudalint.project.reading import UnreadableError, decode, read_bytes
from cudalint.reports.report import Report
from cudalint.server.documents import Document, uri_of
from cudalint.server.positions import Encoding, Lines, range_of
from cudalint.source import Source, Span

SOURCE = "cudalint"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_MOST_RELATED = 50


@dataclass(frozen=True)
class Shown:
    """A finding and what the editor was sent of it; no finding where a file was not linted."""

    uri: str
    diagnostic: types.Diagnostic
    finding: Finding | None = None


@dataclass(frozen=True)
class Client:
    """What of the protocol the editor understands."""

    encoding: Encoding = types.PositionEncodingKind.Utf16
    related: bool = False
    """Related information of diagnostics."""
    links: bool = False
    tags: bool = False
    data: bool = False
    versions: bool = False
    """Versioned edits."""
    markdown: bool = False


class Texts:
    """The texts that places of one report lie in: open ones as they are, others from the disk."""

    def __init__(
        self, documents: Sequence[Document], sources: Mapping[str, Source], encoding: Encoding
    ) -> None:
        self._open = {display_name(document.path): document for document in documents}
        self._sources = dict(sources)
        self._lines: dict[str, Lines] = {}
        self._encoding = encoding

    def document(self, filename: str) -> Document | None:
        """The open document that reports call so."""
        return self._open.get(filename)

    def uri(self, filename: str) -> str:
        """The address of a file, as the editor writes it where it is open."""
        document = self._open.get(filename)
        return document.uri if document else uri_of(absolute(filename))

    def source(self, filename: str) -> Source:
        """The text of a file; empty where it cannot be read any more."""
        if filename not in self._sources:
            self._sources[filename] = Source(filename, self._read(filename))
        return self._sources[filename]

    def location(self, filename: str, span: Span) -> types.Location:
        """A span as the editor counts: of a notebook, in the cell where it begins."""
        source = self.source(filename)
        cell = source.cell_at(span.row)
        if cell is None:
            return types.Location(self.uri(filename), self._range(filename, span, source))
        document = self._open.get(filename)
        if document is None or cell.number > len(document.cells):
            start = types.Position(0, 0)
            return types.Location(self.uri(filename), types.Range(start, start))
        part = document.cells[cell.number - 1]
        before = cell.first_row - 1
        inside = Span(span.row - before, span.column, span.end_row - before, span.end_column)
        text = Source(part.uri, part.text)
        return types.Location(part.uri, self._range(part.uri, inside, text))

    def _range(self, name: str, span: Span, source: Source) -> types.Range:
        if name not in self._lines:
            self._lines[name] = Lines(source.text, self._encoding)
        return range_of(span, source, self._lines[name])

    def version(self, uri: str) -> int | None:
        """The version of an open text."""
        parts = (part for document in self._open.values() for part in document.shown)
        return next((part.version for part in parts if part.uri == uri), None)

    def _read(self, filename: str) -> str:
        document = self._open.get(filename)
        if document is not None:
            return document.text
        with contextlib.suppress(UnreadableError, ValueError):
            path = Path(filename)
            return decode(read_bytes(path), language_of(path) or "cuda").text
        return ""


def shown(
    report: Report, texts: Texts, client: Client, documentation: str | None
) -> dict[str, list[Shown]]:
    """What is to be shown, by the address of the text that it is shown in."""
    found: dict[str, list[Shown]] = defaultdict(list)
    for finding in report.active:
        if texts.document(finding.filename) is not None:
            one = _shown(finding, texts, client, documentation)
            found[one.uri].append(one)
    for error in report.errors:
        document = texts.document(error.filename)
        if document is not None:
            uri = document.shown[0].uri
            found[uri].append(Shown(uri, _failure(error.message)))
    return found


def _shown(finding: Finding, texts: Texts, client: Client, documentation: str | None) -> Shown:
    place = texts.location(finding.filename, finding.span)
    url = page_url(documentation, finding.code) if client.links else None
    message = finding.message
    if not client.related:
        message = "\n".join([message, *_told(finding)])
    tags = [types.DiagnosticTag.Unnecessary] if finding.code == UNUSED_CODE else None
    diagnostic = types.Diagnostic(
        range=place.range,
        message=message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(url) if url else None,
        source=SOURCE,
        tags=tags if client.tags else None,
        related_information=list(_related(finding, texts)) if client.related else None,
        data=finding.fingerprint if client.data else None,
    )
    return Shown(place.uri, diagnostic, finding)


def _related(finding: Finding, texts: Texts) -> Iterator[types.DiagnosticRelatedInformation]:
    """The path that leads to a finding."""
    for step in finding.steps[:_MOST_RELATED]:
        place = texts.location(step.filename, step.span)
        yield types.DiagnosticRelatedInformation(place, step.message)


def _told(finding: Finding) -> Iterator[str]:
    """The same in words, for editors that show no places."""
    for number, step in enumerate(finding.steps[:_MOST_RELATED], start=1):
        yield f"{number}: {_where(step, finding)}: {step.message}"


def _where(step: Step, finding: Finding) -> str:
    line = f"line {step.span.row}"
    return line if step.filename == finding.filename else f"{step.filename}, {line}"


def _failure(message: str) -> types.Diagnostic:
    """What was not linted must not read as clean."""
    start = types.Position(0, 0)
    return types.Diagnostic(
        range=types.Range(start, start),
        message=message,
        severity=types.DiagnosticSeverity.Warning,
        source=SOURCE,
    )
