"""Function values that a callee was given and has called: they run where they are known."""

from __future__ import annotations

from collections.abc import Callable

from cudalint.analysis.engine.run import FunctionRun, Next
from cudalint.analysis.engine.state import CalledInput, State
from cudalint.analysis.engine.summary import Summary
from cudalint.analysis.interpreter.modelled import apply_model
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.values.values import FunctionValue, Input, Symbol, Value
from cudalint.program import Argument, Call, Function, Variable
from cudalint.source import Span

ANSWER = "%answer"
"""What such a call is stored in."""
Apply = Callable[[FunctionRun, Call, Function, Summary, State], list[Next]]


def note_call(value: Value | None, arguments: list[Value], answer: Symbol, state: State) -> None:
    """A function calls what it was given: its caller knows what that is."""
    if isinstance(value, Input):
        state.called = state.called | {CalledInput(value.location, tuple(arguments), answer)}


def run_given(
    run: FunctionRun,
    function: Value,
    arguments: list[Value],
    answer: Symbol,
    span: Span,
    state: State,
    apply: Apply,
) -> list[State]:
    """A callee calls a function value, with some arguments; ``answer`` stands for the result."""
    if not isinstance(function, FunctionValue):
        note_call(function, arguments, answer, state)
        state.escape(state.reachable(arguments))
        return [state]
    places = [Variable(f"%given{number}", f"%given{number}") for number in range(len(arguments))]
    for place, value in zip(places, arguments, strict=True):
        state.values[(place.symbol,)] = value
    result = Variable(ANSWER, f"{ANSWER} {answer.origin}".replace("@", " "))
    call = Call(
        function.name,
        tuple(Argument(place) for place in places),
        span,
        target=result,
        key=function.key,
        kind="indirect",
    )
    after: list[State] = []
    for one in _run(run, call, state, apply):
        given = one.values.get((result.symbol,), answer)
        for place in (*places, result):
            one.forget((place.symbol,))
        # The callee knows what else becomes of the answer.
        one.escape(one.reachable([given]))
        after += _resolved(run, answer, given, one)
    return after


def _resolved(run: FunctionRun, answer: Symbol, given: Value, state: State) -> list[State]:
    states = [state]
    for condition, truth in () if given == answer else state.resolve(answer, given):
        states = [
            fitting for one in states for fitting in run.conditions.assume(one, condition, truth)
        ]
    return states


def _run(run: FunctionRun, call: Call, state: State, apply: Apply) -> list[State]:
    model = run.models.lookup(call.name)
    if model is not None:
        return apply_model(run, call, call.name, model, state)
    summary, definition = (
        run.summaries.summary(call.key, run.filename) if call.key else (None, None)
    )
    elsewhere = definition is not None and definition.parent not in (None, run.function.key)
    if summary is None or definition is None or elsewhere:
        state.escape(state.reachable(run.evaluator.value(a.value, state) for a in call.arguments))
        return [state]
    if identity(definition) in run.given:  # it was given itself
        summary = Summary((), complete=False, effects=summary.effects)
    run.given.append(identity(definition))
    try:
        after = apply(run, call, definition, summary, state)
    finally:
        run.given.pop()
    return [one for one in after if isinstance(one, State)]
