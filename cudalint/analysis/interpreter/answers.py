"""What a callee out of sight answers: as before, or by the status that it was given."""

from __future__ import annotations

from collections.abc import Set

from cudalint.analysis.domains.ownership import releases
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import State
from cudalint.analysis.interpreter.exits import statuses_in
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.values.values import Input, Symbol, Value, resources_in, symbols_in
from cudalint.program import (
    AddressOf,
    Binary,
    Branch,
    Call,
    Constant,
    Expression,
    Unary,
    Variable,
    variables,
    walk,
)


def asked_before(run: FunctionRun, operation: Call, state: State) -> Symbol | None:
    """What the same question was answered with before, where that decided whether something is
    there that must be released: it is asked again to tell whether it is
    (``if (pool_used()) take(); else cudaMalloc(&p, n);``)."""
    here = run.position.block
    if run.flow.enclosing[here] or operation.kind == "constructor":
        return None
    prefix = f"call:{operation.name}@"
    symbols = (one for condition in state.conditions for one in symbols_in(condition))
    for earlier in sorted({one for one in symbols if one.origin.startswith(prefix)}):
        asked = position_of(earlier.origin)
        if (
            asked is not None
            and asked[0] != here
            and not run.flow.enclosing.get(asked[0])
            and _is_same(run, run.made_by(earlier.origin), operation)
            and _decides(run, asked[0], here, state)
        ):
            return earlier
    return None


def _is_same(run: FunctionRun, one: object, other: object) -> bool:
    """Whether two calls ask the same of what no operation writes in between."""
    return (
        isinstance(one, Call)
        and isinstance(other, Call)
        and (one.name, len(one.arguments)) == (other.name, len(other.arguments))
        and not any(part.reference and not part.constant for part in other.arguments)
        and _are_equal(run, one.receiver, other.receiver)
        and all(
            _are_equal(run, mine.value, theirs.value)
            for mine, theirs in zip(one.arguments, other.arguments, strict=True)
        )
    )


def _are_equal(run: FunctionRun, one: Expression | None, other: Expression | None) -> bool:
    if one == other:
        parts = list(walk(other)) if other is not None else []
        named = {part.symbol for part in parts if isinstance(part, Variable)}
        given = {parameter.symbol for parameter in run.function.parameters}
        return not any(isinstance(part, AddressOf) for part in parts) and all(
            len(run.flow.definitions.get(symbol, ())) <= (symbol not in given) for symbol in named
        )
    both = [part for part in (one, other) if isinstance(part, Variable)]
    if len(both) == 2 and all(part.symbol.startswith("%") for part in both):
        return _is_same(run, *(run.flow.only(part.symbol) for part in both))  # of temporaries
    return False


def _decides(run: FunctionRun, branch: int, here: int, state: State) -> bool:
    """Whether there are ways from a branch to here on which something that is there would not be
    acquired."""
    made = (position_of(resource.origin) for resource, _ in run.log(Recorder).held(state))
    return any(
        here in closure([branch], ways(run.flow.blocks, set(run.flow.order) - {at[0]}))
        for at in made
        if at is not None
    )


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
