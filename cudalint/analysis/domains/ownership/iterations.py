"""What an iteration of a loop has released or left to others, for the iterations after it."""

from __future__ import annotations

from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.loops import can_avoid, innermost, reads_each
from cudalint.analysis.shape.operations import operations
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.values.values import NULL, Symbol, resources_in
from cudalint.program import Assign, Branch, Call, variables


def was_another_case(run: FunctionRun, state: State, resource: Symbol) -> bool:
    """Whether an earlier iteration released it that a condition picks: no other iteration, and
    none after it, needs to come by (``if (is_last(i)) cudaFree(p);``)."""
    flow, here, released = run.flow, run.position, state.resources[resource].released
    if released is None:
        return False
    at = next((a for a in operations(flow.blocks) if a.operation.span == released.span), None)
    header = innermost(flow, at.block) if at is not None else None
    if at is None or header is None or here.block not in flow.loops[header]:
        return False
    body = flow.loops[header]
    after = closure([at.block], ways(flow.blocks, body - {header}))
    if here.block in after and (here.block != at.block or here.index > at.position):
        return False  # the same iteration comes by
    others = frozenset(
        number for number in body if not _picks(run, number, header, state, resource)
    )
    return can_avoid(flow, body, header, header, at.block, others)


def is_taken_out(run: FunctionRun, state: State, resource: Symbol) -> bool:
    """Whether what an iteration puts into a container is taken out by another one: how many each
    of the two kinds comes by, only the input tells."""
    made, here = position_of(resource.origin), run.position.block
    header = innermost(run.flow, here)
    if made is None or header is None or made[0] not in run.flow.loops[header]:
        return False
    body = run.flow.loops[header] - {header}
    return here not in closure([made[0]], ways(run.flow.blocks, body)) and any(
        "[]" in place and resource in resources_in(value) for place, value in state.values.items()
    )


def _picks(run: FunctionRun, number: int, header: int, state: State, resource: Symbol) -> bool:
    """Whether a block asks what differs from iteration to iteration by itself: what the loop
    counts with or goes over, or what a call answers."""
    flow, branch = run.flow, run.flow.blocks[number].terminator
    return isinstance(branch, Branch) and any(
        symbol in flow.counters[number]
        or symbol in flow.addressed
        or any(
            isinstance(one, Call) or (isinstance(one, Assign) and reads_each(one.value))
            for one in flow.definitions.get(symbol, ())
        )
        for symbol in variables(branch.condition)
        if symbol in flow.assigned[header] | flow.addressed
        and resource not in resources_in(state.values.get((symbol,), NULL))
    )
