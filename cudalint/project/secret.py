"""The secret that seals what is kept: nobody who ships a cache inside a source tree knows it.

``CUDALINT_CACHE_KEY`` gives it, so that machines can share a cache; else it is made once for each
user and kept in their own cache folder, which no checkout can write to.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import secrets
import stat
import sys
from pathlib import Path

VARIABLE = "CUDALINT_CACHE_KEY"
SEAL_SIZE = 32
"""Bytes of a seal."""
_SIZE = 32
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


def secret() -> bytes | None:
    """The secret of this user; ``None`` where there is none and none can be kept."""
    given = os.environ.get(VARIABLE)
    if given:
        return hashlib.blake2b(given.encode("utf-8", "surrogateescape"), digest_size=_SIZE).digest()
    return _kept(_folder())


def seal(data: bytes, *about: str) -> bytes:
    """What nobody without the secret can tell of some data, and of what it is. Without a secret it
    shows damage only."""
    state = hashlib.blake2b(key=secret() or b"", digest_size=_SIZE)
    for part in (*(one.encode("utf-8", "surrogateescape") for one in about), data):
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


def _folder() -> Path | None:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        base = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):  # nobody's home is known
        folder = Path(base) if base else Path.home() / ".cache"
        return folder / "cudalint" if folder.is_absolute() else None
    return None


@functools.lru_cache(maxsize=8)
def _kept(folder: Path | None) -> bytes | None:
    if folder is None:
        return None
    path = folder / "key"
    try:
        if (found := _read(path)) is not None:
            return found
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = folder / f".key.{secrets.token_hex(8)}"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(_SIZE))
                file.flush()
                os.fsync(file.fileno())
            _publish(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        return _read(path)
    except OSError:
        return None


def _publish(temporary: Path, path: Path) -> None:
    """The first of several processes wins; what is no key gives way."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        if _read(path) is None:
            temporary.replace(path)
    except OSError:  # no hard links there
        temporary.replace(path)


def _read(path: Path) -> bytes | None:
    """The key in a file that is this user's, and that nobody else may read or write."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | _NONBLOCK)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return None
        if sys.platform != "win32" and (status.st_mode & 0o077 or status.st_uid != os.geteuid()):
            return None
        data = file.read(_SIZE + 1)
    return data if len(data) == _SIZE else None
