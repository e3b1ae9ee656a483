"""What a file includes, and where a project keeps the headers that no flag points to."""

# Thousands of look-ups per run: os.path is several times faster than pathlib.
# ruff: noqa: PTH100, PTH110, PTH112, PTH116, PTH117, PTH118, PTH120, PTH122, PTH123
from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

_INCLUDE = re.compile(
    r"""^[ \t]*\#[ \t]*(?:include|include_next|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)""",
    re.MULTILINE,
)
TEMPLATE_SUFFIXES = (".in", ".cmake")
"""What the name of a template has that a build makes a header of (``config.h.in``)."""
_LARGEST_HEADER = 8 * 1024 * 1024
_MOST_HEADERS = 400
_MOST_INDEXED = 100_000
"""Files and folders that are looked at to know a project's headers."""
_HEADER_SUFFIXES = frozenset(
    {".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl", ".inc", ".cu", ".hip", ".ipp", ""}
)
Found = TypeVar("Found")
_KNOWN: list[Callable[[], None]] = []
_HEADER_FOLDERS = (
    "include", "inc", "includes", "headers", "src", "common", "common/inc", "Common",
    "common/include", "utils", "lib",
)  # fmt: skip
_SKIPPED_FOLDERS = frozenset(
    {"node_modules", "__pycache__", "site-packages", "CMakeFiles", "venv", "env"}
)


@dataclass(frozen=True)
class Includes:
    """What a file includes, through the project's own headers."""

    names: frozenset[str]
    """Every name after ``#include``."""
    folders: tuple[str, ...]
    """Folders, guessed, that hold headers which no given folder has."""
    own: frozenset[str]
    """The names of those headers: the project's, not the system's."""
    unreadable: tuple[str, ...]
    """Headers that must not be opened: enormous, or no files at all (a device, a pipe)."""
    headers: tuple[str, ...]
    """The project's headers that the names mean, as far as they were followed."""
    missing: tuple[tuple[str, str], ...] = ()
    """Names of headers that are nowhere, each after the file that includes it."""
    templates: tuple[tuple[str, str], ...] = ()
    """What a build makes headers of: the header's place beside its template, and the template."""


def find_includes(
    filename: str,
    text: str,
    folders: Iterable[str],
    system_folders: Iterable[str],
    root: Path | None,
) -> Includes:
    """Follow the ``#include`` lines of a file through the project."""
    searched = [os.path.abspath(folder) for folder in folders]
    system = tuple(system_folders)
    guessed: list[str] = []
    unreadable: list[str] = []
    names: set[str] = set()
    own: set[str] = set()
    seen: set[str] = {os.path.abspath(filename)}
    missing: list[tuple[str, str]] = []
    templates: dict[str, str] = {}
    pending = [(os.path.abspath(filename), included_names(text))]
    while pending and len(seen) < _MOST_HEADERS:
        file, included = pending.pop()
        folder = os.path.dirname(file)
        for quoted, name in included:
            names.add(name)
            places = [folder, *searched, *guessed] if quoted else [*searched, *guessed]
            header = _first(name, places)
            if header is None:
                if os.path.isabs(name) or _in_system(name, system):
                    continue
                guess, suffix = _guess(name, folder, root), ""
                if guess is None:
                    guess, suffix = _guess_template(name, folder, root)
                if guess is None:
                    missing.append((file, name))
                    continue
                guessed.append(guess)
                header = os.path.join(guess, name)
                if suffix:
                    templates[header] = header + suffix
            if any(header == os.path.join(guess, name) for guess in guessed):
                own.add(name)
            place, header = header, os.path.normpath(templates.get(header, header))
            if header in seen:
                continue
            seen.add(header)
            further = _includes_of(header)
            if further is None:
                templates.pop(place, None)
                unreadable.append(header)
            else:
                pending.append((header, further))
    seen.remove(os.path.abspath(filename))
    return Includes(
        frozenset(names),
        tuple(dict.fromkeys(guessed)),
        frozenset(own),
        tuple(unreadable),
        tuple(sorted(seen)),
        tuple(missing),
        tuple(templates.items()),
    )


def known_of_the_disk(function: Callable[..., Found]) -> Callable[..., Found]:
    """A function whose answers are known until ``forget``."""
    known = functools.lru_cache(maxsize=16384)(function)
    _KNOWN.append(known.cache_clear)
    return known


def forget() -> None:
    """Look at the disk again: a process may outlive what it has seen."""
    for clear in _KNOWN:
        clear()
    # A large project is not walked anew while no folder of it has another time.
    for top in [top for top, (_, times) in _INDEXES.items() if not _is_current(times)]:
        del _INDEXES[top]


