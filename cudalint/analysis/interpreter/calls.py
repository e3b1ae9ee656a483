"""Calls: by an API model, by the summary of a function of the run, or of something unknown."""

from __future__ import annotations

from functools import partial

import msgspec

from cudalint.analysis.domains.ownership import objects, releases, stores
from cudalint.analysis.domains.ownership.escape import (
    Reached,
    escape_object,
    escape_value,
    guard,
    havoc,
    leave_globals,
    lend,
)
from cudalint.analysis.domains.ownership.lending import STATUS_KINDS
from cudalint.analysis.domains.ownership.recorder import Recorder, live
from cudalint.analysis.engine.run import FunctionRun, Next, Raised
from cudalint.analysis.engine.state import Lending, State
from cudalint.analysis.facts import OwnerCopy, Site
from cudalint.analysis.interpreter import adoption
from cudalint.analysis.interpreter.answers import asked_before, failing_answer
from cudalint.analysis.interpreter.callbacks import note_call
from cudalint.analysis.interpreter.destruction import delete
from cudalint.analysis.interpreter.dispatch import by_class, left_open
from cudalint.analysis.interpreter.domains import DOMAINS
from cudalint.analysis.interpreter.exits import statuses_in
from cudalint.analysis.interpreter.instantiate import apply_effects, apply_summary
from cudalint.analysis.interpreter.modelled import apply_model, unwrapped
from cudalint.analysis.shape.arguments import bindings, given
from cudalint.analysis.shape.effects import EffectsOf
from cudalint.analysis.shape.walk import plain
from cudalint.analysis.values.values import (
    NULL,
    ZERO,
    Address,
    Array,
    Const,
    FunctionValue,
    Input,
    Operation,
    Sequence,
    Symbol,
    Uninitialized,
    Value,
)
from cudalint.apis.model import ApiFunction
from cudalint.program import (
    AddressOf,
    Argument,
    Assign,
    Binary,
    Branch,
    Call,
    Constant,
    Dereference,
    Expression,
    Function,
    FunctionReference,
    Program,
    Record,
    Return,
    Variable,
    variables,
)
from cudalint.source import Span


def call(run: FunctionRun, operation: Call, state: State) -> list[Next]:
    """All ways in which a call may come back; an exception goes to its handler from here."""
    if operation.kind == "cast":
        return [*_cast(run, operation, state)]
    if not operation.virtual or operation.receiver is None or operation.record is None:
        return _call(run, operation, state)
    method = partial(run.symbols.overrider, operation.key or "", filename=run.filename)
    ways: list[list[Next]] = []
    for key, one in by_class(run, operation.receiver, operation.record, state, method):
        if key is None:
            ways.append(_any_of(run, operation, one))
        else:
            chosen = msgspec.structs.replace(operation, key=key, virtual=False)
            ways.append(_call(run, chosen, one))
    ways.append([*left_open(run, state, ways)])
    return [after for way in ways for after in way]


def _cast(run: FunctionRun, operation: Call, state: State) -> list[State]:
    """A pointer to an object becomes null if that is not of a class."""
    target, pointer = operation.target, operation.arguments[0].value
    declared = run.evaluator.type_of(target)
    pointee = declared.pointee if declared is not None else None
    if target is None or pointee is None or operation.record is None:
        return [state]
    wanted = pointee.record

    ways = by_class(
        run,
        Dereference(pointer),
        operation.record,
        state,
        lambda record: wanted in run.symbols.lineage(record, run.filename),
    )
    for fits, one in ways:
        given = Constant(None) if fits is False else pointer
        stores.assign(run, Assign(target, given, operation.span), one, target)
    return [one for _, one in ways]


def _any_of(run: FunctionRun, operation: Call, state: State) -> list[Next]:
    """A virtual method is called, and any of those that override it may run."""
    return [_by_effects(run, operation, run.symbols.callees(operation, run.filename), state)]


def _by_effects(
    run: FunctionRun, operation: Call, called: list[tuple[Function, Program]], state: State
) -> State:
    effects = run.symbols.memo(EffectsOf).of_any(called)
    return apply_effects(run, operation, [one for one, _ in called], effects, state)


