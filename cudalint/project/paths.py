"""Names and places of files."""

from __future__ import annotations

import os
from pathlib import Path


def absolute(path: Path | str) -> Path:
    """The absolute path without ``..`` and ``.``; links are kept as they are."""
    return Path(os.path.abspath(path))  # noqa: PTH100  (resolve() would follow links)


def display_name(path: Path) -> str:
    """The name that reports use: relative to the working directory when below it."""
    return writable(relative_name(path, Path.cwd()))


def writable(name: str) -> str:
    """A name that may not be UTF-8, as it fits into a report."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def relative_name(path: Path, folder: Path) -> str:
    """The path relative to a folder when below it, with ``/``; else the file's absolute path."""
    full = absolute(path)
    return (full.relative_to(folder) if full.is_relative_to(folder) else full).as_posix()


def repository_of(folder: Path) -> Path | None:
    """The top of the git repository that holds a folder."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return None
