"""Objects that own memory or handles and are never closed: what GPU101 and GPU106 say of them."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, UnclosedOwner, readable
from cudalint.findings.finding import Confidence, Finding
from cudalint.findings.repair import OpenInWith
from cudalint.findings.rule import Rule
from cudalint_rules._wording import listing, quoted


def owner_findings(rule: Rule, facts: FunctionFacts, *, handles: bool) -> Iterator[Finding]:
    """The findings of the objects that a function leaves open."""
    for owner in facts.lifetimes.owners if facts.lifetimes else ():
        if owner.is_handle == handles:
            yield rule.finding(
                _message(owner, facts.function),
                filename=facts.filename,
                span=owner.span,
                function=facts.function,
                subject=owner.name or owner.made_by,
                confidence=Confidence.MEDIUM,
                repair=_repair(owner),
                advised=True,
            )


def _repair(owner: UnclosedOwner) -> OpenInWith | None:
    if owner.is_stack:
        return OpenInWith(owner.span, "contextlib.ExitStack")
    if "__exit__" in owner.closing:
        return OpenInWith(owner.span, owner.made_by)
    return OpenInWith(owner.span) if "close" in owner.closing else None


def _message(owner: UnclosedOwner, function: str) -> str:
    what = quoted(owner.name, f"the {owner.made_by}")
    apis = listing(readable(api) for api in owner.apis)
    if owner.is_stack:
        return (
            f"{what} is never left: nothing in {quoted(function)} makes it call {apis}; "
            "use it in a `with`"
        )
    shown = owner.closing[0]
    use = "use it in a `with`" if shown == "__exit__" else f"call `{shown}()` or use it in a `with`"
    return f"{what} ({owner.made_by}) is never closed: what it acquires with {apis} stays; {use}"
