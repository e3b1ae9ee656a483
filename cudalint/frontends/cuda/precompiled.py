"""Precompiled headers, saved by libclang itself: the runtime and the C++ library are read once.

A file is named ``<prefix>-<key>.<seal>.pch``. The key covers everything that decides its content;
the seal tells a damaged or foreign file before libclang sees it (its reader trusts what it reads).
Files appear by renaming, so that other processes see a whole file or none.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from clang import cindex

from cudalint.frontends.cuda.toolchain import OWN_HEADERS, Toolchain
from cudalint.project.secret import seal

_FORMAT = "1"
_KEPT_FILES = 24
_KEPT_SECONDS = 30 * 86400
_INCOMPLETE = 0x02
_SKIP_FUNCTION_BODIES = 0x40
_KEEP_GOING = 0x200


def prefix_header(prefix: str) -> Path:
    """The header that stands for ``prefix``: runtime, standard, libraries or c."""
    return OWN_HEADERS / "precompiled" / f"{prefix}.h"


def precompiled_header(
    prefix: str, arguments: list[str], toolchain: Toolchain, folder: Path
) -> Path | None:
    """The precompiled header of ``prefix`` for these arguments, made now if need be.

    ``None`` where there is none and none can be made: the folder is read-only. Where another
    process is making it, it is waited for: what is read must not depend on who comes first.
    """
    key = _key(prefix, tuple(arguments), toolchain)
    found = _find(prefix, key, folder)
    if found is not None:
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(folder / f"{prefix}-{key}.lock"):
            return _find(prefix, key, folder) or _make(prefix, key, arguments, folder)
    except OSError:
        return None


def discard(header: Path) -> None:
    """Remove a precompiled header that libclang refused: its sources have changed."""
    _sound.cache_clear()
    with contextlib.suppress(OSError):
        header.unlink()


@functools.lru_cache(maxsize=256)
def _key(prefix: str, arguments: tuple[str, ...], toolchain: Toolchain) -> str:
    parts = [_FORMAT, prefix, *arguments, *toolchain.versions]
    for name in ("runtime", "standard", "libraries", "c"):
        with contextlib.suppress(OSError):
            parts.append(prefix_header(name).read_text(encoding="utf-8"))
    # Users who share a folder have each their own: what one sealed, another cannot trust.
    return seal("\0".join(parts).encode()).hex()[:20]


def _find(prefix: str, key: str, folder: Path) -> Path | None:
    for candidate in sorted(folder.glob(f"{prefix}-{key}.*.pch")):
        try:
            status = candidate.stat()
        except OSError:
            continue
        if _sound(candidate, status.st_size, status.st_mtime_ns):
            return candidate
        discard(candidate)
    return None


@functools.lru_cache(maxsize=64)
def _sound(header: Path, size: int, changed: int) -> bool:
    """Whether the file is what was written; looked at once per process and change."""
    expected = header.name.removesuffix(".pch").rpartition(".")[2]
    try:
        data = header.read_bytes()
    except OSError:
        return False
    return expected == _seal(data)


def _seal(data: bytes) -> str:
    return seal(data, "precompiled header").hex()


def _make(prefix: str, key: str, arguments: list[str], folder: Path) -> Path | None:
    _sweep(folder)
    index = cindex.Index.create()
    try:
        unit = cindex.TranslationUnit.from_source(
            str(prefix_header(prefix)),
            args=arguments,
            options=_INCOMPLETE | _SKIP_FUNCTION_BODIES | _KEEP_GOING,
            index=index,
        )
    except cindex.TranslationUnitLoadError:
        return None
    handle, name = tempfile.mkstemp(prefix=f"{prefix}-", suffix=".tmp", dir=folder)
    os.close(handle)
    temporary = Path(name)
    try:
        unit.save(str(temporary))
        data = temporary.read_bytes()
        header = folder / f"{prefix}-{key}.{_seal(data)}.pch"
        temporary.replace(header)
    except (cindex.TranslationUnitSaveError, OSError):
        return None
    finally:
        temporary.unlink(missing_ok=True)
    return header


def _sweep(folder: Path) -> None:
    """Remove what was not made lately, and what killed processes left behind."""
    now = time.time()
    ages: list[tuple[float, Path]] = []
    for entry in (*folder.glob("*.pch"), *folder.glob("*.tmp"), *folder.glob("*.lock")):
        with contextlib.suppress(OSError):
            ages.append((now - entry.stat().st_mtime, entry))
    ages.sort()
    for number, (age, entry) in enumerate(ages):
        stale = entry.suffix == ".tmp" and age > 600
        old = age > _KEPT_SECONDS or number >= _KEPT_FILES
        if stale or (old and entry.suffix != ".lock") or age > 2 * _KEPT_SECONDS:
            with contextlib.suppress(OSError):
                entry.unlink()


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the lock, once no other process does. Dies with its process; ``OSError`` where the file
    system knows no locks."""
    with path.open("a+b") as file:
        _lock_file(file.fileno())
        yield


if os.name == "nt":
    import msvcrt

    def _lock_file(number: int) -> None:
        msvcrt.locking(number, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:
    import fcntl

    def _lock_file(number: int) -> None:
        fcntl.flock(number, fcntl.LOCK_EX)
