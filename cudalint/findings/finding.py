"""What a rule reports: one finding, with the steps of its path."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from cudalint.findings.fix import Fix
from cudalint.findings.repair import Repair
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.source import Span


class Severity(enum.Enum):
    """How much a finding matters; ``rank`` orders them."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """0 for info, 1 for warning, 2 for error."""
        return list(Severity).index(self)


class Confidence(enum.Enum):
    """How sure a rule is; ``low`` is shown only with ``--preview``."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """0 for low, 1 for medium, 2 for high."""
        return list(Confidence).index(self)


class Known(enum.Enum):
    """Why a finding is no news, and hence not reported."""

    BASELINE = "in the baseline"
    UNCHANGED = "in unchanged code"


@dataclass(frozen=True)
class Step:
    """One station of the path that leads to a finding."""

    filename: str
    span: Span
    message: str
    aside: bool = False
    """It is not on the path: told for comparison, as where a sibling is released."""


def from_the_top(path: Iterable[Step], more: Iterable[Step]) -> tuple[Step, ...]:
    """The steps of a path with what else there is to see: all from top to bottom, as a reader
    meets them, where the path itself runs so; else the path first."""
    first, others = list(path), sorted(more, key=lambda step: (step.filename, step.span))
    one_file = len({step.filename for step in (*first, *others)}) == 1
    if one_file and all(one.span <= two.span for one, two in itertools.pairwise(first)):
        return tuple(sorted((*first, *others), key=lambda step: step.span))
    return (*first, *others)


@dataclass(frozen=True)
class Way:
    """One of several ways on which a finding comes about, and how it reads by this one alone."""

    span: Span
    """Where the path ends."""
    message: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Defect:
    """What a finding is a part of: one mend, or one decision to leave it, is good for all parts."""

    shared: str
    """The same for all parts, and none of their names: which ways out of which function, which
    class. The fingerprint holds it: it stays when one part is mended."""
    within: Span
    """The function or class, which others may share the name of."""
    part: str
    """The variable, member or API that this part is about."""
    is_last: bool = False
    """What the part held before is well: this is about its last value."""


@dataclass(frozen=True)
class Finding:
    """One finding. ``filename`` and ``span`` are its primary location (for a leak: the allocation).

    ``subject`` names what it is about (a variable, a member, a kernel) for the fingerprint, which
    holds no line number. ``suppressed`` is the text of the suppression that hides it, if any.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    filename: str
    span: Span
    function: str = ""
    subject: str = ""
    steps: tuple[Step, ...] = ()
    ways: tuple[Way, ...] = ()
    """All of them, the most telling first, where there are several."""
    fingerprint: str = ""
    suppressed: str | None = None
    known: Known | None = None
    """Why it is not told although no comment suppresses it."""
    runtime: Verdict | None = None
    """What running it said; ``None`` where it was not run."""
    defect: Defect | None = None
    """What it shares with findings that a report shows as one with it."""
    parts: tuple[Finding, ...] = ()
    """The others of its defect and in copies of its code, where it speaks for all of them."""
    within: Span | None = None
    """The function that it is in, where that is known, and in the same file."""
    fix: Fix | None = None
    """What mends it, where that is known."""
    repair: Repair | None = None
    """What its rule says of that; the linter makes ``fix`` of it."""
    advice: str = ""
    """The last clause of the message, where it says what to do."""
    rests_on: str = ""
    """The class, global or kernel of which it says what nothing in the run does: a file that was
    not read might."""
    uncalled: tuple[Step, ...] = ()
    """The function that it is in, and all that call that, with their short names, where no call of
    the run means any of them; a text that names one of them might."""
    missing: tuple[str, ...] = ()
    """Headers that were not found (GPU002): what many such findings have in common."""

    @property
    def brief(self) -> str:
        """The message without what it advises."""
        return self.message.removesuffix(f"; {self.advice}")

    def doubted(self, *reasons: Step) -> Finding:
        """The finding, where what it rests on was not seen whole."""
        steps = (*self.steps, *reasons)
        return dataclasses.replace(self, confidence=Confidence.LOW, steps=steps)

    def harmless(self, why: str) -> Finding:
        """The finding as ``info``, with the reason for it."""
        ways = tuple(Way(way.span, f"{way.message}, and {why}", way.steps) for way in self.ways)
        message = f"{self.message}, and {why}"
        return dataclasses.replace(self, severity=Severity.INFO, message=message, ways=ways)

    @property
    def refuted(self) -> bool:
        """Whether a run showed that it does not happen."""
        return self.runtime is not None and self.runtime.outcome is Outcome.REFUTED
