"""The facts of one repository: which findings it gives, and whether they are true."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import msgspec

Judgement = Literal["true", "petty", "false", "uncertain", "unjudged"]


class Fact(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One finding and what became of it."""

    file: str
    line: int
    code: str
    severity: Literal["error", "warning", "info"] = "warning"
    function: str = ""
    message: str = ""
    verdict: Judgement = "unjudged"
    why: str = ""
    present: bool = True
    """False: an earlier version of the linter gave it; its verdict is kept for its return."""

    @property
    def is_loud(self) -> bool:
        """Warnings and errors count for precision."""
        return self.severity != "info"


class Corpus(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A repository at one commit, and its facts."""

    repository: str
    commit: str
    paths: tuple[str, ...] = (".",)
    """What is linted, relative to the repository."""
    options: tuple[str, ...] = ()
    """Options of the command line."""
    note: str = ""
    findings: tuple[Fact, ...] = ()


class FactsError(Exception):
    """A facts file that cannot be used; the message names it."""


def load(path: Path) -> Corpus:
    """Read a facts file."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Corpus)
    except (OSError, msgspec.DecodeError) as error:
        raise FactsError(f"{path}: {error}") from None


def save(path: Path, corpus: Corpus) -> None:
    """Write a facts file, its findings in order."""
    lines = [f"repository = {_text(corpus.repository)}", f"commit = {_text(corpus.commit)}"]
    if corpus.paths != (".",):
        lines.append(f"paths = {_list(corpus.paths)}")
    if corpus.options:
        lines.append(f"options = {_list(corpus.options)}")
    if corpus.note:
        lines.append(f"note = {_text(corpus.note)}")
    for fact in sorted(corpus.findings, key=lambda fact: (fact.file, fact.line, fact.code)):
        lines += ["", "[[findings]]"]
        fields = {"file": fact.file, "line": fact.line, "code": fact.code} | (
            msgspec.to_builtins(fact) | {"severity": fact.severity, "verdict": fact.verdict}
        )
        for key, value in fields.items():
            shown = str(value).lower() if isinstance(value, bool | int) else _text(value)
            lines.append(f"{key} = {shown}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _text(value: str) -> str:
    # What JSON escapes, TOML escapes in the same way; it asks for DEL as well.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"


@dataclass(frozen=True)
class Comparison:
    """What a run gives, beside what is recorded."""

    kept: list[Fact] = field(default_factory=list)
    """Recorded and found; severity and message as found."""
    new: list[Fact] = field(default_factory=list)
    gone: list[Fact] = field(default_factory=list)
    moved: list[tuple[Fact, Fact]] = field(default_factory=list)
    """The same code in the same function on another line: as recorded, and as found."""
    regraded: list[tuple[Fact, Fact]] = field(default_factory=list)
    """Kept, with another severity."""

    @property
    def found(self) -> list[Fact]:
        """Every finding of the run, with the verdict that is recorded for it."""
        return [*self.kept, *self.new, *(fact for _, fact in self.moved)]

    def merged(self) -> list[Fact]:
        """The findings to record from now on."""
        absent = [msgspec.structs.replace(fact, present=False) for fact in self.gone]
        return [*self.found, *absent]


def compare(recorded: Sequence[Fact], found: Sequence[Fact]) -> Comparison:
    """Match findings by file, line and code, then by function and order."""
    result = Comparison()
    waiting: dict[tuple[str, int, str], list[Fact]] = defaultdict(list)
    for fact in recorded:
        waiting[fact.file, fact.line, fact.code].append(fact)
    fresh: list[Fact] = []
    for fact in found:
        known = waiting[fact.file, fact.line, fact.code]
        if not known:
            fresh.append(fact)
            continue
        same = [old for old in known if old.message == fact.message]
        old = (same or known)[0]
        known.remove(old)
        judged = _judged_as(fact, old)
        result.kept.append(judged)
        if old.present and old.severity != fact.severity:
            result.regraded.append((old, judged))
    missing = [fact for known in waiting.values() for fact in known]
    for fact in fresh:
        former = next(
            (one for one in missing if one.present and _place(one) == _place(fact)),
            None,
        )
        if former is None:
            result.new.append(fact)
        else:
            missing.remove(former)
            result.moved.append((former, _judged_as(fact, former)))
    result.gone.extend(missing)
    return result


def _place(fact: Fact) -> tuple[str, str, str]:
    return fact.file, fact.code, fact.function


def _judged_as(fact: Fact, old: Fact) -> Fact:
    return msgspec.structs.replace(fact, verdict=old.verdict, why=old.why)


@dataclass(frozen=True)
class Precision:
    """How many of the warnings and errors are false."""

    true: int
    petty: int
    """Technically right, but no maintainer would want to be told."""
    false: int
    uncertain: int
    unjudged: int

    @property
    def percent_false(self) -> float:
        """The share of false ones among those judged; an uncertain one is not a true one."""
        judged = self.true + self.petty + self.false + self.uncertain
        return 100 * self.false / judged if judged else 0.0

    def __str__(self) -> str:
        text = f"{self.true} true, {self.petty} petty, {self.false} false, "
        text += f"{self.uncertain} uncertain"
        if self.unjudged:
            text += f", {self.unjudged} unjudged"
        return f"{text}: {self.percent_false:.1f} % false"


def precision(facts: Iterable[Fact]) -> Precision:
    """Count the verdicts of warnings and errors."""
    verdicts = [fact.verdict for fact in facts if fact.is_loud]
    return Precision(*(verdicts.count(word) for word in get_args(Judgement)))


def describe(comparison: Comparison) -> Iterator[str]:
    """What changed, a line each."""
    for fact in comparison.new:
        yield f"  new     {_line(fact)}"
    for old, fact in comparison.moved:
        yield f"  moved   {_line(fact)} (from line {old.line})"
    for old, fact in comparison.regraded:
        yield f"  regrade {_line(fact)} (was {old.severity})"
    for fact in comparison.gone:
        if fact.present:
            yield f"  gone    {_line(fact)} [{fact.verdict}]"


def _line(fact: Fact) -> str:
    return f"{fact.file}:{fact.line}: {fact.code} {fact.severity}: {fact.message}"
