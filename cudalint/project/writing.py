"""Writes source files: whole or not at all, in the encoding that they had, with their mode."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import shutil
import tempfile
import tokenize
from pathlib import Path

from cudalint.project.reading import Language, decode

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def encoded(text: str, data: bytes, language: Language) -> bytes | None:
    """A text as the bytes that it stands for were encoded; ``None`` where that cannot be."""
    mark, encoding = _encoding(data, language)
    try:
        # What cannot be given back as it was is left alone.
        if mark + decode(data, language).text.encode(encoding) != data:
            return None
        return mark + text.encode(encoding)
    except UnicodeError:
        return None


def _encoding(data: bytes, language: Language) -> tuple[bytes, str]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return mark, encoding
    if language == "python":
        return b"", tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    return b"", "latin-1" if decode(data, language).note else "utf-8"


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file's content in one step; a link keeps pointing to it. Raises ``OSError``."""
    path = path.resolve()
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        shutil.copymode(path, name)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
