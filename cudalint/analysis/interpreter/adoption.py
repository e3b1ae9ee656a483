"""Calls of objects that own what a pointer points to, and what runs where they end."""

from __future__ import annotations

from contextlib import nullcontext

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
from cudalint.analysis.domains.ownership.escape import escape_value, guard
from cudalint.analysis.domains.ownership.recorder import Recorder, live
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import InputRelease, State
from cudalint.analysis.engine.summary import Outcome, Summary
from cudalint.analysis.interpreter.instantiate import end_object
from cudalint.analysis.shape.destruction import Destruction
from cudalint.analysis.shape.members import referred, type_of
from cudalint.analysis.values.values import NULL, FunctionValue, Input, Pointer, Value
from cudalint.apis.model import Adoption, ApiFunction
from cudalint.findings.finding import Step
from cudalint.program import Argument, Call, Expression, Function, Parameter, Type, Variable
from cudalint.source import Span

_GIVEN = Parameter("pointer", "pointer", Type("void *", "pointer"))


def own(run: FunctionRun, call: Call, model: ApiFunction, state: State) -> list[State]:
    """An object is given a pointer, or emptied: what it owned ends first."""
    assert model.adopts is not None
    symbol = follows(run, call.receiver)
    binding = Binding(call, model.parameters, run.evaluator, state)
    expression = binding.expression(model.adopts.pointer)
    value = binding.value(model.adopts.pointer)
    # What it captured it may release.
    released = binding.value(model.adopts.deleter) if model.adopts.deleter is not None else None
    earlier = adopted(state, symbol) if symbol is not None else None
    deleter = _deleter(run, binding, model.adopts) or (earlier.deleter if earlier else None)
    owed = isinstance(value, Pointer) and (
        live(state.status(value.resource)) or is_owed(state, value)
    )
    place = run.evaluator.location(call.receiver, state) if call.receiver is not None else None
    states = [state] if symbol is None else end(run, symbol, call.span, state)
    after: list[State] = []
    for one in states:
        if symbol is not None:
            one.forget((symbol,))
        if expression is None or value is None or value == NULL:
            if released is not None and model.adopts.null:
                guard(run, released, one)
            if place is not None:
                one.write(place, NULL)
            after.append(one)
            continue
        if place is not None and isinstance(value, Pointer) and _is_object(run, expression):
            one.write(place, value)  # what the deleter of the other one does has been asked there
            after.append(one)
            continue
        if released is not None:
            guard(run, released, one)
        known = deleter is not None and place is not None and _is_pointer(run, value)
        if not known or deleter is None or place is None:
            escape_value(run, expression, value, one)
            if place is not None:  # whatever it held, that is gone
                other = run.position.symbol(f"object:{call.name}")
                one.refresh(other)
                one.write(place, value if isinstance(value, Pointer) else other)
            after.append(one)
            continue
        one.write(place, value)
        given = call.receiver if symbol is not None else expression
        passing, all_of_them = _passing_by(run, deleter, given or expression, value, one)
        after += passing if not all_of_them else [one]
        if not all_of_them:
            if symbol is None:
                escape_value(run, expression, value, one)
            else:
                one.give_away([value])  # the object releases it, or says later who does
            holding = one.resources.get(value.resource) if isinstance(value, Pointer) else None
            if holding is not None and isinstance(value, Pointer):
                alone = not deleter.key and not _has_destructors(run, expression)
                one.resources[value.resource] = holding._replace(alone=alone)
            after.append(one)
        if symbol is not None:
            adopt(one, symbol, Adopted(deleter, call.span, owed and not all_of_them))
    return after


def _passing_by(
    run: FunctionRun, deleter: Deleter, place: Expression, value: Value, state: State
) -> tuple[list[State], bool]:
    """The states in which a deleter will leave alone what stands in a place, and whether that is
    all there are."""
    summary, _ = _deletion(run, deleter, run.position.span)
    held = (
        value.resource
        if isinstance(value, Pointer) and live(state.status(value.resource))
        else None
    )
    if summary is None or not (held or isinstance(value, Input)):
        return [], False
    before = (state.resources, state.inputs, state.stored, state.lent, state.called)
    with run.log(Recorder).trying(held) if held else nullcontext():
        ended = _delete(run, deleter, place, run.position.span, state.copy())
    passing = [
        one
        for one in ended
        if (one.resources, one.inputs, one.stored, one.lent, one.called) == before
    ]
    all_of_them = len(passing) == len(ended)
    return passing if held or all_of_them else [], all_of_them


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
    give_back(state, symbol)
    place = Variable(run.function.variables[symbol].name, symbol)
    states = _delete(run, owner.deleter, place, span, state)
    for one in states:
        leave(one, symbol)
    return states


def _delete(
    run: FunctionRun, deleter: Deleter, place: Expression, span: Span, state: State
) -> list[State]:
    """A deleter gets what stands in a place."""
    arguments = (Argument(place),)
    call = Call(deleter.name, arguments, span, receiver=place, kind="destructor", may_throw=False)
    summary, definition = _deletion(run, deleter, span)
    if summary is None or definition is None:
        return [state]
    return end_object(run, call, definition, summary, state)


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
    if receiver is None or given is not None:
        return None
    declared = referred(type_of(receiver, run.function, run.program, run.symbols))
    if declared is None:
        return None
    if adoption.argument is None:
        return Deleter(adoption.default) if adoption.default else None
    named = declared.arguments[adoption.argument : adoption.argument + 1]
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


def is_deleter(run: FunctionRun, value: Value) -> bool:
    """Whether a function releases what it will be given."""
    if not isinstance(value, FunctionValue):
        return False
    summary, definition = run.summaries.summary(value.key or "", run.filename)
    if summary is None or definition is None:
        model = run.models.lookup(value.name)
        return model is not None and bool(model.releases)
    given = {parameter.symbol for parameter in definition.parameters}
    return not given.isdisjoint(summary.effects.released)


def _is_object(run: FunctionRun, expression: Expression) -> bool:
    declared = referred(type_of(expression, run.function, run.program, run.symbols))
    return declared is not None and declared.kind == "record"


def _has_destructors(run: FunctionRun, pointer: Expression) -> bool:
    """Whether more ends with an object than the block that it stands in."""
    declared = referred(type_of(pointer, run.function, run.program, run.symbols))
    record = declared.pointee.record if declared is not None and declared.pointee else None
    return record is not None and bool(run.symbols.memo(Destruction).record(record, run.filename))


def _is_pointer(run: FunctionRun, value: Value) -> bool:
    """Whether a value is what a call acquired, or what a parameter points to."""
    if not isinstance(value, Input) or len(value.location) > 1:
        return isinstance(value, Pointer)
    return any(
        one.symbol == value.location[0] and one.type.kind == "pointer"
        for one in run.function.parameters
    )
