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
    return below(full, folder) or ("." if full == folder else full.as_posix())


def below(path: Path, folder: Path) -> str:
    """The path relative to a folder that it lies below, with ``/``; else empty. Both are absolute,
    without ``..``."""
    # For thousands of files: several times faster than pathlib's own.
    start = str(folder).rstrip(os.sep) + os.sep
    text = str(path)
    return text[len(start) :].replace(os.sep, "/") if text.startswith(start) else ""


def repository_of(folder: Path) -> Path | None:
    """The top of the git repository that holds a folder."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return None
