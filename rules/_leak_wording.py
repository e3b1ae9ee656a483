"""What the rules say of leaks: when a resource is lost, what releases it otherwise, the finding."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from cudalint.analysis.facts import Exit, FunctionFacts, Leak, LeakExit, Resource, Site, readable
from cudalint.findings.finding import Confidence, Defect, Finding, Step, Way, from_the_top
from cudalint.findings.repair import Named, ReleaseFirst, ReleaseOnExits, WayOut
from cudalint.findings.rule import Rule
from cudalint_rules._leaks import Verdict, certain
from cudalint_rules._wording import its_siblings, places, quoted, rows, steps_at, subject

Wording = Callable[[tuple[LeakExit, ...]], str]
"""Says what is lost by some of the ways out."""
_ENDS = {Exit.END: "the function ends", Exit.SCOPE: "its scope ends"}
_LEAVES = {
    Exit.END: "ends",
    Exit.RETURN: "returns",
    Exit.SCOPE: "its scope ends",
    Exit.THROW: "leaves",
    Exit.OVERWRITE: "goes on",
}


def leak_finding(
    rule: Rule,
    facts: FunctionFacts,
    leak: Leak,
    verdict: Verdict,
    last: LeakExit,
    say: Wording,
) -> Finding:
    """The finding of a leak, at its acquisition; ``say`` words it by some of its ways out. ``last``
    is the last that leaks of the same defect have."""
    exits, resource = verdict.exits, leak.resource
    about = subject(resource.name, resource.api)
    excuse = f"; {verdict.excuse}" if verdict.excuse else ""
    is_kept = any(way.overwritten_by == "run" for way in exits)
    finding = rule.finding(
        say(exits) + _unless_owned(exits) + excuse,
        filename=resource.filename,
        span=resource.span,
        function=facts.function,
        subject=about,
        steps=_steps(exits, facts, leak),
        severity=verdict.severity,
        confidence=verdict.confidence,
        repair=_repair(leak, verdict, facts),
        rests_on=resource.name if is_kept else "",
        defect=Defect(f"{facts.function}: {last.kind.value}, {clause(last)}", last.span, about),
    )
    ways = [
        Way(way.span, say((way,)) + _unless_owned((way,)), _steps((way,), facts, leak))
        for way in exits
    ]
    shown = tuple(ways) if len(ways) > 1 else ()
    return replace(finding, ways=shown, uncalled=facts.uncalled)


def _repair(
    leak: Leak, verdict: Verdict, facts: FunctionFacts
) -> ReleaseOnExits | ReleaseFirst | None:
    """A release on each of the ways out, where they are all in one file, or before it is
    overwritten."""
    resource = leak.resource
    here = {site.filename for site in (*leak.released, *leak.siblings)} | {resource.filename}
    overwritten = {way.kind is Exit.OVERWRITE for way in verdict.exits}
    unfit = resource.info.attached or resource.info.indirect
    if here != {facts.filename} or len(overwritten) > 1 or unfit:
        return None
    release = ReleaseOnExits(
        name=resource.name + resource.part,
        api=resource.api,
        releases=resource.info.releases,
        acquired=resource.span,
        function=facts.span,
        ways=tuple(
            {
                way.span: WayOut(way.span, way.on_failure, way.held, way.kind is Exit.THROW)
                for way in verdict.exits
            }.values()
        ),
        released=tuple(Named(site.span, site.text) for site in leak.released),
        siblings=tuple(Named(site.span, site.text) for site in leak.siblings),
        handle=resource.is_handle,
        number=resource.info.number,
        wrapped=resource.through is not None,
        handed_over=bool(leak.handed_over) or leak.put_off,
        raised_over=facts.language == "python"
        and any(way.kind is Exit.THROW and way not in verdict.exits for way in certain(leak).exits),
        sure=verdict.confidence is Confidence.HIGH,
    )
    return ReleaseFirst(release) if overwritten == {True} else release


def _steps(exits: tuple[LeakExit, ...], facts: FunctionFacts, leak: Leak) -> tuple[Step, ...]:
    """Each way out and each release."""
    first, *others = exits
    resource = leak.resource
    more = (
        *(
            Step(facts.filename, way.span, f"{resource.name} is lost here too: {clause(way)}")
            for way in others
        ),
        *steps_at(leak.released, f"other paths release {resource.name} here", aside=True),
        *steps_at(leak.handed_over, f"other paths pass {resource.name} on here", aside=True),
        *steps_at(first.lent, "{text} is out of sight, is given it here, and may own it"),
        *steps_at(leak.siblings, "its sibling {text} is released here", aside=True),
    )
    return from_the_top(first.steps, more)


def _unless_owned(exits: tuple[LeakExit, ...]) -> str:
    if not all(way.lent for way in exits):
        return ""
    owner = quoted(exits[0].lent[0].text)
    return f", unless {owner}, which is out of sight, took it over"


def never_released(leak: Leak, facts: FunctionFacts, verb: str = "released") -> Wording:
    """What to say of a resource that no path releases."""
    why = siblings(leak.siblings, facts.filename)
    if why and leak.resource.in_loop:
        why = f": each iteration acquires another{why}"
    why = why or f": {never(leak.resource, facts.function)}"
    return lambda exits: f"{leak.resource} is never {verb}{why}"


def not_released(leak: Leak, facts: FunctionFacts, verb: str = "released") -> Wording:
    """What to say of a resource that is released on other paths."""
    rest = otherwise(leak, facts)

    def say(exits: tuple[LeakExit, ...]) -> str:
        unmade = _is_of_no_object(leak, exits, facts)
        why = "; no destructor runs where a constructor throws" if unmade else rest
        return f"{leak.resource} is not {verb} {when(exits)}{why}"

    return say


def _is_of_no_object(leak: Leak, exits: tuple[LeakExit, ...], facts: FunctionFacts) -> bool:
    """Whether it is in a member of an object that is not made, for all that is told."""
    stored = {site.text for site in leak.handed_over} == {"is stored"}
    thrown = all(way.kind is Exit.THROW for way in exits)
    return facts.is_constructor and thrown and stored and not leak.released


def clause(way: LeakExit) -> str:
    """Why control left: the reason without the line that it may name, and with short names."""
    text = re.sub(r" \(line \d+\)$", "", way.reason)
    return re.sub(r"`([\w.]+)`", lambda match: f"`{readable(match[1])}`", text)


def when(exits: tuple[LeakExit, ...]) -> str:
    """When it is not released: ``when cudaMemcpy fails (returns at line 31)``."""
    first, *others = exits
    row = first.span.row
    if clause(first) == _ENDS.get(first.kind):
        text = f"when {clause(first)} at line {row}"
    else:
        text = f"when {clause(first)} ({_LEAVES[first.kind]} at line {row})"
    rest = {way.span for way in others if way.span.row != first.span.row}
    return f"{text}, nor on the way out at {rows(rest)}" if rest else text


def otherwise(leak: Leak, facts: FunctionFacts) -> str:
    """What happens on the other paths: ``; line 40 releases it otherwise``."""
    if leak.released:
        verb = "releases" if len({site.span.row for site in leak.released}) == 1 else "release"
        return f"; {places(leak.released, facts.filename)} {verb} it otherwise"
    if leak.handed_over:
        ways = {site.text for site in leak.handed_over}
        how = ways.pop() if len(ways) == 1 else ""
        return (
            f"; otherwise it {how or 'is passed on'} at {places(leak.handed_over, facts.filename)}"
        )
    return ""


def siblings(sites: tuple[Site, ...], filename: str) -> str:
    """The evidence of the forgotten one: ``; its siblings `d_a` and `d_b` are, at lines 40-41``."""
    if not sites:
        return ""
    return f"; {its_siblings(site.text for site in sites)}, at {places(sites, filename)}"


def never(resource: Resource, function: str) -> str:
    """Which call is missing: ``no way out of `render` calls cudaFree``."""
    release = resource.released_by or "anything that releases it"
    again = "each iteration acquires another, and " if resource.in_loop else ""
    return f"{again}no way out of {quoted(function)} calls {release}"


def overwriting(leak: Leak, way: LeakExit) -> str:
    """How a way out loses the last pointer to a resource."""
    row = way.span.row
    if way.overwritten_by == "acquire":
        if leak.resource.span.row == row:
            return "is acquired anew on each iteration while the last one is still owned"
        return f"is acquired anew at line {row} while the first one is still owned"
    if way.overwritten_by == "run":
        return "is acquired anew each time the function runs, and nothing ever releases it"
    if way.overwritten_by == "null":
        return f"is set to null at line {row} while it is still owned"
    return f"is overwritten at line {row} while it is still owned, and nothing else points to it"
