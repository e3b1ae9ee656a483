"""What GPU601 says of a value that is kept with its graph."""

from __future__ import annotations

from cudalint.analysis.facts.tensors import GraphRetention
from cudalint_rules._wording import its_siblings, quoted, rows


def retained(kept: GraphRetention) -> str:
    """What is kept where, how often, why it has a graph, and what to keep instead."""
    return f"{_what(kept)}, {_step(kept)}; {_evidence(kept)}{_siblings(kept)}; {_advice(kept)}"


def _what(kept: GraphRetention) -> str:
    preposition = "in" if kept.how == "stored" else "to"
    through = f" (by {quoted(kept.through)})" if kept.through else ""
    return f"{quoted(kept.name)} is {kept.how} {preposition} {quoted(kept.place)}{through} " + (
        "with its graph" if kept.sure else "with the graph that it may have"
    )


def _step(kept: GraphRetention) -> str:
    if kept.remembered:
        return "by the first call only"
    if kept.loop is not None:
        return f"once per iteration of the loop at line {kept.loop.span.row}"
    return f"once per step (called by {kept.called_by})"


def _evidence(kept: GraphRetention) -> str:
    if kept.let_go is not None:
        row = kept.let_go.span.row
        return f"no gradient of it is computed, and `{kept.let_go.text}` lets go only at line {row}"
    if kept.remembered:
        return "its graph is there as long as the module"
    if kept.buffer:
        return f"{quoted(kept.place)} is a buffer, of which no gradient is computed"
    if kept.differentiated is None:
        return "its gradient is computed by the caller"
    line = kept.differentiated.span.row
    if kept.inside:
        return f"{quoted(kept.inside.rpartition('.')[2])} (line {line}) returns it with its graph"
    if kept.direct or kept.differentiated.text == kept.name:
        return f"`backward()` is called on it at line {line}"
    on = quoted(kept.differentiated.text)
    if kept.derived:
        return f"it hangs on the graph of {on}, on which `backward()` is called at line {line}"
    return f"it goes into {on}, on which `backward()` is called at line {line}"


def _siblings(kept: GraphRetention) -> str:
    if not kept.siblings:
        return ""
    names = its_siblings(site.text for site in kept.siblings)
    return f"; {names} detached at {rows(site.span for site in kept.siblings)}"


def _advice(kept: GraphRetention) -> str:
    if kept.holds_tensor:
        return "keep what is in it detached, or as numbers"
    ways = (".detach()",) if kept.large else (".item()", ".detach()")
    advised = " or ".join(quoted(kept.variable + way) for way in ways)
    return f"keep {advised}" if kept.variable else f"keep {advised} of it"
