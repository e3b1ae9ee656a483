"""Builds the control-flow graph of one function."""

from __future__ import annotations

from cudalint.program.expressions import Expression
from cudalint.program.functions import (
    Assign,
    Block,
    Branch,
    Jump,
    Operation,
    Terminator,
    Throw,
    Unreachable,
)
from cudalint.source import Span

BLOCK_LIMIT = 20_000
"""Clean-up code is written out on each way it is reached; beyond this, the function is given up."""


class GraphTooLarge(Exception):  # noqa: N818 - a limit, not an error of the program
    """The function has more blocks than ``BLOCK_LIMIT``."""


class OpenBlock:
    """A block under construction."""

    __slots__ = ("loop", "operations", "terminator", "unwind")

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.terminator: OpenTerminator | None = None
        self.unwind: OpenBlock | None = None
        self.loop = False


class OpenJump:
    """A jump whose target has no number yet."""

    __slots__ = ("target",)

    def __init__(self, target: OpenBlock) -> None:
        self.target = target


class OpenBranch:
    """A branch whose targets have no numbers yet."""

    __slots__ = ("condition", "otherwise", "span", "then")

    def __init__(
        self, condition: Expression, then: OpenBlock, otherwise: OpenBlock, span: Span
    ) -> None:
        self.condition = condition
        self.then = then
        self.otherwise = otherwise
        self.span = span


OpenTerminator = OpenJump | OpenBranch | Terminator


class Graph:
    """Blocks are created open and linked by reference; ``finish`` numbers those that are reached.

    After a terminator, ``current`` is a block that nothing leads to, so that dead code can be
    lowered like any other and falls away in the end.
    """

    def __init__(self) -> None:
        self.entry = OpenBlock()
        self.current = self.entry
        self.unwind: OpenBlock | None = None
        self.effects = 0
        """Operations so far that can raise by themselves: calls, launches, yields."""
        self._count = 1

    def block(self) -> OpenBlock:
        """A new block, not yet started."""
        self._count += 1
        if self._count > BLOCK_LIMIT:
            raise GraphTooLarge
        return OpenBlock()

    def start(self, block: OpenBlock) -> None:
        """Go on in a block, under the exception handler that holds now."""
        block.unwind = self.unwind
        self.current = block

    def emit(self, operation: Operation) -> None:
        """Append an operation to the current block."""
        self.current.operations.append(operation)
        if not isinstance(operation, Assign):
            self.effects += 1

    def jump(self, target: OpenBlock) -> None:
        """End the current block with a jump."""
        self.end(OpenJump(target))

    def branch(
        self, condition: Expression, then: OpenBlock, otherwise: OpenBlock, span: Span
    ) -> None:
        """End the current block with a branch."""
        self.end(OpenBranch(condition, then, otherwise, span))

    def end(self, terminator: OpenTerminator) -> None:
        """End the current block."""
        self.current.terminator = terminator
        self.start(self.block())

    def set_unwind(self, handler: OpenBlock | None) -> None:
        """Let exceptions leave for another handler from here on."""
        if handler is self.unwind:
            return
        self.unwind = handler
        if self.current.operations:
            following = self.block()
            self.current.terminator = OpenJump(following)
            self.start(following)
        else:
            self.current.unwind = handler

    def finish(self, span: Span) -> tuple[Block, ...]:
        """Number the blocks that are reached from the entry, and freeze them."""
        order = _reached(self.entry)
        _merge(order)
        order = _reached(self.entry)
        numbers = {id(block): number for number, block in enumerate(order)}
        return tuple(_freeze(block, numbers, span) for block in order)


def _forward(block: OpenBlock) -> OpenBlock:
    """Where an empty block that only jumps leads to."""
    seen = 0
    while (
        not block.operations
        and not block.loop
        and isinstance(block.terminator, OpenJump)
        and block.terminator.target is not block
        and seen < 1000
    ):
        block = block.terminator.target
        seen += 1
    return block


def _successors(block: OpenBlock) -> list[OpenBlock]:
    terminator = block.terminator
    if isinstance(terminator, OpenJump):
        terminator.target = _forward(terminator.target)
        found = [terminator.target]
    elif isinstance(terminator, OpenBranch):
        terminator.then = _forward(terminator.then)
        terminator.otherwise = _forward(terminator.otherwise)
        found = [terminator.then, terminator.otherwise]
    else:
        found = []
    if block.unwind is not None:
        if block.operations or isinstance(terminator, Throw):
            block.unwind = _forward(block.unwind)
            found.append(block.unwind)
        else:
            block.unwind = None
    return found


def _reached(entry: OpenBlock) -> list[OpenBlock]:
    """The blocks in depth-first order, so that numbers read like the source."""
    order: list[OpenBlock] = []
    seen: set[int] = set()
    pending = [entry]
    while pending:
        block = pending.pop()
        if id(block) in seen:
            continue
        seen.add(id(block))
        order.append(block)
        pending.extend(reversed(_successors(block)))
    return order


def _merge(order: list[OpenBlock]) -> None:
    """Join a block with its only successor where it is that one's only predecessor."""
    incoming: dict[int, int] = {id(order[0]): 1}
    for block in order:
        for successor in _successors(block):
            incoming[id(successor)] = incoming.get(id(successor), 0) + 1
    merged: set[int] = set()
    for block in order:
        if id(block) in merged:
            continue
        while isinstance(block.terminator, OpenJump):
            target = block.terminator.target
            # A block without operations does not throw: the other's handler is as good.
            same = target.unwind is block.unwind or not block.operations or not _throws(target)
            if target is block or target.loop or incoming[id(target)] != 1 or not same:
                break
            if not block.operations or _throws(target):
                block.unwind = target.unwind
            block.operations.extend(target.operations)
            block.terminator = target.terminator
            merged.add(id(target))


def _throws(block: OpenBlock) -> bool:
    return bool(block.operations) or isinstance(block.terminator, Throw)


def _freeze(block: OpenBlock, numbers: dict[int, int], span: Span) -> Block:
    terminator = block.terminator
    closed: Terminator
    if isinstance(terminator, OpenJump):
        closed = Jump(numbers[id(terminator.target)])
    elif isinstance(terminator, OpenBranch):
        closed = Branch(
            terminator.condition,
            numbers[id(terminator.then)],
            numbers[id(terminator.otherwise)],
            terminator.span,
        )
    else:
        closed = terminator if terminator is not None else Unreachable(span)
    unwind = numbers[id(block.unwind)] if block.unwind is not None else None
    return Block(numbers[id(block)], tuple(block.operations), closed, unwind, block.loop)
