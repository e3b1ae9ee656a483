"""Edits of texts, and files that are written whole, in their own encoding, or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.findings.fix import Edit
from cudalint.project.reading import Language, decode
from cudalint.project.writing import (
    OverlappingEdits,
    UnwritableError,
    apply_edits,
    encode,
    rewrite,
    write_atomically,
)
from cudalint.source import Source, Span


def edit(row: int, column: int, end_row: int, end_column: int, text: str) -> Edit:
    return Edit("a.cu", Span(row, column, end_row, end_column), text)


def test_edits_are_made_in_any_order() -> None:
    edits = [edit(2, 1, 2, 4, "B"), edit(1, 1, 1, 1, "x"), edit(1, 1, 1, 1, "y")]
    assert apply_edits("aaa\r\nbbb\r\n", edits) == "xyaaa\r\nB\r\n"
    assert apply_edits("aaa\r\nbbb\r\n", [edit(1, 4, 2, 4, "")]) == "aaa\r\n"
    assert apply_edits("", [edit(1, 1, 1, 1, "x")]) == "x"


def test_what_overlaps_or_does_not_exist_is_refused() -> None:
    with pytest.raises(OverlappingEdits, match="line 1"):
        apply_edits("abcdef", [edit(1, 1, 1, 4, ""), edit(1, 3, 1, 5, "")])
    for place in ((3, 1, 3, 1), (0, 1, 0, 1), (1, 0, 1, 1), (1, 4, 1, 2), (1, 1, 1, 99)):
        with pytest.raises(ValueError, match="line"):
            apply_edits("abc\n", [edit(*place, "")])


@given(st.text(alphabet="ab\n\ré漢", max_size=30), st.data())
def test_edits_are_slices(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    source = Source("", text)
    edits = [Edit("a", source.span(start, end), f"<{start}>") for start, end in pairs]
    expected, position = "", 0
    for start, end in pairs:
        expected += text[position:start] + f"<{start}>"
        position = end
    assert apply_edits(text, edits) == expected + text[position:]


@pytest.mark.parametrize(
    ("data", "language"),
    [
        ("// naïve\r\nint a;\n".encode(), "cuda"),
        (b"\xef\xbb\xbfint a;\n", "cuda"),
        (b"\xef\xbb\xbfa = 1\n", "python"),
        ("int a; // ü".encode("latin-1"), "cuda"),
        (b"\xff\xfe" + "int a;\r\n".encode("utf-16-le"), "cuda"),
        (b"\xfe\xff" + "int a;\r\n".encode("utf-16-be"), "cuda"),
        ("# coding: latin-1\na = 'ü'\n".encode("latin-1"), "python"),
        ("# coding: cp1251\na = 'я'\n".encode("cp1251"), "python"),
    ],
)
def test_encodings_and_marks_are_kept(data: bytes, language: Language) -> None:
    text = decode(data, language).text
    assert encode(text, data, language) == data
    after = encode(text + "x", data, language)
    assert after.startswith(data) and decode(after, language).text == text + "x"


def test_what_the_encoding_cannot_say_is_refused() -> None:
    with pytest.raises(UnwritableError, match="has no '漢'"):
        encode("// 漢", "// ü".encode("latin-1"), "cuda")
    # Escape sequences that say nothing are lost when such a text is written again:
    data = b"# coding: iso2022_jp\n" + b"\x1b(B\x1b(B" + b"a = 1\n"
    with pytest.raises(UnwritableError, match="could not be kept"):
        encode("x", data, "python")
    with pytest.raises(UnwritableError, match="not valid UTF-8"):
        encode("x", b"a = '\xff'\n", "python")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"before")
    path.chmod(0o750)
    rewrite(path, b"before", b"after")
    assert path.read_bytes() == b"after" and path.stat().st_mode & 0o777 == 0o750
    with pytest.raises(UnwritableError, match="changed in the meantime"):
        rewrite(path, b"before", b"later")
    assert [one.name for one in tmp_path.iterdir()] == ["a.cu"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX links and modes")
def test_links_modes_and_folders(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    write_atomically(link, b"x")
    mask = os.umask(0)
    os.umask(mask)
    assert link.is_symlink() and target.read_bytes() == b"x"
    assert target.stat().st_mode & 0o777 == 0o666 & ~mask
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for bad in (tmp_path, tmp_path / "none" / "a", loop, target / "below"):
        with pytest.raises(UnwritableError, match="cannot be written"):
            write_atomically(bad, b"x")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "loop", "target"]
