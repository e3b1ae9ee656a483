"""Tables that a measurement writes into a document, between two comments that name them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from benchmarks.repositories import git


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table; the first row is its head."""
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_section(path: Path, name: str, text: str) -> None:
    """Put ``text`` between ``<!-- NAME -->`` and ``<!-- end of NAME -->``.

    Raises:
        ValueError: The document has no such section.
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    whole = path.read_text(encoding="utf-8")
    if not pattern.search(whole):
        raise ValueError(f"{path}: no section {name!r}")
    path.write_text(pattern.sub(lambda _: f"{begin}\n{text}\n\n{end}", whole), encoding="utf-8")


def taken(commit: str = "") -> str:
    """When a figure was taken, and of which commit: of the one that lies here, if none is given.
    Raises ``RepositoryError`` where none does."""
    commit = commit or git(Path(), "rev-parse", "--short", "HEAD").decode().strip()
    return f"{date.today()}, at {commit}"
