"""Reads source files: size, binary content and encodings."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import stat
import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cudalint.project.units import size_text

Language = Literal["cuda", "python"]

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LARGEST_SEARCHED = 256 * 1024**2
"""A file above the size limit is still searched for CUDA up to this size."""


class UnreadableError(Exception):
    """A file that cannot be linted; the message says why, without its name."""


@dataclass(frozen=True)
class DecodedText:
    """The text of a file, and what should be said about how it was decoded."""

    text: str
    note: str = ""
    encoding: str = "utf-8"
    """The codec that gives the bytes again, but for their byte-order mark."""


def read_bytes(path: Path) -> bytes:
    """The content of a regular file."""
    try:
        # Not a FIFO or a device: opening one could block for ever.
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("is not a regular file")
        if status.st_size > LARGEST_SEARCHED:
            raise UnreadableError(f"is enormous ({size_text(status.st_size)})")
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"cannot be read: {reason_of(error)}") from None


def reason_of(error: OSError) -> str:
    """What went wrong, without the path that Python's message repeats."""
    return error.strerror or (os.strerror(error.errno) if error.errno else str(error))


def check_content(data: bytes, limit: int) -> None:
    """Refuse what no linter should read."""
    if not data:
        raise UnreadableError("is empty")
    if len(data) > limit:
        raise UnreadableError(
            f"is enormous ({size_text(len(data))}; `max-file-size` is {size_text(limit)})"
        )
    if b"\0" in data and not data.startswith(_UTF16):
        raise UnreadableError("is binary (it contains NUL bytes)")


def decode(data: bytes, language: Language) -> DecodedText:
    """The text, by byte-order mark, Python's coding line, UTF-8, or for C++ Latin-1."""
    try:
        if data.startswith(_UTF16):
            order = "le" if data.startswith(codecs.BOM_UTF16_LE) else "be"
            return DecodedText(data.decode("utf-16"), "read as UTF-16", f"utf-16-{order}")
        if language == "python":
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            return DecodedText(data.decode(encoding), encoding=encoding.removesuffix("-sig"))
        return DecodedText(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        if language == "cuda" and not data.startswith(_UTF16):
            text = data.decode("latin-1")
            return DecodedText(text, "is not UTF-8: read as Latin-1", "latin-1")
        row = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"is not valid {error.encoding.upper()} (line {row})") from None
    except (SyntaxError, LookupError) as error:
        raise UnreadableError(_bad_coding_line(data, error)) from None


def encode(text: str, language: Language) -> bytes:
    """The bytes whose ``decode`` is a text, character for character: for Python in the encoding
    that its first lines name. What the encoding lacks becomes a question mark."""
    encoding = "utf-8-sig" if text.startswith("\ufeff") else "utf-8"
    if language == "python":
        head = "".join(text.splitlines(True)[:2]).encode("utf-8", "replace")
        with contextlib.suppress(SyntaxError):
            encoding = tokenize.detect_encoding(io.BytesIO(head).readline)[0]
    try:
        return text.encode(encoding, "replace")
    except (LookupError, ValueError):  # an encoding that is none of texts; `decode` says so
        return text.encode("utf-8", "replace")


def _bad_coding_line(data: bytes, error: Exception) -> str:
    """Python says "invalid or missing encoding declaration" for bad bytes in the first lines."""
    for row, line in enumerate(data.split(b"\n")[:2], start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return f"is not valid UTF-8 (line {row})"
    return f"cannot be decoded: {error}"
