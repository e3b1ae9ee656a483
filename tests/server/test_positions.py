"""Places: UTF-16, UTF-8 and characters, there and back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from cudalint.project.paths import absolute
from cudalint.server.documents import Document, opened, path_of, uri_of
from cudalint.server.positions import Lines, range_of
from cudalint.source import Source, Span

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="paths as POSIX has them")
ENCODINGS = [types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16, "utf-32"]
ROOT = Path("/project")
TEXTS = st.text(st.one_of(st.sampled_from("ab \t\r\n\f\u2028é€𝔘🚀"), st.characters()), max_size=60)


def size(text: str, encoding: str) -> int:
    wide = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
    name, width = wide[str(getattr(encoding, "value", encoding))]
    return len(text.encode(name, "surrogatepass")) // width


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXTS, data=st.data())
def test_offsets_come_back(encoding: str, text: str, data: st.DataObject) -> None:
    lines = Lines(text, encoding)
    offset = data.draw(st.integers(0, len(text)))
    place = lines.position(offset)
    found = lines.offset(place)
    # Only between the two characters of a line end there is no place.
    inside = text[offset - 1 : offset + 1] == "\r\n" and offset > 0
    assert found == (offset - 1 if inside else offset)
    line = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[place.line]
    assert size(line, encoding) >= place.character


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXTS, line=st.integers(0, 99), character=st.integers(0, 999))
def test_any_place_is_somewhere(encoding: str, text: str, line: int, character: int) -> None:
    lines = Lines(text, encoding)
    offset = lines.offset(types.Position(line, character))
    assert 0 <= offset <= len(text)
    back = lines.position(offset)
    assert (back.line, back.character) <= (line, character)


@given(text=TEXTS, new=TEXTS, data=st.data())
def test_a_change_replaces_what_stands_there(text: str, new: str, data: st.DataObject) -> None:
    lines = Lines(text, "utf-16")
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    places = lines.range(first, last)
    start, end = lines.offset(places.start), lines.offset(places.end)
    document = opened(types.TextDocumentItem("untitled:a", "cuda", 1, text), ROOT)
    change = types.TextDocumentContentChangePartial(places, new)
    after = document.changed(2, [change], "utf-16")
    assert after.text == text[:start] + new + text[end:]
    assert after.version == 2


def test_a_surrogate_pair_is_not_cut() -> None:
    lines = Lines("a🚀b", "utf-16")
    offsets = [lines.offset(types.Position(0, n)) for n in range(6)]
    assert offsets == [0, 1, 1, 2, 3, 3]


def test_form_feeds_end_no_line() -> None:
    lines = Lines("a\fb\u2028c\nd", "utf-16")
    assert lines.offset(types.Position(1, 0)) == 6


def test_spans_are_counted_in_units() -> None:
    text = "// 🚀🚀\r\n\t/* 🚀 */ int x;\r\n"
    source = Source("a.cu", text)
    found = range_of(Span(2, 10, 2, 15), source, Lines(text, "utf-16"))
    assert text.split("\r\n")[1][9:14] == "int x"
    assert (found.start.line, found.start.character, found.end.character) == (1, 10, 15)
    beyond = range_of(Span(99, 1, 99, 4), source, Lines(text, "utf-16"))
    assert (beyond.start.line, beyond.start.character) == (2, 0)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/c%25d.cu", "/a b/c%d.cu"),
        ("file:///h%C3%A4/%E2%82%AC.cu", "/hä/€.cu"),
        ("file:///a/b#c?d;e.cu", "/a/b#c?d;e.cu"),
        ("file:///a/b%23c%3Fd%3Be.cu", "/a/b#c?d;e.cu"),
        ("file://localhost/a.cu", "/a.cu"),
        ("file:///c%3A/code/a.cu", "/c:/code/a.cu"),
        ("file:///a/../b.cu", "/b.cu"),
        ("untitled:Untitled-1", None),
        ("vscode-notebook-cell:/a.ipynb#X1", None),
        ("file:///a%00b.cu", None),
        ("", None),
        ("file://[bad/a.cu", None),
    ],
)
@POSIX
def test_addresses(uri: str, path: str | None) -> None:
    found = path_of(uri)
    assert (found and found.as_posix()) == path


@given(
    name=st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1)
)
@POSIX
def test_addresses_come_back(name: str) -> None:
    path = absolute(f"/folder/{name}")
    assert path_of(uri_of(path)) == path


def test_untitled_documents_have_a_language() -> None:
    item = types.TextDocumentItem("untitled:Untitled-1", "cuda-cpp", 1, "")
    document: Document = opened(item, ROOT)
    assert (document.path.as_posix(), document.language) == ("/project/Untitled-1.cu", "cuda")
    item = types.TextDocumentItem("untitled:Untitled-2", "markdown", 1, "")
    assert opened(item, ROOT).language is None
