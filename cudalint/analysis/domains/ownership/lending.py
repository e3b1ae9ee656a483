"""What a callee out of sight is given by value: it may own it from then on, or only borrow it.

No name tells which. A release in sight, after the call, does: whoever releases what the callee has
kept would release it twice. And a callee that says that it has failed has taken nothing.
"""

from __future__ import annotations

from cudalint.analysis.engine.state import Holding, Lending, State
from cudalint.analysis.facts import Site
from cudalint.analysis.values.values import (
    NULL,
    ZERO,
    Const,
    Operation,
)

STATUS_KINDS = ("integer", "enumeration")
"""Of variables that may hold a status: a number, of which zero means success, and not a truth."""


def lent_to(state: State, holding: Holding) -> tuple[Site, ...]:
    """The callees that may own a resource on this path."""
    return tuple(lending.to for lending in holding.lent if not _has_failed(state, lending))


def borrowed_by(state: State, holding: Holding) -> tuple[Site, ...]:
    """The callees that came back, and of which a release tells that they only borrowed."""
    return tuple(
        lending.to
        for lending in holding.lent
        if not lending.raised and not _has_failed(state, lending)
    )


def _has_failed(state: State, lending: Lending) -> bool:
    """Whether the path goes past a test that says that the callee failed."""
    answer = lending.answer
    if answer is None:
        return False
    zero = state.conditions.get(Operation("==", (answer, ZERO)))
    known = state.equal.get(answer)
    if zero is None and isinstance(known, Const) and isinstance(known.value, int):
        zero = not known.value
    null = state.conditions.get(Operation("==", (answer, NULL)))
    return zero is False or null is True or state.conditions.get(answer) is lending.status
