"""What ``--output KIND[=FILE]`` says: one of the reports that a run writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, get_args

from cudalint.project.settings import OutputFormat, nearest

STANDARD_OUTPUT = "-"
KINDS = get_args(OutputFormat)


class Output(NamedTuple):
    """A report: its format, and the file that it is written to (``None``: standard output)."""

    kind: str
    file: str | None = None

    def __str__(self) -> str:
        return self.kind if self.file is None else f"{self.kind}={self.file}"


def parse_output(text: str) -> Output:
    """The output that an entry names. ``ValueError`` says in one line why it names none."""
    kind, equals, file = text.partition("=")
    if kind not in KINDS:
        near = nearest(kind, KINDS)
        hint = f"; did you mean `{near}`?" if near else ""
        raise ValueError(f"no format is called `{kind}`{hint} (there are {', '.join(KINDS)})")
    if equals and not file:
        raise ValueError(f"`{text}` names no file")
    return Output(kind, None if file in ("", STANDARD_OUTPUT) else file)


def relocated(text: str, folder: Path) -> str:
    """The entry with its file relative to a folder."""
    output = parse_output(text)
    if output.file is None:
        return str(output)
    return str(output._replace(file=os.path.normpath(folder / output.file)))
