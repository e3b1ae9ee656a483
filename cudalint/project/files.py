"""Finds the files to lint: walks folders, obeys excludes and git's ignore files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Protocol

from cudalint.project.ignore import GitIgnore, Patterns
from cudalint.project.paths import absolute, below, display_name
from cudalint.project.reading import Language, reason_of

CUDA_SUFFIXES = frozenset({".cu", ".cuh", ".hip"})
"""Always linted; the others only when they mention CUDA."""
HOST_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"})
NOTEBOOK_SUFFIX = ".ipynb"
PYTHON_SUFFIXES = frozenset({".py", NOTEBOOK_SUFFIX})
_EXPLICIT_SUFFIXES = frozenset({".c++", ".h++", ".hh", ".hxx", ".inc", ".inl", ".ipp", ".tpp"})
STDIN_NAME = "<stdin>"
NO_SOURCE = "is not a CUDA C++ or Python source file"


@dataclass(frozen=True, order=True)
class SourceFile:
    """A file to lint. ``filename`` is as reports show it."""

    filename: str
    path: Path = field(compare=False)
    language: Language = field(compare=False)
    explicit: bool = field(default=False, compare=False)
    """Named on the command line, not found in a folder."""

    @property
    def is_cuda(self) -> bool:
        """Whether its name alone says that it is CUDA."""
        return self.path.suffix.lower() in CUDA_SUFFIXES

    @property
    def is_notebook(self) -> bool:
        """Whether its code stands in the cells of a notebook."""
        return self.path.suffix.lower() == NOTEBOOK_SUFFIX


@dataclass(frozen=True, order=True)
class FileError:
    """Something that could not be linted, and why."""

    filename: str
    message: str
    fatal: bool = True
    """Whether the exit status is 2 for it: nobody asked by name for what a folder holds."""
    was_read: bool = False
    """Whether what it defines is known all the same: only its functions could not be followed."""

    def __str__(self) -> str:
        return f"{self.filename}: {self.message}"


@dataclass(frozen=True, order=True)
class Fate:
    """Whether a file is linted, and why: what ``--show-files`` tells."""

    filename: str
    linted: bool
    reason: str


@dataclass(frozen=True)
class Discovery:
    """The files found, sorted by name, and what went wrong on the way."""

    files: tuple[SourceFile, ...]
    errors: tuple[FileError, ...] = ()
    left_out: tuple[Fate, ...] = ()
    """Files and folders that were passed over."""


class DiscoveryOptions(Protocol):
    """What of the settings decides which files are found."""

    @property
    def exclude(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def extend_exclude(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def force_exclude(self) -> bool: ...  # noqa: D102
    @property
    def respect_gitignore(self) -> bool: ...  # noqa: D102


def language_of(path: PurePath) -> Language | None:
    """The language that a file's name stands for; ``None`` if it is no source that we read."""
    suffix = path.suffix.lower()
    if suffix in PYTHON_SUFFIXES or suffix in (".pyi", ".pyw"):
        return "python"
    if suffix in CUDA_SUFFIXES | HOST_SUFFIXES | _EXPLICIT_SUFFIXES:
        return "cuda"
    return None


def discover(paths: Sequence[Path], options: DiscoveryOptions, root: Path) -> Discovery:
    """The files to lint among ``paths``; patterns are relative to ``root``."""
    finder = _Finder(options, root)
    for path in paths:
        finder.add(path)
    files = finder.once()
    return Discovery(
        tuple(sorted(files)),
        tuple(sorted(finder.errors)),
        tuple(sorted(finder.left_out)),
    )


class LargeTreeError(Exception):
    """A folder holds too much to be walked through for what is wanted."""


def sources_below(
    folder: Path, options: DiscoveryOptions, root: Path, most: int, language: Language | None = None
) -> Iterator[SourceFile]:
    """The files, of a language or of all, that linting a folder would find, one by one: whoever has
    enough stops. Raises ``LargeTreeError`` behind ``most`` files and folders of any kind."""
    return _Finder(options, root, most).below(folder, language)


