"""Tables that a measurement writes into a document, between two comments that name them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from datetime import date
from pathlib import Path


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

    Raises:
        ValueError: No commit is given, and git knows of none.
    """
    if not commit:
        command = ["git", "rev-parse", "--short", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(f"which commit is measured? {done.stderr.strip()}")
        commit = done.stdout.strip()
    return f"{date.today()}, at {commit}"
