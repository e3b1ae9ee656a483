"""Follows the paths of one function: a worklist of disjuncts over its blocks.

Blocks are visited in reverse postorder, so that disjuncts meet before they go on together. A loop
runs for zero, one and two iterations; what changes from one to the next becomes unknown after the
first, and what an operation produced before becomes ``older`` when it runs again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace

import msgspec

from cudalint.analysis.domains.ownership import counted, objects, releases, stores, unlisted
from cudalint.analysis.domains.ownership.objects import Owners
from cudalint.analysis.domains.ownership.recorder import live
from cudalint.analysis.engine.conditions import forget
from cudalint.analysis.engine.evaluate import MOST_ITERATIONS
from cudalint.analysis.engine.joining import join, key, leads_on, meet, owed, settle, settled
from cudalint.analysis.engine.run import FEW_DISJUNCTS, FunctionRun, Position, Raised
from cudalint.analysis.engine.schedule import Pending, Schedule
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.engine.summary import LATER
from cudalint.analysis.interpreter import calls, destruction
from cudalint.analysis.interpreter.domains import DOMAINS
from cudalint.analysis.interpreter.exits import Leaving, result_of
from cudalint.analysis.interpreter.meetings import Meetings
from cudalint.analysis.interpreter.modelled import note_last_error
from cudalint.analysis.shape.consumers import may_stop_early
from cudalint.analysis.shape.exceptions import Exceptions
from cudalint.analysis.shape.operations import operations
from cudalint.analysis.shape.subjects import Subjects
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.values.elements import count, is_any_element
from cudalint.analysis.values.values import (
    NULL,
    Address,
    Bag,
    Const,
    Input,
    Operation,
    Pointer,
    Polynomial,
    Sequence,
    Symbol,
    Value,
    inside,
    integer,
    resources_in,
)
from cudalint.findings.finding import Step
from cudalint.program import (
    RAISES,
    Assign,
    Binary,
    Block,
    Branch,
    Call,
    Caught,
    Conditional,
    Delete,
    Expression,
    Jump,
    Launch,
    Return,
    ScopeEnd,
    Throw,
    Unary,
    Use,
    Variable,
    variables,
)
from cudalint.program import (
    Operation as ProgramOperation,
)
from cudalint.source import Span

MOST_WORK = 2_000_000
"""Stored values handled in one function, after which one of the remaining paths is followed."""
WORK_OF_REST = 1.25
"""How much of that there may be before this one is cut too."""
WORK_OF_CALL = 8
"""What a call handles of each of them, compared to what a block does."""
MOST_STEPS = 4000
"""Block visits in one function, after which the remaining paths are cut."""
_LIMITS = frozenset((1 << bits) - 1 for bits in (31, 32, 63, 64))
"""The largest numbers of the integer types that count."""


def follow(run: FunctionRun) -> FunctionRun:
    """Follow all paths of a function."""
    if run.function.blocks:
        Worklist(run).follow()
        run.summaries.budget.spend(run.work)
    return run


class Worklist:
    """The disjuncts of one function that are still to be followed."""

    def __init__(self, run: FunctionRun) -> None:
        self.run = run
        function = run.function
        self._meetings = Meetings(run)
        self._schedule = Schedule(run.flow)
        owning = identity(function) in run.symbols.memo(Subjects).owning
        run.most_work = run.summaries.budget.share(
            MOST_WORK // (10 if not owning else 2 if run.evaluator.constants else 1)
        )
        self._raised: list[Raised] = []
        """By the operation that runs."""
        self._seen: dict[int, dict[object, int]] = {}
        self._shown: dict[int, str] = {}
        inside = [one for one in run.symbols.nested(function.key) if one.filename == run.filename]
        captured = frozenset().union(*(one.variables for one in inside))
        self._mortal = frozenset(
            symbol
            for symbol, info in function.variables.items()
            if info.storage in ("local", "temporary")
            and symbol not in run.flow.addressed
            and symbol not in captured
            and symbol not in run.log(Owners).destructors
        )
        """The variables that are gone where nothing reads them any more."""
        self._releasing_loops = frozenset(
            header
            for header in run.flow.loops
            if any(self._may_release(at.operation) for at in operations(run.flow.body(header)))
        )

    def _may_release(self, operation: object) -> bool:
        if not isinstance(operation, Call):
            return False
        model = self.run.models.lookup(operation.name)
        if model is not None:
            return bool(model.releases)
        return operation.key is not None or operation.receiver is not None

    # The worklist -----------------------------------------------------------------------------

    def follow(self) -> None:
        """Follow all paths."""
        start = State()
        objects.enter(self.run, start)
        self.enqueue(0, start, None)
        steps = 0
        while (turn := self._schedule.next()) is not None:
            steps += 1
            number, states = turn
            for state in self._standing(states.values()):
                if self._is_exhausted(steps):
                    return
                self._visit(self.run.flow.blocks[number], state)

    def _is_exhausted(self, steps: int) -> bool:
        if steps > MOST_STEPS:
            self.run.complete, self.run.exhausted = False, True
            return True
        return self.run.work > self.run.most_work * WORK_OF_REST

    def enqueue(self, target: int, state: State, source: int | None) -> None:
        """A disjunct arrives at a block; equal ones are joined."""
        if target not in self.run.flow.order:
            return
        self.run.spend(len(state.values))
        enclosing = self.run.flow.enclosing[target]
        if source is not None and target in self.run.flow.loops:
            if source in self.run.flow.loops[target]:
                state.visits[target] = state.visits.get(target, 0) + 1
                if state.visits[target] > MOST_ITERATIONS:
                    return  # `while True`: no condition at its head ends it
                if not self._ends(state, target):
                    self._widen(state, target)
            else:
                state.visits.pop(target, None)
        for header in list(state.visits):
            if header not in enclosing:
                del state.visits[header]
        self._forget_dead(state, target)
        pending = self._schedule.at(target, state)
        mine = self._key(state)
        if mine in pending:
            join(pending[mine], state)
            return
        if target in self.run.flow.loops:
            # Of two that may be joined, the one that owns more comes by too.
            seen = self._seen.setdefault(target, {})
            missing = sum(one.status is Status.ABSENT for one in state.resources.values())
            if seen.get(mine, missing + 1) <= missing:
                return
            seen[mine] = missing
        if len(pending) >= self._meetings.after(target) and self._meet(pending, state, target):
            return
        if len(pending) >= self.run.most and not pending.apart:
            self._settle(pending)
        if len(pending) < self.run.most:
            pending[mine] = state
        elif not self._is_stood_for(state, pending.values()):
            self.run.complete = False
            self._make_room(pending, mine, state)

    def _make_room(self, pending: Pending, place: object, state: State) -> None:
        """A disjunct gives way, where others own all that it owns, to one that alone owns
        something."""
        owned = {
            place: [r for r, one in other.resources.items() if live(one.status)]
            for place, other in [*pending.items(), (place, state)]
        }
        owners = Counter(resource for resources in owned.values() for resource in resources)
        alone = {place for place, resources in owned.items() if 1 in map(owners.get, resources)}
        spare = next((one for one in reversed(pending) if one not in alone), None)
        if place in alone and spare is not None:
            del pending[spare]
            pending[place] = state

    def _key(self, state: State) -> object:
        return key(state, self.run.touches_cuda)

    def _settle(self, pending: Pending) -> None:
        """Let disjuncts go on together that owe the same."""
        standing = self._standing(pending.values())
        pending.clear()
        pending.update((self._key(state), state) for state in standing)
        pending.apart = len(pending) >= self.run.most

    def _standing(self, waiting: Collection[State]) -> list[State]:
        """Those of some disjuncts that go on, each for others too that owe the same. What is null
        goes on with what is released rather than with what somebody has forgotten, so those that
        release come first."""
        if len(waiting) < 2:
            return list(waiting)
        found: list[State] = []
        alike: dict[object, list[State]] = defaultdict(list)
        for state in sorted(waiting, key=settled, reverse=True):
            self.run.spend(len(found))
            others = alike[owed(state)]
            if not self._is_stood_for(state, others):
                others.append(state)
                found.append(state)
        return found

    def _is_stood_for(self, state: State, others: Iterable[State]) -> bool:
        owes = state.resources or state.inputs or self.run.touches_cuda
        return bool(owes) and any(settle(other, state) for other in others)

    def _meet(self, pending: Pending, state: State, target: int) -> bool:
        """Let one disjunct go on together with one that waits at the same block, if they may."""
        for place in reversed(pending):
            if self._meetings.may_meet(target, pending[place], state):
                both = meet(pending.pop(place), state, target)
                pending.setdefault(self._key(both), both)
                return True
        return False

    def _ends(self, state: State, header: int) -> bool:
        """Whether a loop is over for certain: what it counts with is known."""
        branch = self.run.flow.blocks[header].terminator
        if not isinstance(branch, Branch):
            return False
        condition = self.run.evaluator.value(branch.condition, state)
        if not isinstance(condition, Const):
            return False
        target = branch.then if condition.value else branch.otherwise
        return target not in self.run.flow.loops[header]

    def _counting(self, number: int) -> None:
        self.run.evaluator.inducing = self.run.flow.inducing[number]
        self.run.evaluator.counters = self.run.flow.counters[number]

    def _widen(self, state: State, header: int) -> None:
        """After an iteration nothing is known of what the loop counts, unless the end is near."""
        self._counting(header)
        fresh = {
            symbol: Symbol(f"{LATER}{header}:{symbol}")
            for symbol in sorted(self.run.flow.induction[header])
            if isinstance(
                state.values.get((symbol,)), Const | Polynomial | Symbol | Input | Operation
            )
            and not self.run.evaluator.is_last(symbol, state)
        }
        self.run.spend(20 * len(state.values))
        _next_element(state)
        state.refresh(*fresh.values())
        for symbol, value in fresh.items():
            self._never_back(symbol, value, header, state)
            if self.run.python and (symbol, "[]") in state.values:
                state.values[(symbol,)] = value  # a list that grows keeps what it holds
            else:
                state.write((symbol,), value)

    def _never_back(self, symbol: str, fresh: Value, header: int, state: State) -> None:
        """What a loop counts never comes back to where it has been: `if (step == 0)`."""
        steps = self.run.flow.steps[header].get(symbol, ())
        now = state.values.get((symbol,))
        up, down = all(step > 0 for step in steps), all(step < 0 for step in steps)
        if up != down and now is not None and symbol not in self.run.flow.addressed:
            state.conditions[Operation("<" if up else ">", (fresh, now))] = False

    def _may_end(self, header: int, condition: Expression, truth: bool, state: State) -> bool:
        """Whether a loop may end after the iterations that were followed. What it counted to is
        known then, and with it what its body has asked of the last one: `if (i == n - 1)`."""
        for symbol, counter in self.run.flow.counters[header].items():
            counted = state.values.get((symbol,))
            for known, held in state.conditions.items() if counter.header == header else ():
                match known:
                    case Operation("<" | ">", (left, last)) if left == counted and not held:
                        then = state.copy()
                        then.write((symbol,), last)
                        ended = self.run.evaluator.value(condition, then)
                        return bool(self.run.conditions.assume(then, ended, truth))
        return True

    def _forget_dead(self, state: State, target: int) -> None:
        live_here = self.run.flow.live[target]
        mortal = self._mortal
        dead = [
            location
            for location, value in state.values.items()
            if location[0] in mortal
            and location[0] not in live_here
            and not resources_in(value)
            and not any(domain.keeps(self.run, value) for domain in DOMAINS)
        ]
        for location in dead:
            del state.values[location]

    def _visit(self, block: Block, state: State) -> None:
        states = [state]
        self._counting(block.number)
        for index, operation in enumerate(block.operations):
            self.run.position = Position(block.number, index, operation.span, block.unwind)
            before, states, forks = states, [], False
            for one in before:
                if len(states) >= self.run.most and not self._meetings.anywhere:
                    states = self._without_results(states, block.number)
                if len(states) >= self.run.most and not self._meetings.anywhere:
                    self.run.complete = False
                    break  # there is no room for what comes of the others
                after = self._operate(operation, one)
                objects.begin(self.run, operation, after)
                states += after
                forks = forks or len(after) > 1
                if forks and len(states) > self.run.most:
                    states = self._joined(states)
            if forks and len(states) > FEW_DISJUNCTS:
                states = self._joined(states)
            self._throw_all()
            if len(states) > self.run.most:
                states = self._fewer(states, block)
            if not states:
                return
        for one in states:
            self._terminate(block, one)

    def _joined(self, states: list[State]) -> list[State]:
        """The disjuncts, equal ones as one."""
        found: dict[object, State] = {}
        for state in states:
            mine = self._key(state)
            if mine in found:
                join(found[mine], state)
            else:
                found[mine] = state
        return list(found.values())

    def _fewer(self, states: list[State], block: Block) -> list[State]:
        """What is followed of more disjuncts than there is room for."""
        kept = states[: self.run.most]
        for state in states[self.run.most :]:
            if self._meetings.may_meet(block.number, kept[-1], state):
                kept[-1] = meet(kept[-1], state, block.number)
            else:
                self.run.complete = False
        return kept

    def _without_results(self, states: list[State], block: int) -> list[State]:
        """Disjuncts that go on as one where it does not count what each of them will return."""
        kept: list[State] = []
        for state in states:
            for symbol in sorted(self._mortal & self.run.flow.resulting):
                value = state.values.get((symbol,))
                if value is not None and not resources_in(value) and not leads_on(value):
                    unknown = Symbol(f"either{block}:{symbol}")
                    state.refresh(unknown)
                    state.values[(symbol,)] = unknown
            if not self._is_stood_for(state, kept):
                kept.append(state)
        return kept

    def _operate(self, operation: ProgramOperation, state: State) -> list[State]:
        for domain in DOMAINS:
            domain.operating(self.run, operation, state)
        match operation:
            case Assign():
                after = self._split(operation.value, state)
                for value, one in after:
                    given = operation
                    if value is not operation.value:
                        given = msgspec.structs.replace(operation, value=value)
                    stores.assign(self.run, given, one)
                return [one for _, one in after]
            case Call():
                return self._call(operation, state)
            case Launch(arguments=arguments, span=span):
                for argument in arguments:
                    releases.check_use(self.run, argument.value, "a kernel launch", span, state)
                    passed = self.run.evaluator.value(argument.value, state)
                    if isinstance(passed, Address) and passed.location[0].startswith("::"):
                        state.forget(passed.location)  # managed memory: the kernel may write it
            case Delete(place=place):
                stores.delete(self.run, place, state)
            case ScopeEnd(symbols=symbols, span=span):
                ended = destruction.end_scope(self.run, symbols, span, state)
                for one in ended:
                    stores.end_scope(self.run, symbols, span, one)
                return ended
            case Use(value=value, reason="yield", span=span):
                self._yield(value, span, state)
            case Use(value=Variable(symbol=name)) if not self.run.python:
                if self.run.evaluator.variable(name) is None:
                    note_last_error(self.run, state)  # a macro of a header that is missing
        return [state]

    # Operations -------------------------------------------------------------------------------

    def _call(self, call: Call, state: State) -> list[State]:
        returned: list[State] = []
        for after in calls.call(self.run, call, state):
            if isinstance(after, Raised):
                self._raised.append(after)
            else:
                self.run.spend(WORK_OF_CALL * len(after.values))
                returned.append(after)
        for domain in DOMAINS:
            domain.called(self.run, call, returned)
        return returned

    def _read(self, expression: Expression | None, span: Span, state: State) -> None:
        if expression is not None:
            for domain in DOMAINS:
                domain.reading(self.run, expression, span, state)

    def _yield(self, value: Expression, span: Span, state: State) -> None:
        names = {decorator.partition("(")[0] for decorator in self.run.function.decorators}
        known = [self.run.models.lifetime_effect(name) for name in names]
        kinds = {effect.generator for effect in known if effect is not None}
        if "resumed" in kinds:
            return  # pytest resumes a fixture whatever the test did
        if "context" not in kinds:
            state.escape(state.reachable([self.run.evaluator.value(value, state)]))
            if not may_stop_early(self.run.symbols, self.run.function):
                return
        what = "the consumer of the generator raises"
        self._raised.append(Raised(state.copy(), span, what, False))

    # Ways out ---------------------------------------------------------------------------------

    def _terminate(self, block: Block, state: State) -> None:
        terminator = block.terminator
        self.run.position = Position(
            block.number,
            len(block.operations),
            getattr(terminator, "span", self.run.function.span),
            block.unwind,
        )
        match terminator:
            case Jump(target=target):
                self.enqueue(target, state, block.number)
            case Branch(condition=Caught() as caught):
                self._catch(block, terminator, caught, state)
            case Branch():
                self._branch(block, terminator, state)
            case Return(value=value, span=span, implicit=implicit):
                self._read(value, span, state)
                for given, one in self._split(value, state):
                    result = result_of(self.run, given, one, span)
                    for after in destruction.leave_all(self.run, given, span, one):
                        Leaving(self.run, after, "return", span, implicit=implicit).leave(result)
            case Throw(span=span, rethrow=rethrow, kinds=kinds):
                self._throw(Raised(state, span, "", not rethrow, kinds), rethrow)

    def _split(
        self, expression: Expression | None, state: State
    ) -> list[tuple[Expression | None, State]]:
        """The two values of ``c ? a : b``, each in the state in which it is the value. Where one is
        all that a type can hold, the other is cut to that, and what it is cut from is not known."""
        if not isinstance(expression, Conditional) or any(
            integer(self.run.evaluator.value(arm, state)) in _LIMITS
            for arm in (expression.then, expression.otherwise)
        ):
            return [(expression, state)]
        condition = self.run.evaluator.value(expression.condition, state)
        self._note_tested(condition)
        return [
            pair
            for part, truth in ((expression.then, True), (expression.otherwise, False))
            for one in self.run.conditions.assume(state.copy(), condition, truth)
            for pair in self._split(part, one)
        ]

    def _branch(self, block: Block, branch: Branch, state: State) -> None:
        self._read(branch.condition, branch.span, state)
        condition = self.run.evaluator.value(branch.condition, state)
        self._note_tested(condition)
        body = self.run.flow.loops.get(block.number)
        iterations = state.visits.get(block.number, 0)
        condition = self._counted(branch.condition, condition, iterations, state)
        counts = isinstance(condition, Operation) and condition.operator == "more"
        # What an earlier call has decided tells more than the condition that came before it.
        told = not isinstance(condition, Const) or (body is None and variables(branch.condition))
        failure = state.failure
        for target, truth in ((branch.then, True), (branch.otherwise, False)):
            if body is not None and target in body and iterations >= MOST_ITERATIONS:
                continue
            if (
                body is not None
                and target not in body
                and not iterations
                and (self._must_enter(block.number, branch.condition, counts, state))
            ):
                continue  # there is something to release, so the loop that releases it runs
            if not truth and self._must_hold(block.number, branch.condition, state):
                continue  # the same for what is looked up before it is released
            leaves = body is not None and target not in body and iterations
            if leaves and not self._may_end(block.number, branch.condition, truth, state):
                continue
            fork = state.copy() if truth else state  # nothing else needs it after the second
            if truth and branch.condition == RAISES:
                fork.thrown = None  # of what class it is, nobody says
            if body is not None and iterations:
                forget(fork, condition)  # an iteration may have changed it
            if body is not None and iterations and counts:
                taken = [fork]  # another element, or none: either way may be taken
            else:
                taken = self.run.conditions.assume(fork, condition, truth)
            passed_by = body is not None and target not in body and not iterations
            if passed_by and not isinstance(condition, Const):
                for after in taken:
                    after.skipped = after.skipped | {block.number}
            for after in taken:
                unlisted.look_up(self.run, branch.condition, truth, after)
                if after.failure is failure and told:
                    text = self._shown.get(block.number)
                    if text is None:
                        text = self._shown[block.number] = self.run.show(branch.condition)
                    message = f"`{text}` is {'true' if truth else 'false'}"
                    step = Step(self.run.filename, branch.span, message)
                    after.record("condition", step, block.number)
                self.enqueue(target, after, block.number)

    def _catch(self, block: Block, branch: Branch, caught: Caught, state: State) -> None:
        """A handler takes the exception that is under way, or leaves it to others."""
        event = state.thrown
        exceptions = Exceptions(self.run.symbols, self.run.models)
        thrown = event.thrown if event is not None else ()
        fits = exceptions.fits(thrown, caught.kinds, self.run.filename)
        if fits is False and event is not None and event.kind != "throw":
            fits = None  # a library may raise more than is known
        for target, truth in ((branch.then, True), (branch.otherwise, False)):
            if fits is (not truth):
                continue
            fork = state.copy()
            if event is not None and fits is None:
                # Whether a handler fits is not known; one that does says what it takes.
                kind = event.kind if truth else "may throw"
                fork.thrown = replace(event, kind=kind, thrown=thrown or caught.kinds * truth)
                message = f"`{caught.text}` is {'true' if truth else 'false'}"
                step = Step(self.run.filename, branch.span, message)
                fork.record("condition", step, block.number)
            self.enqueue(target, fork, block.number)

    def _counted(
        self, written: Expression, condition: Value, iterations: int, state: State
    ) -> Value:
        """Whether an iteration over a container goes on, where the number of its elements is
        known."""
        if self.run.python or not (isinstance(written, Unary) and written.operator == "more"):
            return condition
        container = self.run.evaluator.location(written.operand, state)
        number = None if container is None else count(state.values, container)
        listed = self.run.evaluator.value(written.operand, state)
        if isinstance(listed, Sequence) and listed.kind == "initializer" and listed.items:
            number = len(listed.items)
        if number is None or (iterations and number > MOST_ITERATIONS):
            return condition
        return Const(iterations < number)

    def _must_enter(self, header: int, condition: Expression, counts: bool, state: State) -> bool:
        if counts and isinstance(condition, Unary):
            location = self.run.evaluator.location(condition.operand, state)
            elements = state.read((*location, "[]")) if location is not None else None
            if isinstance(elements, Bag):
                return any(live(state.status(resource)) for resource in elements.resources)
            if counted.never_empty(self.run, condition.operand, state):
                return True
        if header not in self._releasing_loops:
            return False
        return any(
            "[]" in location and any(live(state.status(r)) for r in resources_in(value))
            for location, value in state.values.items()
        )

    def _must_hold(self, number: int, condition: Expression, state: State) -> bool:
        """Whether a loop that releases asks for the keys of what a container holds."""
        if not (isinstance(condition, Binary) and condition.operator == "in"):
            return False
        location = self.run.evaluator.location(condition.right, state)
        held = state.read((*location, "[]")) if location is not None else NULL
        return not self._releasing_loops.isdisjoint(self.run.flow.enclosing[number]) and any(
            live(state.status(resource)) for resource in resources_in(held)
        )

    def _note_tested(self, condition: Value) -> None:
        for value in inside(condition):
            if isinstance(value, Input):
                self.run.tested.add(value.location)
            if isinstance(value, Symbol):
                self.run.conditions.checked.add(value.origin)
            if isinstance(value, Pointer):
                self.run.conditions.checked.add(value.resource.origin)

    def _throw_all(self) -> None:
        """All exceptions leave an operation that it has raised in some disjunct."""
        kinds: dict[object, Raised] = {}
        many = len(self._raised) > FEW_DISJUNCTS
        for number, raised in enumerate(self._raised):
            mine = (self._key(raised.state), raised[1:]) if many else number
            if mine in kinds:
                join(kinds[mine].state, raised.state)
            else:
                kinds[mine] = raised
        self._raised = []
        for raised in kinds.values():
            self._throw(raised)

    def _throw(self, raised: Raised, rethrow: bool = False) -> None:
        """An exception leaves an operation: into a handler, or out of the function."""
        state = raised.state
        self.run.spend(WORK_OF_CALL * len(state.values))
        if not rethrow or state.thrown is None:
            message = raised.what or "an exception is thrown here"
            kind = "throw" if raised.explicit else "may throw"
            event = state.record(kind, Step(self.run.filename, raised.span, message))
            state.thrown = replace(event, thrown=raised.thrown)
        unwind = self.run.position.unwind
        if unwind is not None:
            self.enqueue(unwind, state, None)
        else:
            explicit = state.thrown.kind == "throw"
            for one in destruction.leave_all(self.run, None, raised.span, state):
                for after in destruction.unwind(self.run, raised.span, one):
                    Leaving(self.run, after, "throw", raised.span, explicit=explicit).leave(None)


def _next_element(state: State) -> None:
    """Another element of a container is not what the last one was equal to; it may well be null
    like that one."""
    for element, known in list(state.equal.items()):
        if is_any_element(element) and known != NULL:
            del state.equal[element]
            state.conditions[Operation("==", (element, known))] = False
    for condition, truth in state.conditions.items():
        match condition:
            case Operation("==", (left, right)) if truth and NULL not in (left, right):
                if is_any_element(left) or is_any_element(right):
                    state.conditions[condition] = False