def _call(run: FunctionRun, operation: Call, state: State) -> list[Next]:
    name = operation.name
    key = operation.key
    receiver_family = _receiver_family(run, operation, state)
    if operation.kind == "indirect" or (operation.callee is not None and not name):
        value = (
            run.evaluator.value(operation.callee, state) if operation.callee is not None else None
        )
        if isinstance(value, FunctionValue):
            name, key = value.name, value.key
        elif isinstance(value, Input) and not run.python:
            key = None  # the caller knows which function it is
    if operation.kind == "constructor":
        objects.construct(run, operation, state)
    if operation.kind == "copy" and not (key and run.symbols.function(key, run.filename)):
        return _copy(run, operation, state)
    model = _model(run, name, receiver_family)
    if (
        model is not None
        and (model.guess or (receiver_family is None and name.startswith(".")))
        and key
        and (run.symbols.function(key, run.filename) or run.symbols.record(key, run.filename))
    ):
        model = None  # a body in the run says more than a name
    if model is not None and _fits(model, receiver_family):
        for domain in DOMAINS:
            domain.calling_modelled(run, operation, name, model, state)
        return _by_model(run, operation, name, model, state)
    summary, definition = run.summaries.summary(key, run.filename) if key else (None, None)
    defined = run.symbols.definitions(key, run.filename)
    for domain in DOMAINS:
        for one, _ in defined:
            domain.calling_defined(run, operation, one, state)
        if not defined:
            domain.calling_unknown(run, operation, name, state)
    if operation.noreturn and (summary is None or definition is None):
        return []
    if summary is not None and definition is not None:
        constants = _constant_arguments(run, operation, definition.key, state)
        run.calls_made.extend(constants)
        for _, _, bound, _ in constants if not run.python else ():
            summary = run.summaries.selected(definition, dict(bound)) or summary
        # Behind an ellipsis nobody follows them.
        further = operation.arguments[len(definition.parameters) :] if not run.python else ()
        for argument in further:
            escape_value(run, argument.value, run.evaluator.value(argument.value, state), state)
        after = apply_summary(run, operation, definition, summary, state)
        return [one for one in after if isinstance(one, Raised) or not operation.noreturn]
    if len(defined) > 1:
        return [_by_effects(run, operation, defined, state)]  # each does something else
    if stores.assign_unseen(run, operation, state) or stores.step_unseen(run, operation, state):
        return [state]
    return _unknown(run, operation, name, state)


def _receiver_family(run: FunctionRun, operation: Call, state: State) -> str | None:
    if operation.receiver is None:
        return None
    value = run.evaluator.value(operation.receiver, state)
    if isinstance(value, Array):
        return value.space or "array"
    for resource in sorted(state.reachable([value])) if not isinstance(value, Address) else ():
        acquired = run.log(Recorder).of(resource)
        if acquired is not None:
            return acquired.family
    return None


def _model(run: FunctionRun, name: str, family: str | None) -> ApiFunction | None:
    if name.startswith("."):
        return run.models.lookup_method(name, family)
    return run.models.lookup(name)


def _fits(model: ApiFunction, family: str | None) -> bool:
    return model.receiver is None or family is not None


def _by_model(
    run: FunctionRun, operation: Call, name: str, model: ApiFunction, state: State
) -> list[Next]:
    if model.noreturn or operation.noreturn:
        return []
    throws = model.may_throw if model.may_throw is not None else operation.may_throw
    # Inside a `try` even `int(text)` may raise: that is what the handler is there for.
    handled = run.position.unwind is not None and operation.may_throw is None
    reports = model.status is not None
    thrown: list[Raised] = []
    if throws or (run.python and not reports and (throws is None or handled)):
        thrown = _may_throw(run, operation, name, state)
    if not model.releases and model.asks_about is None and _touches_memory(model):
        for argument in operation.arguments:
            releases.check_use(run, argument.value, name, operation.span, state)
    if model.adopts is not None and operation.receiver is not None:
        return [*thrown, *adoption.own(run, operation, model, state)]
    states = [state]
    if model.destroys is not None:
        states = delete(run, operation, model, model.destroys, state)
    return [
        *thrown,
        *(after for one in states for after in apply_model(run, operation, name, model, one)),
    ]


def _touches_memory(model: ApiFunction) -> bool:
    """Whether a call reads or writes what it is given: not so ``printf("%p", p)``, which has no
    status, or a query."""
    return model.status is not None or model.copies is not None or model.sets is not None


