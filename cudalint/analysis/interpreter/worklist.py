"""Follows the paths of one function: a worklist of disjuncts over its blocks.

Blocks are visited in reverse postorder, so that disjuncts meet before they go on together. A loop
runs for zero, one and two iterations; what changes from one to the next becomes unknown after the
first, and what an operation produced before becomes ``older`` when it runs again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from cudalint.analysis.domains import launches
from cudalint.analysis.domains.idle import waits
from cudalint.analysis.domains.native_peak import NativePeak
from cudalint.analysis.domains.ordering import observe as ordering
from cudalint.analysis.domains.ordering.log import OrderingLog
from cudalint.analysis.domains.ownership import counted, releases, stores
from cudalint.analysis.domains.ownership.recorder import Recorder, live
from cudalint.analysis.engine.conditions import Conditions, forget
from cudalint.analysis.engine.evaluate import Evaluator
from cudalint.analysis.engine.meeting import Subjects, can_meet, meet
from cudalint.analysis.engine.schedule import Schedule
from cudalint.analysis.engine.state import Event, State, Status
from cudalint.analysis.facts import DanglingPointer
from cudalint.analysis.facts.lifetimes import IdleHold
from cudalint.analysis.interpreter import calls
from cudalint.analysis.interpreter.exits import leave
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.analysis.values.values import (
    Array,
    Bag,
    Const,
    Input,
    Location,
    Operation,
    Pointer,
    Polynomial,
    Symbol,
    Value,
    parts,
    resources_in,
)
from cudalint.program import (
    Assign,
    Block,
    Branch,
    Call,
    Conditional,
    Constant,
    Delete,
    Expression,
    Function,
    Jump,
    Launch,
    Program,
    Return,
    ScopeEnd,
    Throw,
    Unary,
    Unknown,
    Use,
    render,
)
from cudalint.program import (
    Operation as ProgramOperation,
)
from cudalint.source import Span

if TYPE_CHECKING:
    from cudalint.analysis.engine.summary import Outcome
    from cudalint.analysis.summaries import Linker

HANDLER = ("catch (", "except ")
"""How the condition starts under which a handler takes an exception."""
MOST_DISJUNCTS = 24
FEW_DISJUNCTS = 4
"""Kept at the entry of one block; fewer in functions that have nothing to do with CUDA."""
MOST_ITERATIONS = 2
MOST_WORK = 2_000_000
"""Stored values handled in one function, after which the remaining paths are cut too."""
MOST_STEPS = 4000
"""Block visits in one function, after which the remaining paths are cut."""


@dataclass(frozen=True)
class Position:
    """The operation that runs: for the origins of symbols, which must not depend on the path."""

    block: int
    index: int
    span: Span
    unwind: int | None

    def symbol(self, kind: str) -> Symbol:
        """The symbol of what this operation produces."""
        return Symbol(f"{kind}@{self.block}.{self.index}")


class FunctionRun:
    """One analysis of one function, with some parameters bound to constants or none."""

    def __init__(
        self,
        function: Function,
        program: Program,
        linker: Linker,
        constants: dict[str, Value] | None = None,
    ) -> None:
        self.function = function
        self.program = program
        self.linker = linker
        self.filename = function.filename
        self.models = linker.models(program.language)
        self.evaluator = Evaluator(
            function, program.language, program.variables, self.models.constants
        )
        self.evaluator.constants = dict(constants or {})
        self.conditions = Conditions()
        self.recorder = Recorder(function, self.filename)
        self.native_peak = NativePeak()
        self.flow = linker.flow(function)
        self.python = program.language == "python"
        self.outcomes: list[Outcome] = []
        self.tested: set[Location] = set()
        self.statuses: dict[str, str] = {}
        """Acquisition origins to the origins of their statuses."""
        self.reads_last_error = False
        self.resets = False
        self.complete = True
        """False where any path was left out."""
        self.exhausted = False
        """Whether the work that one function is worth was spent before its paths were."""
        self.calls_made: list[tuple[str, str, tuple[tuple[str, Value], ...], Span]] = []
        """Calls of functions of the run with constant arguments: key, file, arguments, where."""
        self.touches_cuda = linker.touches_cuda(function, program)
        self._most = MOST_DISJUNCTS if self.touches_cuda else FEW_DISJUNCTS
        self._meets = False
        """Whether disjuncts beyond that number go on together."""
        if self.python:
            self._join_idle_paths(linker.subjects)
        self._schedule = Schedule(self.flow)
        self._most_work = MOST_WORK if self._most == MOST_DISJUNCTS else MOST_WORK // 10
        self._work_done = 0
        self._seen: dict[int, dict[object, int]] = {}
        self.position = Position(0, 0, function.span, None)
        self.ordering = OrderingLog(self)
        self.idle: dict[tuple[str, Span], IdleHold] = {}
        self.waits = waits(function, self.models)
        self.dangling: dict[str, DanglingPointer] = {}
        """Temporaries that hold a raw pointer into an array that is about to die."""
        self.private_globals = linker.private_globals(function, program)
        """Variables of a script's own code that no function of it mentions: as good as locals."""
        self.has_finalizer = linker.has_finalizer(function)
        self.last_return = _last_return(function)
        self._work = _cuda_work(self)
        self._resets_at = _resets(self)
        self._written = written_calls(function)
        self._shown: dict[int, str] = {}
        self._mortal = frozenset(
            symbol
            for symbol, info in function.variables.items()
            if info.storage in ("local", "temporary")
            and symbol not in self.flow.addressed
            and not stores.is_owner(self, symbol)
        )
        """The variables that are gone where nothing reads them any more."""
        self._releasing_loops = frozenset(
            header
            for header, body in self.flow.loops.items()
            if any(
                self._may_release(operation)
                for n in body
                for operation in self.flow.blocks[n].operations
            )
        )

    def skipped_work_on(self, state: State, symbol: object) -> bool:
        """Whether a path went past a loop, without an iteration, that handles a variable: what it
        would do there is not known to be missing."""
        return any(symbol in self.flow.mentioned[header] for header in state.skipped)

    def _may_release(self, operation: object) -> bool:
        if not isinstance(operation, Call):
            return False
        model = self.models.lookup(operation.name) if operation.name else None
        if model is not None:
            return bool(model.releases)
        return operation.key is not None or operation.receiver is not None

    def _join_idle_paths(self, subjects: Subjects) -> None:
        identity = (self.filename, self.function.key)
        if identity not in subjects.owning:
            self._meets = True
            self._most = FEW_DISJUNCTS if identity in subjects.telling else 1

    # The worklist -----------------------------------------------------------------------------

    def run(self) -> FunctionRun:
        """Follow all paths."""
        if not self.function.blocks:
            return self
        self.enqueue(0, State(), None)
        steps = 0
        while (turn := self._schedule.next()) is not None:
            steps += 1
            if steps > MOST_STEPS or self._work_done > self._most_work:
                self.complete, self.exhausted = False, True
                break
            number, states = turn
            for state in states.values():
                self._visit(self.flow.blocks[number], state)
        return self

    def enqueue(self, target: int, state: State, source: int | None) -> None:
        """A disjunct arrives at a block; equal ones are joined."""
        if target not in self.flow.order:
            return
        self._work_done += len(state.values)
        enclosing = self.flow.enclosing[target]
        if source is not None and target in self.flow.loops:
            if source in self.flow.loops[target]:
                state.visits[target] = state.visits.get(target, 0) + 1
                if state.visits[target] > MOST_ITERATIONS:
                    return  # `while True`: no condition at its head ends it
                self._widen(state, target)
            else:
                state.visits.pop(target, None)
        for header in list(state.visits):
            if header not in enclosing:
                del state.visits[header]
        self._forget_dead(state, target)
        pending = self._schedule.at(target, state)
        key = state.key()
        if key in pending:
            pending[key].join(state)
            return
        if target in self.flow.loops:
            # Of two that may be joined, the one that owns more comes by too.
            seen = self._seen.setdefault(target, {})
            missing = sum(one.status is Status.ABSENT for one in state.resources.values())
            if seen.get(key, missing + 1) <= missing:
                return
            seen[key] = missing
        if len(pending) >= self._most:
            if not self._meet(pending, state, target):
                self.complete = False
            return
        pending[key] = state

    def _meet(self, pending: dict[object, State], state: State, target: int) -> bool:
        """Let one disjunct go on together with one that waits at the same block, if they may."""
        for key in reversed(pending) if self._meets else ():
            if can_meet(pending[key], state):
                both = meet(pending.pop(key), state, target)
                pending.setdefault(both.key(), both)
                return True
        return False

    def _widen(self, state: State, header: int) -> None:
        """After an iteration nothing is known of what the loop counts."""
        fresh = {
            symbol: Symbol(f"loop{header}:{symbol}")
            for symbol in sorted(self.flow.induction[header])
            if isinstance(
                state.values.get((symbol,)), Const | Polynomial | Symbol | Input | Operation
            )
        }
        self._work_done += 20 * len(state.values)
        state.refresh(*fresh.values())
        for symbol, value in fresh.items():
            if self.python and (symbol, "[]") in state.values:
                state.values[(symbol,)] = value  # a list that grows keeps what it holds
            else:
                state.write((symbol,), value)

    def _forget_dead(self, state: State, target: int) -> None:
        live_here = self.flow.live[target]
        mortal = self._mortal
        dead = [
            location
            for location, value in state.values.items()
            if location[0] in mortal
            and location[0] not in live_here
            and not resources_in(value)
            and not (self.waits and isinstance(value, Array))
        ]
        for location in dead:
            del state.values[location]

    def _visit(self, block: Block, state: State) -> None:
        states = [state]
        self.evaluator.inducing = self.flow.inducing[block.number]
        for index, operation in enumerate(block.operations):
            self.position = Position(block.number, index, operation.span, block.unwind)
            before, states = states, []
            for one in before:
                if len(states) >= self._most and not self._meets:
                    self.complete = False
                    break  # there is no room for what comes of the others
                states += self._operate(operation, one)
            if len(states) > self._most:
                states = self._fewer(states, block)
            if not states:
                return
        for one in states:
            self._terminate(block, one)

    def _fewer(self, states: list[State], block: Block) -> list[State]:
        """What is followed of more disjuncts than there is room for."""
        kept = states[: self._most]
        for state in states[self._most :]:
            if self._meets and can_meet(kept[-1], state):
                kept[-1] = meet(kept[-1], state, block.number)
            else:
                self.complete = False
        return kept

    def _operate(self, operation: ProgramOperation, state: State) -> list[State]:
        ordering.operation(self, operation, state)
        match operation:
            case Assign(value=Conditional()):
                after = self._split(operation.value, state)
                for value, one in after:
                    stores.assign(self, msgspec.structs.replace(operation, value=value), one)
                return [one for _, one in after]
            case Assign():
                stores.assign(self, operation, state)
                return [state]
            case Call():
                returned = calls.call(self, operation, state)
                self.native_peak.observe(self, returned, operation)
                return returned
            case Launch():
                for argument in operation.arguments:
                    releases.check_use(
                        self, argument.value, "a kernel launch", operation.span, state
                    )
                launches.launch(self, operation, state)
                return [state]
            case Delete(place=place):
                stores.delete(self, place, state)
                return [state]
            case ScopeEnd(symbols=symbols, span=span):
                stores.end_scope(self, symbols, span, state)
                return [state]
            case Use(value=value, reason=reason, span=span):
                if reason == "yield":
                    self._yield(value, span, state)
                return [state]
            case _:
                return [state]

    # Operations -------------------------------------------------------------------------------

    def _yield(self, value: Expression, span: Span, state: State) -> None:
        names = {decorator.partition("(")[0] for decorator in self.function.decorators}
        known = [effect for name in sorted(names) if (effect := self.models.lifetime_effect(name))]
        kinds = {effect.generator for effect in known}
        if "resumed" in kinds or "fixture" in self.function.name.lower():
            return  # pytest resumes a fixture whatever the test did
        if "context" not in kinds:
            state.escape(state.reachable([self.evaluator.value(value, state)]))
        self.throw(state.copy(), span, "the consumer of the generator raises", explicit=False)

    def show(self, expression: Expression) -> str:
        """An expression as the source has it: calls in place of their temporaries."""
        return render(substitute(expression, self._written))

    def surroundings(self) -> tuple[bool, bool]:
        """Whether other CUDA work may run before, and after, the operation that runs now. In a
        destructor, or where a reset follows, it is not the first."""
        here = (self.position.block, self.position.index)
        after = any(
            work != here and self.flow.reaches(here[0], here[1], work[0], work[1])
            for work in self._work
        )
        if self.function.kind == "destructor" or any(
            self.flow.reaches(here[0], here[1], reset[0], reset[1]) for reset in self._resets_at
        ):
            return True, after
        before = any(
            work != here and self.flow.reaches(work[0], work[1], here[0], here[1])
            for work in self._work
        )
        return before, after

    # Ways out ---------------------------------------------------------------------------------

    def _terminate(self, block: Block, state: State) -> None:
        terminator = block.terminator
        self.position = Position(
            block.number,
            len(block.operations),
            getattr(terminator, "span", self.function.span),
            block.unwind,
        )
        match terminator:
            case Jump(target=target):
                self.enqueue(target, state, block.number)
            case Branch():
                self._branch(block, terminator, state)
            case Return(value=value, span=span, implicit=implicit):
                ordering.read(self, value, span, state)
                for given, one in self._split(value, state):
                    leave(self, one, "return", given, span, implicit=implicit)
            case Throw(span=span, value=value, rethrow=rethrow):
                self.throw(state, span, "", explicit=not rethrow, rethrow=rethrow)

    def _split(
        self, expression: Expression | None, state: State
    ) -> list[tuple[Expression | None, State]]:
        """The two values of ``c ? a : b``, each in the state in which it is the value."""
        if not isinstance(expression, Conditional):
            return [(expression, state)]
        condition = self.evaluator.value(expression.condition, state)
        self._note_tested(condition)
        return [
            pair
            for part, truth in ((expression.then, True), (expression.otherwise, False))
            for one in self.conditions.assume(state.copy(), condition, truth)
            for pair in self._split(part, one)
        ]

    def _branch(self, block: Block, branch: Branch, state: State) -> None:
        ordering.read(self, branch.condition, branch.span, state)
        condition = self.evaluator.value(branch.condition, state)
        self._note_tested(condition)
        body = self.flow.loops.get(block.number)
        iterations = state.visits.get(block.number, 0)
        counts = isinstance(condition, Operation) and condition.operator == "more"
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
            fork = state.copy() if truth else state  # nothing else needs it after the second
            if fork.thrown is not None and not truth and _is_handler(branch.condition):
                # No handler fits: whether that can be is not known.
                fork.thrown = Event("may throw", fork.thrown.step)
            if body is not None and iterations:
                forget(fork, condition)  # an iteration may have changed it
            if body is not None and iterations and counts:
                taken = [fork]  # another element, or none: either way may be taken
            else:
                taken = self.conditions.assume(fork, condition, truth)
            passed_by = body is not None and target not in body and not iterations
            if passed_by and not isinstance(condition, Const):
                for after in taken:
                    after.skipped = after.skipped | {block.number}
            for after in taken:
                if after.failure is failure and not isinstance(condition, Const):
                    text = self._shown.get(block.number)
                    if text is None:
                        text = self._shown[block.number] = self.show(branch.condition)
                    after.record(
                        "condition",
                        self.filename,
                        branch.span,
                        f"`{text}` is {'true' if truth else 'false'}",
                    )
                self.enqueue(target, after, block.number)

    def _must_enter(self, header: int, condition: Expression, counts: bool, state: State) -> bool:
        if counts and isinstance(condition, Unary):
            location = self.evaluator.location(condition.operand, state)
            elements = state.read((*location, "[]")) if location is not None else None
            if isinstance(elements, Bag):
                return any(live(state.status(resource)) for resource in elements.resources)
            if counted.never_empty(self, condition.operand, state):
                return True
        if header not in self._releasing_loops:
            return False
        return any(
            "[]" in location and any(live(state.status(r)) for r in resources_in(value))
            for location, value in state.values.items()
        )

    def _note_tested(self, condition: Value) -> None:
        pending = [condition]
        while pending:
            value = pending.pop()
            if isinstance(value, Input):
                self.tested.add(value.location)
            if isinstance(value, Symbol):
                self.conditions.checked.add(value.origin)
            if isinstance(value, Pointer):
                self.conditions.checked.add(value.resource.origin)
            pending.extend(parts(value))

    def throw(
        self, state: State, span: Span, what: str, explicit: bool, rethrow: bool = False
    ) -> None:
        """An exception leaves an operation: into a handler, or out of the function."""
        if not rethrow or state.thrown is None:
            message = what or "an exception is thrown here"
            kind = "throw" if explicit else "may throw"
            state.thrown = state.record(kind, self.filename, span, message)
        unwind = self.position.unwind
        if unwind is not None:
            self.enqueue(unwind, state, None)
        else:
            leave(self, state, "throw", None, span, explicit=state.thrown.kind == "throw")


