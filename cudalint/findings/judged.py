"""How often a rule was right where it met code for the first time: what its confidence is worth.

``judged.toml`` is written by ``python -m benchmarks.first_sight --write-judged`` from findings that
people judged by reading the code.
"""

from __future__ import annotations

import functools
from importlib.resources import files

import msgspec

from cudalint.findings.finding import Confidence

AIMS = {Confidence.HIGH.value: 95, Confidence.MEDIUM.value: 80}
"""The share of findings, in percent, that should not be false."""
TRUSTED = 90
"""A rule is trusted where at least this share of what is shown by default, in percent, is right."""
ENOUGH = 5
"""So many decide: of fewer nothing is concluded."""
_PRECISIONS = (("very-high", 95), ("high", 80), ("medium", 50))


class Judged(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How many findings were judged to be what; petty: right, but nobody wants to be told."""

    true: int = 0
    petty: int = 0
    false: int = 0
    uncertain: int = 0

    @property
    def count(self) -> int:
        """All of them."""
        return self.true + self.petty + self.false + self.uncertain

    @property
    def decided(self) -> int:
        """Those of which it is known whether they are right."""
        return self.count - self.uncertain

    def __str__(self) -> str:
        counts = ((name, getattr(self, name)) for name in self.__struct_fields__)
        said = ", ".join(f"{count} {name}" for name, count in counts if count)
        return f"{said} of {self.count}"


class Judgements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The counts of some rounds, by rule and confidence."""

    rounds: dict[str, str]
    """The linter's commit at each round."""
    rules: dict[str, dict[str, Judged]]


@functools.cache
def judgements() -> Judgements:
    """What is recorded."""
    text = files("cudalint.findings").joinpath("judged.toml").read_bytes()
    return msgspec.toml.decode(text, type=Judgements)


def judged(code: str, confidence: Confidence) -> Judged | None:
    """The counts of a rule's findings of one confidence; ``None`` where none was judged."""
    return judgements().rules.get(code, {}).get(confidence.value)


def precision(code: str, confidence: Confidence) -> str:
    """How precise a rule's findings are, in SARIF's words: as measured, where enough of them were
    judged; else as the rule says itself."""
    counts = judged(code, confidence)
    if counts is None or counts.decided < ENOUGH:
        return confidence.value
    right = 100 * (counts.decided - counts.false) / counts.decided
    return next((name for name, least in _PRECISIONS if right >= least), "low")


def paragraph(code: str) -> str:
    """A section of the rule's page; empty where no finding of it was judged."""
    known = judgements()
    counts = known.rules.get(code, {})
    lines = [
        f"- {confidence} confidence{_aim(confidence)}: {one}" for confidence, one in counts.items()
    ]
    if not lines:
        return ""
    rounds = ", ".join(f"{name} at {commit}" for name, commit in known.rounds.items())
    return (
        "\n\n## Judged at first sight\n\nOn repositories that nobody had tuned for, by reading the "
        f"code before anything was mended ({rounds}); *petty* is right, but no maintainer wants to "
        "be told:\n\n" + "\n".join(lines) + _warning(counts)
    )


def _warning(counts: dict[str, Judged]) -> str:
    """What the page says of a rule that is not trusted yet."""
    shown = [one for confidence, one in counts.items() if confidence in AIMS]
    decided = sum(one.decided for one in shown)
    right = decided - sum(one.false for one in shown)
    if decided < ENOUGH or 100 * right >= TRUSTED * decided:
        return ""
    return (
        f"\n\n**Read each finding before you trust it**: of those that are shown by default, "
        f"{right} of {decided} were right, fewer than {TRUSTED} in 100."
    )


def _aim(confidence: str) -> str:
    return f" (at least {AIMS[confidence]} % should not be false)" if confidence in AIMS else ""
