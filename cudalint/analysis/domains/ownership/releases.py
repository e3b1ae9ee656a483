"""Releases: what ends a resource, what cannot end it, and uses after its end."""

from __future__ import annotations

from cudalint.analysis.domains.ownership.lending import borrowed_by
from cudalint.analysis.domains.ownership.recorder import Recorder, ReleasedMember, live
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import InputRelease, InputUse, State, Status
from cudalint.analysis.facts import Cleanup, Misuse, MisuseKind, Site
from cudalint.analysis.shape.members import member_in
from cudalint.analysis.shape.walk import plain
from cudalint.analysis.values.elements import is_index
from cudalint.analysis.values.values import (
    NEXT,
    Address,
    Array,
    Bag,
    Const,
    Input,
    Location,
    Operation,
    Pointer,
    Sequence,
    Symbol,
    Uninitialized,
    Value,
    inside,
    integer,
)
from cudalint.apis.model import ReleaseEffect
from cudalint.apis.paths import parse_path
from cudalint.findings.finding import Step
from cudalint.program import (
    Call,
    Constant,
    Expression,
    Member,
    Unreachable,
    children,
)
from cudalint.source import Span


def attachment(value: Value, family: str) -> Location:
    """Where a resource is kept that a call attached to existing memory."""
    return ("@", value, f".<{family}>")


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
    if isinstance(plain(expression), Constant):
        _null_release(run, name, span)
        return
    shown = run.show(binding.place(effect.handle))
    origin = value.resource.origin if isinstance(value, Pointer) else None
    for of, member in _members(run, expression):
        run.log(Recorder).released_members.add(ReleasedMember(of, member, origin))
    release_value(run, value, location, shown, effect, name, span, state, status)


def _release_current(
    run: FunctionRun, effect: ReleaseEffect, name: str, span: Span, state: State
) -> None:
    """Release what was acquired last of the families (``Context.pop()``)."""
    candidates = [
        resource
        for resource, holding in state.resources.items()
        if live(holding.status)
        and resource.origin in run.log(Recorder).records
        and run.log(Recorder).records[resource.origin].acquired.family in effect.families
    ]
    if not candidates:
        step = Step(run.filename, span, f"released here by {name}")
        state.inputs.setdefault(
            ("current",), InputRelease(("current",), effect.families, step, name)
        )
        return
    newest = max(candidates, key=lambda resource: state.resources[resource].since)
    shown = run.log(Recorder).records[newest.origin].acquired.name
    pointer = Pointer(newest, Const(0))
    release_value(run, pointer, None, shown, effect, name, span, state)


def _members(run: FunctionRun, expression: Expression) -> set[tuple[str | None, str]]:
    """The members that an expression leads through, with the classes that declare them."""
    found = set().union(*(_members(run, part) for part in children(expression)))
    if isinstance(expression, Member):
        known = member_in(expression, run.function, run.program, run.symbols)
        found.add((None, expression.field) if known is None or run.python else known)
    return found


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
        case Uninitialized() if location and not _may_have_value(run, state, location[0]):
            _misuse(run, MisuseKind.UNINITIALIZED, shown, name, span, state, None)
        case Address() if effect.handle.startswith("*"):
            pass
        case Input(location=entry):
            _release_input(run, entry, effect, shown, name, step, state)
        case Operation(operator="element", operands=(Sequence(items=items),)):
            for item in items:
                release_value(run, item, None, shown, effect, name, span, state, status)
        case Operation(
            operator=field, operands=(Operation(operator="element", operands=(Input() as of,)),)
        ) if field.startswith("."):
            entry = (*of.location, field)
            state.inputs.setdefault(entry, InputRelease(entry, effect.families, step, name))
        case Operation(operator="element", operands=(Input(location=entry),)):
            state.inputs.setdefault(
                entry,
                InputRelease(entry, effect.families, step, name),
            )
        case _:
            pass


def _may_have_value(run: FunctionRun, state: State, symbol: object) -> bool:
    """Whether an earlier loop gives a variable its value, and may do so in one iteration only:
    the first, by its counter."""
    around = run.flow.enclosing.get(run.position.block, frozenset())
    return run.skipped_work_on(state, symbol) or any(
        symbol in run.flow.assigned[header] for header in run.flow.loops if header not in around
    )


def _is_local(run: FunctionRun, location: tuple[object, ...]) -> bool:
    root = location[0]
    info = run.function.variables.get(root) if isinstance(root, str) else None
    return (
        info is not None
        and info.storage in ("local", "parameter")
        and info.type.kind != "reference"  # it stands for an object of the caller
        and not (info.type.kind == "record" and is_index(location[-1]))  # a container's memory
    )


def _managed(run: FunctionRun, resource: Symbol) -> bool:
    record = run.log(Recorder).records.get(resource.origin)
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
    record = run.log(Recorder).records.get(resource.origin)
    if record is None:
        return
    acquired = record.acquired
    stands = state.status(resource)
    if stands is Status.RELEASED and not effect.idempotent and not resource.older:
        _misuse(run, MisuseKind.DOUBLE_FREE, shown, site.text, site.span, state, resource)
        return
    if stands is Status.ABSENT or stands is None:
        return
    fits = acquired.ambiguous or not effect.families or acquired.family in effect.families
    ending = [run.models.families.get(family) for family in effect.families]
    if not fits and acquired.managed and all(one is not None and one.attached for one in ending):
        return  # it was attached out of sight
    if not fits:
        _misuse(run, MisuseKind.MISMATCH, shown, site.text, site.span, state, resource)
        state.escape(state.reachable([Pointer(resource, Const(0))]) - {resource})
    lent = borrowed_by(state, state.resources[resource])
    state.set_status(resource, Status.RELEASED, step, status)
    if resource.older and location is not None and "[]" in location and _in_its_loop(run, resource):
        run.log(Recorder).pipelined(resource.origin)
    run.log(Recorder).released(resource.origin, site, location, lent)


