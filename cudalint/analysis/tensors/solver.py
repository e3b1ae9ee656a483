"""Follows tensors through one function: a worklist over its blocks, until nothing changes."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.operations import successors
from cudalint.analysis.shape.places import root_of
from cudalint.analysis.tensors.asked import behind
from cudalint.analysis.tensors.lattice import NOTHING, NUMBER, UNKNOWN, Kind, State, Value, join_all
from cudalint.analysis.tensors.records import Record, Surroundings
from cudalint.analysis.tensors.transfer import Transfer
from cudalint.apis.loader import ApiModels
from cudalint.program import Function, FunctionReference, Parameter, Return

MOST_VISITS = 60
"""Visits of one block; the lattice is finite, this only guards the time on huge functions."""


@dataclass
class Solution:
    """What the analysis of one function found."""

    function: Function
    flow: Flow
    records: dict[int, Record]
    """By operation."""
    states: dict[int, State]
    """At the beginning of each block."""
    returned: Value = NOTHING
    returned_parts: Mapping[str, Value] = field(default_factory=dict)
    """Of a returned tuple or dictionary: values by place within it (``[0]``, ``['loss']``)."""


def solve(function: Function, around: Surroundings) -> Solution:
    """The fixpoint of one function."""
    flow = around.symbols.flow(function)
    transfer = Transfer(function, around)
    entry = State(
        {
            parameter.symbol: parameter_value(parameter, around.models).of(-number - 1)
            for number, parameter in enumerate(function.parameters)
        },
        around.entry(function),
    )
    states: dict[int, State] = {0: entry}
    visits: dict[int, int] = {}
    queue = [(0, 0)]
    queued = {0}
    while queue:
        _, number = heapq.heappop(queue)
        queued.discard(number)
        visits[number] = visits.get(number, 0) + 1
        if visits[number] > MOST_VISITS:
            continue
        block = function.blocks[number]
        state = states[number]
        thrown = state
        for index, operation in enumerate(block.operations):
            state = transfer.operation(state, operation, number, index)
        leaving = [
            (target, behind(block, target, state, flow, transfer)) for target in successors(block)
        ]
        if block.unwind is not None:
            # What the handler sees: none of the block's operations, or all of them.
            leaving.append((block.unwind, thrown.join(state)))
        for target, after in leaving:
            if not 0 <= target < len(function.blocks):
                continue
            known = states.get(target)
            after = after.only(_live_at(flow, target))
            new = after if known is None else known.join(after)
            if new is not known:
                states[target] = new
                if target not in queued:
                    queued.add(target)
                    heapq.heappush(queue, (flow.order.get(target, target), target))
    solution = Solution(function, flow, transfer.records, states)
    _add_returned(solution, transfer)
    return solution


def _live_at(flow: Flow, number: int) -> Callable[[str], bool]:
    live = flow.live.get(number, frozenset())

    def is_live(name: str) -> bool:
        variable = root_of(name)
        return variable in live or variable == "this" or variable.startswith("::")

    return is_live


def _add_returned(solution: Solution, transfer: Transfer) -> None:
    values: list[Value] = []
    parts: dict[str, Value] = {}
    for number, state in solution.states.items():
        block = solution.function.blocks[number]
        terminator = block.terminator
        if not isinstance(terminator, Return) or terminator.value is None:
            continue
        for index, operation in enumerate(block.operations):
            state = transfer.operation(state, operation, number, index)
        values.append(transfer.value(state, terminator.value))
        for name, value in transfer.parts(state, terminator.value):
            parts[name] = parts[name].join(value) if name in parts else value
    solution.returned, solution.returned_parts = join_all(values), parts


def parameter_value(parameter: Parameter, models: ApiModels) -> Value:
    """What a parameter's annotation says of it."""
    text = parameter.type.text
    if text in ("int", "float", "bool", "str"):
        return NUMBER
    effect = models.lifetime_effect(text)
    if effect is not None and effect.modules:
        if isinstance(parameter.default, FunctionReference):
            return UNKNOWN  # a class: what it is called for is a module
        return Value(Kind.MODULE, UNKNOWN.gradient, UNKNOWN.device)
    if effect is not None and effect.tensor_types:
        return Value(Kind.TENSOR, UNKNOWN.gradient, UNKNOWN.device, tensorlike=True, large=True)
    return UNKNOWN
