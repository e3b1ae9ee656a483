"""Applies the summary of a callee to the state of its caller."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    lend_values,
)
from cudalint.analysis.domains.ownership.objects import is_own
from cudalint.analysis.domains.ownership.recorder import Acquired, Recorder, live
from cudalint.analysis.domains.ownership.releases import (
    CURRENT,
    Passing,
    Release,
    is_provided,
    may_run_later,
    note_members,
    release_current,
)
from cudalint.analysis.engine.evaluate import is_status
from cudalint.analysis.engine.run import FunctionRun, Next, Raised
from cudalint.analysis.engine.state import Holding, InputRelease, Lending, State, Status
from cudalint.analysis.engine.summary import (
    RETURN,
    Conditions,
    HandedOut,
    Outcome,
    Summary,
    is_later,
)
from cudalint.analysis.facts import Site
from cudalint.analysis.interpreter.callbacks import ANSWER, run_given
from cudalint.analysis.interpreter.dispatch import asked_class, left_open
from cudalint.analysis.interpreter.exits import FOREIGN, is_outside, statuses_in
from cudalint.analysis.interpreter.modelled import note_last_error
from cudalint.analysis.interpreter.translation import Translation
from cudalint.analysis.shape.destruction import Destruction
from cudalint.analysis.shape.effects import Effects
from cudalint.analysis.shape.flags import Flags
from cudalint.analysis.values.elements import is_index
from cudalint.analysis.values.values import (
    NULL,
    Address,
    Bag,
    Const,
    Input,
    Location,
    Operation,
    Pointer,
    Sequence,
    Symbol,
    Value,
    bag,
    inside,
    resources_in,
    symbols_in,
)
from cudalint.apis.model import ReleaseEffect
from cudalint.findings.finding import Step
from cudalint.program import Call, Function, Variable, render

WORK_OF_EFFECT = 200
"""What a condition or an effect of a callee costs, compared to a stored value."""


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
        if not after:
            # The outcome that fits is among the paths that were cut: it comes back, with what
            # is unknown.
            after.append(_unknown_result(run, call, state.copy()))
        cut = _cut(run, call, definition, summary.effects)
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
        _cut(run, call, definition, effects).havoc(after)
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
    if not applications:
        return []
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
    if not summary.complete:
        after = after or [state.copy()]
        for one in after:
            applications[0].havoc(one)
    return after


class _Application(Translation):
    """One outcome at one call."""

    def __init__(
        self,
        run: FunctionRun,
        call: Call,
        definition: Function,
        summary: Summary,
        outcome: Outcome,
        number: int,
        known: dict[Value, Value],
        ends: bool = False,
    ) -> None:
        site = f"{run.position.block}.{run.position.index}"
        if ends and call.receiver is not None:
            site += f"~{render(call.receiver)}"  # several objects may end at once
        elif isinstance(call.target, Variable) and call.target.symbol.startswith(ANSWER):
            site += f"#{call.target.symbol}"  # a callee may call several function values
        super().__init__(run, call, definition, site)
        self.ends = ends
        """Whether it is the destructor of an object that ends."""
        self.undecided = False
        """Whether nobody knows which of its outcomes it has."""
        self.summary = summary
        self.outcome = outcome
        self.number = number
        self.known = known
        """What the conditions of all outcomes are in the caller, in the state of the call."""
        self.before: State | None = None
        """The state of the call."""

    def apply(self, state: State) -> list[State]:
        """The caller's states after this outcome."""
        self.before = state
        if self.outcome.kind == "throw" and self._is_excluded(state):
            return []
        return [after for fork in self.fit(state) for after in self.take_effect(fork)]

    def _is_excluded(self, state: State) -> bool:
        """Whether the callee throws because its object does something that everybody ends who has
        begun it: nobody has, when the caller is entered."""
        record, filename = self.definition.record, self.definition.filename
        if record is None or record == self.run.function.record:
            return False
        for condition, truth in self.outcome.conditions:
            match condition:
                case Input(location=("this", str(field))) if truth:
                    asked = self._condition(condition, state, state.equal)
                    if not isinstance(asked, Const) and self.run.symbols.memo(Flags).is_lowered(
                        record, field.removeprefix("."), filename
                    ):
                        return True
        return False

    def fit(self, state: State) -> list[State]:
        """The caller's states in which the callee has this outcome."""
        telling = ((value, True) for value in self._telling_results())
        always = self.outcome.conditions
        forks = self._assume((*telling, *always), state)
        # The conditions of any of the callee's paths that end so may hold.
        ways = [tuple(one for one in way if one not in always) for way in self.outcome.ways]
        return [
            fork
            for fork in forks
            if len(ways) < 2 or any(self._may_hold(way, fork, state.equal) for way in ways)
        ]

    def _assume(self, conditions: Conditions, state: State) -> list[State]:
        """The states in which all of some conditions hold. Where each of several conditions holds
        in several ways, there are too many to follow each of them."""
        forks = [state.copy()]
        for condition, truth in conditions:
            before, forks = forks, []
            for fork in before:
                asked = self._condition(condition, fork, state.equal)
                room = len(before) < self.run.most
                assume = self.run.conditions.assume if room else self.run.conditions.remember
                forks += assume(fork, asked, truth)
        return forks

    def _may_hold(self, conditions: Conditions, state: State, equal: Mapping[Value, Const]) -> bool:
        """Whether some conditions may hold together: so they may where many ways fail."""
        pending = [(0, state)]
        for _ in range(self.run.most * len(conditions)):
            if not pending:
                return False
            number, before = pending.pop()
            if number == len(conditions):
                return True
            condition, truth = conditions[number]
            asked = self._condition(condition, before, equal)
            after = self.run.conditions.assume(before.copy(), asked, truth)
            pending += [(number + 1, one) for one in reversed(after)]
        return True

    def _condition(self, condition: Value, state: State, equal: Mapping[Value, Const]) -> Value:
        """A condition in the caller's terms; where no more is known than at the call, once."""
        self.run.spend(WORK_OF_EFFECT + len(state.conditions))
        if state.equal != equal:
            return self.translate(condition, state)
        found = self.known.get(condition)
        if found is None:
            found = self.known[condition] = self.translate(condition, state)
        return found

    def is_undecided(self, state: State) -> bool:
        """Whether it depends on the class of an object that nobody knows."""
        for condition, _ in self.outcome.conditions:
            asked = asked_class(condition)
            if asked is not None:
                kind = self.translate(asked, state)
                if not isinstance(state.equal.get(kind, kind), Const):
                    return True
        return False

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

    def _telling_results(self) -> list[Value]:
        """Unknown items of the returned tuple that are false where nothing is handed out: they
        tell the caller that something is (``return pointer, size`` beside ``return 0, 0``)."""
        mine = self.outcome.value
        if not isinstance(mine, Sequence) or not self.outcome.handed_out:
            return []
        telling: list[Value] = []
        for other in self.summary.outcomes:
            theirs = other.value
            if other.handed_out or not isinstance(theirs, Sequence):
                continue
            for item, refusal in zip(mine.items, theirs.items, strict=False):
                refused = isinstance(refusal, Const) and not refusal.value
                if refused and isinstance(item, Symbol | Operation) and not is_status(item):
                    telling.append(item)
        return telling

    def mark_tested(self, state: State) -> None:
        """What the callee looks at is looked at, whichever way it ends."""
        for location in sorted(self.summary.tested, key=repr):
            value = self.translate(Input(location), state)
            if is_status(value):
                self.run.conditions.checked.add(value.origin)
            for resource in resources_in(value):
                self.run.conditions.mark_checked(state, resource)

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
        return [*(end_object(run, ended, definition, summary, state) or [state])]

    def _effects(self, state: State) -> None:
        self.run.spend((WORK_OF_EFFECT + len(state.values)) * self.outcome.effects)
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
            self._release(release, state)
        stored = sorted(self.outcome.stored, key=repr)
        given = [value for location in stored for value in self._whole(location, state)]
        given += self._put(state)
        give_away(self.run, given, state)
        for value in given:
            guard(self.run, value, state)
        self._lend(self.outcome.lent, state)
        obtained = (*self.outcome.handed_out, *self.outcome.dangling)
        mine = {item.resource: self._resource(item.resource) for item in obtained}
        state.refresh(*mine.values())
        self.out |= mine
        for item in obtained:
            self._acquire(item, mine[item.resource], state)
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
                state.escape(state.reachable([translated]))
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
        named = target[0] == "this" and not self.run.python and self._is_named_by_caller(location)
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

    def _is_of_class(self, release: InputRelease, value: Value) -> bool:
        """Whether a method of the class acquired what another releases, or its destructor where a
        copy that was given ends: if the two do not fit, that is told there."""
        known = map(self.run.log(Recorder).of, resources_in(value))
        makers = [one.through for one in known if one is not None and one.kept_by_callee]
        root, definition = release.location[0], self.definition
        copies = (one.type.record for one in definition.parameters if one.symbol == root)
        of = definition.record if root == "this" else next(copies, None)
        scopes = {one.name for one in self.run.symbols.classes(of, definition.filename)}
        return any(maker is not None and maker.rpartition("::")[0] in scopes for maker in makers)

    def _release(self, release: InputRelease, state: State) -> None:
        effect = ReleaseEffect(handle="arg0", families=release.families)
        name, span = self.call.name, self.call.span
        if release.location == CURRENT:
            release_current(self.run, effect, name, span, state)
            return
        if is_later(release.location):
            # Whichever object of a list that is: all that the callee may release is out of sight.
            for root in sorted(self.summary.effects.released):
                place = self.locate((root,), state)
                below = [inner for _, inner in state.below(place)] if place is not None else []
                state.escape(state.reachable([self.translate(Input((root,)), state), *below]))
            return
        value = self.translate(Input(release.location), state)
        location = self.locate(release.location, state)
        _, expression = self.arguments.get(release.location[0], (None, None))
        if expression is not None and len(release.location) == 1:
            note_members(self.run, expression, value)
        if isinstance(value, Operation) and location is not None:
            value = state.read(location)
        shown = self.written(location) or release.api
        if self.ends:
            remaining = self._to_end(value, shown, release, state)
            if remaining is None:
                return
            value = remaining
        if is_own(self.run, location, state) and isinstance(value, Pointer | Bag):
            held = [one for one in resources_in(value) if live(state.status(one))]
            objects.released(state, held, self.call, release.step)
        earlier = state.inputs.get(value.location) if isinstance(value, Input) else None
        if earlier is not None and earlier.step.span == self.call.span:
            return  # in a loop: much may have become of it out of sight since the last iteration
        cut = release.cut or not self.summary.complete or self._renews_otherwise(release.location)
        cut = cut or may_run_later(self.run)
        told = self._is_of_class(release, value)
        Release(self.run, state, shown, name, span, effect, cut=cut, told=told).value(
            value, location
        )
        if self._is_of_copy(release):
            objects.copy_ended(state, resources_in(value))
        if isinstance(value, Input) and value.location in state.inputs:
            # Keep the original step: messages name the API call, not each wrapper around it.
            entry: Location = value.location
            state.inputs[entry] = state.inputs[entry]._replace(api=release.api, cut=cut)

    def _is_of_copy(self, release: InputRelease) -> bool:
        """Whether what releases it belongs to an object that the callee was given by value."""
        given = [one for one in self.definition.parameters if one.symbol == release.location[0]]
        return any(
            (one.type.kind, one.by) == ("record", "value")
            and self.run.symbols.memo(Destruction).of(one.type, self.definition.filename)
            for one in given
        )

    def _renews_otherwise(self, location: Location) -> bool:
        """Whether the callee may, for all that is known at the call, as well put something new in
        place of what it releases (``resize(n)``, but for 0): the caller may know which."""
        if self.before is None or self.outcome.failure or self.outcome.renews(location):
            return False
        before = self.before
        return any(
            self._other(number).fit(before)
            for number, other in enumerate(self.summary.outcomes)
            if other.kind == "return" and other.releases(location) and other.renews(location)
        )

    def _other(self, number: int) -> _Application:
        """Another outcome of the same call."""
        summary = self.summary
        outcome = summary.outcomes[number]
        return _Application(
            self.run, self.call, self.definition, summary, outcome, number, self.known
        )

    def _to_end(
        self, value: Value, shown: str, release: InputRelease, state: State
    ) -> Value | None:
        """What the end of an object releases; what is out of sight may not be its own any more."""
        ended = sorted(resources_in(value)) if isinstance(value, Pointer | Bag) else []
        for resource in ended:
            if state.status(resource) is Status.RELEASED and not self.undecided:
                objects.released_before(self.run, self.call, resource, shown, release, state)
        remaining = []
        for resource in ended:
            if not live(state.status(resource)):
                continue
            if objects.does_not_fit(self.run, self.call, resource, shown, release):
                state.escape([resource])
            else:
                remaining.append(resource)
        if ended and not remaining:
            return None
        return bag(remaining) if isinstance(value, Bag) else value

    def _resource(self, resource: Symbol) -> Symbol:
        """What a resource that the callee obtains is called in the caller."""
        again = "~" if resource.older else ""
        return Symbol(f"{self.definition.key}#{resource.origin}{again}@{self.site}")

    def _acquire(self, item: HandedOut, resource: Symbol, state: State) -> None:
        run = self.run
        target = self.locate(item.location, state)
        if item.location[0] == RETURN and self.call.target is not None:
            base = run.evaluator.location(self.call.target, state)
            target = None if base is None else (*base, *item.location[1:])
        returned = item.location[0] == RETURN
        family = run.models.family_of(item.api, item.family)
        elsewhere = item.location[0] == "this" and not (
            target
            and (target[0] == "this" or is_own(run, target, state))
            and not self._is_owner_inside(item.location, target)
        )
        thrown_away = item.location[0] == RETURN and self.call.target is None
        shown = self.shown(target) if target else f"the result of {self.definition.name}"
        run.log(Recorder).acquired(
            Acquired(
                origin=resource.origin,
                name=shown,
                api=item.api,
                family=item.family,
                info=family,
                filename=run.filename,
                span=self.call.span,
                bytes=None if item.bytes is None else self.translate(item.bytes, state),
                through=self.definition.name,
                in_loop=run.repeats(run.position.block),
                managed=item.managed or item.escaped or elsewhere,
                location=target,
                from_callee=(item.filename, item.span),
                ambiguous=self._is_ambiguous(item),
                kept_by_callee=not (returned or self._is_named_by_caller(item.location)),
            )
        )
        condition = None if item.condition is None else self.translate(item.condition, state)
        status = Status.REQUESTED if item.requested else Status.OWNED
        if item.escaped or elsewhere or (target is None and not thrown_away):
            status = Status.ESCAPED
        elif any(is_provided(at, item.family) for at in state.values):
            status = Status.ESCAPED  # it is what an earlier call was given, as far as one can see
        if item.released is not None:
            state.hold(resource, Holding(Status.RELEASED, released=item.released))
            return
        if isinstance(condition, Symbol):
            run.log(Recorder).statuses[resource.origin] = condition.origin
        state.hold(resource, Holding(status, condition, lent=item.lent))
        if target is not None and is_outside(run, target) and live(status):
            # The caller's own input keeps it: the class or struct rule looks at that.
            run.log(Recorder).handed_over(
                resource.origin, Site(run.filename, self.call.span, "is stored")
            )

    def _is_named_by_caller(self, location: Location) -> bool:
        """Whether a place of the callee is one that its caller has named: ``*p``, ``p[i]``, or a
        reference."""
        root, *rest = location
        if root == "@" and isinstance(location[1], Input):
            root, *rest = *location[1].location, *rest[1:]
        given = any(root == parameter.symbol for parameter in self.definition.parameters)
        return given and all(isinstance(part, str) and is_index(part) for part in rest)

    def _is_owner_inside(self, written: Location, target: Location) -> bool:
        """Whether the callee is a method of a member that has a destructor of its own."""
        record = self.run.symbols.record(self.definition.record, self.run.filename)
        inside = target[0] == "this" and len(target) > len(written)
        return inside and record is not None and record.destructor in ("declared", "defined")

    def _is_ambiguous(self, item: HandedOut) -> bool:
        """Whether another outcome hands out something of another family in the same place."""
        return any(
            other.location == item.location and other.family != item.family
            for outcome in self.summary.outcomes
            for other in outcome.handed_out
        )
