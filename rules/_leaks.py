"""Which leak is whose: the one place that tells GPU101, 102, 103, 104 and 106 apart.

One resource gives one finding. Its leak fact lists every way on which it is lost; ``judge`` decides
which rule speaks of it, which of the ways count, and how sure and how grave that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cudalint.analysis.facts import Exit, FunctionFacts, Leak, LeakExit
from cudalint.findings.finding import Confidence, Severity
from cudalint_rules._wording import quoted

UNPAIRED, EARLY_EXIT, EXCEPTION = "GPU101", "GPU102", "GPU103"
OVERWRITTEN, HANDLE = "GPU104", "GPU106"


_SMALL = 4096
"""Bytes, of memory that one run of a program may leave behind once: less than a page."""


@dataclass(frozen=True)
class Verdict:
    """The rule that a leak belongs to, and the ways out that it speaks of."""

    code: str
    exits: tuple[LeakExit, ...]
    severity: Severity = Severity.WARNING
    confidence: Confidence = Confidence.HIGH
    excuse: str = ""
    """Why it does little harm, where that cannot be seen in the function."""


def classify(leak: Leak, facts: FunctionFacts) -> str | None:
    """The code of the rule that a leak belongs to; ``None``: of no rule."""
    verdict = judge(leak, facts)
    return verdict.code if verdict else None


def judge(leak: Leak, facts: FunctionFacts) -> Verdict | None:
    """Decide what a leak is."""
    leak = certain(leak)
    lost = _overwrites(leak)
    if lost:
        sure = Confidence.HIGH if leak.followed else Confidence.LOW
        return Verdict(OVERWRITTEN, lost, confidence=_unless_lent(lost, sure))

    exits = _ways_out(leak)
    if not exits:
        return None
    exits = tuple(sorted(exits, key=lambda way: way.sticky))  # the survivable ones tell more
    if leak.resource.is_handle:
        code = HANDLE
    elif not leak.ended_otherwise:
        code = UNPAIRED
    elif any(way.kind is not Exit.THROW for way in exits):
        code = EARLY_EXIT
    else:
        code = EXCEPTION
    confidence = _unless_lent(exits, _confidence(leak, exits, facts))
    # A function that passes it on is not the place that promised to release it.
    if code == EARLY_EXIT and (not leak.released or _depends(exits)):
        confidence = Confidence.LOW
    excuse = _excuse(leak, exits, facts)
    severity = Severity.WARNING if excuse is None else Severity.INFO
    return Verdict(code, exits, severity, confidence, excuse or "")


def certain(leak: Leak) -> Leak:
    """The leak without the ways on which a callee out of sight may own the resource, where there
    are others: on those it is passed on, for all that is known."""
    sure = tuple(way for way in leak.exits if not way.lent)
    telling = sure if leak.released else [w for w in sure if w.kind is not Exit.THROW or w.explicit]
    if not telling:
        return leak
    lent = tuple(dict.fromkeys(to for way in leak.exits for to in way.lent))
    return replace(leak, exits=sure, handed_over=(*leak.handed_over, *lent))


def _unless_lent(exits: tuple[LeakExit, ...], confidence: Confidence) -> Confidence:
    """A callee out of sight may own it on each of these ways."""
    return Confidence.LOW if all(way.lent for way in exits) else confidence


def _depends(exits: tuple[LeakExit, ...]) -> bool:
    """Whether no call has failed on any of the ways, and others that leave at the same places have
    released it: what tells them apart is a condition, and it may be that of the acquisition."""
    return all(way.held == "unless ended" and not way.on_failure for way in exits)


def _overwrites(leak: Leak) -> tuple[LeakExit, ...]:
    """The overwrites that are the defect itself, not a consequence of never releasing."""
    lost = tuple(way for way in leak.exits_of(Exit.OVERWRITE) if not way.early)
    if not leak.released and not leak.place_released:
        # Nothing ever releases it: where control also runs to the end with it, or where each
        # iteration of a loop acquires the next in the same place, the missing release is the news.
        if leak.exits_of(Exit.END):
            return ()
        own = leak.resource.span
        lost = tuple(way for way in lost if (way.overwritten_by, way.span) != ("acquire", own))
    return lost


def _ways_out(leak: Leak) -> tuple[LeakExit, ...]:
    """The ways that count, the most telling first.

    A call that merely may raise adds nothing to a way out that is there for all to see; and where
    nothing releases the resource at all, as in a program that runs for ever, it proves nothing.
    """
    explicit = tuple(way for way in leak.exits_of(Exit.THROW) if way.explicit)
    if leak.ended_otherwise:
        skipped = tuple(way for way in leak.exits_of(Exit.OVERWRITE) if way.early)
        sure = (*leak.exits_of(Exit.RETURN, Exit.SCOPE, Exit.END), *skipped, *explicit)
        return sure or leak.exits_of(Exit.THROW)
    return (
        *leak.exits_of(Exit.END),
        *leak.exits_of(Exit.RETURN, Exit.SCOPE),
        *leak.exits_of(Exit.OVERWRITE),
        *explicit,
    )


def _excuse(leak: Leak, exits: tuple[LeakExit, ...], facts: FunctionFacts) -> str | None:
    """Why a leak does little harm, where the message has to say so; ``None``: it does harm. Where
    the process ends, or a test, what is left behind goes with it; and after an error of the device
    nothing can be released."""
    thrown = all(way.kind is Exit.THROW for way in exits)
    failing = all(way.on_failure or way.kind is Exit.THROW for way in exits)
    grows = leak.resource.in_loop or any(way.kind is Exit.OVERWRITE for way in exits)
    small = leak.resource.info.small or (leak.resource.bytes or _SMALL) < _SMALL
    at_most_once = failing or not grows
    ends = facts.is_main or facts.is_test or facts.runs_last
    if (ends and at_most_once) or (failing and facts.fatal):
        return ""
    if thrown and facts.unhandled:
        return "" if ends else "nobody takes the exception and goes on"
    if all(way.sticky for way in exits):
        return "if its arguments are right, such a call fails only where the context is lost"
    if at_most_once and (facts.is_step or (facts.runs_once and small)):
        return f"the program runs {quoted(facts.function)} once"
    if leak.resource.info.light and (failing or (facts.runs_few_times and not grows)):
        return f"a {leak.resource.info.noun} takes some hundred bytes"
    return None


def _confidence(leak: Leak, exits: tuple[LeakExit, ...], facts: FunctionFacts) -> Confidence:
    if not leak.followed:
        return Confidence.LOW
    if any(way.kind is not Exit.THROW or way.explicit for way in exits):
        return Confidence.HIGH
    # C++ callees rarely throw, and a Python function that passes the resource on is not the place
    # that promised to release it.
    sure_enough = facts.language == "python" and leak.released
    return Confidence.MEDIUM if sure_enough else Confidence.LOW


def leaks_of(code: str, facts: FunctionFacts) -> Iterator[tuple[Leak, Verdict, LeakExit]]:
    """The leaks of a function that belong to one rule; and of each, with all that share ways out
    with it, the last of these ways, which stays when one of them is mended. What nothing ever
    releases is mended otherwise than what some paths release."""
    judged = [(leak, verdict) for leak in facts.leaks if (verdict := judge(leak, facts))]
    groups: list[list[_Judged]] = []
    for each in judged:
        joined = [group for group in groups if any(_share(each, other) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(one for group in joined for one in group), each])
    for leak, verdict in judged:
        if verdict.code == code:
            ways = (
                way
                for group in groups
                if (leak, verdict) in group
                for _, one in group
                for way in one.exits
            )
            yield leak, verdict, max(ways, key=lambda way: way.span)


_Judged = tuple[Leak, Verdict]


def _share(first: _Judged, second: _Judged) -> bool:
    (leak, one), (another, other) = first, second
    if (one.severity, one.confidence) != (other.severity, other.confidence):
        return False
    if leak.ended_otherwise != another.ended_otherwise:
        return False
    ways = [*one.exits, *other.exits]
    if all(way.overwritten_by == "run" for way in ways):
        return True  # the next run of the function
    return not {way.span for way in one.exits}.isdisjoint(way.span for way in other.exits)
