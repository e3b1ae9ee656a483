"""The static shape of a function: block order, loops, induction variables, live variables."""

from __future__ import annotations

import functools
import itertools
from collections import Counter as Occurrences
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from cudalint.analysis.shape.operations import (
    calls,
    constructed,
    defined,
    definitions,
    operands,
    operations,
    successors,
    targets,
    terminal,
)
from cudalint.analysis.shape.reach import closure
from cudalint.program import (
    AddressOf,
    Assign,
    Binary,
    Block,
    Branch,
    Call,
    Constant,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Return,
    Throw,
    Variable,
    variables,
    walk,
)
from cudalint.source import Span

Place = tuple[int, int]
"""A block, and the position of an operation there."""


class Counter(NamedTuple):
    """A variable that a loop counts with."""

    header: int
    symbol: str
    step: int
    operator: str
    bound: Expression
    """The loop goes on while the variable compares so with the bound."""


class Flow:
    """What never changes while paths are followed."""

    def __init__(self, function: Function) -> None:
        self.blocks = function.blocks
        self._after: dict[int, set[int]] = {}
        """The blocks that may run after one, as far as was asked."""
        self._avoiding: dict[int, set[int]] = {}
        self.order = self._reverse_postorder({})
        self.loops = self._loops()
        if self.loops:
            self.order = self._reverse_postorder(self._exits())
        """Each reachable block's rank: before its successors, and a loop before what follows it."""
        self.enclosing = {
            number: frozenset(header for header, body in self.loops.items() if number in body)
            for number in self.order
        }
        self.induction = {header: self._induction(header) for header in self.loops}
        self.steps = {header: self._steps(header) for header in self.loops}
        self.mentioned = {
            header: frozenset(
                symbol
                for _, _, operation in operations(self.body(header))
                if isinstance(operation, Call | Assign)
                for operand in (*operands(operation), *targets(operation))
                for symbol in variables(operand)
            )
            for header in self.loops
        }
        """The variables that a loop's calls and assignments speak of."""
        self.assigned = {
            header: frozenset(
                symbol
                for at in operations(self.body(header))
                if (symbol := defined(at.operation) or constructed(at.operation)) is not None
            )
            for header in self.loops
        }
        """The variables that get another value, or are another object, in each iteration."""
        self.inducing = {
            number: frozenset(symbol for header in headers for symbol in self.induction[header])
            for number, headers in self.enclosing.items()
        }
        self.counters = {
            number: {
                counter.symbol: counter
                for header in sorted(headers)
                if (counter := self._counter(header)) is not None
            }
            for number, headers in self.enclosing.items()
        }
        """For each block: what the loops around it count with."""
        self.last_read = {number: self._last_reads(self.blocks[number]) for number in self.order}
        """For each block: the last operation in it that reads a variable."""
        self.addressed = self._addressed()
        self.live = self._live()

    @functools.cached_property
    def ranges(self) -> dict[str, Call]:
        """The calls of ``range``, by the variable that holds the result."""
        return {
            call.target.symbol: call
            for _, call in calls(self.blocks)
            if call.name == "builtins.range" and isinstance(call.target, Variable)
        }

    @functools.cached_property
    def selecting(self) -> frozenset[str]:
        """The variables by which elements are selected."""
        read = (
            part
            for at in operations(self.blocks)
            for operand in (*operands(at.operation), *targets(at.operation))
            for part in walk(operand)
        )
        return frozenset(
            symbol for part in read if isinstance(part, Index) for symbol in variables(part.index)
        )

    @functools.cached_property
    def definitions(self) -> dict[str, list[Operation]]:
        """For each variable: the operations that give it a value."""
        return definitions(self.blocks)

    @functools.cached_property
    def resulting(self) -> frozenset[str]:
        """The variables of which nothing but the function's result is made."""
        read = [
            part
            for at in operations(self.blocks)
            if defined(at.operation) is None or not isinstance(at.operation, Assign)
            for part in operands(at.operation)
        ]
        ends = [block for block in self.blocks if not isinstance(block.terminator, Return)]
        read += [part for block in ends if (part := terminal(block)) is not None]
        used = self.sources(symbol for part in read for symbol in variables(part))
        return frozenset(self.definitions.keys() - used)

    def only(self, symbol: str) -> Operation | None:
        """The operation that gives a variable its value, if there is one only."""
        found = self.definitions.get(symbol, ())
        return found[0] if len(found) == 1 else None

    def last_set(self, symbol: str, at: Place) -> list[Operation]:
        """The operations that may have given a variable the value that it has at a place."""
        made = {one.place: one.operation for one in operations(self.blocks)
                if defined(one.operation) == symbol}  # fmt: skip
        return [
            operation
            for place, operation in made.items()
            if at in self.passed(place, made.keys() - {place})
        ]

    def sources(self, symbols: Iterable[str]) -> set[str]:
        """Some variables, and all that their values are made from."""
        return closure(symbols, self._read_for)

    def _read_for(self, symbol: str) -> Iterator[str]:
        for operation in self.definitions.get(symbol, ()):
            for part in operands(operation):
                yield from variables(part)

    def body(self, header: int) -> tuple[Block, ...]:
        """The blocks of a loop."""
        return tuple(self.blocks[number] for number in sorted(self.loops[header]))

    def head(self, header: int) -> Span | None:
        """Where a loop starts, in the source."""
        if isinstance(branch := self.blocks[header].terminator, Branch):
            return branch.span
        return next((at.operation.span for at in operations(self.body(header))), None)

    def reaches(self, block: int, index: int, target: int, target_index: int) -> bool:
        """Whether control may go from one operation to another."""
        if block == target and index < target_index:
            return True
        if block not in self._after:
            start = self._ways_out(block) if block in self.order else ()
            self._after[block] = closure(start, self._ways_out)
        return target in self._after[block]

    def avoiding(self, block: int) -> set[int]:
        """The blocks from which control may leave the function without coming to one."""
        if block not in self._avoiding:
            ends = [n for n in self.order if n != block and not successors(self.blocks[n])]
            before = self._before
            self._avoiding[block] = closure(
                ends, lambda number: [n for n in before.get(number, ()) if n != block]
            )
        return self._avoiding[block]

    @functools.cached_property
    def fatal(self) -> frozenset[int]:
        """The blocks, of no loop, from which every way leads to the end of the process, but for
        exceptions of what is called there."""
        leaving = [
            n for n, one in enumerate(self.blocks) if isinstance(one.terminator, Return | Throw)
        ]
        coming = closure(leaving, lambda number: self._before.get(number, []))
        ends = range(len(self.blocks))
        return frozenset(n for n in ends if n not in coming and not self.enclosing.get(n))

    def passed(self, start: Place, without: Container[Place]) -> set[Place]:
        """The operations that control may come to behind one, past none of some; the end of a block
        counts as one."""

        def after(place: Place) -> list[Place]:
            number, index = place
            if place in without:
                return []
            if index < len(self.blocks[number].operations):
                return [(number, index + 1)]
            return [(target, 0) for target in successors(self.blocks[number])]

        return closure([(start[0], start[1] + 1)], after)

    def leads(self, first: Span, second: Span) -> bool:
        """Whether control that has run a statement comes to a later one, unless it leaves the
        function before."""
        start, goal = self._at(first), self._at(second)
        if start is None or goal is None or start == goal:
            return False
        past = self.passed(start, {goal})
        return goal in past and past.isdisjoint(self.passed(goal, {goal}))

    def _at(self, span: Span) -> Place | None:
        return next((a.place for a in operations(self.blocks) if a.operation.span == span), None)

    def _reverse_postorder(self, exits: dict[int, tuple[int, ...]]) -> dict[int, int]:
        """The ranks; ``exits``: what follows a loop, by its header."""
        ranks: list[int] = []
        seen = {0}

        def ways(number: int) -> Iterator[int]:
            # What follows a loop is done first, so that all of its body ranks before.
            return itertools.chain(exits.get(number, ()), self._ways_out(number))

        stack = [(0, ways(0))]
        while stack:
            number, pending = stack[-1]
            for target in pending:
                if target not in seen and 0 <= target < len(self.blocks):
                    seen.add(target)
                    stack.append((target, ways(target)))
                    break
            else:
                ranks.append(number)
                stack.pop()
        return {number: rank for rank, number in enumerate(reversed(ranks))}

    def _ways_out(self, number: int) -> Iterator[int]:
        block = self.blocks[number]
        # The unwind block first: it then ranks after everything that may throw into it.
        if block.unwind is not None:
            yield block.unwind
        yield from reversed(successors(block))

    def _exits(self) -> dict[int, tuple[int, ...]]:
        """Where each loop is left to, its breaks and returns included, by its header."""
        return {
            header: tuple(
                dict.fromkeys(
                    target
                    for number in sorted(body)
                    for target in self._ways_out(number)
                    if target not in body
                )
            )
            for header, body in self.loops.items()
        }

    @functools.cached_property
    def _before(self) -> dict[int, list[int]]:
        """The blocks that may run right before each."""
        before: dict[int, list[int]] = {}
        for number in self.order:
            for target in set(successors(self.blocks[number])):
                before.setdefault(target, []).append(number)
        return before

    def _loops(self) -> dict[int, frozenset[int]]:
        before = self._before
        loops: dict[int, frozenset[int]] = {}
        for header in self.order:
            back = [n for n in before.get(header, ()) if self.order[n] >= self.order[header]]
            if not back:
                continue
            loops[header] = self._loop(header, back, before)
        return loops

    def _loop(self, header: int, back: list[int], before: dict[int, list[int]]) -> frozenset[int]:
        """The blocks from which control comes back to a header."""

        def ways_in(number: int) -> list[int]:
            if number == header:
                return []
            return [n for n in before.get(number, ()) if self.order[n] >= self.order[header]]

        return frozenset(closure((header, *back), ways_in))

    def _induction(self, header: int) -> frozenset[str]:
        """Variables that each iteration computes from their own value."""
        return frozenset(
            operation.target.symbol
            for _, _, operation in operations(self.body(header))
            if isinstance(operation, Assign)
            and isinstance(operation.target, Variable)
            and (operation.augmented or operation.target.symbol in variables(operation.value))
        )

    def _counter(self, header: int) -> Counter | None:
        """What a loop compares with a bound, and changes once in each iteration."""
        branch = self.blocks[header].terminator
        if not (isinstance(branch, Branch) and isinstance(branch.condition, Binary)):
            return None
        place, bound = branch.condition.left, branch.condition.right
        if branch.then not in self.loops[header] or not isinstance(place, Variable):
            return None
        steps = self.steps[header].get(place.symbol, ())
        if len(steps) != 1:
            return None
        return Counter(header, place.symbol, steps[0], branch.condition.operator, bound)

    def _steps(self, header: int) -> dict[str, tuple[int, ...]]:
        """By how much a loop changes its induction variables, of which that is known."""
        steps: dict[str, list[int | None]] = {}
        for at in operations(self.body(header)):
            symbol = defined(at.operation)
            if symbol in self.induction[header]:
                steps.setdefault(symbol, []).append(_step(at.operation))
        known = {symbol: [one for one in found if one] for symbol, found in steps.items()}
        return {
            symbol: tuple(found)
            for symbol, found in known.items()
            if len(found) == len(steps[symbol])
        }

    @staticmethod
    def _last_reads(block: Block) -> dict[str, int]:
        last: dict[str, int] = {}
        for index, operation in enumerate(block.operations):
            for operand in operands(operation):
                for symbol in sorted(variables(operand)):
                    last[symbol] = index
        if (end := terminal(block)) is not None:
            last.update(dict.fromkeys(variables(end), len(block.operations)))
        return last

    @functools.cached_property
    def only_in_parts(self) -> frozenset[str]:
        """The variables of which members are read, and never the whole."""
        read = [operand for at in operations(self.blocks) for operand in operands(at.operation)]
        ends = [end for block in self.blocks if (end := terminal(block)) is not None]
        parts = list(walk(*read, *ends))
        whole = Occurrences(part.symbol for part in parts if isinstance(part, Variable))
        bases = [part.base for part in parts if isinstance(part, Member)]
        inside = Occurrences(base.symbol for base in bases if isinstance(base, Variable))
        return frozenset(symbol for symbol, times in inside.items() if times == whole[symbol])

    def _addressed(self) -> frozenset[str]:
        read = (operand for at in operations(self.blocks) for operand in operands(at.operation))
        taken = (part for part in walk(*read) if isinstance(part, AddressOf))
        return frozenset(symbol for part in taken for symbol in variables(_base(part.place)))

    def _live(self) -> dict[int, frozenset[str]]:
        """The variables that may still be read from a block on (exceptions included)."""
        reads: dict[int, set[str]] = {}
        writes: dict[int, set[str]] = {}
        for number in self.order:
            block = self.blocks[number]
            used: set[str] = set()
            written: set[str] = set()
            for operation in block.operations:
                for operand in operands(operation):
                    used |= variables(operand) - written
                symbol = defined(operation)
                if symbol is not None and block.unwind is None:
                    written.add(symbol)
            if (end := terminal(block)) is not None:
                used |= variables(end) - written
            reads[number], writes[number] = used, written
        live = {number: frozenset(reads[number]) for number in self.order}
        changed = True
        while changed:
            changed = False
            for number in reversed(self.order):
                after = frozenset[str]().union(*(live[one] for one in self._ways_out(number)))
                new = frozenset(reads[number] | (after - writes[number]))
                changed |= new != live[number]
                live[number] = new
        return live


def _base(place: Expression) -> Expression:
    """The place of which another is an element or member: `&table[i]` is no address of `i`."""
    while isinstance(place, Index | Member):
        place = place.base
    return place


def _step(operation: Operation) -> int | None:
    """What an operation adds to the variable that it overwrites."""
    match operation:
        case Assign(
            target=target,
            value=Binary(operator="+" | "-" as sign, left=left, right=Constant(value=int(step))),
        ) if left == target:
            return step if sign == "+" else -step
    return None
