"""What an API model does to a state: acquire, release, take, return."""

from __future__ import annotations

from cudalint.analysis.domains import device_errors
from cudalint.analysis.domains.launches import found_kernel
from cudalint.analysis.domains.ownership import stores
from cudalint.analysis.domains.ownership.adoption import disown
from cudalint.analysis.domains.ownership.escape import escape_value, give_away, guard
from cudalint.analysis.domains.ownership.recorder import Acquired, Recorder
from cudalint.analysis.domains.ownership.releases import (
    attachment,
    is_attachment,
    provided,
    release,
    reset,
)
from cudalint.analysis.domains.transfers import returned_array
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.conditions import LAST_ERROR, OF_DEVICE, RELEASING
from cudalint.analysis.engine.containers import advanced
from cudalint.analysis.engine.evaluate import STATUS, is_status
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import Holding, State, Status
from cudalint.analysis.interpreter.answers import asked_before
from cudalint.analysis.interpreter.contained import contain
from cudalint.analysis.interpreter.domains import DOMAINS
from cudalint.analysis.shape.walk import plain
from cudalint.analysis.values.arithmetic import apply
from cudalint.analysis.values.elements import is_index
from cudalint.analysis.values.values import (
    NULL,
    Address,
    Const,
    FunctionValue,
    Input,
    Location,
    Operation,
    Pointer,
    Polynomial,
    Sequence,
    Symbol,
    Value,
    bag,
    integer,
    resources_in,
)
from cudalint.apis.model import Acquisition, ApiFunction, Provision
from cudalint.apis.paths import parse_path
from cudalint.findings.finding import Step
from cudalint.program import (
    NUMBERS,
    AddressOf,
    Argument,
    Call,
    render,
)

_NUMBERS = (Const, Input, Operation, Polynomial, Symbol)


def apply_model(
    run: FunctionRun, call: Call, name: str, model: ApiFunction, state: State
) -> list[State]:
    """Run one modelled call on a state."""
    binding = Binding(call, model.parameters, run.evaluator, state)
    results: dict[int | None, Value] = {}
    repeated = _failed_before(run, call, name, state) if model.acquires else None
    if repeated is not None:
        _write_result(run, call, name, {_position(model.status or "return"): repeated}, state)
        return [state]
    status = _status(run, binding, name, model, state)
    if status is not None and model.status is not None:
        results[_position(model.status)] = status
    if model.reads_last_error:
        note_last_error(run, state)
    for effect in model.releases:
        release(run, binding, effect, name, state, status)
    for domain in DOMAINS:
        domain.modelled(run, binding, name, model, state)
    if model.finds_kernel is not None:
        kernel = found_kernel(run, binding, model.finds_kernel, state)
        if kernel is not None:
            results[_position(model.finds_kernel.handle)] = kernel
    if model.provides is not None:
        _provide(binding, model.provides, state)
    for number, acquisition in enumerate(model.acquires):
        if _hand_back(run, binding, acquisition, results, state):
            continue
        _acquire(run, binding, acquisition, name, number, status, results, state)
    if not run.python:
        _overwrite(run, binding, model, state)
        _carry(run, binding, model, state)
    if model.resets:
        reset(run, call, name, state)

    def give(value: Value | None) -> None:
        if value is not None:
            results[None] = value

    if run.python:
        for text in model.inserts:
            _insert(run, binding, text, state)
    else:
        give(contain(run, binding, name, model, state))
    for text in model.takes:
        if text not in model.inserts or call.receiver is None:
            _take(run, binding, text, state)
    if model.invokes is not None:
        _invoke(run, binding, state)
    if len(model.swaps) == 2:
        _swap(binding, model.swaps, state)
    if len(model.fills) == 2:
        _fill(run, binding, model.fills, state)
    if len(model.assigns) == 2:
        before = _assign(run, binding, model.assigns, state)
        give(before if model.status is None else None)
    states = [state]
    if model.unwraps is not None and (checked := binding.value(model.unwraps)) is not None:
        give(unwrapped(checked))
        states = _unwrap(run, checked, state)
    if model.aliases is not None:
        give(binding.value(model.aliases))
    if model.dangles is not None and (of := binding.value(model.dangles)) is not None:
        give(Operation(f"{name}()", (of,)))  # the same address each time
    if model.disowns:
        give(disown(run, call, state))
    if model.advances and (value := binding.value("arg0")) is not None:
        steps = binding.value("arg1") or Const(1)
        give(advanced(state, value, apply("*", Const(model.advances), steps)))
    if model.integer is not None:
        give(_whole(call, run, state))
    if model.elements and run.python and call.receiver is not None:
        element = run.evaluator.element(call.receiver, "[]", state)
        if element is not None:
            results[1 if model.entries else None] = state.read(element)
    if model.returns is not None:
        give(returned_array(run, binding, model, name, state))
    if model.answer is not None:
        give(Const(model.answer))
    _write_other_outputs(run, call, model, state)
    for one in states:
        _write_result(run, call, name, results, one)
    return states