def _is_handler(condition: Expression) -> bool:
    return isinstance(condition, Unknown) and condition.text.startswith(HANDLER)


def _last_return(function: Function) -> Span | None:
    """The return at the very end; none where the closing brace is reached too."""
    returns = [b.terminator for b in function.blocks if isinstance(b.terminator, Return)]
    if any(leave.implicit for leave in returns):
        return None
    return max((leave.span for leave in returns), default=None)


def _cuda_work(run: FunctionRun) -> list[tuple[int, int]]:
    """Where a function allocates, frees, copies, launches, or calls a function that may."""
    found = []
    for block in run.function.blocks:
        for index, operation in enumerate(block.operations):
            if isinstance(operation, Launch):
                found.append((block.number, index))
            if not isinstance(operation, Call):
                continue
            model = run.models.lookup(operation.name) if operation.name else None
            if model is None:
                works = operation.key is not None
            else:
                works = not model.resets and bool(
                    model.acquires or model.releases or model.copies or model.sets or model.launches
                )
                works = works and not _releases_null(operation)
            if works:
                found.append((block.number, index))
    return found


def _resets(run: FunctionRun) -> list[tuple[int, int]]:
    return [
        (block.number, index)
        for block in run.function.blocks
        for index, operation in enumerate(block.operations)
        if isinstance(operation, Call)
        and operation.name
        and (model := run.models.lookup(operation.name)) is not None
        and model.resets
    ]


def _releases_null(call: Call) -> bool:
    first = call.arguments[0].value if call.arguments else None
    return isinstance(first, Constant) and not first.value
