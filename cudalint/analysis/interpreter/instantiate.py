"""Applies the summary of a callee to the state of its caller."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Ordered

from msgspec import structs

from cudalint.analysis.domains import device_errors
from cudalint.analysis.domains.ownership import objects, stores
from cudalint.analysis.domains.ownership.escape import (
    Reached,
    give_away,
    guard,
    havoc,
    is_out_of_sight,
    leave_globals,
    lend_values,
)
from cudalint.analysis.domains.ownership.objects import is_own
from cudalint.analysis.domains.ownership.releases import (
    Passing,
)
from cudalint.analysis.engine.evaluate import is_status
from cudalint.analysis.engine.run import FunctionRun, Next, Raised
from cudalint.analysis.engine.state import Lending, State, Status
from cudalint.analysis.engine.summary import (
    RETURN,
    Outcome,
    Summary,
)
from cudalint.analysis.facts import Site
from cudalint.analysis.interpreter.callbacks import run_given
from cudalint.analysis.interpreter.dispatch import left_open
from cudalint.analysis.interpreter.exits import FOREIGN, statuses_in
from cudalint.analysis.interpreter.fitting import WORK_OF_EFFECT, Fitting
from cudalint.analysis.interpreter.handed_out import take_over
from cudalint.analysis.interpreter.modelled import note_last_error
from cudalint.analysis.interpreter.released import release_input
from cudalint.analysis.shape.effects import Effects
from cudalint.analysis.values.values import (
    NULL,
    Address,
    Input,
    Location,
    Operation,
    Pointer,
    Symbol,
    Value,
    bag,
    inside,
    resources_in,
    symbols_in,
)
from cudalint.findings.finding import Step
from cudalint.program import Call, Function, render


def apply_summary(
    run: FunctionRun, call: Call, definition: Function, summary: Summary, state: State
) -> list[Next]:
    """Where a call of a function of the run leads."""
    if summary.reads_last_error:
        note_last_error(run, state)
    after: list[State] = []
    thrown: list[Next] = []
    known: dict[Value, Value] = {}
    applications = [
        _Application(run, call, definition, summary, outcome, number, known)
        for number, outcome in enumerate(summary.outcomes)
    ]
    if applications:
        applications[0].mark_tested(state)
    ways: list[list[Next]] = []
    for application in applications:
        if run.exhausted and after:
            break
        outcome = application.outcome
        ways.append([])
        for fork in application.apply(state):
            ways[-1].append(fork)
            if outcome.kind == "throw":
                short = definition.name
                if _blames(run, call, fork):
                    what = f"`{short}` throws"
                    thrown.append(Raised(fork, call.span, what, outcome.explicit, outcome.thrown))
            else:
                after.append(fork)
    if any(application.is_undecided(state) for application in applications):
        after += left_open(run, state, ways)
    if not summary.complete:
        cut = _cut(run, call, definition, summary.effects)
        if not after:
            # The outcome that fits is among the paths that were cut: it comes back, with what
            # is unknown.
            after.append(_unknown_result(run, call, state.copy()))
            cut.give_back(after[0])
        for one in (*after, *(leaving.state for leaving in thrown if isinstance(leaving, Raised))):
            cut.havoc(one)
    return [*thrown, *after]


def apply_effects(
    run: FunctionRun, call: Call, callees: Ordered[Function], effects: Effects, state: State
) -> State:
    """Where a call leads of which nobody knows which of several functions it runs; ``effects``: in
    the terms of the first."""
    after = _unknown_result(run, call, state.copy())
    for definition in callees[:1]:
        cut = _cut(run, call, definition, effects)
        cut.give_back(after)
        cut.havoc(after)
    return after


def _cut(run: FunctionRun, call: Call, definition: Function, effects: Effects) -> _Application:
    summary = Summary((), complete=False, effects=effects)
    return _Application(run, call, definition, summary, Outcome("return", None), -1, {})


def _unknown_result(run: FunctionRun, call: Call, state: State) -> State:
    location = run.evaluator.location(call.target, state) if call.target is not None else None
    if location is not None and call.target is not None:
        result = run.position.symbol(f"call:{call.name}")
        state.refresh(result)
        stores.store(run, state, location, result, call.span, render(call.target))
    return state


def _is_query(definition: Function, summary: Summary) -> bool:
    """Whether a function without arguments only tells something that is kept out of sight
    (``Device::mode()``): each call of the same object tells the same."""
    if definition.parameters or len(definition.blocks) != 1 or len(summary.outcomes) != 1:
        return False
    (outcome,) = summary.outcomes
    effects = (outcome.handed_out, outcome.released, outcome.stored, outcome.put, outcome.writes)
    if outcome.value is None or any(effects):
        return False
    unknown = symbols_in(outcome.value)
    return bool(unknown) and not any(is_status(symbol) for symbol in unknown)


def _blames(run: FunctionRun, call: Call, state: State) -> bool:
    """A check that throws does so because of the status that it was given, also where its test
    could not be followed; false where that status is known to be a success."""
    given = [run.evaluator.value(argument.value, state) for argument in call.arguments]
    return all(
        run.conditions.settle(state, status, False)
        for status in statuses_in(given)
        if status not in state.conditions
    )


def end_object(
    run: FunctionRun, call: Call, definition: Function, summary: Summary, state: State
) -> list[State]:
    """Where the destructor of an object leads that ends here. What it may release, and what of the
    object decides is not known, goes out of sight."""
    known: dict[Value, Value] = {}
    applications = [
        _Application(run, call, definition, summary, outcome, number, known, ends=True)
        for number, outcome in enumerate(summary.outcomes)
        if outcome.kind == "return"
    ]
    if applications:
        applications[0].mark_tested(state)
    fitting = [(one, forks) for one in applications if (forks := one.fit(state))]
    outcomes = [one.outcome for one, _ in fitting]
    released = sorted({r.location for one in outcomes for r in one.released}, key=repr)
    undecided = any(len(released) != len(one.released) for one in outcomes)
    unknown = [
        location
        for location in released
        if any(
            not one.releases(location) and not one.passes_by(location, outcomes) for one in outcomes
        )
    ]
    after: list[State] = []
    for application, forks in fitting:
        application.undecided = undecided
        for fork in forks:
            doubtful = [application.translate(Input(one), fork) for one in unknown]
            for one in application.take_effect(fork):
                one.escape(one.reachable(doubtful))
                after.append(one)
    after = after or [state]  # none fits: what comes of it is not known
    if not summary.complete:
        cut = _cut(run, call, definition, summary.effects)
        for one in after:
            cut.havoc(one)
    return after


class _Application(Fitting):
    """One outcome at one call, and what it does there."""

    def apply(self, state: State) -> list[State]:
        """The caller's states after this outcome."""
        self.before = state
        if self.outcome.kind == "throw" and self.is_excluded(state):
            return []
        return [after for fork in self.fit(state) for after in self.take_effect(fork)]

    def havoc(self, state: State) -> None:
        """What the callee may do on the paths that were cut."""
        effects = self.summary.effects
        by_value = {one.symbol for one in self.definition.parameters if one.by != "reference"}
        reached = [
            Reached(
                self.locate((root,), state),
                self.translate(Input((root,)), state),
                root in effects.written,
                root in by_value and not self.run.python,
            )
            for root in sorted(effects.released | effects.written | effects.kept)
        ]
        havoc(self.run, state, *reached)
        self._lend({(root,) for root in effects.lent}, state)
        if effects.outside:
            leave_globals(self.run, state)

    def give_back(self, state: State) -> None:
        """Its result, of which nothing is known, may be what it was given."""
        roots = self.summary.effects.returned if self.call.target is not None else ()
        given = [self.translate(Input((root,)), state) for root in sorted(roots)]
        state.escape(resource for value in given for resource in resources_in(value))

    def take_effect(self, state: State) -> list[State]:
        """What the callee does to a state of the caller, and what it calls of the caller's."""
        functions = [
            (
                self.translate(Input(one.location), state),
                [self.translate(argument, state) for argument in one.arguments],
                self.symbol(one.answer),
            )
            for one in self.outcome.called
        ]
        self._effects(state)
        states = [state]
        for function, arguments, answer in functions:
            states = [
                after
                for one in states
                for after in run_given(
                    self.run,
                    function,
                    arguments,
                    answer,
                    self.call.span,
                    one,
                    self._end_by if self.ends else apply_summary,
                )
            ]
        return states

    def _end_by(
        self, run: FunctionRun, call: Call, definition: Function, summary: Summary, state: State
    ) -> list[Next]:
        """The destructor leaves it to a function that the object holds."""
        place = self.call.receiver
        ended = structs.replace(call, kind="destructor", receiver=place, may_throw=False)
        return [*end_object(run, ended, definition, summary, state)]

    def _effects(self, state: State) -> None:
        self.run.spend((WORK_OF_EFFECT + len(state.values)) * self.outcome.effects)
        if self.summary.effects.outside:
            leave_globals(self.run, state)
        if self.outcome.failure is not None:
            step = Step(self.run.filename, self.call.span, f"`{self.definition.name}` fails")
            asked_for = self.outcome.asked_for
            asked_for = None if asked_for is None else self.translate(asked_for, state)
            state.failure = state.record(
                "failure",
                step,
                sticky=self.outcome.sticky
                or (state.failure is not None and state.failure.sticky)
                or device_errors.is_there(asked_for, state),
                inside=self.outcome.failure,
                asked_for=asked_for,
            )
        for location, use in self.outcome.used:
            value = self.translate(Input(location), state)
            place = self.locate(location, state)
            shown = self.written(place) or use.api
            if self.ends and isinstance(value, Pointer):
                if state.status(value.resource) is Status.RELEASED and not self.undecided:
                    objects.released_before(self.run, self.call, value.resource, shown, use, state)
                continue
            by_global = str(location[0]).startswith("::")
            passing = Passing(
                self.run, state, shown, self.call.name, self.call.span, by_global=by_global
            )
            passing.use(value, use.step)
        for release in self.outcome.released:
            release_input(self, release, state)
        stored = sorted(self.outcome.stored, key=repr)
        given = [value for location in stored for value in self._whole(location, state)]
        given += self._put(state)
        give_away(self.run, given, state)
        for value in given:
            guard(self.run, value, state)
        self._lend(self.outcome.lent, state)
        obtained = (*self.outcome.handed_out, *self.outcome.dangling)
        mine = {item.resource: self.handed(item.resource) for item in obtained}
        state.refresh(*mine.values())
        self.out |= mine
        for item in obtained:
            take_over(self, item, mine[item.resource], state)
        if self.outcome.foreign:
            answer = Operation(FOREIGN, (Symbol(f"outcome {self.number}@{self.site}"),))
            state.conditions[answer] = True
        for status, succeeded in self.outcome.settled:
            # The failure itself is on record above; here only the answer is remembered.
            state.conditions[self.symbol(status)] = succeeded
        writes: list[tuple[Location, Location, Value]] = []
        self.given = {}
        for location, translated in self._written(state):
            target = self.locate(location, state)
            if target is not None and self._may_write(location, target, state):
                writes.append((location, target, translated))
            elif location[0] == "this":
                give_away(self.run, [translated], state)
                guard(self.run, translated, state)
                if target is not None:
                    state.write(target, translated)  # what it points to is looked after too
                    self.given = {}
        result = self._result(state)
        self.given = None
        left = (*result.values(), *(value for _, _, value in writes))
        kept = frozenset(resource for value in left for resource in resources_in(value))
        writes.sort(key=lambda write: len(write[1]))  # members last
        lost = {place for place, one in self.outcome.writes if is_out_of_sight(one)}
        replaced = (target for location, target, _ in writes if location in lost)
        held = [inner for target in replaced for _, inner in state.below(target)]
        give_away(self.run, held, state)
        for location, target, value in writes:
            stores.store(
                self.run,
                state,
                target,
                value,
                self.call.span,
                self.shown(target),
                by_callee=not self._forgets(location, target, state),
                kept=kept,
            )
        self._note_copy(state)
        self._give_result(result, state)

    def _written(self, state: State) -> Iterator[tuple[Location, Value]]:
        """What the callee writes, in the caller's terms, and where, in its own; with an object that
        it was given comes what that holds."""
        known = {location for location, _ in self.outcome.writes}
        for location, value in self.outcome.writes:
            yield location, self.translate(value, state)
            for rest, inner in self._held(value, state):
                if (*location, *rest) not in known:
                    yield (*location, *rest), inner

    def _held(self, value: Value, state: State) -> list[tuple[Location, Value]]:
        """What an object of the caller holds that the callee was given."""
        if not isinstance(value, Input) or self.run.python:
            return []
        place = self.locate(value.location, state)
        return [] if place is None else [one for one in state.parts_of(place) if one[0]]

    def _whole(self, location: Location, state: State) -> list[Value]:
        """What the callee was given at a location, and what that holds if it is an object."""
        given = Input(location)
        return [self.translate(given, state), *(inner for _, inner in self._held(given, state))]

    def _put(self, state: State) -> list[Value]:
        """The callee puts elements into containers; those that go out of sight."""
        gone: list[Value] = []
        for location, into in sorted(self.outcome.put, key=repr):
            value, *inside = self._whole(location, state)
            container = self.locate(into, state)
            held = state.reachable([value, *inside])
            if location in self.outcome.stored or container is None or container[0] != "this":
                gone += [value, *inside]
            elif held:
                state.write((*container, "[]"), bag(held))
            elif isinstance(value, Input):
                state.put |= {(value.location, container)}
        return gone

    def _forgets(self, location: Location, target: Location, state: State) -> bool:
        """Whether a callee overwrites a part of an object of the function, or what the function has
        named of its own object, without a thought of what that holds."""
        named = target[0] == "this" and not self.run.python and self.is_named_by_caller(location)
        if not (named or is_own(self.run, target, state)):
            return False
        effects, outcomes = self.summary.effects, self.summary.outcomes
        pointer = location[1] if location[0] == "@" else None
        root = pointer.location[0] if isinstance(pointer, Input) else location[0]
        if root != "this":
            left = (self.outcome.value or NULL, *(value for _, value in self.outcome.writes))
            held = (one.location for one in inside(*left) if isinstance(one, Input))
            if root in effects.kept | effects.lent or any(
                location[: len(one)] == one for one in held
            ):
                return False
        return self.outcome.passes_by(location, outcomes) or not any(
            one.releases(location) for one in outcomes
        )

    def _note_copy(self, state: State) -> None:
        """A constructor may leave with another object what it takes over."""
        definition = self.definition
        given = [one for one in definition.parameters if one.symbol != "this"]
        if definition.kind != "constructor" or len(given) != 1 or self.run.python:
            return
        if (given[0].type.pointee or given[0].type).kind != "record" or given[0].by == "pointer":
            return
        origin, target = (self.locate((symbol,), state) for symbol in (given[0].symbol, "this"))
        if origin is not None and target is not None and is_own(self.run, target, state):
            objects.copied(state, origin, target)

    def _lend(self, lent: Iterable[Location], state: State) -> None:
        """What the callee gives to others, whose bodies are out of sight."""
        lending = Lending(Site(self.run.filename, self.call.span, self.definition.name))
        for location in sorted(lent, key=repr):
            lend_values(self.run, [self.translate(Input(location), state)], lending, state)

    def _may_write(self, location: Location, target: Location, state: State) -> bool:
        # Another object's members belong to its class (GPU105), not to this function.
        return location[0] != "this" or target[0] == "this" or is_own(self.run, target, state)

    def _result(self, state: State) -> dict[Location, Value]:
        """What is returned, as it was before anything was written, and what that holds."""
        found: dict[Location, Value] = {}
        if self.outcome.value is None:
            found[()] = Symbol(f"result@{self.site}")
        elif _is_query(self.definition, self.summary):
            asked = self.locate(("this",), state)
            of = () if asked is None else (Address(asked),)
            found[()] = Operation(f"{self.definition.key}()", of)
        else:
            found[()] = self.translate(self.outcome.value, state)
            found |= self._held(self.outcome.value, state)
        for written, value in self.outcome.writes:
            if written[0] == RETURN:
                found[written[1:]] = self.translate(value, state)
        return found

    def _give_result(self, result: dict[Location, Value], state: State) -> None:
        target = self.call.target
        location = self.run.evaluator.location(target, state) if target is not None else None
        if target is None or location is None:
            return
        value = result.pop(())
        stores.store(self.run, state, location, value, self.call.span, render(target))
        for rest, inner in result.items():
            state.values[(*location, *rest)] = inner