def _in_its_loop(run: FunctionRun, resource: Symbol) -> bool:
    """Whether the operation that runs is in a loop in which the resource was acquired."""
    made = position_of(resource.origin)
    around = run.flow.enclosing
    here = around.get(run.position.block, frozenset())
    return made is not None and bool(here & around.get(made[0], frozenset()))


def _release_input(
    run: FunctionRun,
    entry: Location,
    effect: ReleaseEffect,
    shown: str,
    name: str,
    step: Step,
    state: State,
) -> None:
    _release_entry(entry, effect, name, step, state)
    earlier = state.inputs.get(entry)
    if earlier is not None and (
        effect.idempotent or is_summary(entry) or _is_asked(entry) or _varies(run, entry)
    ):
        return
    if earlier is not None and {*effect.families, *earlier.families} == {"host"}:
        return  # nothing of CUDA's
    if earlier is not None:
        steps = (earlier.step, Step(run.filename, step.span, "and again here"))
        run.log(Recorder).misuse(
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


def _release_entry(
    entry: Location, effect: ReleaseEffect, name: str, step: Step, state: State
) -> None:
    """What an iterator points to belongs to the container that it was asked of."""
    iterator = entry[1] if entry[0] == "@" else None
    if isinstance(iterator, Operation) and iterator.operator == NEXT:
        iterator = iterator.operands[0]
    if not isinstance(iterator, Operation) or not iterator.operator.endswith("begin()"):
        return
    for container in iterator.operands:
        if isinstance(container, Input):
            location = (*container.location, "[]")
            state.inputs.setdefault(location, InputRelease(location, effect.families, step, name))


def _is_asked(location: Location) -> bool:
    """Whether some call out of sight tells where a place is: another time it may be another."""
    return any(
        isinstance(value, Operation) and value.operator.endswith("()")
        for value in inside(Input(location))
    )


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


def _varies(run: FunctionRun, location: Location) -> bool:
    """Whether each iteration of the loop around may find another thing there: through an iterator,
    or in a variable of its own."""
    if not run.flow.enclosing.get(run.position.block):
        return False
    for value in inside(Input(location)):
        if isinstance(value, Operation) and value.operator.endswith("()"):
            return True
        if isinstance(value, Symbol) and value.origin.startswith("call:"):
            return True
        if isinstance(value, Input):
            root = value.location[0]
            info = run.function.variables.get(root) if isinstance(root, str) else None
            if info is not None and info.storage == "local":
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
    record = run.log(Recorder).records.get(resource.origin) if resource is not None else None
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
    run.log(Recorder).misuse(
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
    check_value(run, value, run.show(expression), name, span, state)


def check_value(
    run: FunctionRun,
    value: Value,
    shown: str,
    name: str,
    span: Span,
    state: State,
    inside: Step | None = None,
) -> None:
    """A released resource must not be used, neither here nor (``inside``) by what is called."""
    if isinstance(value, Pointer) and not value.resource.older:
        if state.status(value.resource) is Status.RELEASED:
            _misuse(run, MisuseKind.USE_AFTER_FREE, shown, name, span, state, value.resource)
    elif isinstance(value, Operation) and value.operator == "element":
        (element,) = value.operands
        if isinstance(element, Input):
            here = Step(run.filename, span, f"`{shown}` is used here")
            state.used.setdefault(element.location, InputUse(inside or here, name))
    elif isinstance(value, Input):
        here = Step(run.filename, span, f"`{shown}` is used here")
        earlier = state.inputs.get(value.location)
        if earlier is None:
            if not _is_plain(run, value.location):
                state.used.setdefault(value.location, InputUse(inside or here, name))
        elif not is_summary(value.location) and not _varies(run, value.location):
            run.log(Recorder).misuse(
                Misuse(
                    MisuseKind.USE_AFTER_FREE,
                    shown,
                    name,
                    span,
                    (earlier.step, here),
                    released=Site(earlier.step.filename, earlier.step.span, earlier.api),
                )
            )


def _is_plain(run: FunctionRun, location: Location) -> bool:
    """Whether a location is a parameter that holds a number."""
    info = run.evaluator.variable(str(location[0])) if len(location) == 1 else None
    return info is not None and info.type.kind in ("integer", "float", "bool", "enumeration")


# Clean-up that is none --------------------------------------------------------------------------


def _null_release(run: FunctionRun, name: str, span: Span) -> None:
    before, after = run.surroundings()
    run.log(Recorder).cleanup(
        Cleanup(name, span, null_release=True, last=not after, first=not before),
        set(),
    )


def reset(run: FunctionRun, call: Call, name: str, state: State) -> None:
    """The device's context is destroyed, with all that is in it."""
    if isinstance(run.flow.blocks[run.position.block].terminator, Unreachable):
        return  # the process ends right here
    run.resets = True
    owned = set()
    for resource, holding in list(state.resources.items()):
        record = run.log(Recorder).records.get(resource.origin)
        if record is None or not record.acquired.info.reset:
            continue
        if live(holding.status):
            if not record.acquired.managed:
                owned.add(resource.origin)
            state.set_status(resource, Status.ESCAPED)
    before, after = run.surroundings()
    run.log(Recorder).cleanup(
        Cleanup(name, call.span, null_release=False, last=not after, first=not before), owned
    )
