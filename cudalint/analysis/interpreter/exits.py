"""What is left when a path leaves its function: leaks, and an outcome for the callers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cudalint.analysis.domains.ownership.asking import asked_about
from cudalint.analysis.domains.ownership.contents import owner_of_contents
from cudalint.analysis.domains.ownership.counterparts import left_to_counterpart
from cudalint.analysis.domains.ownership.escape import escape_captured
from cudalint.analysis.domains.ownership.lending import lent_to
from cudalint.analysis.domains.ownership.recorder import Acquired, Recorder, is_empty, live
from cudalint.analysis.domains.ownership.releases import is_attachment
from cudalint.analysis.engine.evaluate import is_status
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import Event, Lending, State, Status
from cudalint.analysis.engine.summary import RETURN, HandedOut, Outcome
from cudalint.analysis.facts import Exit, Site
from cudalint.analysis.values.arithmetic import rewrite, rewrite_location
from cudalint.analysis.values.elements import LENGTH
from cudalint.analysis.values.values import (
    ZERO,
    Address,
    Bag,
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
    inside,
    mentions,
    parts,
    resources_in,
    symbols_in,
)
from cudalint.findings.finding import Step
from cudalint.program import (
    FIELDS,
    AddressOf,
    Binary,
    Dereference,
    Expression,
    Index,
    Member,
    Tuple,
    Unary,
    Variable,
    children,
    variables,
)
from cudalint.source import Span

MOST_WRITES = 24
MOST_CONDITIONS = 32
_CALCULATED = (Operation, Polynomial)


class Result(NamedTuple):
    """What a function returns."""

    value: Value
    parts: list[tuple[Location, Value]]
    """What it holds, if it is an object."""


def result_of(
    run: FunctionRun, result: Expression | None, state: State, span: Span
) -> Result | None:
    """The value that is returned, as it is before anything ends."""
    if result is None:
        return None
    value = run.evaluator.value(result, state)
    _note_failed_program(run, state, value, span)
    return Result(value, _parts_of_result(run, result, state))


@dataclass
class Leaving:
    """A path that ends: what it leaves behind, and what it hands out."""

    run: FunctionRun
    state: State
    kind: str
    """return or throw."""
    span: Span
    implicit: bool = False
    explicit: bool = True
    outward: list[tuple[Location, Value]] = field(default_factory=list)
    """What stays, and where."""

    def leave(self, result: Result | None) -> None:
        """Record all of it."""
        run, state, outward = self.run, self.state, self.outward
        if result is not None:
            outward += [((RETURN,), result.value), *result.parts]
        # A constructor that throws runs no destructor of its own class ([except.ctor]).
        # Python's has no owner that could close it, unless `__del__` does.
        unborn = (
            self.kind == "throw"
            and run.function.kind == "constructor"
            and (not run.python or (self.explicit and not run.has_finalizer))
        )
        for location, stored in state.values.items():
            if is_outside(run, location) and not (unborn and location[0] == "this"):
                outward.append((location, stored))
        for stored in [stored for _, stored in outward if isinstance(stored, Pointer | Bag)]:
            # What a returned block of memory holds goes out with it.
            for resource in resources_in(stored):
                outward.extend(state.block(resource))
        for status in statuses_in(stored for _, stored in outward):
            run.conditions.checked.add(status.origin)  # the caller's to look at
        outside = state.reachable(stored for _, stored in outward)
        state.keep_held(outside, {location for location, _ in outward})
        kept = {one.key for _, one in outward if isinstance(one, FunctionValue) and one.key}
        for key in sorted(state.guards | kept):
            escape_captured(run, key, state)
        handed = self._hand_out(outside)
        for resource, holding in list(state.resources.items()):
            is_lost = live(holding.status) and resource not in outside
            if is_lost and not self._is_needed(resource, outside):
                self._lose(resource)
        run.log(Recorder).departed(state, self.span)
        run.outcomes.append(self._outcome(result, handed))

    def _hand_out(self, outside: set[Symbol]) -> list[tuple[Symbol, Location]]:
        handed: dict[Symbol, Location] = {}
        # A number that is calculated from a pointer (`last - first`) holds it least of all.
        for location, stored in sorted(
            self.outward, key=lambda pair: isinstance(pair[1], _CALCULATED)
        ):
            for resource in resources_in(stored):
                # What an object keeps is its own, even if a pointer to it is returned too.
                earlier = handed.get(resource)
                if resource not in self.state.resources:
                    continue
                if earlier is None or (
                    (earlier[0] == RETURN or _is_some_element(earlier))
                    and not _is_some_element(location)
                ):
                    handed[resource] = location
        for resource in sorted(outside):
            if live(self.state.status(resource)):
                what = "is returned" if handed.get(resource, ("",))[0] == RETURN else "is stored"
                self.run.log(Recorder).handed_over(
                    resource.origin, Site(self.run.filename, self.span, what)
                )
        return list(handed.items())

    def _is_needed(self, resource: Symbol, outside: set[Symbol]) -> bool:
        """Whether it is the thread's context, and what was acquired in it goes out of here: that
        would end with the context."""
        recorder, state = self.run.log(Recorder), self.state
        acquired = recorder.of(resource)
        if acquired is None or not acquired.info.current:
            return False
        since = state.resources[resource].since
        return any(
            inner is not None and inner.info.reset and state.resources[one].since >= since
            for one in outside
            if live(state.status(one))
            for inner in (recorder.of(one),)
        )

    def _lose(self, resource: Symbol) -> None:
        run, state = self.run, self.state
        record = run.log(Recorder).records.get(resource.origin)
        if record is None or is_empty(run, state, resource):
            return
        owner = owner_of_contents(run, state, resource)
        acquired = owner or record.acquired
        if not record.released and left_to_counterpart(run, state, resource, acquired.family):
            return
        events = state.events(state.resources[resource].since)
        failures = [event for event in events if event.is_failure]
        avoiding = run.flow.avoiding(run.position.block)
        conditions = [event for event in events if event.block in avoiding]
        since = any(event.kind in ("throw", "may throw") for event in events)
        thrown = state.thrown if self.kind == "throw" or since else None
        if self.kind == "throw" or thrown is not None:
            exit_kind = Exit.THROW
        elif self.implicit or (self.span == run.last_return and not failures):
            exit_kind = Exit.END
        else:
            exit_kind = Exit.RETURN
        steps: list[Step] = []
        if acquired.from_callee is not None:
            filename, where = acquired.from_callee
            steps.append(Step(filename, where, f"by {acquired.api}"))
        inside = self._failed_inside(acquired) if not failures else None
        steps += [inside] if inside is not None else []
        steps += [event.step for event in (failures or conditions)[-2:]]
        if thrown is not None and thrown.step.span != self.span:
            steps.append(thrown.step)
        if failures:
            last = failures[-1].step
            reason = f"{last.message} (line {last.span.row})"
        elif thrown is not None:
            reason = f"{thrown.step.message} (line {thrown.step.span.row})"
            if acquired.from_callee is not None and thrown.step.span == acquired.span:
                why = " after it has acquired it" if inside is None else f", as {inside.message}"
                reason = f"{thrown.step.message}{why} (line {thrown.step.span.row})"
        elif exit_kind is Exit.RETURN and conditions:
            reason = conditions[-1].step.message
            if inside is not None:
                reason += f", as {inside.message}"
        else:
            reason = "the function ends"
        leaves = "the exception leaves the function" if self.kind == "throw" else "returns"
        if self.kind != "throw" and self.implicit:
            leaves = "the function ends"
        told = f"{leaves} without a release of `{acquired.shown}`"
        explicit = self.explicit if thrown is None else thrown.kind == "throw"
        run.log(Recorder).lost(
            state,
            resource,
            exit_kind,
            self.span,
            reason,
            steps,
            told,
            explicit=explicit,
            owner=owner,
        )

    def _failed_inside(self, acquired: Acquired) -> Step | None:
        """What failed in the function that acquired a resource for this one, after it had."""
        failure = self.state.failure
        if failure is None or acquired.from_callee is None or failure.step.span != acquired.span:
            return None
        return failure.inside

    def _outcome(self, result: Result | None, handed: list[tuple[Symbol, Location]]) -> Outcome:
        run, state = self.run, self.state
        out: list[HandedOut] = []
        dangling: list[HandedOut] = []
        for resource, location in handed:
            holding = state.resources[resource]
            acquired = run.log(Recorder).of(resource)
            if acquired is None or holding.status is Status.ABSENT:
                continue
            gone = holding.status is Status.RELEASED
            filename, where = acquired.from_callee or (acquired.filename, acquired.span)
            (dangling if gone else out).append(
                HandedOut(
                    resource=resource,
                    location=location,
                    family=acquired.family,
                    api=acquired.api,
                    filename=filename,
                    span=where,
                    bytes=acquired.bytes,
                    condition=holding.condition,
                    requested=holding.status is Status.REQUESTED,
                    managed=acquired.managed,
                    ambiguous=acquired.ambiguous,
                    escaped=holding.status is Status.ESCAPED or not _is_nameable(run, location),
                    released=holding.released if gone else None,
                    lent=tuple(Lending(to) for to in lent_to(state, holding)),
                    contained=acquired.contained,
                )
            )
        settled = tuple(
            (status, succeeded)
            for status, succeeded in state.conditions.items()
            if is_status(status) and any(mentions(stored, status) for _, stored in self.outward)
        )
        absent = {r for r, h in state.resources.items() if h.status is Status.ABSENT}
        kept = {item.resource for item in (*out, *dangling)}

        def outside_view(inner: Value) -> Value | None:
            if isinstance(inner, Pointer):
                if inner.resource in absent:
                    return Const(None)
                if inner.resource not in kept:
                    return Symbol("gone")
            return None

        told = frozenset(one.answer for one in state.called)
        if result is not None:
            told |= symbols_in(result.value)
        conditions = tuple(
            (condition, truth)
            for condition, truth in state.conditions.items()
            if _is_told_of(run, condition, told)
        )
        writes = [
            (rewrite_location(location, outside_view), rewrite(stored, outside_view))
            for location, stored in self.outward
            if location != (RETURN,)
            and not (isinstance(stored, Address) and not is_outside(run, stored.location))
        ]
        # What holds a resource is kept, whatever there is besides: else it could not be released.
        # So is what came where something was released, or was taken from: else that would still
        # seem to be there.
        left = state.inputs.keys() | {one.location for _, one in writes if isinstance(one, Input)}
        needed = [
            place in left or any(True for _ in resources_in(stored)) for place, stored in writes
        ]
        held = sum(needed)
        writes = [write for _, write in sorted(zip(needed, writes, strict=True), key=_is_spare)]
        failure = state.failure
        called = [
            one._replace(arguments=tuple(rewrite(given, outside_view) for given in one.arguments))
            for one in state.called
            if not _is_local(run, one.location)
        ]
        return Outcome(
            kind=self.kind,
            value=None if result is None else _result(run, rewrite(result.value, outside_view)),
            conditions=conditions[:MOST_CONDITIONS],
            handed_out=tuple(out),
            dangling=tuple(dangling),
            used=tuple(use for use in state.used.items() if not _is_in_own(use[0])),
            released=tuple(
                release for entry, release in state.inputs.items() if not _is_local(run, entry)
            ),
            called=tuple(sorted(called, key=repr)),
            stored=state.stored | _touched(state, writes),
            put=state.put,
            lent=state.lent,
            writes=tuple(writes[: max(held, MOST_WRITES)]),
            failure=failure.step if failure else None,
            sticky=failure is not None and failure.sticky,
            asked_for=failure.asked_for if failure else None,
            explicit=self.explicit,
            thrown=state.thrown.thrown if self.kind == "throw" and state.thrown is not None else (),
            foreign=any(_is_foreign(run, condition) for condition in state.conditions),
            settled=settled,
            asked_about=frozenset(
                one.location for one in asked_about(run, state) if isinstance(one, Input)
            ),
            skipped=bool(state.skipped),
            left=self.span,
        )


def _note_failed_program(run: FunctionRun, state: State, value: Value, span: Span) -> None:
    """``return 1`` from ``main`` is a way out on failure, whatever has failed."""
    if run.function.name == "main" and not run.python and state.failure is None:
        number = value.value if isinstance(value, Const) else 0
        known = isinstance(number, int) and number != 0
        if known or state.conditions.get(Operation("==", (value, ZERO))) is False:
            status = str(number) if known else "other than 0"
            message = f"the program ends with status {status}"
            state.failure = Event("failure", Step(run.filename, span, message))


def _is_spare(write: tuple[bool, tuple[Location, Value]]) -> bool:
    """Whether a summary may leave out a write, if there are many."""
    return not write[0]


def _touched(state: State, writes: Iterable[tuple[Location, Value]]) -> set[Location]:
    """What was put into a container with which something else was done, too."""

    def meet(container: Location) -> bool:
        entries = (*state.inputs, *state.used, *state.stored, *state.lent)
        written = (place for place, _ in writes if place != (*container, LENGTH))
        told = (one.location for _, value in writes for one in inside(value)
                if isinstance(one, Input))  # fmt: skip
        return any(
            place[: len(container)] == container[: len(place)]
            for place in (*entries, *written, *told)
        )

    return {location for location, container in state.put if meet(container)}


def statuses_in(values: Iterable[Value]) -> Iterator[Symbol]:
    """The status values anywhere in some values."""
    for value in inside(*values):
        if is_status(value) and isinstance(value, Symbol):
            yield value


def is_outside(run: FunctionRun, location: Location) -> bool:
    """Whether a location outlives the call: the receiver's, a global, what an input points to."""
    root = location[0]
    if root == "this":
        return True
    if is_attachment(location):
        return False  # registered memory stays the registrant's to release
    if root == "@":
        return _from_input(location[1]) or (not run.python and _from_elsewhere(location[1]))
    if root.startswith("::"):
        return root not in run.private_globals
    info = run.function.variables.get(root)
    if info is not None and info.storage == "captured":
        return True
    if run.python and len(location) == 1:
        return False  # a parameter bound anew is the function's own affair
    parameter = next((p for p in run.function.parameters if p.symbol == root), None)
    return parameter is not None and parameter.by == "reference"


