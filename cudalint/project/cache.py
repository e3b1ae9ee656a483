"""Keeps what was read of a file until the file changes. Data only: MessagePack, never pickle.

An entry is found by a digest of everything that decides its content except the headers that the
file includes; those are named in the entry, each with the digest that it had. A path that did not
exist then (a missing header) has an empty digest and must not exist now. Names are relative to the
project, so that machines can share a cache. ``docs/cache.md`` describes the format.

Nothing is taken from an entry that is not sealed with the user's secret: what a source tree ships,
what was damaged and what a power failure cut short is as if it were not there.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from cudalint import __version__
from cudalint.project.paths import absolute, relative_name
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.project.secret import SEAL_SIZE, seal, secret

FOLDER_NAME = ".cudalint_cache"
HEADER_CACHE = "headers"
"""The folder in it where the frontend keeps precompiled headers."""
_DAY = 24 * 3600.0
_KEPT_SECONDS = 30 * _DAY
_TEMPORARY_SECONDS = 3600.0
_MAGIC = b"cudalint cache 1\n"
_START = re.compile(r"[0-9a-z]{2}")
_ENTRY = re.compile(r"[0-9a-z]*\.msgpack|tmp\w+\.tmp")


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

    def __init__(self, folder: Path, root: Path | None = None, largest: int = 1024**3) -> None:
        self.folder = folder
        self._root = root or folder.parent
        self._largest = largest
        self._version = folder / __version__
        self._file_digest = functools.cache(file_digest)
        self._usable = is_usable(folder)
        self._ready = False

    def load(self, key: str) -> bytes | None:
        """The payload kept under a key, if the files that it depends on are unchanged."""
        try:
            entry = msgspec.msgpack.decode(self._fetch(key) or b"", type=_Entry)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        for name, expected in entry.included.items():
            if self._file_digest(str(self._root / name)) != expected:
                return None
        return entry.payload

    def store(self, key: str, payload: bytes, included: Iterable[str] = ()) -> None:
        """Keep a payload; ``included`` are the files that it depends on besides the key."""
        files = {relative_name(Path(name), self._root): absolute(name) for name in included}
        entry = _Entry(payload, {name: self._file_digest(str(at)) for name, at in files.items()})
        self._keep(key, msgspec.msgpack.encode(entry))

    def trim(self) -> None:
        """Remove what nobody used for long, what killed processes left, and of the rest the least
        used until it is small enough. Only files of the cache's own kind, and through no link."""
        if not self._ready:
            return  # nothing was added
        now = time.time()
        kept: list[tuple[float, int, str]] = []
        for path, status in _files_in(self.folder):
            age = now - status.st_mtime
            if age > (_TEMPORARY_SECONDS if path.endswith(".tmp") else _KEPT_SECONDS):
                _remove(path)
            else:
                kept.append((status.st_mtime, status.st_size, path))
        size = sum(one[1] for one in kept)
        for _, of_file, path in sorted(kept):
            if size <= self._largest:
                break
            _remove(path)
            size -= of_file

    def _fetch(self, key: str) -> bytes | None:
        path = self._path(key)
        if not self._usable:
            return None
        with contextlib.suppress(OSError, UnreadableError):
            data = read_bytes(path)
            start = len(_MAGIC) + SEAL_SIZE
            entry = data[start:]
            if data[:start] != _MAGIC + seal(entry, key):
                return None
            if time.time() - path.stat().st_mtime > _DAY:
                os.utime(path)
            return entry
        return None

    def _keep(self, key: str, entry: bytes) -> None:
        if self._usable:
            with contextlib.suppress(OSError):
                self._prepare()
                self._write(self._path(key), _MAGIC + seal(entry, key) + entry)

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
        self._version.mkdir(parents=True, exist_ok=True)
        self._ready = True
        with (
            contextlib.suppress(FileExistsError),
            (self.folder / ".gitignore").open("x", encoding="utf-8") as ignore,
        ):
            ignore.write("# Made by cudalint.\n*\n")


def is_usable(folder: Path) -> bool:
    """Whether a cache may be kept in a folder: its entries can be sealed, and no link leads away
    from it, which a source tree may hold too."""
    parts = (folder, folder / __version__, folder / HEADER_CACHE)
    return secret() is not None and not any(part.is_symlink() for part in parts)


def _files_in(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The entries of all versions, and what was about to become one."""
    for version in _folders(str(folder)):
        for start in _folders(version.path):
            if _START.fullmatch(start.name) is None:
                continue
            with contextlib.suppress(OSError), os.scandir(start.path) as entries:
                for entry in entries:
                    if _ENTRY.fullmatch(entry.name):
                        with contextlib.suppress(OSError):
                            yield entry.path, entry.stat(follow_symlinks=False)


def _folders(folder: str) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    return []


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        Path(path).unlink()


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

    def __init__(
        self,
        folder: Path,
        memory: Memory,
        *,
        lasting: bool,
        root: Path | None = None,
        largest: int = 1024**3,
    ) -> None:
        super().__init__(folder, root, largest)
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
