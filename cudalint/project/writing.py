"""Writes files that people keep: edits of their text, in their own encoding, all or nothing."""

from __future__ import annotations

import codecs
import contextlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from cudalint.project.reading import Language, UnreadableError, decode, read_bytes, reason_of
from cudalint.source import Source, Span

_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class UnwritableError(Exception):
    """A file that is left as it is; the message says why, without its name."""


class OverlappingEdits(ValueError):  # noqa: N818
    """Edits that cannot all be made: two of them change the same characters."""


class Replacement(Protocol):
    """What stands at a span gives way to a text; an empty span is an insertion."""

    @property
    def span(self) -> Span: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102


def apply_edits(text: str, edits: Iterable[Replacement]) -> str:
    """The text with all edits made, in any order; insertions at one place keep theirs."""
    source = Source("", text)
    placed = sorted(
        ((*_offsets(source, edit.span), edit.text) for edit in edits), key=lambda one: one[:2]
    )
    parts: list[str] = []
    position = 0
    for start, end, replacement in placed:
        if start < position:
            raise OverlappingEdits(f"two edits of line {source.position(start)[0]} overlap")
        parts += (text[position:start], replacement)
        position = end
    return "".join((*parts, text[position:]))


def _offsets(source: Source, span: Span) -> tuple[int, int]:
    found = []
    for row, column in ((span.row, span.column), (span.end_row, span.end_column)):
        if not 0 < row <= len(source.line_starts) or column < 1:
            raise ValueError(f"line {row} has no column {column}: there is nothing to edit")
        found.append(source.line_starts[row - 1] + column - 1)
    start, end = found
    if not start <= end <= len(source.text):
        raise ValueError(f"line {span.row}: the place of an edit does not exist")
    return start, end


def encode(text: str, like: bytes, language: Language) -> bytes:
    """A text as bytes, encoded as the file whose bytes are given; byte-order mark included."""
    try:
        before = decode(like, language)
        mark = next((mark for mark in _MARKS if like.startswith(mark)), b"")
        if mark + before.text.encode(before.encoding) != like:
            # Of some encodings several byte strings mean the same text.
            raise UnwritableError(f"its encoding ({before.encoding}) could not be kept")
        return mark + text.encode(before.encoding)
    except UnreadableError as error:
        raise UnwritableError(str(error)) from None
    except UnicodeEncodeError as error:
        what = text[error.start : error.start + 1]
        raise UnwritableError(f"its encoding ({error.encoding}) has no {what!r}") from None


def rewrite(path: Path, before: bytes, after: bytes) -> None:
    """Give a file another content, if it still has the one that the new one was made from."""
    try:
        if read_bytes(path) != before:
            raise UnwritableError("has changed in the meantime")
    except UnreadableError as error:
        raise UnwritableError(str(error)) from None
    write_atomically(path, after)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all. A link stays one, and its target keeps its mode."""
    try:
        target = path.resolve()
        temporary = target.with_name(f".{target.name[:80]}.{secrets.token_hex(4)}.tmp")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o7777)
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead to themselves
        reason = reason_of(error) if isinstance(error, OSError) else str(error)
        raise UnwritableError(f"cannot be written: {reason}") from None
