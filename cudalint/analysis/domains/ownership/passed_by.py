"""Releases that control may get past for a reason that has nothing to do with the object."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.shape.operations import operations, successors
from cudalint.analysis.shape.reach import closure
from cudalint.program import Branch, Call, Delete, Expression, Return, variables
from cudalint.source import Span


def gets_past(run: FunctionRun, releases: set[Span]) -> bool:
    """Whether a function may return without any of these releases, by a decision about something
    else: not about the object, what the function was given, or how a call went."""
    blocks, loops = run.flow.blocks, run.flow.loops
    releasing = {
        at.block
        for at in operations(run.function)
        if isinstance(at.operation, Call | Delete) and at.operation.span in releases
    }

    def onward(number: int) -> Iterable[int]:
        # One turn of a loop is for one element.
        return (way for way in successors(blocks[number]) if number not in loops.get(way, ()))

    def returns(start: int) -> bool:
        after = closure([start], lambda number: successors(blocks[number]))
        return any(isinstance(blocks[number].terminator, Return) for number in after)

    for number in run.flow.order:
        branch = blocks[number].terminator
        if not isinstance(branch, Branch) or number in loops:
            continue
        ways = (branch.then, branch.otherwise)
        ahead = set(onward(number))
        missing = [way for way in ways if closure({way} & ahead, onward).isdisjoint(releasing)]
        if len(missing) == 1 and returns(missing[0]) and _is_foreign(run, branch.condition):
            return True
    return False


def _is_foreign(run: FunctionRun, condition: Expression) -> bool:
    """Whether only the answers of calls decide that were given nothing of the object."""
    definitions = run.flow.definitions
    made = run.flow.sources(variables(condition))
    if not made or any(symbol not in definitions for symbol in made):
        return False
    asked = [one for symbol in made for one in definitions[symbol] if isinstance(one, Call)]
    return bool(asked) and all(_answers(run, call) for call in asked)


def _answers(run: FunctionRun, call: Call) -> bool:
    """Whether a call does nothing but tell something: it acquires and reports nothing."""
    if call.key is not None and run.symbols.function(call.key, run.filename) is not None:
        return False
    model = run.models.lookup(call.name)
    return model is None or not (model.status or model.acquires or model.answer is not None)
