"""What an API model does to a state: acquire, release, take, return."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cudalint.analysis import copies, dangling
from cudalint.analysis.binding import Binding
from cudalint.analysis.conditions import LAST_ERROR
from cudalint.analysis.escape import escape_value, guard
from cudalint.analysis.evaluate import STATUS, is_status
from cudalint.analysis.facts import Cleanup, Misuse, MisuseKind, Site
from cudalint.analysis.recorder import Acquired, live
from cudalint.analysis.state import Holding, InputRelease, State, Status
from cudalint.analysis.values import (
    NULL,
    Address,
    Array,
    Bag,
    Const,
    FunctionValue,
    Input,
    Location,
    Operation,
    Pointer,
    Sequence,
    Symbol,
    Uninitialized,
    Value,
    integer,
)
from cudalint.apis.model import Acquisition, ApiFunction, ReleaseEffect
from cudalint.apis.paths import parse_path
from cudalint.findings.finding import Step
from cudalint.program import (
    AddressOf,
    Call,
    Cast,
    Constant,
    Expression,
    Member,
    Unreachable,
    children,
    render,
)
from cudalint.source import Span

if TYPE_CHECKING:
    from cudalint.analysis.run import FunctionRun


def apply_model(
    run: FunctionRun, call: Call, name: str, model: ApiFunction, state: State
) -> list[State]:
    """Run one modelled call on a state."""
    binding = Binding(call, model.parameters, run.evaluator, state)
    results: dict[int | None, Value] = {}
    status = _status(run, call, name, model, state)
    if status is not None and model.status is not None:
        results[_position(model.status)] = status
    if model.reads_last_error:
        _last_error(run, state)
    for effect in _each(model.releases):
        release(run, binding, effect, name, state, status)
    copies.record(run, binding, model, name, state)
    if model.dangles is not None:
        dangling.called(run, binding, model.dangles, name)
    for number, acquisition in enumerate(_each(model.acquires)):
        _acquire(run, binding, acquisition, name, number, status, results, state)
    if model.resets:
        _reset(run, call, name, state)
    for text in model.inserts:
        _insert(run, binding, text, state)
    for text in model.takes:
        if text not in model.inserts or call.receiver is None:
            _take(run, binding, text, state)
    if model.invokes is not None:
        _invoke(run, binding, model, state)
    if len(model.swaps) == 2:
        _swap(binding, model.swaps, state)
    if len(model.assigns) == 2:
        _assign(run, binding, model.assigns, results, state)
    states = [state]
    if model.unwraps is not None:
        states = _unwrap(run, binding, model.unwraps, results, state)
    if model.aliases is not None:
        value = binding.value(model.aliases)
        if value is not None:
            results[None] = value
    if model.elements and call.receiver is not None:
        element = run.evaluator.element(call.receiver, "[]", state)
        if element is not None:
            results[None] = state.read(element)
    if model.returns is not None:
        array = copies.returned_array(run, binding, model, name, state)
        if array is not None:
            results[None] = array
    _write_other_outputs(run, call, model, state)
    for one in states:
        _write_result(run, call, name, model, results, one)
    return states


Effect = TypeVar("Effect")


def _each(effects: tuple[Effect, ...] | Effect) -> tuple[Effect, ...]:
    return effects if isinstance(effects, tuple) else (effects,)


def _position(path: str) -> int | None:
    """The index of ``return[1]``; ``None`` for ``return`` itself."""
    steps = parse_path(path).steps
    return int(steps[0]) if steps else None


def _status(
    run: FunctionRun, call: Call, name: str, model: ApiFunction, state: State
) -> Symbol | None:
    if model.status is None:
        return None
    kind = f"{LAST_ERROR}{name}" if model.reads_last_error else f"{STATUS}{name}"
    status = run.position.symbol(kind)
    state.refresh(status)
    step = Step(run.filename, call.span, f"`{name}` fails")
    run.conditions.calls[status.origin] = (step, name, Const(model.success))
    if model.releases or model.cleans_up:
        run.conditions.releases.add(status.origin)
    return status


def _last_error(run: FunctionRun, state: State) -> None:
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
    family = run.models.families.get(acquisition.family)
    if family is None:
        return
    size = binding.amount(acquisition.bytes) if acquisition.bytes else None
    if size is not None and integer(size) == 0 and not acquisition.at_least:
        return  # nothing is allocated for zero bytes
    resource = run.position.symbol(f"{name}#{number}")
    state.refresh(resource)
    path = parse_path(acquisition.handle, binding.parameters)
    in_result = path.root == "return"
    condition = status if acquisition.status is not None else None
    managed = acquisition.managed or family.managed
    shown = (
        render(call.target)
        if in_result and call.target is not None
        else ("" if in_result else binding.name(acquisition.handle))
    )
    location = binding.location(acquisition.handle)
    acquired = Acquired(
        origin=resource.origin,
        name=shown or f"the result of {name}",
        api=name,
        family=acquisition.family,
        info=family,
        filename=run.filename,
        span=call.span,
        bytes=size,
        bytes_text=_amount_text(binding, acquisition),
        in_loop=bool(run.flow.enclosing.get(run.position.block)),
        managed=managed,
        at_least=acquisition.at_least,
        location=location,
        element_count=_is_element_count(run, binding, acquisition, size),
        fallible=acquisition.status is not None,
    )
    run.recorder.acquired(acquired)
    if status is not None:
        run.statuses[resource.origin] = status.origin
    fallible = condition is not None or acquisition.null_on_failure
    state.record(
        "acquire", run.filename, call.span, f"`{acquired.shown}` is acquired here", resource
    )
    since = state.trace.length if state.trace else 0
    state.resources[resource] = Holding(
        Status.REQUESTED if fallible else Status.OWNED, condition, None, None, since
    )
    pointer = Pointer(resource, Const(0))
    if in_result:
        results[_position(acquisition.handle)] = pointer
        if call.target is None and not managed:
            # The only handle is thrown away at once; it stays owned, and is lost at the exit.
            state.values[("%" + resource.origin,)] = pointer
    elif not path.dereference and path.root == "argument" and not path.steps:
        # What is registered belongs to the memory that the argument points to.
        value = binding.value(acquisition.handle)
        if value is not None:
            state.values[attachment(value, acquisition.family)] = pointer
    elif location is not None:
        run.store(state, location, pointer, call.span, acquired.shown)


def attachment(value: Value, family: str) -> Location:
    """Where a resource is kept that a call attached to existing memory."""
    return ("@", value, f".<{family}>")


def _amount_text(binding: Binding, acquisition: Acquisition) -> str:
    if acquisition.bytes is None:
        return ""
    try:
        expression = binding.expression(acquisition.bytes)
    except ValueError:
        return acquisition.bytes
    return render(expression) if expression is not None else acquisition.bytes


def _is_element_count(
    run: FunctionRun, binding: Binding, acquisition: Acquisition, size: Value | None
) -> bool:
    """The size is a bare number of elements, of a pointee that is larger than a byte."""
    if acquisition.bytes is None or size is None:
        return False
    try:
        expression = binding.expression(acquisition.bytes)
    except ValueError:
        return False
    return (
        isinstance(size, Input)
        and expression is not None
        and _pointee(run, binding, acquisition) > 1
    )


def _pointee(run: FunctionRun, binding: Binding, acquisition: Acquisition) -> int:
    root = binding.expression(acquisition.handle)
    if isinstance(root, AddressOf):
        root = root.place
    symbol = getattr(root, "symbol", None)
    info = run.evaluator.variable(symbol) if symbol else None
    if info is None or info.type.pointee is None or info.type.pointee.bytes is None:
        return 1
    return info.type.pointee.bytes


# Releasing --------------------------------------------------------------------------------------


def release(
    run: FunctionRun,
    binding: Binding,
    effect: ReleaseEffect,
    name: str,
    state: State,
    status: Value | None,
) -> None:
    """Release what a path holds, or report why it cannot be released so."""
    path = parse_path(effect.handle, binding.parameters)
    span = binding.call.span
    if path.root == "current":
        _release_current(run, effect, name, span, state)
        return
    expression = binding.expression(effect.handle)
    value = binding.value(effect.handle)
    if expression is None or value is None:
        return
    location = binding.location(effect.handle)
    if isinstance(_plain(expression), Constant):
        _null_release(run, name, span)
        return
    shown = _shown(expression, path.dereference)
    run.recorder.released_fields |= _fields(expression)
    release_value(run, value, location, shown, effect, name, span, state, status)


def _release_current(
    run: FunctionRun, effect: ReleaseEffect, name: str, span: Span, state: State
) -> None:
    """Release what was acquired last of the families (``Context.pop()``)."""
    candidates = [
        resource
        for resource, holding in state.resources.items()
        if live(holding.status)
        and resource.origin in run.recorder.records
        and run.recorder.records[resource.origin].acquired.family in effect.families
    ]
    if not candidates:
        step = Step(run.filename, span, f"released here by {name}")
        state.inputs.setdefault(
            ("current",), InputRelease(("current",), effect.families, step, name)
        )
        return
    newest = max(candidates, key=lambda resource: state.resources[resource].since)
    shown = run.recorder.records[newest.origin].acquired.name
    pointer = Pointer(newest, Const(0))
    release_value(run, pointer, None, shown, effect, name, span, state)


def _fields(expression: Expression) -> set[str]:
    found = {expression.field} if isinstance(expression, Member) else set()
    return found.union(*(_fields(part) for part in children(expression)))


def _plain(expression: Expression) -> Expression:
    while isinstance(expression, Cast):
        expression = expression.operand
    return expression


def _shown(expression: Expression, dereference: bool) -> str:
    expression = _plain(expression)
    if dereference and isinstance(expression, AddressOf):
        return render(expression.place)
    return render(expression)


def release_value(
    run: FunctionRun,
    value: Value,
    location: Location | None,
    shown: str,
    effect: ReleaseEffect,
    name: str,
    span: Span,
    state: State,
    status: Value | None = None,
) -> None:
    """Release a value by one function, whose ``status`` tells whether it could."""
    step = Step(run.filename, span, f"`{shown}` is released here by {name}")
    site = Site(run.filename, span, name)
    for family in effect.families:
        attached = state.values.get(attachment(value, family))
        if isinstance(attached, Pointer):
            value = attached
    match value:
        case Pointer(resource=resource, offset=offset):
            if integer(offset) not in (0, None) and not _managed(run, resource):
                _misuse(run, MisuseKind.INTERIOR, shown, name, span, state, resource)
            _release_resource(run, resource, effect, shown, site, step, location, state, status)
        case Bag(resources=resources):
            for resource in sorted(resources, key=repr):
                if live(state.status(resource)) or state.status(resource) is Status.ESCAPED:
                    _release_resource(
                        run, resource, effect, shown, site, step, location, state, status
                    )
        case Array(origin=resource) if resource in state.resources:
            _release_resource(run, resource, effect, shown, site, step, location, state, status)
        case Address(location=target) if _is_local(run, target):
            _misuse(run, MisuseKind.STACK, shown, name, span, state, None)
            state.escape(state.reachable([value]))  # what was meant to be released is not lost too
        case Uninitialized() if location and not run.skipped_work_on(state, location[0]):
            _misuse(run, MisuseKind.UNINITIALIZED, shown, name, span, state, None)
        case Address() if effect.handle.startswith("*"):
            pass
        case Input(location=entry):
            _release_input(run, entry, effect, shown, name, step, state)
        case Operation(operator="element", operands=(Sequence(items=items),)):
            for item in items:
                release_value(run, item, None, shown, effect, name, span, state, status)
        case Operation(operator="element", operands=(Input(location=entry),)):
            state.inputs.setdefault(
                entry,
                InputRelease(entry, effect.families, step, name),
            )
        case _:
            pass


def _is_local(run: FunctionRun, location: tuple[object, ...]) -> bool:
    root = location[0]
    info = run.function.variables.get(root) if isinstance(root, str) else None
    return info is not None and info.storage in ("local", "parameter")


def _managed(run: FunctionRun, resource: Symbol) -> bool:
    record = run.recorder.records.get(resource.origin)
    return record is None or record.acquired.managed


def _release_resource(
    run: FunctionRun,
    resource: Symbol,
    effect: ReleaseEffect,
    shown: str,
    site: Site,
    step: Step,
    location: Location | None,
    state: State,
    status: Value | None,
) -> None:
    record = run.recorder.records.get(resource.origin)
    if record is None:
        return
    acquired = record.acquired
    stands = state.status(resource)
    if stands is Status.RELEASED and not effect.idempotent and not resource.older:
        _misuse(run, MisuseKind.DOUBLE_FREE, shown, site.text, site.span, state, resource)
        return
    if stands is Status.ABSENT or stands is None:
        return
    if effect.families and acquired.family not in effect.families:
        _misuse(run, MisuseKind.MISMATCH, shown, site.text, site.span, state, resource)
        state.escape(state.reachable([Pointer(resource, Const(0))]) - {resource})
    state.set_status(resource, Status.RELEASED, step, status)
    run.recorder.released(resource.origin, site, location)


def _release_input(
    run: FunctionRun,
    entry: Location,
    effect: ReleaseEffect,
    shown: str,
    name: str,
    step: Step,
    state: State,
) -> None:
    earlier = state.inputs.get(entry)
    if earlier is not None and (effect.idempotent or is_summary(entry)):
        return
    if earlier is not None:
        steps = (earlier.step, Step(run.filename, step.span, "and again here"))
        run.recorder.misuse(
            Misuse(
                MisuseKind.DOUBLE_FREE,
                shown,
                name,
                step.span,
                steps,
                released=Site(earlier.step.filename, earlier.step.span, earlier.api),
            )
        )
        return
    state.inputs[entry] = InputRelease(entry, effect.families, step, name)


def is_summary(location: tuple[object, ...]) -> bool:
    """Whether a location stands for several: an element that no constant selects."""
    for part in location:
        if part == "[]":
            return True
        if isinstance(part, Input) and is_summary(part.location):
            return True
        if isinstance(part, Operation) and (
            part.operator == "[]" or part.operator == "element" or is_summary(part.operands)
        ):
            return True
    return False


def _misuse(
    run: FunctionRun,
    kind: MisuseKind,
    shown: str,
    name: str,
    span: Span,
    state: State,
    resource: Symbol | None,
) -> None:
    record = run.recorder.records.get(resource.origin) if resource is not None else None
    steps: list[Step] = []
    released = None
    fitting: tuple[str, ...] = ()
    if record is not None and resource is not None:
        acquired = record.acquired
        steps.append(Step(acquired.filename, acquired.span, f"`{acquired.shown}` is acquired here"))
        holding = state.resources[resource]
        if holding.released is not None:
            steps.append(holding.released)
            released = Site(holding.released.filename, holding.released.span, shown)
        best = run.models.release_name(acquired.api, acquired.family)
        fitting = (best, *(r for r in acquired.info.releases if r != best))
    steps.append(Step(run.filename, span, f"`{shown}` is passed to {name} here"))
    run.recorder.misuse(
        Misuse(
            kind,
            shown,
            name,
            span,
            tuple(steps),
            record.acquired.resource() if record else None,
            fitting,
            released,
        )
    )


def check_use(
    run: FunctionRun, expression: Expression, name: str, span: Span, state: State
) -> None:
    """A released resource must not be passed on."""
    value = run.evaluator.value(expression, state)
    if isinstance(value, Pointer) and not value.resource.older:
        record = run.recorder.records.get(value.resource.origin)
        if state.status(value.resource) is Status.RELEASED and record is not None:
            shown = render(expression)
            _misuse(run, MisuseKind.USE_AFTER_FREE, shown, name, span, state, value.resource)
    elif (
        isinstance(value, Input)
        and value.location in state.inputs
        and not is_summary(value.location)
    ):
        earlier = state.inputs[value.location]
        shown = render(expression)
        steps = (earlier.step, Step(run.filename, span, f"`{shown}` is used here"))
        run.recorder.misuse(
            Misuse(
                MisuseKind.USE_AFTER_FREE,
                shown,
                name,
                span,
                steps,
                released=Site(earlier.step.filename, earlier.step.span, earlier.api),
            )
        )


# Clean-up that is none --------------------------------------------------------------------------


def _null_release(run: FunctionRun, name: str, span: Span) -> None:
    before, after = run.surroundings()
    run.recorder.cleanup(
        Cleanup(name, span, null_release=True, last=not after, first=not before),
        set(),
    )


def _reset(run: FunctionRun, call: Call, name: str, state: State) -> None:
    if isinstance(run.flow.blocks[run.position.block].terminator, Unreachable):
        return  # the process ends right here
    run.resets = True
    owned = set()
    for resource, holding in list(state.resources.items()):
        record = run.recorder.records.get(resource.origin)
        if record is None or not record.acquired.info.reset:
            continue
        if live(holding.status):
            if not record.acquired.managed:
                owned.add(resource.origin)
            state.set_status(resource, Status.ESCAPED)
    before, after = run.surroundings()
    run.recorder.cleanup(
        Cleanup(name, call.span, null_release=False, last=not after, first=not before), owned
    )


# Ownership that moves ---------------------------------------------------------------------------


def _insert(run: FunctionRun, binding: Binding, text: str, state: State) -> None:
    """The value becomes an element of the receiver."""
    value = binding.value(text)
    receiver = binding.call.receiver
    container = run.evaluator.location(receiver, state) if receiver is not None else None
    if value is None or receiver is None or container is None:
        return
    if isinstance(value, FunctionValue) and value.key:
        guard(run, value.key, state)
    element: Location = (*container, "[]")
    if run.python:
        element = run.evaluator.element(receiver, "[]", state) or element
    held = state.reachable([value])
    for resource in held:
        run.recorder.named(resource.origin, f"{run.show(receiver)}[...]", element)
    if held:
        state.write(element, Bag(frozenset(held)))
    if isinstance(value, Input):
        state.stored = state.stored | {value.location}


def _take(run: FunctionRun, binding: Binding, text: str, state: State) -> None:
    expression = binding.expression(text)
    value = binding.value(text)
    if expression is None or value is None:
        return
    if isinstance(value, FunctionValue) and value.key:
        guard(run, value.key, state)
    escape_value(run, expression, value, state)


def _invoke(run: FunctionRun, binding: Binding, model: ApiFunction, state: State) -> None:
    for argument in binding.call.arguments:
        value = run.evaluator.value(argument.value, state)
        if isinstance(value, FunctionValue) and value.key:
            guard(run, value.key, state)
        state.escape(state.reachable([value]))


def _assign(
    run: FunctionRun,
    binding: Binding,
    paths: tuple[str, ...],
    results: dict[int | None, Value],
    state: State,
) -> None:
    """``std::exchange(a, b)``: a becomes b, the result is what a was."""
    target, value = binding.location(paths[0]), binding.value(paths[1])
    if target is None or value is None:
        return
    results[None] = state.read(target)
    state.write(target, value)


def _swap(binding: Binding, paths: tuple[str, ...], state: State) -> None:
    first, second = binding.location(paths[0]), binding.location(paths[1])
    if first is None or second is None:
        return
    left = [(key[len(first) :], value) for key, value in state.below(first)] or [
        ((), state.read(first))
    ]
    right = [(key[len(second) :], value) for key, value in state.below(second)] or [
        ((), state.read(second))
    ]
    state.forget(first)
    state.forget(second)
    for rest, value in right:
        state.values[(*first, *rest)] = value
    for rest, value in left:
        state.values[(*second, *rest)] = value


def _unwrap(
    run: FunctionRun, binding: Binding, path: str, results: dict[int | None, Value], state: State
) -> list[State]:
    value = binding.value(path)
    if value is None:
        return [state]
    items = value.items if isinstance(value, Sequence) else (value,)
    if items and is_status(items[0]):
        run.conditions.checked.add(items[0].origin)
        if isinstance(value, Sequence):
            rest = items[1:]
            results[None] = NULL if not rest else rest[0] if len(rest) == 1 else Sequence(rest)
        return run.conditions.settle(state, items[0], True)
    return [state]


# Results ----------------------------------------------------------------------------------------


def _write_other_outputs(run: FunctionRun, call: Call, model: ApiFunction, state: State) -> None:
    """What the function writes through pointers that its model does not speak of."""
    if run.python:
        return
    for number, argument in enumerate(call.arguments):
        expression = _plain(argument.value)
        if not isinstance(expression, AddressOf):
            continue
        location = run.evaluator.location(expression.place, state)
        if location is None or state.reachable(value for _, value in state.below(location)):
            continue
        if isinstance(state.values.get(location), Pointer | Bag | FunctionValue):
            continue
        fresh = run.position.symbol(f"out{number}")
        state.refresh(fresh)
        state.write(location, fresh)


def _write_result(
    run: FunctionRun,
    call: Call,
    name: str,
    model: ApiFunction,
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
        value = run.position.symbol(f"call:{name}")
        state.refresh(value)
    run.store(state, location, value, call.span, render(call.target))