def _whole(call: Call, run: FunctionRun, state: State) -> Value | None:
    """The integer that is made of a known number, or the number of an address."""
    if len(call.arguments) != 1:
        return None
    value = run.evaluator.value(call.arguments[0].value, state)
    if isinstance(value, Operation) and value.operator == "element":
        return value
    if isinstance(value, Input | Pointer):
        return value
    if not isinstance(value, Const) or not isinstance(value.value, int | float):
        return None
    return Const(int(value.value), value.overflow) if abs(value.value) < 1e30 else None


def _position(path: str) -> int | None:
    """The index of ``return[1]``; ``None`` for ``return`` itself."""
    steps = parse_path(path).steps
    return int(steps[0]) if steps else None


def _status(
    run: FunctionRun, binding: Binding, name: str, model: ApiFunction, state: State
) -> Symbol | None:
    if model.status is None:
        return None
    kind = LAST_ERROR if model.reads_last_error else STATUS
    if model.releases or model.cleans_up:
        kind = RELEASING
    elif device_errors.only_of_device(run, binding, model, state):
        kind = OF_DEVICE
    status = run.position.symbol(f"{kind}{name}")
    device_errors.answered(run, binding, model, status, state)
    state.refresh(status)
    step = Step(run.filename, binding.call.span, f"`{name}` fails")
    run.conditions.calls[status.origin] = (step, name, Const(model.success))
    if model.asks_about is not None and (asked := binding.value(model.asks_about)) is not None:
        run.conditions.asked_for[status.origin] = asked
    return status


def _failed_before(run: FunctionRun, call: Call, name: str, state: State) -> Symbol | None:
    """The status of the same call, written once in a macro that evaluates its argument several
    times: it has failed on this path, and so it does again (``describe(x)`` after ``x != 0``)."""
    if call.expansion is None:
        return None
    for origin, (step, api, _) in run.conditions.calls.items():
        if step.span == call.span and api == name and state.conditions.get(Symbol(origin)) is False:
            return Symbol(origin)
    return None


def note_last_error(run: FunctionRun, state: State) -> None:
    """Whoever asks for the last error looks at what every call has answered."""
    run.reads_last_error = True
    for resource, holding in state.resources.items():
        if holding.status is Status.REQUESTED:
            run.conditions.mark_checked(state, resource)


# Acquiring --------------------------------------------------------------------------------------


