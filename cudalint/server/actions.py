"""What can be done about a finding: mend it, or say that it may stay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from cudalint.findings.fix import Applicability, Edit
from cudalint.findings.ignoring import ignoring
from cudalint.server.diagnostics import Client, Shown, Texts
from cudalint.server.documents import Document

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.cudalint"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


@dataclass(frozen=True)
class Actions:
    """The actions of one linted document."""

    document: Document
    filename: str
    shown: Sequence[Shown]
    texts: Texts
    client: Client

    def within(self, place: types.Range, only: Sequence[str] | None) -> Iterator[types.CodeAction]:
        """The actions for a range, of the kinds that are asked for (``None``: all)."""
        if _is_wanted(types.CodeActionKind.QuickFix.value, only):
            for one in self.shown:
                if overlap(one.diagnostic.range, place):
                    yield from self._fix(one)
                    yield from self._ignore(one)
        # A client that names no kinds shows a menu; what mends a whole file is asked for by name.
        if only and _is_wanted(FIX_ALL, only):
            yield from self._fix_all()

    def _fix(self, one: Shown) -> Iterator[types.CodeAction]:
        fix = one.finding.fix if one.finding else None
        if fix is None:
            return
        safe = fix.applicability is Applicability.SAFE
        yield types.CodeAction(
            title=fix.message if safe else f"{fix.message} (look at what it changes)",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[one.diagnostic],
            is_preferred=safe or None,
            edit=self._workspace_edit(fix.edits),
        )

    def _ignore(self, one: Shown) -> Iterator[types.CodeAction]:
        finding, language = one.finding, self.document.language
        if finding is None or language is None:
            return
        edits, _ = ignoring([finding], self.texts.source(self.filename), language)
        if edits:
            yield types.CodeAction(
                title=f"Ignore this {finding.code} ({finding.name})",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[one.diagnostic],
                edit=self._workspace_edit(edits),
            )

    def _fix_all(self) -> Iterator[types.CodeAction]:
        """The safe fixes of a document, of those that touch the same text the first."""
        chosen: list[Edit] = []
        for one in self.shown:
            fix = one.finding.fix if one.finding else None
            if fix is None or fix.applicability is not Applicability.SAFE:
                continue
            if all(edit.filename == self.filename for edit in fix.edits) and not any(
                touch(edit, other) for edit in fix.edits for other in chosen
            ):
                chosen += fix.edits
        if chosen:
            yield types.CodeAction(
                title="Make all safe fixes of cudalint",
                kind=FIX_ALL,
                edit=self._workspace_edit(chosen),
            )

    def _workspace_edit(self, edits: Sequence[Edit]) -> types.WorkspaceEdit:
        by_text: dict[str, list[types.TextEdit]] = defaultdict(list)
        for edit in edits:
            place = self.texts.location(edit.filename, edit.span)
            by_text[place.uri].append(types.TextEdit(place.range, edit.text))
        if not self.client.versions:
            return types.WorkspaceEdit(changes=dict(by_text))
        changes = []
        for uri, found in by_text.items():
            identifier = types.OptionalVersionedTextDocumentIdentifier(uri, self.texts.version(uri))
            changes.append(types.TextDocumentEdit(identifier, list(found)))
        return types.WorkspaceEdit(document_changes=list(changes))


def _is_wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a kind, or one that it belongs to, is asked for."""
    return not only or any(kind == one or kind.startswith(f"{one}.") for one in only)


def overlap(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges touch."""
    return _key(one.start) <= _key(other.end) and _key(other.start) <= _key(one.end)


def _key(place: types.Position) -> tuple[int, int]:
    return place.line, place.character


def touch(one: Edit, other: Edit) -> bool:
    """Whether two edits cannot both be made."""
    first, second = sorted((one.span, other.span))
    return first == second or (second.row, second.column) < (first.end_row, first.end_column)
