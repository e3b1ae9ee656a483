"""Stores and scopes: what a write to a place, and the end of a variable, do to what it held."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.analysis.domains.ownership import objects
from cudalint.analysis.domains.ownership.contents import owner_of_contents
from cudalint.analysis.domains.ownership.escape import escape_object, escape_value, give_away
from cudalint.analysis.domains.ownership.recorder import Recorder, is_empty, live
from cudalint.analysis.engine.containers import advanced
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.facts import Exit, Site
from cudalint.analysis.values.addresses import is_element
from cudalint.analysis.values.arithmetic import apply
from cudalint.analysis.values.elements import exactly, is_any_element, is_index
from cudalint.analysis.values.values import (
    NULL,
    Address,
    Bag,
    Const,
    Input,
    Location,
    Pointer,
    Sequence,
    Symbol,
    Uninitialized,
    Value,
    bag,
    inside,
    resources_in,
)
from cudalint.program import FIELDS, Assign, Binary, Call, Expression, Unknown, Variable, render
from cudalint.program import Tuple as ProgramTuple
from cudalint.source import Span

_JOINING: Location = ("@joining",)
"""Holds what a list held while the variable gets a longer one."""


def assign(run: FunctionRun, operation: Assign, state: State, written: Expression) -> None:
    """``target = value``, and what comes with a value that is an aggregate. ``written`` is the
    target in the source, of which this one may be an arm."""
    target, source, name = operation.target, operation.value, render(written)
    location = run.evaluator.location(target, state)
    if location is None:
        if not run.python:  # where that is, nobody can tell
            escape_value(run, source, run.evaluator.value(source, state), state)
        return
    if isinstance(source, Unknown) and source.text == "uninitialized":
        state.forget(location)
        if run.evaluator.kind(location) == "pointer":
            state.write(location, Uninitialized(render(target)))
        return
    if (
        isinstance(source, ProgramTuple)
        and isinstance(target, Variable)
        and _initialize_array(run, target, source, state)
    ):
        return
    value = run.evaluator.value(source, state)
    inner = _aggregate(run, source, value, location, state)
    kept = _joined(run, operation, state)
    if kept:
        inner.append((("[]",), bag(kept)))
        state.values[_JOINING] = bag(kept)
    store(run, state, location, value, operation.span, name)
    state.values.pop(_JOINING, None)
    _put(state, location, inner)
    for rest, part in inner:
        for resource in resources_in(part):
            shown = "".join("[...]" if step == "[]" else str(step) for step in rest)
            run.log(Recorder).named(resource.origin, f"{name}{shown}", location)


def grow(run: FunctionRun, container: Location, state: State) -> None:
    """One more element, or another one: from here on the length of a container is not known, only
    what it holds."""
    current = state.values.get(container)
    if isinstance(current, Sequence):
        for number, item in enumerate(current.items):
            state.values[(*container, f"[{number}]")] = item
        state.values[container] = run.position.symbol("list")


def _joined(run: FunctionRun, operation: Assign, state: State) -> frozenset[Symbol]:
    """The resources in the list that ``a + b`` or ``a += b`` makes; none if these are no lists."""
    source = operation.value
    if not run.python or not isinstance(source, Binary) or source.operator != "+":
        return frozenset()
    found: set[Symbol] = set()
    lists = False
    for part in (source.left, source.right):
        value = run.evaluator.value(part, state)
        if isinstance(value, Pointer):
            return frozenset()
        location = run.evaluator.location(part, state)
        inner = [] if location is None else [v for key, v in state.below(location) if key[1:]]
        lists = lists or bool(inner) or isinstance(value, Sequence | Bag)
        found |= state.reachable([value, *inner])
    return frozenset(found) if lists else frozenset()


def _initialize_array(
    run: FunctionRun, target: Variable, source: ProgramTuple, state: State
) -> bool:
    """``float* planes[2] = {a, b}``, element by element."""
    if run.python or run.evaluator.kind(target) != "array":
        return False
    state.forget((target.symbol,))
    for number, item in enumerate(source.items[:16]):
        value = run.evaluator.value(item, state)
        where = (target.symbol, f"[{number}]")
        store(run, state, where, value, run.position.span, f"{target.name}[{number}]")
    return True


def assign_unseen(run: FunctionRun, operation: Call, state: State) -> bool:
    """An assignment by an operator without a body: of an iterator, or of ``{pointer, size}`` into
    the fields of what is assigned to; other objects go out of sight."""
    if operation.kind != "operator" or not operation.assigns:
        return False
    if operation.receiver is None or len(operation.arguments) != 1:
        return False
    source = operation.arguments[0].value
    where = run.evaluator.location(operation.receiver, state)
    value = run.evaluator.value(source, state)
    if where is None or not isinstance(value, Sequence) or value.kind != FIELDS:
        escape_value(run, source, value, state)
        if where is not None and not resources_in(value):
            origin = run.evaluator.location(source, state)
            inner = state.parts_of(origin) if origin is not None else ()
            escape_object(run, where, state)
            state.forget(where)
            state.values[where] = value
            _put(state, where, inner)  # what its members were given since
        return True
    store(run, state, where, value, operation.span, render(operation.receiver))
    return True


_STEPS = {"operator++": "+", "operator--": "-", "operator+=": "+", "operator-=": "-"}
_SUMS = {"operator+": "+", "operator-": "-"}


def step_unseen(run: FunctionRun, operation: Call, state: State) -> bool:
    """``++it`` and ``it + 1`` by an operator without a body: an iterator points to another element
    now."""
    name = operation.name.rpartition("::")[2]
    sign = _STEPS.get(name) or _SUMS.get(name)
    rest = [argument.value for argument in operation.arguments]
    before = operation.receiver or (rest.pop(0) if rest else None)
    where = run.evaluator.location(before, state) if before is not None else None
    if operation.kind != "operator" or sign is None or before is None or where is None:
        return False
    value = run.evaluator.value(before, state)
    if name in _SUMS and not is_element(value):
        return False
    single = name in ("operator++", "operator--")
    steps = Const(1) if single or not rest else run.evaluator.value(rest[0], state)
    after = advanced(state, value, apply(sign, Const(0), steps))
    target = None if operation.target is None else run.evaluator.location(operation.target, state)
    if name in _STEPS:
        state.forget(where)
        state.values[where] = after
    if target is not None:
        result = after if name in _SUMS else value if single and rest else Address(where)
        state.values[target] = result
    return True


def _aggregate(
    run: FunctionRun, source: Expression, value: Value, location: Location, state: State
) -> list[tuple[Location, Value]]:
    """What is stored below a record that is copied by value, or below what a display made."""
    if run.python:
        origin = run.evaluator.location(source, state) if isinstance(source, Variable) else None
        parts = [] if origin is None else state.parts_of(origin)
        made = isinstance(source, Variable) and source.symbol.startswith("%")
        return parts if made else [part for part in parts if part[0] and is_index(part[0][0])]
    if isinstance(value, Address):  # an array decays to its address
        return []
    if run.evaluator.location(source, state) == location:
        return []
    return list(run.evaluator.inside(source, state))


def store(
    run: FunctionRun,
    state: State,
    location: Location,
    value: Value,
    span: Span,
    name: str = "",
    by_callee: bool = False,
    kept: frozenset[Symbol] = frozenset(),
) -> None:
    """Write a value; the last pointer to a resource may be lost by it. What a callee does to
    the fields of a caller's struct is judged where they are its own (GPU105); what it writes at the
    same time holds the resources ``kept``, as in a swap."""
    if isinstance(value, Sequence) and value.kind == FIELDS:
        kept = kept.union(resources_in(value))
        for field, inner in value.fields:
            shown = f"{name}{field}" if name else ""
            store(run, state, (*location, field), inner, span, shown, by_callee, kept)
        return
    location = exactly(state.values, location) if "[]" in location else location
    if run.python and is_index(location[-1]):
        held = state.values.get(location[:-1])
        if location[-1] == "[]" or (isinstance(held, Sequence) and held.kind == "dict"):
            grow(run, location[:-1], state)
    before = {
        resource
        for _, old in state.below(location)
        for resource in resources_in(old)
        if live(state.status(resource))
    }
    for resource in resources_in(value):
        if name and not name.startswith("%"):
            run.log(Recorder).named(resource.origin, name, location)
            for key, inner in state.below(("@", value)):  # of what an object holds, too
                shown = "".join(map(str, key[2:])).removeprefix(".")
                for held in resources_in(inner):
                    run.log(Recorder).named(held.origin, f"{name}->{shown}", key)
    state.write(location, value)
    root = location[0]
    if root == "@" and isinstance(location[1], Pointer):
        # Who writes through a pointer takes it for granted that it is not null.
        holding = state.resources.get(location[1].resource)
        if holding and holding.status is Status.REQUESTED and holding.condition is None:
            state.set_status(location[1].resource, Status.OWNED)
        elif holding and holding.status is Status.ESCAPED and not holding.alone:
            give_away(run, [value], state)  # whoever has the block has what it holds
    elif root == "@" and (location[1] == NULL or _is_one_of_places(run, location[1])):
        # No path writes through null: where it is put is not known.
        give_away(run, [value], state)
    if root.startswith("::") and root not in run.private_globals:
        for resource in sorted(state.reachable([value])):  # a global outlives the function
            log = run.log(Recorder)
            acquired = log.of(resource)
            if not log.follows_globals or acquired is None or acquired.through is not None:
                state.escape([resource])
            log.handed_over(resource.origin, Site(run.filename, span, "is stored"))
            log.in_globals = True
    for resource in sorted(before - kept):
        if by_callee and len(location) > 1 and not _is_own(run, location, resource):
            state.set_status(resource, Status.ESCAPED)
        elif not _held(run, state, resource) and not is_empty(run, state, resource):
            _lose(run, state, resource, span, name, value)


def _is_one_of_places(run: FunctionRun, pointer: Value) -> bool:
    """Whether a pointer is an unknown element of a table of addresses, of members or globals too:
    any of them may hold what is written there."""
    return is_any_element(pointer) and any(
        isinstance(one, Address) and not run.evaluator.is_local(one.location)
        for one in inside(pointer)
    )


def copy(run: FunctionRun, state: State, origin: Location, target: Location) -> None:
    """A place holds what another one holds: either may be used in its place."""
    inner = state.parts_of(origin)
    whole = state.read(origin)
    if "[]" in target:  # any element: the others hold what they held
        _put(state, target, inner)
        if whole == Input(origin) and not run.evaluator.is_local(target):
            # With the members that were there before the call.
            keep_in(run, target[: target.index("[]")], [whole], state)
        objects.copied(state, origin, target)
        return
    kind = state.values.get((*target, objects.CLASS))  # what it was made of it remains
    state.forget(target)
    if whole != Input(origin) or not run.evaluator.is_local(origin):
        state.values[target] = whole  # the members that were there before the call
    elif run.evaluator.kind(target) != "array":  # it holds something else than before
        unknown = run.position.symbol("copy")
        state.refresh(unknown)
        state.values[target] = unknown
    _put(state, target, inner)
    if kind is not None:
        state.values[(*target, objects.CLASS)] = kind
    objects.copied(state, origin, target)


def keep_in(run: FunctionRun, container: Location, values: Iterable[Value], state: State) -> None:
    """What was there when the function was entered is an element from now on."""
    if run.python or container[0] != "this" or len(container) != 2:
        state.keep_inputs(values)
        return
    given = {value.location for value in values if isinstance(value, Input)}
    own = {location for location in given if location[0] == "this"}
    state.stored |= own
    state.put |= {(location, container) for location in given - own}


def _put(state: State, target: Location, inner: Iterable[tuple[Location, Value]]) -> None:
    """What comes with an aggregate; an unknown element keeps what the other elements held."""
    for rest, value in inner:
        if "[]" in target:
            state.write((*target, *rest), value)
        else:
            state.values[(*target, *rest)] = value


def _is_own(run: FunctionRun, location: Location, resource: Symbol) -> bool:
    """Whether a function put what it acquired into a local variable, or has an array of pointers:
    nobody else knows of it."""
    made_here = run.log(Recorder).records[resource.origin].acquired.through is None
    listed = run.evaluator.kind(location[:1]) == "array" and all(map(is_index, location[1:]))
    return (made_here or listed) and run.evaluator.is_local(location)


def _held(run: FunctionRun, state: State, resource: Symbol) -> bool:
    return any(
        resource in resources_in(value)
        for location, value in state.values.items()
        if not _is_spent(run, location[0])
    )


def _is_spent(run: FunctionRun, root: str) -> bool:
    """Whether a location belongs to a temporary that nothing reads any more."""
    return root.startswith("%") and not run.reads_later(root)


def _lose(
    run: FunctionRun, state: State, resource: Symbol, span: Span, name: str, by: Value
) -> None:
    """The only pointer to a live resource was overwritten."""
    acquired = run.log(Recorder).records[resource.origin].acquired
    failures = [e.step for e in state.events(state.resources[resource].since) if e.is_failure]
    if isinstance(by, Pointer):
        what = "acquire"
    elif isinstance(by, Const) and not by.value:
        what = "null"
    else:
        what = "value"
    reason = "it is set to null" if what == "null" else f"`{name or acquired.name}` is overwritten"
    if resource.older:
        reason = "the next iteration acquires it again"
    last = f"{reason} here, while nothing else holds it"
    owner = owner_of_contents(run, state, resource)
    run.log(Recorder).lost(
        state, resource, Exit.OVERWRITE, span, reason, failures, last,
        overwritten_by=what, owner=owner,
    )  # fmt: skip
    state.set_status(resource, Status.ESCAPED)


def delete(run: FunctionRun, place: Expression, state: State) -> None:
    """Python's ``del``."""
    location = run.evaluator.location(place, state)
    if location is not None and isinstance(place, Variable):
        state.forget(location)


