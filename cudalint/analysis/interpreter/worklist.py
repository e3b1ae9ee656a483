"""Follows the paths of one function: a worklist of disjuncts over its blocks.

Blocks are visited in reverse postorder, so that disjuncts meet before they go on together
(``disjuncts``). A loop runs for zero, one and two iterations (``iterations``).
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from cudalint.analysis.domains.ownership import escape, objects, releases, stores, unlisted
from cudalint.analysis.engine.conditions import forget
from cudalint.analysis.engine.joining import join
from cudalint.analysis.engine.run import FEW_DISJUNCTS, FunctionRun, Position, Raised
from cudalint.analysis.engine.state import State
from cudalint.analysis.interpreter import calls, destruction
from cudalint.analysis.interpreter.disjuncts import Disjuncts
from cudalint.analysis.interpreter.domains import DOMAINS
from cudalint.analysis.interpreter.exits import Leaving, result_of
from cudalint.analysis.interpreter.iterations import Iterations
from cudalint.analysis.interpreter.modelled import note_last_error
from cudalint.analysis.shape.consumers import may_stop_early
from cudalint.analysis.shape.exceptions import Exceptions
from cudalint.analysis.shape.subjects import Subjects
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.values.values import (
    Address,
    Const,
    Input,
    Operation,
    Pointer,
    Symbol,
    Value,
    inside,
    integer,
)
from cudalint.findings.finding import Step
from cudalint.program import (
    RAISES,
    Assign,
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
        run.summaries.budget.spend(run.work, run.function, cut=run.exhausted)
        for domain in DOMAINS if not run.complete else ():
            domain.cut(run)
    return run


class Worklist:
    """Follows the disjuncts of one function from block to block."""

    def __init__(self, run: FunctionRun) -> None:
        self.run = run
        function = run.function
        self._disjuncts = Disjuncts(run)
        self._iterations = Iterations(run)
        owning = identity(function) in run.symbols.memo(Subjects).owning
        most = MOST_WORK // (10 if not owning else 2 if run.evaluator.constants else 1)
        run.most_work = run.summaries.budget.share(most, function)
        self._raised: list[Raised] = []
        """By the operation that runs."""
        self._shown: dict[int, str] = {}

    # The worklist -----------------------------------------------------------------------------

    def follow(self) -> None:
        """Follow all paths."""
        start = State()
        objects.enter(self.run, start)
        self._enqueue(0, start, None)
        steps = 0
        while (turn := self._disjuncts.next()) is not None:
            steps += 1
            number, states = turn
            for state in states:
                if self._is_exhausted(steps):
                    return
                self._visit(self.run.flow.blocks[number], state)

    def _is_exhausted(self, steps: int) -> bool:
        if steps > MOST_STEPS:
            self.run.complete, self.run.exhausted = False, True
            return True
        return self.run.work > self.run.most_work * WORK_OF_REST

    def _enqueue(self, target: int, state: State, source: int | None) -> None:
        """A disjunct arrives at a block."""
        if target in self.run.flow.order:
            self.run.spend(len(state.values))
            if self._iterations.arrive(target, source, state):
                self._disjuncts.arrive(target, state)

    def _visit(self, block: Block, state: State) -> None:
        states = [state]
        self._iterations.enter(block.number)
        for index, operation in enumerate(block.operations):
            self.run.position = Position(block.number, index, operation.span, block.unwind)
            before, states, forks = states, [], False
            for one in before:
                if self._disjuncts.is_full(states):
                    states = self._disjuncts.without_results(states, block.number)
                    if self._disjuncts.is_full(states):
                        self.run.complete = False
                        break
                after = self._operate(operation, one)
                objects.begin(self.run, operation, after)
                states += after
                forks = forks or len(after) > 1
                if forks and len(states) > self.run.most:
                    states = self._disjuncts.joined(states)
            if forks and len(states) > FEW_DISJUNCTS:
                states = self._disjuncts.joined(states)
            self._throw_all()
            if len(states) > self.run.most:
                states = self._disjuncts.fewer(states, block.number)
            if not states:
                return
        for one in states:
            self._terminate(block, one)

    def _operate(self, operation: ProgramOperation, state: State) -> list[State]:
        for domain in DOMAINS:
            domain.operating(self.run, operation, state)
        match operation:
            case Assign():
                return self._assign(operation, state)
            case Call():
                return self._call(operation, state)
            case Launch():
                self._launch(operation, state)
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

    def _assign(self, operation: Assign, state: State) -> list[State]:
        """``(c ? a : b) = d ? x : y`` in the states in which it is one of each."""
        assigned = []
        for target, chosen in self._split(operation.target, state):
            for value, one in self._split(operation.value, chosen):
                given = operation
                if target is not operation.target or value is not operation.value:
                    given = msgspec.structs.replace(operation, target=target, value=value)
                stores.assign(self.run, given, one, operation.target)
                assigned.append(one)
        return assigned

    def _launch(self, launch: Launch, state: State) -> None:
        kernel = self.run.symbols.kernel(launch.kernel_key, launch.kernel, self.run.filename)
        stored = kernel.stores if kernel is not None else ()
        for number, argument in enumerate(launch.arguments):
            releases.check_use(self.run, argument.value, "a kernel launch", launch.span, state)
            passed = self.run.evaluator.value(argument.value, state)
            if number in stored:
                escape.escape_value(self.run, argument.value, passed, state)
            if isinstance(passed, Address) and passed.location[0].startswith("::"):
                state.forget(passed.location)  # managed memory: the kernel may write it

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
                self._enqueue(target, state, block.number)
            case Branch(condition=Caught() as caught):
                self._catch(block, terminator, caught, state)
            case Branch():
                self._branch(block, terminator, state)
            case Return(value=value, span=span, implicit=implicit):
                self._read(value, span, state)
                split = [(value, state)] if value is None else self._split(value, state)
                for given, one in split:
                    result = result_of(self.run, given, one, span)
                    for after in destruction.leave_all(self.run, given, span, one):
                        Leaving(self.run, after, "return", span, implicit=implicit).leave(result)
            case Throw(span=span, rethrow=rethrow, kinds=kinds):
                self._throw(Raised(state, span, "", not rethrow, kinds), rethrow)

    def _split(self, expression: Expression, state: State) -> list[tuple[Expression, State]]:
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
        condition = self._iterations.counted(branch.condition, condition, iterations, state)
        counts = isinstance(condition, Operation) and condition.operator == "more"
        # What an earlier call has decided tells more than the condition that came before it.
        told = not isinstance(condition, Const) or (body is None and variables(branch.condition))
        failure = state.failure
        for target, truth in ((branch.then, True), (branch.otherwise, False)):
            if not self._iterations.follows(block.number, branch, truth, counts, state):
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
                    after.pass_by(self.run.flow.mentioned[block.number])
            for after in taken:
                unlisted.look_up(self.run, branch.condition, truth, after)
                if after.failure is failure and told:
                    text = self._shown.get(block.number)
                    if text is None:
                        text = self._shown[block.number] = self.run.show(branch.condition)
                    message = f"`{text}` is {'true' if truth else 'false'}"
                    step = Step(self.run.filename, branch.span, message)
                    after.record("condition", step, block.number)
                self._enqueue(target, after, block.number)

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
            self._enqueue(target, fork, block.number)

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
            mine = (self._disjuncts.key(raised.state), raised[1:]) if many else number
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
            self._enqueue(unwind, state, None)
        elif not self.run.function.is_noexcept:  # which would end the program
            explicit = state.thrown.kind == "throw"
            for one in destruction.leave_all(self.run, None, raised.span, state):
                for after in destruction.unwind(self.run, raised.span, one):
                    Leaving(self.run, after, "throw", raised.span, explicit=explicit).leave(None)
