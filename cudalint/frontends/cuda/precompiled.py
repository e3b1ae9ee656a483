"""Precompiled headers, saved by libclang itself: the runtime and the C++ library are read once.

A prefix may have further parts (``standard+filesystem``): each is a small file that stands on the
one before it.

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
from collections.abc import Iterable, Iterator
from pathlib import Path

from clang import cindex

from cudalint.frontends.cuda.toolchain import OWN_HEADERS, Toolchain
from cudalint.project.secret import seal

_FOLDER = OWN_HEADERS / "precompiled"
_FORMAT = "2"
_KEPT_FILES = 24
_KEPT_PARTS = 96
"""Of a hundredth of their size."""
_KEPT_SECONDS = 30 * 86400
_INCOMPLETE = 0x02
_FOR_SERIALIZATION = 0x10
"""Without it libclang cannot save what stands on another precompiled header."""
_SKIP_FUNCTION_BODIES = 0x40
_KEEP_GOING = 0x200


def prefix_headers(prefix: str) -> list[Path]:
    """The headers that stand for ``prefix``: runtime, standard, libraries or c, and further
    parts."""
    return [_FOLDER / f"{part}.h" for part in prefix.split("+")]


def including(headers: Iterable[Path]) -> list[str]:
    """The arguments that have headers read first, as they are."""
    return [argument for header in headers for argument in ("-include", str(header))]


def precompiled_header(
    prefix: str, arguments: list[str], toolchain: Toolchain, folder: Path
) -> Path | None:
    """The precompiled header of ``prefix`` for these arguments, made now if need be.

    ``None`` where there is none and none can be made: the folder is read-only. Where another
    process is making it, it is waited for: what is read must not depend on who comes first.
    """
    below = prefix.rpartition("+")[0]
    base = None
    try:
        if below:
            base = precompiled_header(below, arguments, toolchain, folder)
            if base is None:
                return None
            arguments = [*arguments, "-include-pch", str(base)]
        # libclang refuses what stands on another file than it was made on, by its time.
        made = str(base.stat().st_mtime_ns) if base is not None else ""
        key = _key(prefix, (*arguments, made), toolchain)
        found = _find(prefix, key, folder)
        if found is not None:
            return found
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(folder / f"{prefix}-{key}.lock"):
            found = _find(prefix, key, folder) or _make(prefix, key, arguments, folder)
    except OSError:
        return None
    if found is None and base is not None:
        discard(base)
    return found


def discard(header: Path) -> None:
    """Remove a precompiled header that libclang refused: its sources have changed."""
    _sound.cache_clear()
    with contextlib.suppress(OSError):
        header.unlink()


@functools.lru_cache(maxsize=256)
def _key(prefix: str, arguments: tuple[str, ...], toolchain: Toolchain) -> str:
    parts = [_FORMAT, prefix, *arguments, *toolchain.versions]
    for header in sorted(_FOLDER.glob("*.h")):
        with contextlib.suppress(OSError):
            parts.append(header.read_text(encoding="utf-8"))
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
            str(prefix_headers(prefix)[-1]),
            args=arguments,
            options=_INCOMPLETE | _FOR_SERIALIZATION | _SKIP_FUNCTION_BODIES | _KEEP_GOING,
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
    kept = {False: 0, True: 0}
    for age, entry in ages:
        stale = entry.suffix == ".tmp" and age > 600
        is_part = "+" in entry.name
        kept[is_part] += 1
        old = age > _KEPT_SECONDS or kept[is_part] > (_KEPT_PARTS if is_part else _KEPT_FILES)
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