def end_scope(run: FunctionRun, symbols: tuple[str, ...], span: Span, state: State) -> None:
    """The scope of some variables ends: what only they held is lost."""
    for symbol in symbols:
        location = (symbol,)
        for entry in [entry for entry in state.inputs if entry[0] == symbol]:
            del state.inputs[entry]  # the next object of that name is another one
        held = {
            resource
            for _, value in state.below(location)
            for resource in resources_in(value)
            if live(state.status(resource))
        }
        state.forget(location)
        if run.position.block in run.flow.fatal:
            held = set()  # a handler's, say, that ends the process
        for resource in sorted(held):
            if not _held(run, state, resource) and not is_empty(run, state, resource):
                _lose_scope(run, state, resource, span)


def _lose_scope(run: FunctionRun, state: State, resource: Symbol, span: Span) -> None:
    acquired = run.log(Recorder).records[resource.origin].acquired
    since = state.events(state.resources[resource].since)
    events = [event for event in since if event.is_failure or event.kind == "condition"]
    reason = events[-1].step.message if events and events[-1].is_failure else "its scope ends"
    steps = [event.step for event in events[-2:]]
    last = f"the scope of `{acquired.shown}` ends here"
    owner = owner_of_contents(run, state, resource)
    run.log(Recorder).lost(state, resource, Exit.SCOPE, span, reason, steps, last, owner=owner)
    state.set_status(resource, Status.ESCAPED)