def included_names(text: str) -> tuple[tuple[bool, str], ...]:
    """The names after ``#include`` in a text, each with whether it stands in quotes."""
    return tuple((bool(match[1]), match[1] or match[2]) for match in _INCLUDE.finditer(text))


def included_at(text: str) -> Iterator[tuple[str, int]]:
    """The names after ``#include`` in a text, each with where the directive stands."""
    return ((match[1] or match[2], match.start()) for match in _INCLUDE.finditer(text))


@known_of_the_disk
def _includes_of(header: str) -> tuple[tuple[bool, str], ...] | None:
    """What a header includes; ``None`` when it must not be opened."""
    try:
        status = os.stat(header)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_HEADER:
            return None
        with open(header, encoding="utf-8", errors="replace") as file:
            return included_names(file.read())
    except OSError:
        return None


def _first(name: str, folders: Iterable[str]) -> str | None:
    for folder in folders:
        header = os.path.join(folder, name)
        if _exists(header):
            return header
    return None


@known_of_the_disk
def _exists(path: str) -> bool:
    return os.path.exists(path) and not os.path.isdir(path)


@known_of_the_disk
def _in_system(name: str, folders: tuple[str, ...]) -> bool:
    return any(_exists(os.path.join(folder, name)) for folder in folders)


def _guess(name: str, folder: str, root: Path | None) -> str | None:
    """The folder below ``root`` from which ``#include "name"`` would work, if one stands out."""
    top = os.path.abspath(root) if root is not None else None
    parent = folder
    while True:
        for inner in ("", *_HEADER_FOLDERS):
            candidate = os.path.join(parent, inner) if inner else parent
            if _exists(os.path.join(candidate, name)):
                return candidate
        above = os.path.dirname(parent)
        if top is None or parent == top or above == parent or not _is_below(parent, top):
            break
        parent = above
    return _unique(name, folder, top) if top is not None else None


def _guess_template(name: str, folder: str, root: Path | None) -> tuple[str | None, str]:
    """The folder from which the template of a header would be included, and its suffix."""
    for suffix in TEMPLATE_SUFFIXES:
        guess = _guess(name + suffix, folder, root)
        if guess is not None:
            return guess, suffix
    return None, ""


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip(os.sep) + os.sep)


def _unique(name: str, folder: str, top: str) -> str | None:
    """By the index of the project: the header that shares most of its path with the includer."""
    parts = PurePosixPath(name).parts
    if ".." in parts or not parts:
        return None
    suffix = os.sep + os.path.join(*parts)
    best: list[str] = []
    most = -1
    for found in _index(top).get(parts[-1], ()):
        if not (os.sep + found).endswith(suffix):
            continue
        base = os.path.join(top, found)[: -len(suffix)]
        shared = len(os.path.commonpath([base, folder]))
        if shared > most:
            best, most = [base], shared
        elif shared == most:
            best.append(base)
    return best[0] if len(best) == 1 else None


_Headers = dict[str, list[str]]
_INDEXES: dict[str, tuple[_Headers, dict[str, int]]] = {}
"""What was found below a folder, with the times of all folders that were looked into."""


def _index(top: str) -> _Headers:
    """The project's headers by their last name, as paths below ``top``."""
    if top not in _INDEXES:
        _INDEXES[top] = _indexed(top)
    return _INDEXES[top][0]


def _indexed(top: str) -> tuple[_Headers, dict[str, int]]:
    headers: _Headers = {}
    times = {top: _time_of(top)}
    count = 0
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS
        )
        for name in files:
            base, suffix = os.path.splitext(name)
            if suffix in TEMPLATE_SUFFIXES:
                suffix = os.path.splitext(base)[1] or suffix
            if suffix in _HEADER_SUFFIXES:
                path = os.path.relpath(os.path.join(folder, name), top)
                headers.setdefault(name, []).append(path)
        count += len(folders) + len(files)
        if count > _MOST_INDEXED:
            break
        # Before they are looked into: what comes meanwhile makes them newer.
        times |= {path: _time_of(path) for path in (os.path.join(folder, one) for one in folders)}
    return headers, times


def _is_current(times: dict[str, int]) -> bool:
    return all(_time_of(folder) == time for folder, time in times.items())


def _time_of(folder: str) -> int:
    with contextlib.suppress(OSError):
        return os.stat(folder).st_mtime_ns
    return 0
