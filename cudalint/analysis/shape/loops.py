"""What is the same in every iteration of a loop, and what runs in every one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from cudalint.analysis.shape.arguments import inputs
from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.operations import calls, defined, operations, successors
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.shape.walk import names_device, texts
from cudalint.program import (
    EACH,
    Assign,
    Branch,
    Call,
    Constant,
    Expression,
    Index,
    Operation,
    Unary,
    Variable,
    variables,
    walk,
)

Known = Callable[[str], bool]
"""Whether a call by that name gives the same answer each time (``torch.cuda.is_available``)."""


def innermost(flow: Flow, block: int) -> int | None:
    """The header of the smallest loop around a block."""
    return next(iter(around(flow, block)), None)


def around(flow: Flow, block: int) -> list[int]:
    """The headers of the loops around a block, innermost first."""
    return sorted(flow.enclosing.get(block, ()), key=lambda header: len(flow.loops[header]))


_FEW = 16
"""Turns of a loop that take no more than a program can do without."""


def few_turns(flow: Flow, header: int) -> bool:
    """Whether a loop is written to end after a few turns."""
    return any(
        counter.header == header
        and isinstance(counter.bound, Constant)
        and isinstance(counter.bound.value, int)
        and abs(counter.bound.value) <= _FEW
        for counter in flow.counters.get(header, {}).values()
    )


def ordinary_blocks(flow: Flow) -> frozenset[int]:
    """Blocks that run without any exception: not those of handlers alone."""
    return frozenset(closure([0], ways(flow.blocks, range(len(flow.blocks)))))


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
    inside = ways(flow.blocks, (body | {block}) - {goal})

    def leads(number: int) -> bool:
        return number == block or (number in body - {goal} and block in closure([number], inside))

    def targets(number: int) -> tuple[int, ...]:
        found = successors(flow.blocks[number])
        return (tuple(filter(leads, found)) if number in settled else ()) or found

    passed = closure([start], lambda n: [t for t in targets(n) if t in body and t != block])
    return any(goal in targets(n) or (goal is None and not targets(n)) for n in passed)


def varying(flow: Flow, header: int, known: Known) -> frozenset[str]:
    """The variables whose values may differ from one iteration of a loop to the next."""
    found = set(flow.induction[header])
    inside = [at.operation for at in operations(flow.body(header))]
    for operation in inside:
        parts = _made_from(operation)
        asks = isinstance(operation, Call) and not parts and not known(operation.name)
        if (symbol := defined(operation)) is not None and (asks or any(map(reads_each, parts))):
            found.add(symbol)
    return frozenset(derived(found, inside))


def derived(symbols: Iterable[str], computing: Iterable[Operation]) -> set[str]:
    """Some variables, and all that operations compute from them."""
    made_of: dict[str, set[str]] = defaultdict(set)
    for operation in computing:
        for part in _made_from(operation):
            for source in variables(part):
                made_of[source].add(defined(operation) or source)
    return closure(symbols, lambda symbol: made_of.get(symbol, ()))


def _made_from(operation: Operation) -> list[Expression]:
    if isinstance(operation, Assign):
        return [operation.value]
    return inputs(operation) if isinstance(operation, Call) else []


def reads_each(expression: Expression) -> bool:
    """Whether it is, or is made of, the element of an iteration."""
    return any(isinstance(part, Index) and part.index == EACH for part in walk(expression))


def without_device(flow: Flow, known: Known) -> set[int]:
    """Blocks that are only run where there is no device: behind the other side of a branch on
    ``torch.cuda.is_available()``."""
    asking = {call.target for _, call in calls(flow.blocks) if known(call.name)} - {None}
    onward = ways(flow.blocks, range(len(flow.blocks)))
    found: set[int] = set()
    for block in flow.blocks:
        branch = block.terminator
        if not isinstance(branch, Branch):
            continue
        condition, there, away = branch.condition, branch.then, branch.otherwise
        if isinstance(condition, Unary) and condition.operator == "!":
            condition, there, away = condition.operand, away, there
        if condition in asking:
            without, with_one = closure([away], onward), closure([there], onward)
            found |= without - with_one
    return found


def device_tests(flow: Flow, known: Known) -> frozenset[int]:
    """Blocks whose branch asks for a device (``torch.cuda.is_available()``, ``== "cuda"``): code
    on a GPU goes one way."""
    asking = {
        call.target.symbol
        for _, call in calls(flow.blocks)
        if isinstance(call.target, Variable) and known(call.name)
    }
    return frozenset(
        block.number
        for block in flow.blocks
        if isinstance(branch := block.terminator, Branch)
        and (
            variables(branch.condition) & asking or any(map(names_device, texts(branch.condition)))
        )
    )