def _from_input(value: object) -> bool:
    if isinstance(value, Input):
        return True
    if isinstance(value, Operation | Polynomial):  # `lanes->inputs + i` is one of these too
        return any(_from_input(part) for part in parts(value))
    return False


def _from_elsewhere(value: object) -> bool:
    """Whether a pointer is what some call gave: to an object that somebody else looks after."""
    if isinstance(value, Symbol):
        return not is_status(value)
    if isinstance(value, Operation):
        asked = value.operator.endswith("()")
        return asked or any(_from_elsewhere(part) for part in value.operands)
    return False


def _parts_of_result(
    run: FunctionRun, result: Expression, state: State
) -> list[tuple[Location, Value]]:
    """What a returned record or container holds, and what flows into an unknown result."""
    found: list[tuple[Location, Value]] = []
    pending: list[tuple[Location, Expression]] = [((RETURN,), result)]
    while pending:
        at, expression = pending.pop()
        inside = run.evaluator.inside(expression, state)
        found.extend(((*at, *rest), value) for rest, value in inside)
        if isinstance(expression, Variable) or (
            isinstance(expression, Tuple) and expression.kind == FIELDS
        ):
            continue
        if isinstance(expression, Tuple) and expression.kind == "tuple":
            pending.extend(((*at, f"[{n}]"), item) for n, item in enumerate(expression.items))
        elif isinstance(expression, AddressOf):
            # Whoever has a part may find the whole.
            pending.extend((at, part) for part in children(expression.place))
        # A length or a comparison hands nothing out, nor does a member the object that it is of.
        elif not isinstance(expression, Unary | Binary) and (
            run.python or not isinstance(expression, Member | Index | Dereference)
        ):
            pending.extend((at, part) for part in children(expression))
    return found


