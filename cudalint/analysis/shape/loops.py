"""What is the same in every iteration of a loop, and what runs in every one."""

from __future__ import annotations

from collections.abc import Callable

from cudalint.analysis.shape.flow import Flow, successors
from cudalint.program import (
    Assign,
    Branch,
    Call,
    Constant,
    Expression,
    Index,
    Launch,
    Unknown,
    Variable,
    children,
    variables,
)

Known = Callable[[str], bool]
"""Whether a call by that name gives the same answer each time (``torch.cuda.is_available``)."""


def innermost(flow: Flow, block: int) -> int | None:
    """The header of the smallest loop around a block."""
    headers = flow.enclosing.get(block, frozenset())
    return min(headers, key=lambda header: len(flow.loops[header]), default=None)


def ordinary_blocks(flow: Flow) -> frozenset[int]:
    """Blocks that run without any exception: not those of handlers alone."""
    seen = {0}
    pending = [0]
    while pending:
        for target in successors(flow.blocks[pending.pop()]):
            if target not in seen and 0 <= target < len(flow.blocks):
                seen.add(target)
                pending.append(target)
    return frozenset(seen)


def can_avoid(
    flow: Flow,
    body: frozenset[int],
    start: int,
    goal: int | None,
    block: int,
    settled: frozenset[int] = frozenset(),
) -> bool:
    """Whether control may go from ``start`` to ``goal`` (``None``: out of the function) within
    ``body`` without ``block``. The branches in ``settled`` go towards it where one side does."""
    if block == start:
        return False
    seen = {start}
    pending = [start]
    while pending:
        number = pending.pop()
        targets = successors(flow.blocks[number])
        if goal is None and not targets:
            return True
        if number in settled:
            towards = [t for t in targets if t == block or _leads(flow, body, t, block, goal)]
            targets = tuple(towards) or targets
        for target in targets:
            if target == goal:
                return True
            if target in body and target != block and target not in seen:
                seen.add(target)
                pending.append(target)
    return False


def _leads(flow: Flow, body: frozenset[int], start: int, block: int, goal: int | None) -> bool:
    seen = {start, goal}
    pending = [start] if start in body and start != goal else []
    while pending:
        for target in successors(flow.blocks[pending.pop()]):
            if target == block:
                return True
            if target in body and target not in seen:
                seen.add(target)
                pending.append(target)
    return False


def varying(flow: Flow, header: int, known: Known) -> frozenset[str]:
    """The variables whose values may differ from one iteration of a loop to the next."""
    found = set(flow.induction[header])
    body = flow.loops[header]
    operations = [
        operation
        for number in body
        for operation in flow.blocks[number].operations
        if isinstance(operation, Assign | Call | Launch)
    ]
    changed = True
    while changed:
        changed = False
        for operation in operations:
            target = operation.target
            if not isinstance(target, Variable) or target.symbol in found:
                continue
            if _varies(operation, found, known):
                found.add(target.symbol)
                changed = True
    return frozenset(found)


def _varies(operation: Assign | Call | Launch, found: set[str], known: Known) -> bool:
    if isinstance(operation, Assign):
        return reads_each(operation.value) or bool(variables(operation.value) & found)
    if isinstance(operation, Launch):
        return False
    inputs = [argument.value for argument in operation.arguments]
    if operation.receiver is not None:
        inputs.append(operation.receiver)
    if any(reads_each(part) or variables(part) & found for part in inputs):
        return True
    return not inputs and not known(operation.name)


def reads_each(expression: Expression) -> bool:
    """Whether it is, or is made of, the element of an iteration."""
    pending = [expression]
    while pending:
        part = pending.pop()
        if (
            isinstance(part, Index)
            and isinstance(part.index, Unknown)
            and part.index.text == "each"
        ):
            return True
        pending.extend(children(part))
    return False


def device_tests(flow: Flow, known: Known) -> frozenset[int]:
    """Blocks whose branch asks for a device (``torch.cuda.is_available()``, ``== "cuda"``): code
    on a GPU goes one way."""
    asking = {
        operation.target.symbol
        for block in flow.blocks
        for operation in block.operations
        if isinstance(operation, Call)
        and isinstance(operation.target, Variable)
        and known(operation.name)
    }
    return frozenset(
        block.number
        for block in flow.blocks
        if isinstance(branch := block.terminator, Branch)
        and (variables(branch.condition) & asking or _names_cuda(branch.condition))
    )


def _names_cuda(expression: Expression) -> bool:
    if isinstance(expression, Constant):
        return isinstance(expression.value, str) and expression.value.startswith(("cuda", "gpu"))
    return any(_names_cuda(part) for part in children(expression))
