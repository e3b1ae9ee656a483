"""The texts that the editor holds. Ours, not pygls's: those split lines at form feeds as well and
move places beyond the end of a line, and from then on the server would lint another text."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit
from urllib.request import url2pathname

from lsprotocol import types

from cudalint.project.files import NOTEBOOK_SUFFIX, language_of
from cudalint.project.paths import absolute
from cudalint.project.reading import Language
from cudalint.server.positions import Encoding, Lines

_LANGUAGES: dict[str, tuple[Language, str]] = {
    "c": ("cuda", ".c"),
    "cpp": ("cuda", ".cpp"),
    "cuda": ("cuda", ".cu"),
    "cuda-cpp": ("cuda", ".cu"),
    "cuda-c++": ("cuda", ".cu"),
    "hip": ("cuda", ".cu"),
    "python": ("python", ".py"),
}
_DRIVE = re.compile(r"/[A-Za-z]:")
_UNNAMEABLE = re.compile(r"[^\w.\- ]")


@dataclass(frozen=True)
class Document:
    """One version of an open text."""

    uri: str
    version: int
    text: str
    path: Path
    """Where it is; of what was never saved, where it might be."""
    language: Language | None
    """``None`` where it is nothing that we lint."""
    saved: bool
    """Whether it has a place on the disk."""
    cells: tuple[Document, ...] = ()
    """Of a notebook: all of its cells, which the editor shows in its place."""

    @property
    def shown(self) -> tuple[Document, ...]:
        """What the editor shows of it."""
        return self.cells or (self,)

    def changed(
        self,
        version: int,
        changes: Sequence[types.TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) -> Document:
        """The document after some changes, one after another."""
        text = self.text
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                lines = Lines(text, encoding)
                start, end = lines.offset(change.range.start), lines.offset(change.range.end)
                text = text[:start] + change.text + text[max(start, end) :]
            else:
                text = change.text
        return dataclasses.replace(self, version=version, text=text)


def opened(item: types.TextDocumentItem, folder: Path) -> Document:
    """A document that was opened; what has no file of its own belongs to ``folder``."""
    told, suffix = _LANGUAGES.get(item.language_id.lower(), (None, ""))
    path, saved = place_of(item.uri, folder, suffix)
    language = language_of(path) or told if saved else told
    # A notebook's text is JSON; its places would not be those of its cells.
    if path.suffix.lower() == NOTEBOOK_SUFFIX:
        language = None
    return Document(item.uri, item.version, item.text, path, language, saved)


def place_of(uri: str, folder: Path, suffix: str) -> tuple[Path, bool]:
    """Where a document is, and whether that is its own place: what was never saved might be in a
    folder, as a file with some suffix."""
    path = path_of(uri)
    if path is not None:
        return path, True
    name = _UNNAMEABLE.sub("_", unquote(uri.rpartition(":")[2]).rpartition("/")[2])
    if language_of(Path(name)) is None:
        name += suffix
    return absolute(folder / (name or "untitled")), False


def path_of(uri: str) -> Path | None:
    """The file that an address names; ``None`` where it names none."""
    try:
        parts = urlsplit(uri)
        if parts.scheme.lower() != "file":
            return None
        # An address of a file has no query and no fragment: `?` and `#` are part of its name.
        rest = uri[len("file://") + len(parts.netloc) :] if uri[5:7] == "//" else parts.path
        return absolute(_local(unquote(rest, errors="surrogateescape"), parts.netloc))
    except (ValueError, OSError):
        return None


def _local(path: str, host: str) -> str:
    if "\0" in path:
        raise ValueError("no path holds NUL")
    if _DRIVE.match(path) and Path("C:/").is_absolute():
        return url2pathname(quote(path, errors="surrogateescape"))
    return f"//{host}{path}" if host and host != "localhost" else path


def uri_of(path: Path) -> str:
    """The address of a file."""
    return path.as_uri()
