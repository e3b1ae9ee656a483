"""Rounds of findings that were judged by reading the code, and their counts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from cudalint.findings.judged import ENOUGH, TRUSTED

Verdict = Literal["true", "petty", "false", "uncertain"]
VERDICTS: tuple[Verdict, ...] = ("true", "petty", "false", "uncertain")
_LATEST = 5
"""Rounds that say what the linter of today is worth."""
_CHANCE = 0.05
"""What a rule that is right in 9 of 10 may be unlucky to look like."""


class Judged(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One finding at first sight, and what it is worth."""

    repository: str
    """OWNER/NAME on GitHub."""
    commit: str
    file: str
    line: int
    code: str
    severity: Literal["error", "warning", "info"]
    confidence: Literal["high", "medium", "low"]
    message: str
    verdict: Verdict
    """``petty``: technically right, but no maintainer would want to be told."""
    why: str
    """The line of the program that decides."""
    mechanism: str = ""
    """What the linter misunderstood, in general words."""
    since: Literal["", "low"] = ""
    """``low``: all findings of its kind have had low confidence since, right or wrong, for what
    this and earlier rounds showed."""

    @property
    def language(self) -> str:
        """Of its file."""
        return "Python" if self.file.endswith((".py", ".ipynb")) else "C++"


class Round(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A random sample of what one version of the linter told of repositories new to it."""

    linter: str
    """The linter's commit."""
    date: str
    note: str
    findings: tuple[Judged, ...]


def load(path: Path) -> Round:
    """Read a round.

    Raises:
        ValueError: It is broken; the message names it.
    """
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Round)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path}: {error}") from None


def by_round(rounds: dict[str, Round]) -> Iterator[list[str]]:
    """Rows: each round by language, what is told by default and what ``--preview`` adds (low
    confidence) apart; a false finding of severity ``error`` is the worst there is."""
    head = ["round", "linter", "language", "set", "repositories", "judged"]
    yield [*head, *VERDICTS, "false errors"]
    for name, one in rounds.items():
        groups = _grouped(one.findings, lambda finding: (finding.language, _set(finding)))
        for (language, part), found in groups:
            errors = sum(each.severity == "error" and each.verdict == "false" for each in found)
            count = len({each.repository for each in found})
            yield [name, one.linter, language, part, str(count), *_counts(found), str(errors)]


def _set(finding: Judged) -> str:
    return "preview" if finding.confidence == "low" else "default"


def unproven(rounds: dict[str, Round]) -> frozenset[str]:
    """The rules that are shown to be right in fewer than 9 of 10: were it 9 of 10, what they tell
    by default would hardly have come out as badly, in the latest rounds of all or in the latest
    that met the rule.

    Findings of one repository are wrong for one reason, as a rule: each repository has one vote.
    What was met long ago says less, and dozens of rules are asked: there each has its part of the
    chance (Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979).
    """
    met: dict[str, list[list[Judged]]] = defaultdict(list)
    for name in sorted(rounds, key=number_of):
        for code, found in _grouped(filter(_counts_today, rounds[name].findings), _code):
            met[code].append(found)
    latest = {code: list(chain(*found[-_LATEST:])) for code, found in met.items()}
    asked = {code: _as_bad(found) for code, found in latest.items() if len(found) >= ENOUGH}
    refuted: set[str] = set()
    for code in sorted(asked, key=lambda code: (asked[code], code)):
        if asked[code] >= _CHANCE / (len(asked) - len(refuted)):
            break
        refuted.add(code)
    today = dict(_grouped(filter(_counts_today, _recent(rounds)), _code))
    refuted |= {
        code for code, found in today.items() if len(found) >= ENOUGH and _as_bad(found) < _CHANCE
    }
    return frozenset(refuted)


def _recent(rounds: dict[str, Round]) -> list[Judged]:
    latest = sorted(rounds, key=number_of)[-_LATEST:]
    return [finding for name in latest for finding in rounds[name].findings]


def _code(finding: Judged) -> str:
    return finding.code


def _counts_today(finding: Judged) -> bool:
    """Whether it says what is told by default today."""
    return _set(finding) == "default" and not finding.since and finding.verdict != "uncertain"


def _as_bad(found: list[Judged]) -> float:
    """How likely a rule that is right in 9 of 10 looks as bad as this, or worse."""
    votes = [
        sum(one.verdict != "false" for one in of) / len(of)
        for _, of in _grouped(found, lambda finding: finding.repository)
    ]
    count, right = len(votes), math.floor(sum(votes) + 0.5)
    share = TRUSTED / 100
    return sum(
        math.comb(count, n) * share**n * (1 - share) ** (count - n) for n in range(right + 1)
    )


def by_rule(findings: Iterable[Judged]) -> Iterator[list[str]]:
    """Rows: each rule by confidence, then all of them."""
    yield ["rule", "confidence", "judged", *VERDICTS]
    findings = list(findings)
    for (code, confidence), found in _grouped(findings, lambda one: (one.code, one.confidence)):
        yield [code, confidence, *_counts(found)]
    for confidence, found in _grouped(findings, lambda one: one.confidence):
        yield ["all", confidence, *_counts(found)]


def number_of(name: str) -> int:
    """The number in ``round-10``, the name of a round."""
    return int(name.rpartition("-")[2])


def judged_text(rounds: dict[str, Round]) -> str:
    """What the linter says of itself: the counts of the latest rounds, by rule and confidence."""
    latest = {name: rounds[name] for name in sorted(rounds, key=number_of)[-_LATEST:]}
    lines = [
        "# Written by `python -m benchmarks.first_sight --write-judged`.",
        "",
        "[rounds]",
        *(f'{name} = "{one.linter}"' for name, one in latest.items()),
    ]
    groups = _grouped(_recent(rounds), lambda one: (one.code, one.since or one.confidence))
    for (code, confidence), found in groups:
        lines += ["", f"[rules.{code}.{confidence}]"]
        verdicts = [one.verdict for one in found]
        lines += [f"{v} = {verdicts.count(v)}" for v in VERDICTS if v in verdicts]
    return "\n".join(lines) + "\n"


Key = TypeVar("Key", str, tuple[str, str])


def _grouped(
    findings: Iterable[Judged], key: Callable[[Judged], Key]
) -> list[tuple[Key, list[Judged]]]:
    groups: dict[Key, list[Judged]] = defaultdict(list)
    for finding in findings:
        groups[key(finding)].append(finding)
    return sorted(groups.items())


def _counts(found: Sequence[Judged]) -> list[str]:
    verdicts = [one.verdict for one in found]
    shares = [
        f"{verdicts.count(one)} ({100 * verdicts.count(one) / len(found):.0f} %)"
        for one in VERDICTS
    ]
    return [str(len(found)), *shares]