def _is_some_element(location: Location) -> bool:
    """Whether a location is what one of several pointers points to, nobody knows which."""
    return (
        location[0] == "@"
        and isinstance(location[1], Operation)
        and location[1].operator == "element"
    )


def _is_in_own(entry: Location) -> bool:
    """Whether a place is in memory that the function has acquired itself: no caller can mean it."""
    return entry[0] == "@" and not isinstance(entry[1], str) and any(resources_in(entry[1]))


def _is_local(run: FunctionRun, location: Location) -> bool:
    return run.evaluator.is_local(location) and run.evaluator.kind(location[:1]) == "record"


def _is_nameable(run: FunctionRun, location: Location) -> bool:
    """Whether a caller knows the location: not through what a local variable holds."""
    if location[0] != "@" or isinstance(location[1], str):
        return True
    if not run.python and _from_elsewhere(location[1]):
        return False
    for value in inside(location[1]):
        if isinstance(value, Input) and run.evaluator.is_local(value.location):
            return False
    return True


def _result(run: FunctionRun, value: Value) -> Value:
    """Addresses of locals mean nothing outside."""
    if isinstance(value, Address) and not is_outside(run, value.location):
        return Symbol("local address")
    if isinstance(value, Sequence):
        return Sequence(tuple(_result(run, item) for item in value.items), value.kind)
    return value


