"""A mend of a finding: edits of the text, and whether they may be made unasked."""

from __future__ import annotations

import enum
from collections.abc import Sequence
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


def together(edits: tuple[Edit, ...], more: tuple[Edit, ...]) -> tuple[Edit, ...] | None:
    """Both, if they can be made in one go: ``None`` where they touch each other. What both insert
    at one place (the braces around a branch) is inserted once."""
    found = list(edits)
    for edit in more:
        if _inserts(edit) and edit in edits:
            continue
        if any(_meet(edit, other) for other in edits):
            return None
        found.append(edit)
    return tuple(found)


def in_one(fixes: Sequence[Fix]) -> Fix | None:
    """One fix that does what several do; ``None`` where they do not go together."""
    edits: tuple[Edit, ...] = ()
    for fix in fixes:
        both = together(edits, fix.edits)
        if both is None:
            return None
        edits = both
    safe = all(fix.applicability is Applicability.SAFE for fix in fixes)
    message = "; ".join(dict.fromkeys(fix.message for fix in fixes))
    return Fix(message, edits, Applicability.SAFE if safe else Applicability.UNSAFE)


def _inserts(edit: Edit) -> bool:
    start, end = _ends(edit.span)
    return start == end


def _meet(one: Edit, other: Edit) -> bool:
    if one.filename != other.filename:
        return False
    (start, end), (first, last) = _ends(one.span), _ends(other.span)
    if _inserts(one) and _inserts(other):
        return False  # in order
    if _inserts(one) or _inserts(other):
        return start <= last and first <= end
    return start < last and first < end


def _ends(span: Span) -> tuple[tuple[int, int], tuple[int, int]]:
    return (span.row, span.column), (span.end_row, span.end_column)
