"""Keeps what was read of a file until the file changes. Data only: MessagePack, never pickle.

An entry is found by a digest of everything that decides its content except the headers that the
file includes; those are named in the entry, each with the digest that it had. A path that did not
exist then (a missing header) has an empty digest and must not exist now.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from cudalint import __version__
from cudalint.project.reading import UnreadableError, read_bytes

FOLDER_NAME = ".cudalint_cache"
_DAY = 24 * 3600.0
_KEPT_SECONDS = 30 * _DAY


class _Entry(msgspec.Struct, array_like=True):
    payload: bytes
    included: dict[str, str]


def digest(*parts: str | bytes) -> str:
    """A digest of parts, in order; their boundaries count."""
    state = hashlib.blake2b(digest_size=20)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


class Cache:
    """The cache folder of a project. Whatever goes wrong with it costs time, never a result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._version = folder / __version__
        self._file_digest = functools.cache(file_digest)
        self._ready = False

    def load(self, key: str) -> bytes | None:
        """The payload kept under a key, if the files that it depends on are unchanged."""
        try:
            entry = msgspec.msgpack.decode(self._fetch(key) or b"", type=_Entry)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        for name, expected in entry.included.items():
            if self._file_digest(name) != expected:
                return None
        return entry.payload

    def store(self, key: str, payload: bytes, included: Iterable[str] = ()) -> None:
        """Keep a payload; ``included`` are the files that it depends on besides the key."""
        entry = _Entry(payload, {name: self._file_digest(name) for name in included})
        self._keep(key, msgspec.msgpack.encode(entry))

    def _fetch(self, key: str) -> bytes | None:
        path = self._path(key)
        with contextlib.suppress(OSError):
            data = path.read_bytes()
            if time.time() - path.stat().st_mtime > _DAY:
                os.utime(path)
            return data
        return None

    def _keep(self, key: str, entry: bytes) -> None:
        with contextlib.suppress(OSError):
            self._prepare()
            self._write(self._path(key), entry)

    def _path(self, key: str) -> Path:
        return self._version / key[:2] / f"{key[2:]}.msgpack"

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Readers see the old entry or the new one, never half of one:
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _prepare(self) -> None:
        if self._ready:
            return
        self._ready = True
        self._version.mkdir(parents=True, exist_ok=True)
        ignore = self.folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("# Made by cudalint.\n*\n", encoding="utf-8")
        stamp = self._version / "pruned"
        if not stamp.exists():
            stamp.touch()
        elif time.time() - stamp.stat().st_mtime > _DAY:
            stamp.touch()
            self._prune()

    def _prune(self) -> None:
        oldest = time.time() - _KEPT_SECONDS
        for path in self.folder.rglob("*"):
            with contextlib.suppress(OSError):
                if path.is_file() and path.name != ".gitignore" and path.stat().st_mtime < oldest:
                    path.unlink()


class Memory:
    """Entries that outlive a run in this process; the least used ones give way."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._entries: dict[str, bytes] = {}
        self._size = 0

    def fetch(self, key: str) -> bytes | None:
        """The entry of a key, which is now the latest used."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._entries[key] = entry
        return entry

    def keep(self, key: str, entry: bytes) -> None:
        """Keep an entry, as far as it fits."""
        self._size += len(entry) - len(self._entries.pop(key, b""))
        self._entries[key] = entry
        while self._size > self._largest:
            self._size -= len(self._entries.pop(next(iter(self._entries))))


class MemoryCache(Cache):
    """A cache that keeps what it is given in memory; on the disk too only where that is wanted, as
    of texts that nobody has saved there is one for each key that is pressed."""

    def __init__(self, folder: Path, memory: Memory, *, lasting: bool) -> None:
        super().__init__(folder)
        self._memory = memory
        self._lasting = lasting

    def _fetch(self, key: str) -> bytes | None:
        entry = self._memory.fetch(key)
        if entry is None and (entry := super()._fetch(key)) is not None:
            self._memory.keep(key, entry)
        return entry

    def _keep(self, key: str, entry: bytes) -> None:
        self._memory.keep(key, entry)
        if self._lasting:
            super()._keep(key, entry)


def file_digest(name: str) -> str:
    """The digest of a file's content; empty if it cannot be read, or is no file at all (a device
    never ends)."""
    try:
        return digest(read_bytes(Path(name)))
    except (UnreadableError, ValueError):
        return ""


def contents_digest(paths: Iterable[Path]) -> str:
    """A digest of names and contents of files, in this order. What cannot be read counts as
    such."""
    parts: list[str | bytes] = []
    for path in paths:
        parts.append(path.name)
        try:
            parts.append(path.read_bytes())
        except OSError:
            parts.append(b"")
    return digest(*parts)


def remove(folder: Path) -> bool:
    """Delete a cache folder; whether there was one. Refuses what does not look like one."""
    if not folder.is_dir():
        return False
    marker = folder / ".gitignore"
    if folder.name != FOLDER_NAME and not (
        marker.is_file() and marker.read_text(encoding="utf-8").startswith("# Made by cudalint.")
    ):
        raise OSError(f"{folder} does not look like a cache of cudalint")
    shutil.rmtree(folder)
    return True