class _Finder:
    def __init__(self, options: DiscoveryOptions, root: Path, most: float = math.inf) -> None:
        self.options = options
        self.root = root
        self.most = most
        self.excluded = Patterns((*options.exclude, *options.extend_exclude))
        self.files: dict[str, SourceFile] = {}
        self.errors: set[FileError] = set()
        self.left_out: set[Fate] = set()

    def add(self, path: Path) -> None:
        full = absolute(path)
        is_folder = full.is_dir()
        if not is_folder and not full.exists():
            self.errors.add(FileError(display_name(path), "does not exist"))
        elif self.options.force_exclude and self._is_excluded(full, folder=is_folder):
            self._leave_out(full, is_folder, self._excluding(_relative(full, self.root), is_folder))
        elif is_folder:
            self._add_folder(full)
        else:
            self._add_explicit(full)

    def once(self) -> list[SourceFile]:
        """The files; one that is reached by several names by the best of them."""
        found: dict[object, SourceFile] = {}
        for file in sorted(self.files.values(), key=_by_name):
            same = found.setdefault(_identity(file.path), file)
            if same is not file:
                reason = f"the same file as {same.filename}"
                self.left_out.add(Fate(file.filename, False, reason))
        return list(found.values())

    def below(self, folder: Path, only: Language | None = None) -> Iterator[SourceFile]:
        """The source files in a folder, of one language or of all."""
        # A folder that is excluded itself but named explicitly is walked all the same: patterns
        # then apply below it only.
        base = folder if self._is_excluded(folder, folder=True) else self.root
        ignore = GitIgnore.above(folder) if self.options.respect_gitignore else None
        for path in self._walk(folder, base, ignore):
            if (language := language_of(path)) and only in (None, language):
                yield SourceFile(display_name(path), path, language)

    def _add_explicit(self, path: Path) -> None:
        language = language_of(path) or _language_of_script(path)
        name = display_name(path)
        if language is None:
            self.errors.add(FileError(name, NO_SOURCE))
        else:
            self.files[str(path)] = SourceFile(name, path, language, explicit=True)

    def _add_folder(self, folder: Path) -> None:
        for file in self.below(folder):
            self.files.setdefault(str(file.path), file)

    def _walk(self, folder: Path, base: Path, ignore: GitIgnore | None) -> Iterator[Path]:
        pending = [(folder, ignore)]
        seen = 0
        while pending:
            if seen > self.most:
                raise LargeTreeError
            current, ignore = pending.pop()
            if ignore is not None:
                ignore = ignore.below(current)
            try:
                entries = sorted(os.scandir(current), key=lambda entry: entry.name)
            except OSError as error:
                message = f"cannot be read: {reason_of(error)}"
                fatal = current == folder
                self.errors.add(FileError(display_name(current), message, fatal))
                continue
            seen += len(entries)
            for entry in entries:
                path = current / entry.name
                try:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    # Links to folders are not followed: no loops, nothing twice.
                    wanted = is_folder or (_is_source(path) and entry.is_file())
                except OSError:
                    continue
                if not wanted:
                    continue
                if self.excluded.match(relative := _relative(path, base), is_folder):
                    self._leave_out(path, is_folder, self._excluding(relative, is_folder))
                elif ignore is not None and ignore.ignores(path, is_folder):
                    self._leave_out(path, is_folder, ignore.reason(path, is_folder))
                elif is_folder:
                    pending.append((path, ignore))
                else:
                    yield path

    def _leave_out(self, path: Path, is_folder: bool, reason: str) -> None:
        name = display_name(path)
        self.left_out.add(Fate(f"{name}/" if is_folder else name, False, reason))

    def _excluding(self, relative: str, is_folder: bool) -> str:
        pattern = self.excluded.deciding(relative, is_folder)
        own = pattern not in self.options.exclude
        return f"excluded by the pattern `{pattern}` of `{'extend-' if own else ''}exclude`"

    def _is_excluded(self, path: Path, *, folder: bool) -> bool:
        return self.excluded.match(_relative(path, self.root), folder)


def _by_name(file: SourceFile) -> tuple[bool, bool, str]:
    """The files that somebody named first, and before links what they point to."""
    return not file.explicit, file.path.is_symlink(), file.filename


def _identity(path: Path) -> object:
    """What all names of a file have in common."""
    try:
        status = path.stat()
    except OSError:
        return path
    return (status.st_dev, status.st_ino) if status.st_ino else path


def _is_source(path: Path) -> bool:
    suffix = path.suffix.lower()
    return suffix in CUDA_SUFFIXES or suffix in HOST_SUFFIXES or suffix in PYTHON_SUFFIXES


def _relative(path: Path, base: Path) -> str:
    if path == base:
        return "."
    return below(path, base) or path.name


def _language_of_script(path: Path) -> Language | None:
    """A script without a suffix says in its first line what it is."""
    if path.suffix:
        return None
    try:
        with path.open("rb") as file:
            first = file.readline(200)
    except OSError:
        return None
    return "python" if first.startswith(b"#!") and b"python" in first else None
