"""Loops run for zero, one and two iterations.

What changes from one to the next becomes unknown after the first, and what an operation produced
before becomes ``older`` when it runs again.
"""

from __future__ import annotations

from cudalint.analysis.domains.ownership import counted
from cudalint.analysis.domains.ownership.recorder import live
from cudalint.analysis.engine.evaluate import MOST_ITERATIONS
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.engine.summary import LATER
from cudalint.analysis.shape.operations import operations
from cudalint.analysis.values.elements import count, is_any_element
from cudalint.analysis.values.values import (
    NULL,
    Bag,
    Const,
    Input,
    Operation,
    Polynomial,
    Sequence,
    Symbol,
    Value,
    resources_in,
)
from cudalint.program import Binary, Branch, Call, Expression, Unary


class Iterations:
    """The loops of one function."""

    def __init__(self, run: FunctionRun) -> None:
        self._run = run
        self._flow = run.flow
        self._releasing = frozenset(
            header
            for header in run.flow.loops
            if any(self._may_release(at.operation) for at in operations(run.flow.body(header)))
        )

    def _may_release(self, operation: object) -> bool:
        if not isinstance(operation, Call):
            return False
        model = self._run.models.lookup(operation.name)
        if model is not None:
            return bool(model.releases)
        return operation.key is not None or operation.receiver is not None

    def arrive(self, target: int, source: int | None, state: State) -> bool:
        """A disjunct comes to a block; false where no iteration more is followed."""
        if source is not None and target in self._flow.loops:
            if source in self._flow.loops[target]:
                state.visits[target] = state.visits.get(target, 0) + 1
                if state.visits[target] > MOST_ITERATIONS:
                    return False  # `while True`: no condition at its head ends it
                if not self._ends(state, target):
                    self._widen(state, target)
            else:
                state.visits.pop(target, None)
        enclosing = self._flow.enclosing[target]
        for header in list(state.visits):
            if header not in enclosing:
                del state.visits[header]
        return True

    def follows(self, block: int, branch: Branch, truth: bool, counts: bool, state: State) -> bool:
        """Whether one of the two ways is followed from a block that may be the head of a loop;
        ``counts``: it asks for another element."""
        body = self._flow.loops.get(block)
        enters = body is not None and (branch.then if truth else branch.otherwise) in body
        leaves = body is not None and not enters
        iterations = state.visits.get(block, 0)
        if enters and iterations >= MOST_ITERATIONS:
            return False
        if leaves and not iterations and self._must_enter(block, branch.condition, counts, state):
            return False  # there is something to release, so the loop that releases it runs
        if not truth and self._must_hold(block, branch.condition, state):
            return False  # the same for what is looked up before it is released
        return not (leaves and iterations) or self._may_end(block, branch.condition, truth, state)

    def enter(self, block: int) -> None:
        """A block is visited: what the loops around it count with is known to change."""
        self._run.evaluator.inducing = self._flow.inducing[block]
        self._run.evaluator.counters = self._flow.counters[block]

    def _ends(self, state: State, header: int) -> bool:
        """Whether a loop is over for certain: what it counts with is known."""
        branch = self._flow.blocks[header].terminator
        if not isinstance(branch, Branch):
            return False
        condition = self._run.evaluator.value(branch.condition, state)
        if not isinstance(condition, Const):
            return False
        target = branch.then if condition.value else branch.otherwise
        return target not in self._flow.loops[header]

    def _widen(self, state: State, header: int) -> None:
        """After an iteration nothing is known of what the loop counts, unless the end is near."""
        self.enter(header)
        fresh = {
            symbol: Symbol(f"{LATER}{header}:{symbol}")
            for symbol in sorted(self._flow.induction[header])
            if isinstance(
                state.values.get((symbol,)), Const | Polynomial | Symbol | Input | Operation
            )
            and not self._run.evaluator.is_last(symbol, state)
        }
        self._run.spend(20 * len(state.values))
        _next_element(state)
        state.refresh(*fresh.values())
        for symbol, value in fresh.items():
            self._never_back(symbol, value, header, state)
            if self._run.python and (symbol, "[]") in state.values:
                state.values[(symbol,)] = value  # a list that grows keeps what it holds
            else:
                state.write((symbol,), value)

    def _never_back(self, symbol: str, fresh: Value, header: int, state: State) -> None:
        """What a loop counts never comes back to where it has been: `if (step == 0)`."""
        steps = self._flow.steps[header].get(symbol, ())
        now = state.values.get((symbol,))
        up, down = all(step > 0 for step in steps), all(step < 0 for step in steps)
        if up != down and now is not None and symbol not in self._flow.addressed:
            state.conditions[Operation("<" if up else ">", (fresh, now))] = False

    def _may_end(self, header: int, condition: Expression, truth: bool, state: State) -> bool:
        """Whether a loop may end after the iterations that were followed. What it counted to is
        known then, and with it what its body has asked of the last one: `if (i == n - 1)`."""
        for symbol, counter in self._flow.counters[header].items():
            counted = state.values.get((symbol,))
            for known, held in state.conditions.items() if counter.header == header else ():
                match known:
                    case Operation("<" | ">", (left, last)) if left == counted and not held:
                        then = state.copy()
                        then.write((symbol,), last)
                        ended = self._run.evaluator.value(condition, then)
                        return bool(self._run.conditions.assume(then, ended, truth))
        return True

    def counted(
        self, written: Expression, condition: Value, iterations: int, state: State
    ) -> Value:
        """Whether an iteration over a container goes on, where the number of its elements is
        known."""
        if self._run.python or not (isinstance(written, Unary) and written.operator == "more"):
            return condition
        container = self._run.evaluator.location(written.operand, state)
        number = None if container is None else count(state.values, container)
        listed = self._run.evaluator.value(written.operand, state)
        if isinstance(listed, Sequence) and listed.kind == "initializer" and listed.items:
            number = len(listed.items)
        if number is None or (iterations and number > MOST_ITERATIONS):
            return condition
        return Const(iterations < number)

    def _must_enter(self, header: int, condition: Expression, counts: bool, state: State) -> bool:
        if counts and isinstance(condition, Unary):
            location = self._run.evaluator.location(condition.operand, state)
            elements = state.read((*location, "[]")) if location is not None else None
            if isinstance(elements, Bag):
                return any(live(state.status(resource)) for resource in elements.resources)
            if counted.never_empty(self._run, condition.operand, state):
                return True
        if header not in self._releasing:
            return False
        return any(
            "[]" in location and any(live(state.status(r)) for r in resources_in(value))
            for location, value in state.values.items()
        )

    def _must_hold(self, number: int, condition: Expression, state: State) -> bool:
        """Whether a loop that releases asks for the keys of what a container holds."""
        if not (isinstance(condition, Binary) and condition.operator == "in"):
            return False
        location = self._run.evaluator.location(condition.right, state)
        held = state.read((*location, "[]")) if location is not None else NULL
        return not self._releasing.isdisjoint(self._flow.enclosing[number]) and any(
            live(state.status(resource)) for resource in resources_in(held)
        )


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
