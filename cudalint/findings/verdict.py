"""What running the program said of a finding."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Outcome(enum.Enum):
    """Whether a run showed it."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    """Its path ran, and nothing was wrong."""
    KEPT = "kept"
    """Nothing released it, and at the end the program's own memory still points at it: a global, a
    static or a thread-local leads there."""
    NOT_REACHED = "not-reached"
    NOT_RUNNABLE = "not-runnable"


@dataclass(frozen=True)
class Evidence:
    """One thing that a run showed."""

    message: str
    run: str = "without faults"
    """Which run: ``without faults``, or the call that was made to fail."""
    fault: str = ""
    """The call that was made to fail, with its place; empty where none was."""
    bytes: int | None = None
    stack: tuple[str, ...] = ()
    """``file:line (function)``, innermost first."""
    witness: str = "ledger"


@dataclass(frozen=True)
class Verdict:
    """The outcome, where it was run, and what shows it."""

    outcome: Outcome
    device: str = ""
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    """Why it is not confirmed."""