def _may_throw(run: FunctionRun, operation: Call, name: str, state: State) -> list[Raised]:
    if run.position.unwind is None and not any(
        live(holding.status) for holding in state.resources.values()
    ):
        return []
    thrown = state.copy()
    for argument in operation.arguments:
        # A check that raises does so because what it checks has failed.
        for status in statuses_in([run.evaluator.value(argument.value, state)]):
            if not run.conditions.settle(thrown, status, False):
                return []
    what = f"`{_short(name)}` may raise"
    return [Raised(thrown, operation.span, what, False, run.models.raises(name))]


def _short(name: str) -> str:
    return name.lstrip(".").rpartition(".")[2] or name


def _constant_arguments(
    run: FunctionRun, operation: Call, key: str, state: State
) -> list[tuple[str, str, tuple[tuple[str, Value], ...], Span]]:
    definition = run.symbols.function(key, run.filename)
    if definition is None:
        return []
    single = [one for one in definition.parameters if not one.starred]
    if ZERO in state.equal.values():
        # That nothing is to do, as a check found: it guards more often than it happens.
        state = state.copy()
        state.equal = {value: number for value, number in state.equal.items() if number != ZERO}
    bound = {
        symbol: value
        for symbol, argument in bindings(operation, single).items()
        if _is_plain(value := run.evaluator.value(argument, state)) or value == NULL
    }
    if given(operation).cut or all(value == NULL for value in bound.values()):
        return []
    return [(key, definition.filename, tuple(sorted(bound.items(), key=repr)), operation.span)]


def _is_plain(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, int | float | str) and not isinstance(value.value, bool)
    if isinstance(value, Sequence):
        return all(_is_plain(item) for item in value.items)
    if isinstance(value, Array):
        return value.shape is not None and all(_is_plain(extent) for extent in value.shape)
    return False


# Unknown callees --------------------------------------------------------------------------------


def _unknown(run: FunctionRun, operation: Call, name: str, state: State) -> list[Next]:
    """Nothing is known of the callee: a pointer that is passed by value is lent to it, what is
    passed by address may be anything afterwards."""
    throws = operation.may_throw
    thrown: list[Raised] = []
    if throws or (throws is None and run.python):
        thrown = _may_throw(run, operation, name, state)
    elif (
        throws is None
        and run.position.unwind is not None
        and (operation.kind not in ("macro", "constructor"))
    ):
        what = f"`{_short(name)}` may throw"
        thrown = [Raised(state.copy(), operation.span, what, False)]
    if not _only_borrows(run, operation, name):
        leave_globals(run, state)
    values = [run.evaluator.value(argument.value, state) for argument in operation.arguments]
    to = Site(run.filename, operation.span, _short(name.replace("::", ".")))
    for leaving in thrown if not _only_borrows(run, operation, name) else ():
        # It may have taken what it was given before it threw.
        for argument, value in zip(operation.arguments, values, strict=True):
            if not argument.constant and not isinstance(value, Address):
                lend(run, argument.value, value, Lending(to, raised=True), leaving.state)
    # What cannot raise has not checked anything: `RuntimeError(status)`.
    checks = not run.python or throws is not False
    if checks and _is_told_of_failure(run, operation, values, state):
        return list(thrown)
    handed_on = _status_handed_on(run, operation, values) if checks else None
    checks = checks and handed_on is None
    failing = failing_answer(run, operation, values, state) if checks else None
    refused = state.copy() if failing is not None else None
    states = _consume_statuses(run, values, state, checks)
    answers: dict[int, bool] = {}
    if refused is not None and failing is not None:
        refusing = _consume_statuses(run, values, refused, checks, succeeded=False)
        answers = {id(one): not failing for one in states}
        answers |= {id(one): failing for one in refusing}
        states += refusing
    answer = run.position.symbol(f"call:{name}")
    result: Value = answer
    # Who is given a pointer together with a function that releases such pointers owns it.
    owns = any(adoption.is_deleter(run, value) for value in values)
    for one in states:
        called = None
        if operation.kind == "indirect" and operation.callee is not None:
            called = run.evaluator.value(operation.callee, one)
            note_call(called, values, answer, one)
        accessor = _accessed(run, operation, name, one)
        if accessor is not None:
            result = accessor
        else:
            one.refresh(answer)
            result = asked_before(run, operation, one) or answer
            if id(one) in answers:
                one.conditions[result] = answers[id(one)]
        converted = operation.kind == "constructor" and len(values) == 1 and _is_iterator(values[0])
        lending = Lending(to, result, run.evaluator.kind(operation.target) in STATUS_KINDS)
        for argument, value in zip(operation.arguments, values, strict=True):
            if owns:
                escape_value(run, argument.value, value, one)
            left_to_caller = isinstance(called, Input) and isinstance(value, Input)
            if not converted and (run.python or not left_to_caller):
                _pass(run, operation, name, argument, value, lending, one)
        if operation.target is not None:
            inner = unwrapped(values[0]) if values else None
            location = run.evaluator.location(operation.target, one)
            if location is not None:
                given = handed_on or (inner if inner is not None else result)
                stores.store(run, one, location, given, operation.span)
        if operation.kind == "constructor" and operation.receiver is not None:
            location = run.evaluator.location(operation.receiver, one)
            if location is not None and not run.python:
                one.forget(location)
                if converted:
                    one.values[location] = values[0]  # a const_iterator, say, of an iterator
    return [*thrown, *states]


