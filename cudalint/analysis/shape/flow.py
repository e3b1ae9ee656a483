"""The static shape of a function: block order, loops, induction variables, live variables."""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Iterator

from cudalint.program import (
    AddressOf,
    Assign,
    Block,
    Branch,
    Call,
    Delete,
    Expression,
    Function,
    Jump,
    Launch,
    Operation,
    Return,
    Throw,
    Use,
    Variable,
    children,
    variables,
)


def successors(block: Block) -> tuple[int, ...]:
    """The blocks that a terminator may go on to (exceptions not counted)."""
    match block.terminator:
        case Jump(target=target):
            return (target,)
        case Branch(then=then, otherwise=otherwise):
            return (then, otherwise)
        case Throw():
            return () if block.unwind is None else (block.unwind,)
        case _:
            return ()


def operands(operation: Operation) -> Iterator[Expression]:
    """The expressions that an operation reads (a target's base included)."""
    match operation:
        case Assign(target=target, value=value):
            yield value
            if not isinstance(target, Variable):
                yield target
        case Call(arguments=arguments, receiver=receiver, callee=callee, target=target):
            yield from (argument.value for argument in arguments)
            for part in (receiver, callee):
                if part is not None:
                    yield part
            if target is not None and not isinstance(target, Variable):
                yield target
        case Launch(arguments=arguments, grid=grid, block=block, shared=shared, stream=stream):
            yield from (argument.value for argument in arguments)
            yield grid
            yield block
            for part in (shared, stream):
                if part is not None:
                    yield part
        case Use(value=value):
            yield value
        case Delete(place=place):
            yield place
        case _:
            return


def targets(operation: Operation) -> tuple[Expression, ...]:
    """The place that an operation writes, if any."""
    target = operation.target if isinstance(operation, Assign | Call | Launch) else None
    return () if target is None else (target,)


def defined(operation: Operation) -> str | None:
    """The variable that an operation overwrites."""
    target = operation.target if isinstance(operation, Assign | Call | Launch) else None
    return target.symbol if isinstance(target, Variable) else None


class Flow:
    """What never changes while paths are followed."""

    def __init__(self, function: Function) -> None:
        self.blocks = function.blocks
        self.order = self._reverse_postorder({})
        self.loops = self._loops()
        if self.loops:
            self.order = self._reverse_postorder(self._exits())
        """Each reachable block's rank: before its successors, and a loop before what follows it."""
        self.enclosing = {
            number: frozenset(header for header, body in self.loops.items() if number in body)
            for number in self.order
        }
        self.induction = {header: self._induction(body) for header, body in self.loops.items()}
        self.mentioned = {
            header: frozenset(
                symbol
                for number in body
                for operation in self.blocks[number].operations
                if isinstance(operation, Call | Assign)
                for operand in (*operands(operation), *targets(operation))
                for symbol in variables(operand)
            )
            for header, body in self.loops.items()
        }
        """The variables that a loop's calls and assignments speak of."""
        self.assigned = {
            header: frozenset(
                symbol
                for number in body
                for operation in self.blocks[number].operations
                if (symbol := defined(operation)) is not None
            )
            for header, body in self.loops.items()
        }
        self.inducing = {
            number: frozenset(symbol for header in headers for symbol in self.induction[header])
            for number, headers in self.enclosing.items()
        }
        self.last_read = {number: self._last_reads(self.blocks[number]) for number in self.order}
        """For each block: the last operation in it that reads a variable."""
        self.addressed = self._addressed()
        self.live = self._live()

    @functools.cached_property
    def ranges(self) -> dict[str, Call]:
        """The calls of ``range``, by the variable that holds the result."""
        return {
            operation.target.symbol: operation
            for block in self.blocks
            for operation in block.operations
            if isinstance(operation, Call)
            and operation.name == "builtins.range"
            and isinstance(operation.target, Variable)
        }

    def reaches(self, block: int, index: int, target: int, target_index: int) -> bool:
        """Whether control may go from one operation to another."""
        if block == target and index < target_index:
            return True
        seen: set[int] = set()
        pending = list(self._ways_out(block)) if block in self.order else []
        while pending:
            number = pending.pop()
            if number == target:
                return True
            if number not in seen:
                seen.add(number)
                pending.extend(self._ways_out(number))
        return False

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

    def _loops(self) -> dict[int, frozenset[int]]:
        before: dict[int, list[int]] = {}
        for number in self.order:
            for target in set(successors(self.blocks[number])):
                before.setdefault(target, []).append(number)
        loops: dict[int, frozenset[int]] = {}
        for header in self.order:
            back = [n for n in before.get(header, ()) if self.order[n] >= self.order[header]]
            if not back:
                continue
            body = {header}
            pending = back
            while pending:
                number = pending.pop()
                if number not in body and self.order[number] >= self.order[header]:
                    body.add(number)
                    pending.extend(before.get(number, ()))
            loops[header] = frozenset(body)
        return loops

    def _induction(self, body: frozenset[int]) -> frozenset[str]:
        """Variables that each iteration computes from their own value."""
        found = set()
        for number in body:
            for operation in self.blocks[number].operations:
                if isinstance(operation, Assign) and isinstance(operation.target, Variable):
                    symbol = operation.target.symbol
                    if operation.augmented or symbol in variables(operation.value):
                        found.add(symbol)
        return frozenset(found)

    @staticmethod
    def _last_reads(block: Block) -> dict[str, int]:
        last: dict[str, int] = {}
        for index, operation in enumerate(block.operations):
            for operand in operands(operation):
                for symbol in sorted(variables(operand)):
                    last[symbol] = index
        match block.terminator:
            case Branch(condition=expression):
                last.update(dict.fromkeys(variables(expression), len(block.operations)))
            case Return(value=value) | Throw(value=value) if value is not None:
                last.update(dict.fromkeys(variables(value), len(block.operations)))
            case _:
                pass
        return last

    def _addressed(self) -> frozenset[str]:
        found: set[str] = set()
        for block in self.blocks:
            for operation in block.operations:
                for operand in operands(operation):
                    pending = [operand]
                    while pending:
                        expression = pending.pop()
                        if isinstance(expression, AddressOf):
                            found |= variables(expression)
                        pending.extend(children(expression))
        return frozenset(found)

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
            match block.terminator:
                case Branch(condition=expression):
                    used |= variables(expression) - written
                case Return(value=value) | Throw(value=value) if value is not None:
                    used |= variables(value) - written
                case _:
                    pass
            reads[number], writes[number] = used, written
        live = {number: frozenset(reads[number]) for number in self.order}
        before: dict[int, set[int]] = {number: set() for number in self.order}
        for number in self.order:
            for target in self._ways_out(number):
                before[target].add(number)
        queue = [(-rank, number) for number, rank in self.order.items()]
        heapq.heapify(queue)
        queued = set(self.order)
        while queue:
            _, number = heapq.heappop(queue)
            queued.discard(number)
            after: set[str] = set()
            for target in self._ways_out(number):
                after |= live[target]
            new = frozenset(reads[number] | (after - writes[number]))
            if new != live[number]:
                live[number] = new
                for earlier in before[number]:
                    if earlier not in queued:
                        queued.add(earlier)
                        heapq.heappush(queue, (-self.order[earlier], earlier))
        return live