def _acquire(
    run: FunctionRun,
    binding: Binding,
    acquisition: Acquisition,
    name: str,
    number: int,
    status: Symbol | None,
    results: dict[int | None, Value],
    state: State,
) -> None:
    call = binding.call
    family = run.models.family_of(call.name, acquisition.family)
    size = binding.amount(acquisition.bytes) if acquisition.bytes else None
    wrapped = isinstance(size, Const) and size.overflow is not None
    if size is not None and integer(size) == 0 and not (acquisition.at_least or wrapped):
        return  # nothing is allocated for zero bytes
    resource = run.position.symbol(f"{name}#{number}")
    state.refresh(resource)
    path = parse_path(acquisition.handle, binding.parameters)
    in_result = path.root == "return"
    registers = not in_result and not path.dereference and not path.steps
    if registers and path.root == "argument" and binding.value(acquisition.handle) == NULL:
        return  # there is no memory that could be registered
    condition = status if acquisition.status is not None else None
    managed = acquisition.managed or family.managed
    shown = (
        render(call.target)
        if in_result and call.target is not None
        else ("" if in_result else run.show(binding.place(acquisition.handle)))
    )
    location = binding.location(acquisition.handle)
    if not in_result and location == ("@", NULL):
        return  # nobody wants it
    acquired = Acquired(
        origin=resource.origin,
        name=shown or f"the result of {name}",
        api=name,
        family=acquisition.family,
        info=family,
        filename=run.filename,
        span=call.span,
        bytes=size,
        bytes_text=binding.text(acquisition.bytes) or acquisition.bytes or "",
        in_loop=run.repeats(run.position.block),
        managed=managed,
        at_least=acquisition.at_least,
        location=location,
        element_count=_is_element_count(run, binding, acquisition, size),
        ambiguous=_is_imitated(run, call),
        fallible=acquisition.status is not None,
        part="".join(f".{step}" for step in path.steps if isinstance(step, str)),
    )
    run.log(Recorder).acquired(acquired)
    if status is not None:
        run.log(Recorder).statuses[resource.origin] = status.origin
    fallible = condition is not None or acquisition.null_on_failure
    state.hold(resource, Holding(Status.REQUESTED if fallible else Status.OWNED, condition))
    pointer = Pointer(resource, Const(0))
    if in_result:
        results[_position(acquisition.handle)] = pointer
        if call.target is None and not managed:
            # The only handle is thrown away at once; it stays owned, and is lost at the exit.
            state.values[("%" + resource.origin,)] = pointer
    elif registers and path.root == "argument":
        # What is registered belongs to the memory that the argument points to.
        value = binding.value(acquisition.handle)
        if value is not None:
            state.values[attachment(value, acquisition.family)] = pointer
            if isinstance(value, Input | Symbol | Operation | Polynomial):
                state.conditions[Operation("==", (value, NULL))] = False
    elif location is not None:
        stores.store(run, state, location, pointer, call.span, acquired.shown)
    else:
        state.escape([resource])  # nobody can say where it was put


def _is_imitated(run: FunctionRun, call: Call) -> bool:
    """Whether the file, or a header that it includes, has a body for the API function, as those do
    that run CUDA code on a CPU: a build with it gets memory of another kind."""
    known = run.symbols.definitions(call.key, run.filename)
    own = (run.filename, run.program.filename, *run.program.includes) if known else ()
    return any(one.filename in own for one, _ in known)


def _provide(binding: Binding, provision: Provision, state: State) -> None:
    """Note what a later call hands back."""
    of, value = binding.value(provision.of), binding.value(provision.handle)
    if of is not None and value is not None:
        state.values[provided(of, provision.family)] = value


def _hand_back(
    run: FunctionRun,
    binding: Binding,
    acquisition: Acquisition,
    results: dict[int | None, Value],
    state: State,
) -> bool:
    """Whether a call gives what an earlier one was given for it."""
    of = binding.value(acquisition.of) if acquisition.of is not None else None
    given = state.values.pop(provided(of, acquisition.family), None) if of is not None else None
    if given is None:
        return False
    location = binding.location(acquisition.handle)
    if acquisition.handle.startswith("return"):
        results[_position(acquisition.handle)] = given
    elif location is not None and state.read(location) != given:
        stores.store(run, state, location, given, binding.call.span, acquisition.handle)
    return True