def _is_told_of_failure(
    run: FunctionRun, operation: Call, values: list[Value], state: State
) -> bool:
    """Whether a callee out of sight is given the number that a callee in sight has just failed
    with: it may end the program, as it may for a status of CUDA's."""
    if state.failure is None:
        return False
    numbers = [
        argument.value
        for argument, value in zip(operation.arguments, values, strict=True)
        if isinstance(value, Const)
    ]
    told = run.flow.sources(symbol for number in numbers for symbol in variables(number))
    return any(
        isinstance(made, Call) and made.span == state.failure.step.span
        for symbol in told
        for made in run.flow.definitions.get(symbol, ())
    )


def _is_iterator(value: Value) -> bool:
    """Whether a value points to some element, nobody knows which."""
    return isinstance(value, Address) and value.location[-1] == "[]"


def _accessed(run: FunctionRun, operation: Call, name: str, state: State) -> Value | None:
    """What an unknown method without arguments gives: the same value each time
    (``data.size()``); and an unknown function that answers with a reference, or whose answer is
    only asked for its members: the same object (``context().rank``), as there is nothing else that
    it could have been told to choose."""
    if operation.arguments:
        return None
    target = operation.target
    if operation.receiver is None and operation.kind in ("function", "macro") and not run.python:
        if operation.kind == "function":
            is_object = run.evaluator.kind(target) == "reference"
        else:
            is_object = isinstance(target, Variable) and target.symbol in run.flow.only_in_parts
        return Operation(f"{name}()", ()) if is_object else None
    if operation.receiver is None or operation.kind != "method":
        return None
    return Operation(f"{name}()", (run.evaluator.value(operation.receiver, state),))


def _status_handed_on(run: FunctionRun, operation: Call, values: list[Value]) -> Symbol | None:
    """The status that a callee out of sight is given, where its answer is compared with the name of
    a failure (``DEBUGGED(cudaMalloc(...)) == cudaErrorMemoryAllocation``): it is the answer."""
    given = list(statuses_in(values))
    match run.flow.blocks[run.position.block].terminator:
        case Branch(
            condition=Binary(
                operator="==" | "!=", left=Variable(symbol=asked), right=Constant(text=name) as to
            )
        ) if name and to.value and isinstance(operation.target, Variable):
            if asked == operation.target.symbol and len(given) == 1:
                return given[0]
    return None


def _consume_statuses(
    run: FunctionRun, values: list[Value], state: State, checks: bool, succeeded: bool = True
) -> list[State]:
    states = [state]
    for value in values:
        if isinstance(value, Input) and run.evaluator.kind(value.location) in STATUS_KINDS:
            run.tested.add(value.location)  # the caller's status, maybe
        for status in statuses_in([value]):
            run.conditions.checked.add(status.origin)
            if checks:
                settled = (run.conditions.settle(one, status, succeeded) for one in states)
                states = [after for one in settled for after in one]
    return states


