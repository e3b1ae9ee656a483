"""The operations of a function: where they stand, and what they read and write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cudalint.program import (
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


def terminal(block: Block) -> Expression | None:
    """What a terminator reads: a condition, or what is returned or thrown."""
    match block.terminator:
        case Branch(condition=expression):
            return expression
        case Return(value=value) | Throw(value=value):
            return value
        case _:
            return None


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
        case Launch(arguments=arguments):
            yield from (argument.value for argument in arguments)
            yield operation.grid
            yield operation.block
            for part in (operation.shared, operation.stream, operation.through):
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


def constructed(operation: Operation) -> str | None:
    """The variable that a constructor makes an object of."""
    made = operation.receiver if isinstance(operation, Call) else None
    makes = isinstance(operation, Call) and operation.kind == "constructor"
    return made.symbol if makes and isinstance(made, Variable) else None


class At(NamedTuple):
    """An operation, and where it stands."""

    block: int
    position: int
    operation: Operation

    @property
    def place(self) -> tuple[int, int]:
        """Its block, and its position there."""
        return self.block, self.position


def operations(source: Function | Iterable[Block]) -> Iterator[At]:
    """All operations of a function, or of some blocks, in their order."""
    for block in source.blocks if isinstance(source, Function) else source:
        for index, operation in enumerate(block.operations):
            yield At(block.number, index, operation)


def calls(source: Function | Iterable[Block]) -> Iterator[tuple[At, Call]]:
    """All calls of a function, or of some blocks."""
    for at in operations(source):
        if isinstance(at.operation, Call):
            yield at, at.operation


def expressions(function: Function) -> Iterator[Expression]:
    """Whatever a function reads, conditions and results too."""
    for block in function.blocks:
        for operation in block.operations:
            yield from operands(operation)
        if (last := terminal(block)) is not None:
            yield last


def definitions(source: Function | Iterable[Block]) -> dict[str, list[Operation]]:
    """For each variable: the operations that give it a value."""
    found: dict[str, list[Operation]] = {}
    for at in operations(source):
        symbol = defined(at.operation)
        if symbol is not None:
            found.setdefault(symbol, []).append(at.operation)
    return found
