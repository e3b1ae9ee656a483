"""Runs a Python function's program with sizes for values, to see what memory is alive when.

CPython counts references: what no variable, no operand of the expression at hand and no object
that is alive refers to is gone at once. So memory that is alive is what can be reached.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import Any

from cudalint.analysis.footprint import calls
from cudalint.analysis.footprint.expressions import evaluate, store
from cudalint.analysis.footprint.objects import (
    NOTHING,
    Array,
    Instance,
    Items,
    Plain,
    unknown,
)
from cudalint.analysis.footprint.results import whole
from cudalint.analysis.footprint.state import Frame, State
from cudalint.analysis.footprint.surroundings import Surroundings
from cudalint.analysis.shape.symbols import Symbols
from cudalint.program import (
    Assign,
    Block,
    Branch,
    Call,
    Caught,
    Delete,
    Expression,
    Function,
    Jump,
    Launch,
    Program,
    Return,
    Unary,
    Use,
    Variable,
)

MOST_STATES = 4
MOST_RESULTS = 2
MOST_OPERATIONS = 6000
MOST_BARREN = 1200
"""Operations after which a function is given up in which nothing of a notable size was alive."""
MOST_ELEMENTS = 512
EXACT = 8
"""Iterations of a loop that are followed one by one; of longer ones the first and the last."""


class Machine(Surroundings):
    """Follows one function and what it calls; ``notable``: the bytes from which on a peak is of
    interest."""

    def __init__(
        self, function: Function, program: Program, symbols: Symbols, notable: int = 1
    ) -> None:
        super().__init__(function, program, symbols)
        self._notable = notable

    def run(self) -> Machine:
        """Follow the function with nothing known of its parameters."""
        frame = Frame(self.function, self.symbols.flow(self.function))
        if self.function.record is not None:
            frame.env["this"] = Instance(self.function.record)
        for parameter in self.function.parameters:
            frame.env[parameter.symbol] = unknown(parameter.name)
        self.follow(State([frame]))
        return self

    # Paths ------------------------------------------------------------------------------------

    def follow(self, state: State) -> list[tuple[Any, State]]:
        """Run the topmost frame to its ends: what it returns, in states without it."""
        frame = state.frame
        flow = frame.flow
        results: list[tuple[Any, State]] = []
        pending: dict[int, list[State]] = {0: [state]}
        totals: dict[State, int] = {}
        """Of states that wait."""
        queue = [(0, 0)]
        if not flow.blocks:
            return [(unknown(), self._left(state))]
        while queue:
            _, number = heapq.heappop(queue)
            for one in pending.pop(number, ()):
                totals.pop(one, None)
                for target, after in self._block(flow.blocks[number], one, results):
                    if target in flow.loops:
                        visits = after.frame.visits
                        again = number in flow.loops[target]
                        visits[target] = visits.get(target, 0) + 1 if again else 0
                    waiting = pending.setdefault(target, [])
                    if not waiting:
                        heapq.heappush(queue, (flow.order[target], target))
                    waiting.append(after)
                    if len(waiting) > MOST_STATES and self.peaks.bytes > 0:
                        totals.update((one, one.total()) for one in waiting if one not in totals)
                        waiting.remove(min(waiting, key=totals.__getitem__))
                    del waiting[MOST_STATES:]
            if self._exhausted():
                break
        results.sort(key=lambda result: -result[1].total())
        return results[:MOST_RESULTS]

    def _exhausted(self) -> bool:
        most = MOST_OPERATIONS if self.peaks.bytes >= self._notable else MOST_BARREN
        return self.operations > most

    def _left(self, state: State) -> State:
        state.frames.pop()
        return state

    def _block(
        self, block: Block, state: State, results: list[tuple[Any, State]]
    ) -> list[tuple[int, State]]:
        states = [state]
        for index, operation in enumerate(block.operations):
            self.operations += 1
            if self._exhausted():
                return []
            after: list[State] = []
            for one in states:
                one.frame.block, one.frame.index = block.number, index
                after += self._operate(operation, one)
            states = after[:MOST_STATES]
            for one in states:
                one.frame.drop_temporaries()
        leaving: list[tuple[int, State]] = []
        for one in states:
            one.frame.block, one.frame.index = block.number, len(block.operations)
            leaving += self._terminate(block, one, results)
        return leaving

    def _terminate(
        self, block: Block, state: State, results: list[tuple[Any, State]]
    ) -> list[tuple[int, State]]:
        match block.terminator:
            case Jump(target=target):
                return [(target, state)]
            case Return(value=value):
                found = NOTHING if value is None else evaluate(self, value, state)
                if state.frame.function.kind == "constructor":
                    found = state.frame.env.get("this", NOTHING)
                results.append((found, self._left(state)))
                return []
            case Branch() as branch:
                return self._branch(block, branch, state)
            case _:
                return []

    # Branches ---------------------------------------------------------------------------------

    def _branch(self, block: Block, branch: Branch, state: State) -> list[tuple[int, State]]:
        frame = state.frame
        body = frame.flow.loops.get(block.number)
        if isinstance(branch.condition, Caught):
            return [(branch.otherwise, state)]
        if body is not None and (branch.then in body) != (branch.otherwise in body):
            inside = branch.then if branch.then in body else branch.otherwise
            outside = branch.otherwise if inside == branch.then else branch.then
            again = self._again(block.number, branch.condition, inside == branch.then, state)
            if again:
                frame.lengths[block.number] = [
                    (value, len(value.items))
                    for value in frame.env.values()
                    if isinstance(value, Items)
                ]
            else:
                self._extrapolate(block.number, branch.condition, state)
            return [(inside if again else outside, state)]
        condition = evaluate(self, branch.condition, state)
        truth = _truth(condition)
        if truth is not None:
            return [(branch.then if truth else branch.otherwise, state)]
        return [(branch.then, state.fork()), (branch.otherwise, state)]

    def _again(self, header: int, condition: Expression, when: bool, state: State) -> bool:
        frame = state.frame
        done = frame.visits.get(header, 0)
        if isinstance(condition, Unary) and condition.operator == "more":
            total = self._length(condition.operand, state)
            if isinstance(condition.operand, Variable):
                last = total is not None and total > EXACT and done == 1
                frame.elements[condition.operand.symbol] = (total or 1) - 1 if last else done
            if total is not None and total <= EXACT:
                return done < total
            return done < 2
        truth = _truth(evaluate(self, condition, state))
        if truth is not None and truth != when:
            return False
        return done < (EXACT if truth is not None else 2)

    def _length(self, iterable: Expression, state: State) -> int | None:
        return whole(evaluate(self, Unary("len", iterable), state))

    def _extrapolate(self, header: int, condition: Expression, state: State) -> None:
        """What each further iteration adds to a list, for those that were not followed."""
        frame = state.frame
        if not (isinstance(condition, Unary) and condition.operator == "more"):
            return
        total = self._length(condition.operand, state)
        followed = frame.visits.get(header, 0)
        if total is None or followed < 2 or total <= followed:
            return
        for items, before in frame.lengths.get(header, ()):
            for value in items.items[before:]:
                if isinstance(value, Array) and value.memory is not None:
                    self._repeat(items, value, total - followed)
                    self.peaks.observe(state, value.memory.span)

    @staticmethod
    def _repeat(items: Items, value: Array, times: int) -> None:
        """More elements like the last one: each for itself, or, if very many, as one."""
        one = value.memory
        assert one is not None
        if times <= MOST_ELEMENTS:
            items.items += [replace(value, memory=one.another()) for _ in range(times)]
        else:
            more = one.another(times)
            items.items.append(Array(more, None, value.dtype, value.library))

    # Operations -------------------------------------------------------------------------------

    def _operate(self, operation: object, state: State) -> list[State]:
        match operation:
            case Assign():
                self._assign(operation, state)
                return [state]
            case Call():
                return calls.call(self, operation, state)
            case Launch():
                for argument in operation.arguments:
                    evaluate(self, argument.value, state)
                return [state]
            case Delete(place=place):
                if isinstance(place, Variable):
                    state.frame.env.pop(place.symbol, None)
                else:
                    store(self, place, NOTHING, state)
                return [state]
            case Use(value=value):
                evaluate(self, value, state)
                return [state]
            case _:
                return [state]

    def _assign(self, operation: Assign, state: State) -> None:
        if operation.augmented:
            old = evaluate(self, operation.target, state)
            right = getattr(operation.value, "right", None)
            if isinstance(old, Array) and right is not None:
                evaluate(self, right, state)
                return  # in place: no memory
        store(self, operation.target, evaluate(self, operation.value, state), state)


def _truth(value: Any) -> bool | None:
    if isinstance(value, Plain):
        return bool(value.value) if value.known else None
    return bool(value.items) if isinstance(value, Items) else None