def _pass(
    run: FunctionRun,
    operation: Call,
    name: str,
    argument: Argument,
    value: Value,
    lending: Lending,
    state: State,
) -> None:
    if guard(run, value, state):
        return
    borrows = _only_borrows(run, operation, name)
    place = _addressed(argument.value)
    if argument.reference and (not borrows or isinstance(value, Const)):
        place = argument.value
    if isinstance(value, Uninitialized) or _is_written_by_nobody(run, operation, argument, value):
        place = argument.value  # by value, it would be of no use
    if operation.kind == "operator" and name.endswith("operator>>"):
        place = argument.value  # `in >> n` takes a reference
    if place is not None:
        location = run.evaluator.location(place, state)
        if location is not None:
            havoc(run, state, Reached(location, state.read(location)))
    elif isinstance(value, Address):
        havoc(run, state, Reached(value.location, state.read(value.location)))
    elif operation.kind == "constructor" or _makes_the_result(run, operation):
        escape_value(run, argument.value, value, state)
    elif not (borrows or argument.constant):
        lend(run, argument.value, value, lending, state)


def _makes_the_result(run: FunctionRun, operation: Call) -> bool:
    """Whether a function returns what a callee out of sight makes of what it is given, and that is
    no plain number: a box, say, such as another language keeps handles in."""
    made = operation.target
    if run.python or not isinstance(made, Variable):
        return False
    if operation.kind != "macro" and run.evaluator.kind(made) not in ("pointer", "record"):
        return False
    return any(
        isinstance(end := block.terminator, Return)
        and end.value is not None
        and made.symbol in variables(end.value)
        for block in run.function.blocks
    )


def _is_written_by_nobody(
    run: FunctionRun, operation: Call, argument: Argument, value: Value
) -> bool:
    """Whether an undeclared callee gets a variable that starts as zero and that nothing in sight
    ever changes: ``size_t bytes = 0; query(bytes);``."""
    given = argument.value
    if value != ZERO or operation.key is not None or not isinstance(given, Variable):
        return False
    info = run.function.variables.get(given.symbol)
    return (
        not run.python
        and info is not None
        and not info.type.constant
        and len(run.flow.definitions.get(given.symbol, ())) == 1
    )


def _only_borrows(run: FunctionRun, operation: Call, name: str) -> bool:
    """Whether the callee is a library's that keeps nothing, or a kernel, whose launch could not
    be read."""
    kernel = run.symbols.kernel(operation.key, name, run.filename)
    return kernel is not None or run.models.only_borrows(_taken_by_name(run, operation) or name)


def _taken_by_name(run: FunctionRun, operation: Call) -> str:
    """The module, with a dot behind it, that a function was taken out of by a name that is put
    together: ``solve = getattr(cusparse, kind + "csrsm2_solve")``."""
    callee = operation.callee
    made = run.flow.only(callee.symbol) if isinstance(callee, Variable) else None
    if not isinstance(made, Call) or made.name != "builtins.getattr" or not made.arguments:
        return ""
    module = made.arguments[0].value
    return f"{module.name}." if isinstance(module, FunctionReference) else ""


def _addressed(expression: Expression) -> Expression | None:
    whole = plain(expression)
    return whole.place if isinstance(whole, AddressOf) else None


# Copies of records ------------------------------------------------------------------------------


def _copy(run: FunctionRun, operation: Call, state: State) -> list[Next]:
    record = run.symbols.record(operation.record, run.filename)
    source = operation.arguments[0].value if operation.arguments else None
    assigns = operation.name.endswith("operator=")
    whole = record is None or run.symbols.copies_members(record, assigns)
    if record is not None and whole and record.copy_constructor in ("implicit", "defaulted"):
        run.log(Recorder).copies.setdefault(
            operation.span,
            OwnerCopy(record, (), operation.span, operation.name or "copy construction"),
        )
    if source is None or operation.receiver is None:
        return [state]
    origin = run.evaluator.location(source, state)
    target = run.evaluator.location(operation.receiver, state)
    if origin is not None and record is not None and _says_how(record, assigns):
        escape_object(run, origin, state)
    elif target is not None and not whole:
        # Functions of its bases and members make it: what it holds now is its own.
        escape_object(run, target, state)
        state.forget(target)
        return [state]
    if origin is not None and target is not None and origin != target:
        stores.copy(run, state, origin, target)
    return [state]


def _says_how(record: Record, assigns: bool) -> bool:
    """Whether a copy is made by a function of the class; it has no body in the run."""
    return (record.copy_assignment if assigns else record.copy_constructor) == "user"
