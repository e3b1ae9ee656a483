"""What a source tree says of its build: for which devices, with which headers. By reading alone:
nothing of it is run, and links are not followed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from cudalint.project.compile_commands import DATABASE, find_compile_commands
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.project.settings import DEFAULT_EXCLUDE
from cudalint.project.toml import readable

_MOST_FOLDERS = 20_000
_LARGEST = 1024**2
_LARGEST_DATABASE = 64 * 1024**2
_MOST_INCLUDES = 16
_BUILD_FILES = (
    "CMakeLists.txt", "*.cmake", "CMakePresets.json", "CMakeCache.txt", "Makefile*", "makefile",
    "GNUmakefile", "*.mk", "*.mak", "meson.build", "setup.py", "setup.cfg", "pyproject.toml",
    "BUILD", "BUILD.bazel", "*.bzl", ".bazelrc", "SConstruct", "wscript", "Dockerfile*",
)  # fmt: skip
_THIRD_PARTY = (
    "3rdparty", "3rd_party", "3rd-party", "thirdparty", "third_party", "third-party", "extern",
    "external", "externals", "vendor", "vendored", "submodules", "deps",
)  # fmt: skip
_TESTS = re.compile(r"(?:unit|gpu|cuda|py|cpp)[-_]?tests?|testing|test[-_]suite", re.IGNORECASE)
_COMMENT = re.compile(rb"(?:^|\s)#[^\n]*")
_ARCHITECTURES = re.compile(
    rb"CUDA_ARCHITECTURES(?::[A-Z]+)?[\s:=\"'\])]{0,40}"
    rb"((?:\d{2,3}[af]?(?:-real|-virtual)?[;\s,\"']{0,40})+)"
)
_FLAGS = re.compile(rb"\b(?:sm|compute)_(\d{2,3}[af]?)\b")
_TORCH = re.compile(rb"TORCH_CUDA_ARCH_LIST[\"'\]]*\s*[:=,]\s*[\"']?([\d.+PTX; ,af]+)")
_NUMBER = re.compile(rb"(\d{2,3})[af]?(?:-real|-virtual)?")
_VERSION = re.compile(rb"(\d{1,2})\.(\d)")
_MODULE = re.compile(r"^[ \t]*path[ \t]*=([^\n]+)", re.MULTILINE)
_PLAIN = re.compile(r"[\w./+ -]+")


@dataclass(frozen=True)
class Survey:
    """What was found; folders are relative, with ``/``."""

    architectures: tuple[int, ...] = ()
    """Compute capabilities, times ten."""
    include_folders: tuple[str, ...] = ()
    third_party: tuple[str, ...] = ()
    test_folders: tuple[str, ...] = ()
    database: str | None = None
    """A ``compile_commands.json``."""


def survey(root: Path) -> Survey:
    """Look through a tree."""
    database = find_compile_commands(root, root)
    architectures: set[int] = set()
    includes: list[str] = []
    third_party: set[str] = set(_submodules(root))
    tests: set[str] = set()
    for folder, folders, files in _walk(root):
        name = folder.relative_to(root).as_posix()
        if folder.name.lower() in _THIRD_PARTY or name in third_party:
            third_party.add(name)
            folders.clear()
            continue
        if _TESTS.fullmatch(folder.name) and folder != root:
            tests.add(f"{folder.name}/")
        wanted = folder.name in ("include", "inc", "includes") and (files or folders)
        if wanted and name == readable(name):
            includes.append(name)
        for file in files:
            if any(fnmatchcase(file, pattern) for pattern in _BUILD_FILES):
                architectures |= architectures_of(_content(folder / file, _LARGEST))
    if database is not None:
        architectures |= architectures_of(_content(database, _LARGEST_DATABASE))
    plain = [name for name in sorted(third_party) if _PLAIN.fullmatch(name)]
    return Survey(
        architectures=tuple(sorted(architectures)),
        include_folders=() if database else tuple(sorted(includes)[:_MOST_INCLUDES]),
        third_party=tuple(name for name in plain if (root / name).is_dir()),
        test_folders=tuple(sorted(name for name in tests if _PLAIN.fullmatch(name))),
        database=None if database is None else _relative(database, root),
    )


def architectures_of(text: bytes) -> set[int]:
    """The compute capabilities that a build file names, times ten."""
    text = _COMMENT.sub(b"", text)
    found = {int(match[1].rstrip(b"af")) for match in _FLAGS.finditer(text)}
    for match in _ARCHITECTURES.finditer(text):
        found |= {int(number[1]) for number in _NUMBER.finditer(match[1])}
    for match in _TORCH.finditer(text):
        found |= {int(version[1]) * 10 + int(version[2]) for version in _VERSION.finditer(match[1])}
    return found


def _walk(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """The folders of a tree, as ``os.walk`` gives them; not what no search for files enters."""
    for number, (folder, folders, files) in enumerate(os.walk(root)):
        if number >= _MOST_FOLDERS:
            return
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and not any(fnmatchcase(name, pattern) for pattern in DEFAULT_EXCLUDE)
        )
        yield Path(folder), folders, files


def _submodules(root: Path) -> Iterator[str]:
    """The folders of git's submodules."""
    text = _content(root / ".gitmodules", _LARGEST).decode("utf-8", "replace")
    for match in _MODULE.finditer(text):
        name = os.path.normpath(match[1].strip().strip('"'))
        if not name.startswith(("..", "/")) and name != ".":
            yield Path(name).as_posix()


def _content(path: Path, largest: int) -> bytes:
    """A file's bytes; none where it cannot be read or is too large."""
    try:
        if path.stat().st_size > largest:
            return b""
        return read_bytes(path)
    except (OSError, UnreadableError):
        return b""


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else DATABASE