def _is_element_count(
    run: FunctionRun, binding: Binding, acquisition: Acquisition, size: Value | None
) -> bool:
    """The size is a bare number of elements, of a pointee that is larger than a byte."""
    return (
        isinstance(size, Input)
        and binding.amount_expression(acquisition.bytes) is not None
        and _pointee(run, binding, acquisition) > 1
    )


def _pointee(run: FunctionRun, binding: Binding, acquisition: Acquisition) -> int:
    root = binding.expression(acquisition.handle)
    if isinstance(root, AddressOf):
        root = root.place
    declared = run.evaluator.type_of(root)
    pointee = declared.pointee if declared is not None else None
    return (pointee.bytes if pointee is not None else None) or 1


# Ownership that moves ---------------------------------------------------------------------------


def _insert(run: FunctionRun, binding: Binding, text: str, state: State) -> None:
    """The value becomes an element of the receiver."""
    value = binding.value(text)
    receiver = binding.call.receiver
    container = run.evaluator.location(receiver, state) if receiver is not None else None
    if value is None or receiver is None or container is None:
        return
    guard(run, value, state)
    element = run.evaluator.element(receiver, "[]", state) or (*container, "[]")
    expression = binding.expression(text)
    place = run.evaluator.location(expression, state) if expression is not None else None
    inner = () if place is None else tuple(part for _, part in state.below(place))
    held = state.reachable([value, *inner])
    if not container[0].startswith("%"):
        for resource in sorted(held):
            run.log(Recorder).named(resource.origin, f"{run.show(receiver)}[...]", element)
    stores.grow(run, container, state)
    if held:
        state.write(element, bag(held))
    state.keep_inputs((value, *inner))


def _take(run: FunctionRun, binding: Binding, text: str, state: State) -> None:
    expression = binding.expression(text)
    value = binding.value(text)
    if expression is None or value is None:
        return
    guard(run, value, state)
    escape_value(run, expression, value, state)


def _invoke(run: FunctionRun, binding: Binding, state: State) -> None:
    for argument in binding.call.arguments:
        value = run.evaluator.value(argument.value, state)
        guard(run, value, state)
        state.escape(state.reachable([value]))


def _overwrite(run: FunctionRun, binding: Binding, model: ApiFunction, state: State) -> None:
    """What is copied or filled: the numbers that stood in that memory are not known any more."""
    effects = (model.copies, model.sets)
    paths = (*(effect.to for effect in effects if effect is not None), *model.host_writes)
    for path in paths:
        pointer, target = binding.location(path), binding.location(f"*{path}")
        if target is not None and is_index(target[-1]):
            target = target[:-1]  # from one element on
        places = [one for one in dict.fromkeys((pointer, target)) if one is not None]
        for place, value in [known for one in places for known in state.below(one)]:
            if place != pointer and isinstance(value, _NUMBERS) and not resources_in(value):
                state.values[place] = written = run.position.symbol(f"{path}{place}")
                state.refresh(written)


def _carry(run: FunctionRun, binding: Binding, model: ApiFunction, state: State) -> None:
    """What stands in some memory stands elsewhere too: in sight, or on the device."""
    paths = model.carries or ((model.copies.source,) if model.copies else ())
    places = [binding.location(f"*{path}") for path in paths]
    source, target = (*places, None, None)[:2]
    if source is None:
        return
    if is_index(source[-1]):
        source = source[:-1]  # from one element on
    if target is None or target[0].startswith("::"):
        held = [value for where, value in state.below(source) if not is_attachment(where)]
        if not held and len(source) == 1:
            held = [state.read(source)]  # a variable that nothing has written: a parameter
        state.escape(resource for value in held for resource in resources_in(value))
        state.keep_inputs(held)
    else:
        stores.copy(run, state, source, target[:-1] if is_index(target[-1]) else target)


def _assign(
    run: FunctionRun, binding: Binding, paths: tuple[str, ...], state: State
) -> Value | None:
    """``std::exchange(a, b)``: a becomes b, the result is what a was."""
    target, value = binding.location(paths[0]), binding.value(paths[1])
    given = binding.expression(paths[1])
    if target is None or value is None or given is None:
        return None
    if paths[0] == "this" and not isinstance(value, FunctionValue):
        escape_value(run, given, value, state)  # the copy of an object out of sight
    before = state.read(target)
    state.write(target, value)
    return before


