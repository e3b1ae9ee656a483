"""What a callee out of sight is given by value: it may own it from then on, or only borrow it.

No name tells which. A release in sight, after the call, does: whoever releases what the callee has
kept would release it twice. And a callee that says that it has failed has taken nothing.
"""

from __future__ import annotations

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import Holding, Lending, State
from cudalint.analysis.facts import Site
from cudalint.analysis.values.values import (
    NULL,
    ZERO,
    Const,
    Input,
    Operation,
    Sequence,
    Value,
    resources_in,
)
from cudalint.program import FIELDS, Expression

STATUS_KINDS = ("integer", "enumeration")
"""Of variables that may hold a status: a number, of which zero means success, and not a truth."""


def lend(
    run: FunctionRun, expression: Expression, value: Value, lending: Lending, state: State
) -> None:
    """Give a value to a callee out of sight; what an object holds is out of sight then: its class,
    or whoever has a copy, may end it."""
    place = run.evaluator.location(expression, state)
    if place is not None:
        state.give_away(inner for at, inner in state.below(place) if at != place)
    if isinstance(value, Sequence) and value.kind == FIELDS:
        state.give_away([value])
    lend_values(state, [value], lending)


def lend_values(state: State, values: list[Value], lending: Lending) -> None:
    """Give values to a callee out of sight, and with them what they lead to."""
    given = {resource for value in values for resource in resources_in(value)}
    state.escape(state.reachable(values) - given)
    state.lend(sorted(given), lending)
    state.lent |= {value.location for value in values if isinstance(value, Input)}


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
