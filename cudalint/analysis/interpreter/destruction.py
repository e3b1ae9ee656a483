"""Destructors that run: where a scope ends, where a path leaves, where a constructor throws."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.analysis.domains.ownership import objects
from cudalint.analysis.domains.ownership.adoption import leave
from cudalint.analysis.domains.ownership.escape import escape_object
from cudalint.analysis.domains.ownership.objects import NO_OBJECTS, Owners
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.joining import is_null, settle
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.interpreter.adoption import end_all
from cudalint.analysis.interpreter.dispatch import by_class, left_open
from cudalint.analysis.interpreter.instantiate import end_object
from cudalint.analysis.shape.destruction import Destruction, Destructor
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.walk import plain
from cudalint.apis.model import ApiFunction
from cudalint.program import THIS, Call, Dereference, Expression, Member, Type, Variable
from cudalint.source import Span


def end_scope(run: FunctionRun, symbols: tuple[str, ...], span: Span, state: State) -> list[State]:
    """Run the destructors of the variables of a scope that are alive."""
    states = end_all(run, symbols, span, state)
    alive = state.part(NO_OBJECTS).alive
    return _end(run, [symbol for symbol in symbols if symbol in alive], span, states)


def leave_all(run: FunctionRun, result: Expression | None, span: Span, state: State) -> list[State]:
    """Run the destructors of all that is alive where a path leaves; what is returned lives on."""
    whole = plain(result) if result is not None else None
    returned = whole.symbol if isinstance(whole, Variable) else None
    if returned is not None:
        leave(state, returned)
    states = end_all(run, tuple(run.function.variables), span, state)
    alive = state.part(NO_OBJECTS).alive
    return _end(run, [symbol for symbol in reversed(alive) if symbol != returned], span, states)


def _end(run: FunctionRun, symbols: Iterable[str], span: Span, states: list[State]) -> list[State]:
    for symbol in symbols:
        info = run.function.variables[symbol]
        place = Variable(info.name, symbol)
        states = _destroy(run, place, run.log(Owners).destructors[symbol], span, states)
        for one in states:
            objects.leave_out((symbol,), one)
    return states


def unwind(run: FunctionRun, span: Span, state: State) -> list[State]:
    """A constructor throws: what is complete of its object ends. These are its members and bases,
    and the object itself where another constructor of its class has run."""
    function = run.function
    record = run.symbols.record(function.record, run.filename)
    if record is None or run.python or function.kind != "constructor":
        return [state]
    destruction = run.symbols.memo(Destruction)
    complete = destruction.parts(record)
    if _delegates(run):
        complete = destruction.record(record.key, record.filename)
    inputs, stored = state.inputs, state.stored
    for field in record.fields:
        if _owns(run, field.type):
            place = run.evaluator.location(Member(THIS, field.name), state)
            if place is not None:
                escape_object(run, place, state)
    states = _destroy(run, THIS, complete, span, [state])
    for one in states:
        # What was there before the object is none of its own.
        one.inputs, one.stored = dict(inputs), stored
    return states


def _owns(run: FunctionRun, kind: Type) -> bool:
    """Whether a class of a library, or one that it is made of, ends what a pointer points to."""
    model = run.models.lookup(kind.text.removeprefix("const ").partition("<")[0])
    owns = model is not None and model.adopts is not None
    return owns or any(_owns(run, one) for one in kind.arguments)


def delete(
    run: FunctionRun, call: Call, model: ApiFunction, path: str, state: State
) -> list[State]:
    """An object is deleted: its destructors run, those of the class that it was made of."""
    pointer = Binding(call, model.parameters, run.evaluator, state).expression(path)
    if pointer is None or run.python:
        return [state]
    place = THIS if pointer == THIS else Dereference(pointer)
    value = run.evaluator.value(pointer, state)
    if is_null(state, value):
        return [state]
    made = objects.class_in(value, state)
    if call.record is None:
        return [state]  # numbers and pointers: nothing else ends with them
    if made is None and run.symbols.is_polymorphic(call.record):
        ways = by_class(run, place, call.record, state, str)
    else:
        is_known = run.symbols.record(call.record, run.filename) is not None
        ways = [(made or (call.record if is_known else None), state)]
    destruction = run.symbols.memo(Destruction)
    ends: list[list[State]] = []
    for record, one in ways:
        destructors = destruction.record(record or call.record, run.filename)
        ends.append(_destroy(run, place, destructors, call.span, [one]))
        for after in ends[-1] if record is None else ():
            location = run.evaluator.location(place, after)
            if location is not None:
                escape_object(run, location, after)  # it may be of a class derived from that
    ends.append(left_open(run, state, ends))
    return [after for states in ends for after in states]


def _delegates(run: FunctionRun) -> bool:
    return any(
        call.kind == "constructor" and call.receiver == THIS and call.record == run.function.record
        for _, call in calls(run.function)
    )


def _destroy(
    run: FunctionRun,
    place: Expression,
    destructors: tuple[Destructor, ...],
    span: Span,
    states: list[State],
) -> list[State]:
    for destructor in destructors:
        part = place
        for field in destructor.path:
            part = Member(part, field.removeprefix("."))
        states = _joined(
            [after for one in states for after in _run(run, part, destructor, span, one)]
        )
        if len(states) > run.most:
            states, run.complete = states[: run.most], False
    return states


def _run(
    run: FunctionRun, place: Expression, destructor: Destructor, span: Span, state: State
) -> list[State]:
    definition = destructor.definition
    location = run.evaluator.location(place, state)
    if location is None:
        return [state]
    summary = None
    if definition is not None:
        summary, definition = run.summaries.summary(definition.key, definition.filename)
    if summary is None or definition is None or location[-1] == "[]":
        escape_object(run, location, state)
        return [state]
    call = Call(
        definition.name,
        (),
        span,
        key=definition.key,
        receiver=place,
        kind="destructor",
        may_throw=False,
        record=destructor.record.key,
    )
    return end_object(run, call, definition, summary, state)


def _joined(states: list[State]) -> list[State]:
    """Those that owe the same go on as one."""
    kept: list[State] = []
    for state in states:
        if not any(settle(one, state) for one in kept):
            kept.append(state)
    return kept
