"""Public repositories at a commit: fetched where they are missing, their sources written out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path


class RepositoryError(Exception):
    """A repository that cannot be had at a commit, or cannot be linted."""


_ENVIRONMENT = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
"""A partial clone lacks some files; none of them is worth asking a network for."""


def git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    """What git says of a repository; ``given``: on its standard input."""
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, input=given, capture_output=True, env=_ENVIRONMENT)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise RepositoryError(f"{' '.join(command)}: {said}")
    return done.stdout


def obtain(place: Path, address: str, commit: str) -> None:
    """See that the repository at ``place`` has the commit; its files in the open are left alone."""
    if not place.exists():
        place.mkdir(parents=True)
        git(place, "init", "--quiet")
    try:
        git(place, "cat-file", "-e", f"{commit}^{{commit}}")
    except RepositoryError:
        git(place, "fetch", "--quiet", "--depth=1", address, commit)


_SUFFIXES = (
    ".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc",
    ".py", ".ipynb", ".toml",
)  # fmt: skip


def is_source(name: str) -> bool:
    """Whether a file can matter to the linter."""
    return name.endswith(_SUFFIXES)


def write_files(place: Path, commit: str, target: Path, wanted: Callable[[str], bool]) -> None:
    """Write a commit's files under ``target``: no links, and none that a partial clone lacks."""
    blobs: list[tuple[bytes, str]] = []
    for row in git(place, "ls-tree", "-r", "-z", commit).decode(errors="replace").split("\0"):
        facts, _, name = row.partition("\t")
        if facts.startswith("100") and wanted(name):
            blobs.append((facts.split()[2].encode(), name))
    told = git(place, "cat-file", "--batch", given=b"".join(blob + b"\n" for blob, _ in blobs))
    start = 0
    for _, name in blobs:
        end = told.index(b"\n", start)
        _, kind, *size = told[start:end].split()
        start = end + 1
        if kind == b"missing":
            continue
        length = int(size[0])
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(told[start : start + length])
        start += length + 1
