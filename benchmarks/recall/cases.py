"""A case: a bug that somebody mended, at the commits before and after; facts only."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Case(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One bug and its mend."""

    name: str
    repository: str
    """OWNER/NAME on GitHub."""
    category: str
    bad: str
    """The commit that has the bug."""
    path: str
    lines: tuple[int, ...]
    """Where it is told: the acquisition, or the wrong call."""
    also: tuple[int, ...] = ()
    """Lines on which it may be told as well."""
    others: tuple[str, ...] = ()
    """Files that must be linted with it."""
    good: str = ""
    """The commit that has it mended; empty where none is known, or the mend left something."""
    good_path: str = ""
    beyond: str = ""
    """Why no linter of this kind is expected to find it; empty: it is in scope."""
    description: str = ""


class Cases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The cases of one language."""

    categories: dict[str, tuple[str, ...]]
    """The rules that may find each kind of bug, by code or its beginning."""
    cases: tuple[Case, ...]


def load(path: Path) -> Cases:
    """Read a file of cases.

    Raises:
        ValueError: It is broken, or a case is of an unknown category; the message names it.
    """
    try:
        loaded = msgspec.toml.decode(path.read_bytes(), type=Cases)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    for case in loaded.cases:
        if case.category not in loaded.categories:
            raise ValueError(f"{path}: {case.name}: unknown category {case.category!r}")
    return loaded