FOREIGN = "foreign"
"""The operation that stands for an answer that has nothing to do with the inputs."""


def _is_foreign(run: FunctionRun, condition: Value) -> bool:
    """Whether only the result of some call decides, that was told nothing of what the function was
    given."""
    asked = False
    for value in inside(condition):
        if isinstance(value, Input) or is_status(value):
            return False
        if isinstance(value, Operation) and value.operator == FOREIGN:
            asked = True
        if isinstance(value, Symbol):
            asked = asked or (value.origin.startswith("call:") and not _is_told(run, value))
    return asked


def _is_told(run: FunctionRun, answer: Symbol) -> bool:
    """Whether the call that gave an answer may know of what the function was given."""
    call = run.made_by(answer.origin)
    given = [argument.value for argument in call.arguments] if call is not None else []
    if call is not None and call.receiver is not None:
        given.append(call.receiver)
    told = {name for one in given for name in variables(one)}
    return "this" in told or not told.isdisjoint(run.function.variables)


def _is_told_of(run: FunctionRun, value: Value, told: frozenset[Symbol]) -> bool:
    """Whether the caller knows of all that a condition is about: inputs, and what is returned."""
    if isinstance(value, Symbol):
        return value in told and not is_status(value)
    if isinstance(value, Input):
        return True
    if isinstance(value, Address):
        return not run.python and is_outside(run, value.location)
    inner = parts(value)
    if not inner:
        return isinstance(value, Const)
    return all(_is_told_of(run, part, told) for part in inner)
