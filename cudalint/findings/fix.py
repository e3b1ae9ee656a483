"""A mend of a finding: edits of the text, and whether they may be made unasked."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from cudalint.source import Span


class Applicability(enum.Enum):
    """Whether a fix keeps what the program means."""

    SAFE = "safe"
    """Nothing but the defect changes: ``--fix`` makes it."""
    UNSAFE = "unsafe"
    """A reader should look at it: ``--unsafe-fixes`` makes it."""


@dataclass(frozen=True)
class Edit:
    """What stands at a span gives way to a text; an empty span is an insertion."""

    filename: str
    span: Span
    text: str


@dataclass(frozen=True)
class Fix:
    """One mend: all of its edits, or none. ``message`` says what it does: ``Release `d_in` before
    the return``. Edits do not overlap."""

    message: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE
