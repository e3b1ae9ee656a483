"""Calls of objects that own what a pointer points to, and what runs where they end."""

from __future__ import annotations

from cudalint.analysis.domains.ownership.adoption import (
    NO_ADOPTIONS,
    Adopted,
    Deleter,
    adopt,
    adopted,
    follows,
    give_back,
    is_owed,
    leave,
)
from cudalint.analysis.domains.ownership.escape import escape_value
from cudalint.analysis.domains.ownership.recorder import live
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import InputRelease, State
from cudalint.analysis.engine.summary import Outcome, Summary
from cudalint.analysis.interpreter.instantiate import end_object
from cudalint.analysis.values.values import NULL, FunctionValue, Input, Pointer, Value
from cudalint.apis.model import Adoption, ApiFunction
from cudalint.findings.finding import Step
from cudalint.program import Argument, Call, Function, Parameter, Type, Variable
from cudalint.source import Span

_GIVEN = Parameter("pointer", "pointer", Type("void *", "pointer"))


def own(run: FunctionRun, call: Call, model: ApiFunction, state: State) -> list[State]:
    """An object is given a pointer, or emptied: what it owned ends first."""
    assert model.adopts is not None
    symbol = follows(run, call.receiver)
    binding = Binding(call, model.parameters, run.evaluator, state)
    expression = binding.expression(model.adopts.pointer)
    value = binding.value(model.adopts.pointer)
    earlier = adopted(state, symbol) if symbol is not None else None
    deleter = _deleter(run, binding, model.adopts) or (earlier.deleter if earlier else None)
    owed = isinstance(value, Pointer) and (
        live(state.status(value.resource)) or is_owed(state, value)
    )
    states = [state] if symbol is None else end(run, symbol, call.span, state)
    for one in states:
        if symbol is not None:
            one.forget((symbol,))
        if expression is None or value is None or value == NULL:
            if symbol is not None:
                one.values[(symbol,)] = NULL
            continue
        known = symbol is not None and deleter is not None and _is_pointer(run, value)
        if not known:
            escape_value(run, expression, value, one)
        elif deleter is not None and not _does_nothing(run, deleter):
            one.give_away([value])  # the object releases it, or says later who does
        if known and symbol is not None and deleter is not None:
            one.values[(symbol,)] = value
            adopt(one, symbol, Adopted(deleter, call.span, owed))
    return states


def end_all(run: FunctionRun, symbols: tuple[str, ...], span: Span, state: State) -> list[State]:
    """Some variables end, and what they own."""
    states = [state]
    for symbol, _ in reversed(state.part(NO_ADOPTIONS).held):
        if symbol in symbols:
            states = [after for one in states for after in end(run, symbol, span, one)]
    return states


def end(run: FunctionRun, symbol: str, span: Span, state: State) -> list[State]:
    """An object ends what it owns."""
    owner, value = adopted(state, symbol), state.values.get((symbol,))
    if owner is None or value is None:
        return [state]
    deleter = owner.deleter
    give_back(state, symbol)
    place = Variable(run.function.variables[symbol].name, symbol)
    arguments = (Argument(place),)
    call = Call(deleter.name, arguments, span, receiver=place, kind="destructor", may_throw=False)
    summary, definition = _deletion(run, deleter, span)
    if summary is None or definition is None:
        states = [state]
    else:
        states = end_object(run, call, definition, summary, state) or [state]
    for one in states:
        leave(one, symbol)
    return states


def _deletion(
    run: FunctionRun, deleter: Deleter, span: Span
) -> tuple[Summary | None, Function | None]:
    """What a deleter does to the pointer that it is given."""
    if deleter.key:
        return run.summaries.summary(deleter.key, run.filename)
    model = run.models.lookup(deleter.name)
    if model is None or not model.releases:
        return None, None
    step = Step(run.filename, span, f"released here by {deleter.name}")
    families = model.releases[0].families
    released = (InputRelease((_GIVEN.symbol,), families, step, deleter.name),)
    definition = Function(deleter.name, deleter.name, run.filename, span, (_GIVEN,), (), {})
    return Summary((Outcome("return", None, released=released),)), definition


def _deleter(run: FunctionRun, binding: Binding, adoption: Adoption) -> Deleter | None:
    """What an object calls in the end: the function that it is given, or one of the class that its
    own names."""
    given = binding.value(adoption.deleter) if adoption.deleter is not None else None
    if isinstance(given, FunctionValue):
        defined = run.symbols.function(given.key, run.filename) is not None
        model = None if defined else run.models.lookup(given.name)
        if not defined and (model is None or not model.releases):
            return None
        return Deleter(given.name, given.key if defined and given.key else "")
    receiver = binding.call.receiver
    info = run.function.variables.get(receiver.symbol) if isinstance(receiver, Variable) else None
    if info is None or given is not None:
        return None
    if adoption.argument is None:
        return Deleter(adoption.default) if adoption.default else None
    named = info.type.arguments[adoption.argument : adoption.argument + 1]
    if not named:
        return None
    if named[0].text.partition("<")[0] == adoption.standard:
        return Deleter(adoption.default)
    record = run.symbols.record(named[0].record, run.filename)
    keys = record.methods if record is not None else ()
    methods = [run.symbols.function(key, run.filename) for key in keys]
    calls = [one for one in methods if one is not None and one.name.endswith("operator()")]
    if len(calls) == 1:
        return Deleter(calls[0].name, calls[0].key)
    return None


def _is_pointer(run: FunctionRun, value: Value) -> bool:
    """Whether a value is what a call acquired, or what a parameter points to."""
    if not isinstance(value, Input) or len(value.location) > 1:
        return isinstance(value, Pointer)
    return any(
        one.symbol == value.location[0] and one.type.kind == "pointer"
        for one in run.function.parameters
    )


def _does_nothing(run: FunctionRun, deleter: Deleter) -> bool:
    """Whether a deleter is known to leave alone what it is given."""
    if not deleter.key:
        return False
    summary, definition = run.summaries.summary(deleter.key, run.filename)
    if summary is None or definition is None or not summary.complete:
        return False
    effects, given = summary.effects, {one.symbol for one in definition.parameters}
    reached = effects.released | effects.written | effects.kept | effects.lent
    return not reached & given and not any(one.called for one in summary.outcomes)
