"""Entries of what outlives a function that it moves to the device in place (Python)."""

from __future__ import annotations

from cudalint.analysis.facts.lifetimes import MovedEntry
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.shape.operations import calls, expressions
from cudalint.analysis.shape.placement import Placements
from cudalint.analysis.shape.places import holder, place
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.program import (
    Assign,
    Constant,
    Expression,
    Function,
    Index,
    Member,
    Unknown,
    Variable,
    render,
    walk,
)


def moved_entries(function: Function, symbols: Symbols) -> tuple[MovedEntry, ...]:
    """The entries of a member's or a global's list that get what they hold replaced by its copy on
    the device: ``entry = self.cached[i]; entry["image"] = entry["image"].to(device)``."""
    if function.kind in ("module", "constructor") or _is_per_parameter(function, symbols):
        return ()
    flow = symbols.flow(function)
    placements = Placements(function, symbols)
    written = written_calls(function)
    found: dict[str, MovedEntry] = {}
    for _, call in calls(function):
        target = call.target
        if not isinstance(target, Index) or not isinstance(target.base, Variable):
            continue
        entry = target.base.symbol
        if entry in found or not placements.moves(call):
            continue
        taken = flow.only(entry)
        source = taken.value if isinstance(taken, Assign) else None
        if taken is None or not isinstance(source, Index) or not _is_one_of_many(source):
            continue
        outer = place(source.base) or ""
        if not outer.startswith(("this.", "::")) or not _is_part(call.receiver, target):
            continue
        if _is_parameter(source.index, function, symbols):
            continue
        found[entry] = MovedEntry(
            target.base.name,
            render(source.base).replace("this.", "self."),
            call.span,
            Site(function.filename, taken.span, ""),
            render(substitute(target, written)),
        )
    return tuple(found.values())


def _is_per_parameter(function: Function, symbols: Symbols) -> bool:
    """Whether the entries of a method's object are those of weights, and live where these do."""
    lineage = symbols.lineage(function.record, function.filename) if function.record else ()
    effects = map(symbols.models("python").lifetime_effect, lineage)
    return any(effect is not None and effect.per_parameter for effect in effects)


def _is_parameter(key: Expression, function: Function, symbols: Symbols) -> bool:
    """Whether a key is a weight, whose gradient the function reads: the entry lives where it
    does."""
    effect_of = symbols.models("python").lifetime_effect
    return any(
        isinstance(part, Member)
        and part.base == key
        and (effect := effect_of(f".{part.field}")) is not None
        and effect.of_parameters
        for whole in expressions(function)
        for part in walk(whole)
    )


def _is_one_of_many(source: Index) -> bool:
    """Whether an entry is taken by a key that differs from call to call."""
    return not isinstance(source.index, Constant | Unknown)


def _is_part(receiver: Expression | None, target: Index) -> bool:
    """Whether what is moved was in the entry: at the same key, or as the value beside it."""
    if receiver is None:
        return False
    return place(receiver) == place(target) or (
        isinstance(target.index, Variable) and holder(receiver) != holder(target)
    )
