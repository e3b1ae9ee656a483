"""What a callee out of sight answers that was told the status of an acquisition."""

from __future__ import annotations

from collections.abc import Set

from cudalint.analysis.domains.ownership import releases
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.interpreter.exits import statuses_in
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.values.values import Input, Value, resources_in
from cudalint.program import Binary, Branch, Call, Constant, Unary, Variable, variables


def failing_answer(
    run: FunctionRun, operation: Call, values: list[Value], state: State
) -> bool | None:
    """What a callee out of sight answers that is asked whether an acquisition has failed, and told
    its status, if it has: after that answer, and not after the other, the function goes on without
    what would have been acquired, or ends the memory that would have been registered."""
    branch = run.flow.blocks[run.position.block].terminator
    answer, statuses = operation.target, set(statuses_in(values))
    if not isinstance(branch, Branch) or not isinstance(answer, Variable) or not statuses:
        return None
    asked = {one for one, held in state.resources.items() if held.condition in statuses}
    kept = [at for at, value in state.values.items() if asked & set(resources_in(value))]
    # A registration is kept at the memory that it is of.
    registered = {at[1] for at in kept if releases.is_attachment(at)}
    places = {at[0] for at in kept} - {"@"}
    places |= {at[0] for at, value in state.values.items() if value in registered}
    places |= {one.location[0] for one in registered if isinstance(one, Input)}
    sides = (branch.then, branch.otherwise)
    goes_on = [not places.isdisjoint(run.flow.live[side]) for side in sides]
    # What outlives the call goes on in any case.
    lasts = not all(run.evaluator.is_local((place,)) for place in places)
    if registered and (lasts or goes_on[0] == goes_on[1]):
        origins = {one.origin for one in asked}
        ended = [_ends_memory(run, *way, places, origins) for way in (sides, sides[::-1])]
        goes_on = ended[::-1] if ended[0] != ended[1] else goes_on
    then, otherwise = goes_on
    if then == otherwise:
        return None
    match branch.condition:
        case Variable(symbol=answer.symbol):
            return otherwise
        case Unary(operator="!", operand=Variable(symbol=answer.symbol)):
            return then
        case Binary(operator="!=", left=Variable(symbol=answer.symbol), right=Constant(value=0)):
            return otherwise
        case Binary(operator="==", left=Variable(symbol=answer.symbol), right=Constant(value=0)):
            return then
        case _:
            return None


def _ends_memory(
    run: FunctionRun, start: int, apart: int, places: Set[str], registrations: Set[str]
) -> bool:
    """Whether memory is released, and its registration is not, where only one of two ways leads."""
    onward = ways(run.flow.blocks, run.flow.order)
    there, elsewhere = closure([start], onward), closure([apart], onward)
    families = {
        record.acquired.family
        for origin, record in run.log(Recorder).records.items()
        if origin in registrations
    }
    released = {
        family
        for _, call in calls([run.flow.blocks[number] for number in sorted(there - elsewhere)])
        if any(variables(argument.value) & places for argument in call.arguments)
        and (model := run.models.lookup(call.name)) is not None
        for effect in model.releases
        for family in effect.families
    }
    return bool(released) and released.isdisjoint(families)
