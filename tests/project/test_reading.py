"""Sizes, binary content and encodings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cudalint.project.reading import (
    Language,
    UnreadableError,
    check_content,
    decode,
    read_bytes,
)


@pytest.mark.parametrize(
    ("data", "language", "text", "note"),
    [
        (b"int x;", "cuda", "int x;", ""),
        ("ü".encode(), "cuda", "ü", ""),
        ("\ufeffint x;".encode(), "cuda", "int x;", ""),
        ("\ufeffx = 1".encode(), "python", "x = 1", ""),
        ("int ü;".encode("utf-16"), "cuda", "int ü;", "read as UTF-16"),
        (b"\xfe\xff" + "int ü;".encode("utf-16-be"), "cuda", "int ü;", "read as UTF-16"),
        (b"// \xfc", "cuda", "// ü", "is not UTF-8: read as Latin-1"),
        (b"# coding: latin-1\nx = '\xfc'", "python", "# coding: latin-1\nx = 'ü'", ""),
        (
            b"#!/x\n# -*- coding: cp1252 -*-\n'\x80'",
            "python",
            "#!/x\n# -*- coding: cp1252 -*-\n'€'",
            "",
        ),
    ],
)
def test_encodings(data: bytes, language: Language, text: str, note: str) -> None:
    decoded = decode(data, language)
    assert (decoded.text, decoded.note) == (text, note)


@pytest.mark.parametrize(
    ("data", "language", "message"),
    [
        (b"x = 1\ny = '\xfc'", "python", "is not valid UTF-8 (line 2)"),
        (b"x = '\xfc'", "python", "is not valid UTF-8 (line 1)"),
        (b"# coding: nonsense\n", "python", "cannot be decoded: unknown encoding: nonsense"),
        (b"\xff\xfea", "cuda", "is not valid UTF-16-LE (line 1)"),
    ],
)
def test_what_cannot_be_decoded(data: bytes, language: Language, message: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        decode(data, language)
    assert str(caught.value).lower().startswith(message.lower()[:24])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"a\0b", "is binary (it contains NUL bytes)"),
        (b"a" * 2001, "is enormous (2001 bytes; `max-file-size` is 2000 bytes)"),
    ],
)
def test_content_that_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableError, match="is") as caught:
        check_content(data, 2000)
    assert str(caught.value) == message


def test_utf16_is_not_binary() -> None:
    check_content("int x;".encode("utf-16"), 100)


@pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs")
def test_special_files_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.cu")
    for name, reason in (("a.cu", "is not a regular file"), ("b.cu", "cannot be read: No such")):
        with pytest.raises(UnreadableError, match=reason):
            read_bytes(tmp_path / name)
