"""Choices by what somebody answers who was given a pointer: he may know what is released."""

from __future__ import annotations

from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import State
from cudalint.analysis.values.values import Value, inside, symbols_in
from cudalint.program import Call
from cudalint.source import Span


def is_asked_for(run: FunctionRun, state: State, value: Value, since: Span | None = None) -> bool:
    """Whether a path was chosen by what a call answered that was given a value, after ``since``
    where there is one: ``if (is_known(p)) cudaFree(p);``."""
    for condition in state.conditions:
        for symbol in symbols_in(condition):
            position, call = position_of(symbol.origin), run.made_by(symbol.origin)
            if position is None or call is None or not _only_asks(run, call):
                continue
            in_loop = bool(run.flow.enclosing.get(position[0]))
            if (since is None or in_loop or call.span > since) and any(
                value in inside(run.evaluator.value(argument.value, state))
                for argument in call.arguments
            ):
                return True
    return False


def asked_about(run: FunctionRun, state: State) -> frozenset[Value]:
    """What a path was chosen by the attributes of (``cudaPointerGetAttributes``)."""
    asked = {position_of(origin): value for origin, value in run.conditions.asked_for.items()}
    if not asked:
        return frozenset()
    places = {position_of(one.origin) for value in state.conditions for one in symbols_in(value)}
    return frozenset(value for place, value in asked.items() if place in places)


def _only_asks(run: FunctionRun, call: Call) -> bool:
    """Whether a call need not use what it is given, as a function of CUDA does that answers with a
    status."""
    model = run.models.lookup(call.name)
    return model is None or model.asks_about is not None or model.status is None
