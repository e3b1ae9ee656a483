"""Code actions of findings that have a fix: made up here."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from lsprotocol import types

from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.ignoring import ignoring
from cudalint.findings.suppressions import parse_suppressions, suppress
from cudalint.project.paths import display_name
from cudalint.project.reading import Language
from cudalint.reports.report import Report
from cudalint.server.actions import FIX_ALL, Actions
from cudalint.server.diagnostics import Client, Texts, shown
from cudalint.server.documents import Document, uri_of
from cudalint.source import Source, Span

TEXT = "/* 🚀 */ first();\nsecond();\nthird();\n"
CLIENT = Client(related=True, links=True, tags=True, data=True, versions=True, markdown=True)
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(9, 0))


def finding(row: int, column: int, name: str, fix: Fix | None = None) -> Finding:
    return Finding(
        code="GPU102",
        name="early-exit-leak",
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message=f"`{name}` is odd",
        filename=name,
        span=Span(row, column, row, column + 5),
        fingerprint="0123",
        fix=fix,
    )


def fixed(
    name: str, row: int, new: str, applicability: Applicability = Applicability.SAFE
) -> Finding:
    column = 10 if row == 1 else 1
    edit = Edit(name, Span(row, column, row, column + 5), new)
    return finding(row, column, name, Fix(f"Write {new}", (edit,), applicability))


@pytest.fixture
def document(tmp_path: Path) -> Document:
    path = tmp_path / "a.cu"
    return Document(uri_of(path), 7, TEXT, path, "cuda", saved=True)


def actions(document: Document, *findings: Finding, client: Client = CLIENT) -> Actions:
    name = display_name(document.path)
    sources = {name: Source(name, document.text)}
    texts = Texts([document], sources, client.encoding)
    listed = shown(Report(tuple(findings), sources=sources), texts, client, None)
    return Actions(document, name, listed[document.uri], texts, client)


def edits(action: types.CodeAction) -> list[tuple[int, int, int, str]]:
    assert action.edit is not None and action.edit.document_changes is not None
    found = []
    for change in action.edit.document_changes:
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == 7
        for edit in change.edits:
            assert isinstance(edit, types.TextEdit)
            start, end = edit.range.start, edit.range.end
            found.append((start.line, start.character, end.character, edit.new_text))
    return found


def test_a_fix_is_a_quick_fix(document: Document) -> None:
    name = display_name(document.path)
    known = actions(document, fixed(name, 1, "1st"))
    fix, ignore = known.within(EVERYWHERE, None)
    assert (fix.title, fix.kind, fix.is_preferred) == ("Write 1st", "quickfix", True)
    assert fix.diagnostics is not None and fix.diagnostics[0].data == "0123"
    # The rocket takes two units, so that column 10 is character 10.
    assert edits(fix) == [(0, 10, 15, "1st")]
    assert ignore.title.startswith("Ignore")


def test_unsafe_fixes_say_so(document: Document) -> None:
    name = display_name(document.path)
    known = actions(document, fixed(name, 2, "2nd", Applicability.UNSAFE))
    fix, _ = known.within(EVERYWHERE, ["quickfix"])
    assert fix.title == "Write 2nd (look at what it changes)" and fix.is_preferred is None
    assert list(known.within(EVERYWHERE, ["source.fixAll"])) == []


def test_all_safe_fixes_at_once(document: Document) -> None:
    name = display_name(document.path)
    other = dataclasses.replace(
        fixed(name, 2, "no"), fix=Fix("x", (Edit("/elsewhere.cu", Span(1, 1, 1, 1), "x"),))
    )
    known = actions(
        document,
        fixed(name, 1, "1st"),
        fixed(name, 1, "again"),
        fixed(name, 2, "2nd", Applicability.UNSAFE),
        other,
        fixed(name, 3, "3rd"),
    )
    for only in (["source"], ["source.fixAll"], [FIX_ALL]):
        (action,) = known.within(EVERYWHERE, only)
        assert action.kind == FIX_ALL
        assert edits(action) == [(0, 10, 15, "1st"), (2, 0, 5, "3rd")]
    assert list(known.within(EVERYWHERE, ["source.organizeImports"])) == []
    assert list(known.within(EVERYWHERE, ["source.fixAll.other"])) == []


def test_actions_are_those_of_the_place(document: Document) -> None:
    name = display_name(document.path)
    known = actions(document, fixed(name, 1, "1st"), fixed(name, 3, "3rd"))
    here = types.Range(types.Position(2, 2), types.Position(2, 2))
    assert next(one.title for one in known.within(here, ["quickfix"])) == "Write 3rd"


def test_clients_without_versions(document: Document) -> None:
    name = display_name(document.path)
    client = dataclasses.replace(CLIENT, versions=False)
    fix, _ = actions(document, fixed(name, 1, "1st"), client=client).within(EVERYWHERE, None)
    assert fix.edit is not None and fix.edit.changes is not None
    assert list(fix.edit.changes) == [document.uri]


def test_steps_in_files_that_are_not_open(document: Document, tmp_path: Path) -> None:
    header = tmp_path / "a b.h"
    header.write_text("/* 🚀 */ void here();\n", encoding="utf-8")
    name = display_name(document.path)
    steps = (
        Step(display_name(header), Span(1, 10, 1, 14), "declared here"),
        Step(str(tmp_path / "gone.h"), Span(3, 1, 3, 2), "gone"),
    )
    found = dataclasses.replace(finding(1, 10, name), steps=steps)
    (one,) = actions(document, found).shown
    related = one.diagnostic.related_information
    assert related is not None and [step.message for step in related] == ["declared here", "gone"]
    assert related[0].location.uri == header.as_uri() and "%20" in header.as_uri()
    assert related[0].location.range.start == types.Position(0, 10)


@pytest.mark.parametrize(
    ("language", "line", "after"),
    [
        ("cuda", "  first();", "  first();  // cudalint: ignore[GPU102]"),
        ("cuda", "  first();\r", "  first();  // cudalint: ignore[GPU102]\r"),
        ("python", "  first()", "  first()  # cudalint: ignore[GPU102]"),
        ("cuda", "  first(); // why", "  first(); // why  // cudalint: ignore[GPU102]"),
        (
            "cuda",
            "  first(); // cudalint: ignore[GPU506] so",
            "  first(); // cudalint: ignore[GPU506, GPU102] so",
        ),
        ("cuda", "  first(); \\", "  first();  /* cudalint: ignore[GPU102] */ \\"),
    ],
)
def test_comments_that_ignore(language: Language, line: str, after: str) -> None:
    text = f"zero\n{line}\nlast\n"
    one = dataclasses.replace(finding(2, 3, "a.cu"), span=Span(2, 3, 2, 8))
    ((edit,), left) = ignoring([one], Source("a.cu", text), language)
    assert not left
    lines = text.split("\n")
    row, column = edit.span.row - 1, edit.span.column - 1
    lines[row] = lines[row][:column] + edit.text + lines[row][column:]
    assert "\n".join(lines) == f"zero\n{after}\nlast\n"
    moved = edit.text.count("\n")
    there = dataclasses.replace(one, span=Span(2 + moved, 3, 2 + moved, 8))
    known = parse_suppressions(Source("a.cu", "\n".join(lines)), language)
    assert suppress([there], {"a.cu": known})[0].suppressed


def test_where_no_comment_can_stand_none_is_offered() -> None:
    text = "s = 1 + \\\n  first() + \\\n  2\n"
    one = dataclasses.replace(finding(2, 1, "a.py"), filename="a.py")
    assert ignoring([one], Source("a.py", text), "python") == ([], [one])