def _swap(binding: Binding, paths: tuple[str, ...], state: State) -> None:
    first, second = binding.location(paths[0]), binding.location(paths[1])
    if first is None or second is None:
        return
    left = state.parts_of(first) or [((), state.read(first))]
    right = state.parts_of(second) or [((), state.read(second))]
    state.replace(first, right)
    state.replace(second, left)


def _fill(run: FunctionRun, binding: Binding, paths: tuple[str, ...], state: State) -> None:
    filled, value = binding.expression(paths[0]), binding.value(paths[1])
    element = None if filled is None else run.evaluator.element(filled, "[]", state)
    if element is None or value != NULL:
        return
    *elements, part = element
    if part == "[]":  # it is not known whether that is all of them
        give_away(run, [held for _, held in state.below((*elements,))], state)
        state.replace((*elements,), [(("[]",), NULL)])


def unwrapped(value: Value) -> Value | None:
    """What a check gives back of a ``(status, value...)`` result."""
    if not isinstance(value, Sequence) or not value.items or not is_status(value.items[0]):
        return None
    rest = value.items[1:]
    return NULL if not rest else rest[0] if len(rest) == 1 else Sequence(rest)


def _unwrap(run: FunctionRun, checked: Value, state: State) -> list[State]:
    status = checked.items[0] if isinstance(checked, Sequence) and checked.items else checked
    if not is_status(status):
        return [state]
    run.conditions.checked.add(status.origin)
    return run.conditions.settle(state, status, True)


# Results ----------------------------------------------------------------------------------------


def _write_other_outputs(run: FunctionRun, call: Call, model: ApiFunction, state: State) -> None:
    """What the function writes through pointers that its model does not speak of."""
    if run.python:
        return
    owns = model.acquires or model.releases or model.copies or model.takes or model.inserts
    read = {*model.carries, *model.host_reads, model.copies.source if model.copies else ""}
    read |= {path.removeprefix("*") for path in model.assigns}
    for number, argument in enumerate(call.arguments):
        location = None if f"arg{number}" in read else _written(run, argument, state)
        if location is None or isinstance(state.values.get(location), FunctionValue):
            continue
        held = state.reachable(value for _, value in state.below(location))
        if any(owns or state.status(one) is not Status.RELEASED for one in held):
            continue  # a query may put another pointer where a released one still stands
        fresh = run.position.symbol(f"out{number}")
        state.refresh(fresh)
        state.write(location, fresh)


def _written(run: FunctionRun, argument: Argument, state: State) -> Location | None:
    """What stands at the address that a call is given; of a pointer's value, if it is a number."""
    expression = plain(argument.value)
    if isinstance(expression, AddressOf):
        return run.evaluator.location(expression.place, state)
    value = run.evaluator.value(expression, state) if not argument.constant else None
    if isinstance(value, Address) and run.evaluator.kind(value.location) in NUMBERS:
        return value.location
    return None


def _write_result(
    run: FunctionRun,
    call: Call,
    name: str,
    results: dict[int | None, Value],
    state: State,
) -> None:
    if call.target is None:
        return
    location = run.evaluator.location(call.target, state)
    if location is None:
        return
    indexed = {number: value for number, value in results.items() if number is not None}
    if None in results:
        value = results[None]
    elif indexed:
        unknown = Operation(f"result:{run.position.block}.{run.position.index}", ())
        value = Sequence(tuple(indexed.get(i, unknown) for i in range(max(indexed) + 1)))
    else:
        fresh = run.position.symbol(f"call:{name}")
        state.refresh(fresh)
        value = (call.arguments and asked_before(run, call, state)) or fresh
    stores.store(run, state, location, value, call.span, render(call.target))
