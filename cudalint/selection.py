"""Which of the files that were found are linted: those that mention CUDA, and those that include it
through headers of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cudalint.loading import load, text_of
from cudalint.plan import Plan
from cudalint.project.files import Fate, FileError, SourceFile
from cudalint.project.paths import absolute, display_name
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.source import Source

EMPTY = "is empty"
_SOURCES = frozenset({".c", ".cc", ".cpp", ".cxx"})
_THROWS = re.compile(rb"\bthrow\b")
_MAIN = re.compile(rb"\bmain\s*\(")


@dataclass(frozen=True)
class ReadFile:
    """A file that was read, to be linted."""

    file: SourceFile
    data: bytes
    source: Source


@dataclass(frozen=True)
class PassedOver:
    """A C or C++ source that mentions no CUDA."""

    file: SourceFile
    size: int
    throws: bool
    has_main: bool


@dataclass
class Selection:
    """What became of each file."""

    read: list[ReadFile] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    notes: list[FileError] = field(default_factory=list)
    fates: list[Fate] = field(default_factory=list)
    passed_over: list[PassedOver] = field(default_factory=list)

    def keep(self, one: ReadFile, reason: str) -> None:
        """A file is linted."""
        self.read.append(one)
        self.fates.append(Fate(one.file.filename, True, reason))

    def leave(self, file: SourceFile, reason: str) -> None:
        """A file is not."""
        self.fates.append(Fate(file.filename, False, reason))


def select(
    files: Sequence[SourceFile],
    plan: Plan,
    contents: Mapping[Path, bytes],
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> Selection:
    """Read the files; ``contents`` stands for what is on the disk."""
    found = Selection()
    silent: list[tuple[SourceFile, PassedOver | None]] = []
    for number, file in enumerate(files):
        progress("reading", number, len(files))
        try:
            data = contents[file.path] if file.path in contents else read_bytes(file.path)
            if not data.strip():
                found.leave(file, EMPTY)
                continue
            loaded = load(file, data, plan.max_file_size)
        except UnreadableError as error:
            found.errors.append(FileError(file.filename, str(error), fatal=file.explicit))
            found.leave(file, str(error))
            continue
        if loaded is None:
            silent.append((file, _passed_over(file, data)))
            continue
        if loaded.note:
            found.notes.append(FileError(file.filename, loaded.note))
        reason = "is CUDA by its name" if file.is_cuda else "mentions CUDA"
        found.keep(ReadFile(file, loaded.data, loaded.source), reason)
    _sort_silent(silent, files, plan, contents, found)
    found.read.sort(key=lambda one: one.file)
    return found


def _passed_over(file: SourceFile, data: bytes) -> PassedOver | None:
    if file.path.suffix.lower() not in _SOURCES:
        return None
    throws, has_main = (pattern.search(data) is not None for pattern in (_THROWS, _MAIN))
    return PassedOver(file, len(data), throws, has_main)


def _sort_silent(
    silent: Sequence[tuple[SourceFile, PassedOver | None]],
    files: Sequence[SourceFile],
    plan: Plan,
    contents: Mapping[Path, bytes],
    found: Selection,
) -> None:
    """Of the files that mention no CUDA, keep those that include it through their own headers."""
    from cudalint.frontends.cuda.own_headers import OwnHeaders

    # Where nothing of a whole folder is CUDA, no header is either.
    hopeless = not any(one.file.language == "cuda" for one in found.read)
    folders = [absolute(folder) for folder in plan.settings.include_folders]
    headers = OwnHeaders((one.path for one in files), folders, contents)
    for file, passed_over in silent:
        header = None
        if file.language == "cuda" and (file.explicit or not hopeless):
            header = headers.bringing_cuda(file.path)
        if header is None:
            found.leave(file, "does not mention CUDA")
            if passed_over is not None:
                found.passed_over.append(passed_over)
            continue
        try:
            data = contents[file.path] if file.path in contents else read_bytes(file.path)
            loaded = text_of(file, data, plan.max_file_size)
        except UnreadableError as error:
            found.leave(file, str(error))
            continue
        reason = f"includes CUDA through {display_name(header)}"
        found.keep(ReadFile(file, loaded.data, loaded.source), reason)
