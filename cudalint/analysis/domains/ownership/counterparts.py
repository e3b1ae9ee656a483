"""A function that registers memory of somebody else's, and its counterpart that ends that."""

from __future__ import annotations

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.walk import plain
from cudalint.analysis.values.values import Input, Location, Pointer, Symbol
from cudalint.program import THIS, Expression, Function, Member, Variable


def left_to_counterpart(run: FunctionRun, state: State, resource: Symbol, family: str) -> bool:
    """Whether a resource is attached to memory that the caller passed, or to a member, and another
    function of the run releases what it is passed, or the same member, in the same way: ``pin(p)``
    and ``unpin(p)``."""
    if run.python:
        return False
    attached = [
        location[1].location
        for location, value in state.values.items()
        if isinstance(value, Pointer)
        and value.resource == resource
        and location[0] == "@"
        and isinstance(location[1], Input)
        and location[-1] == f".<{family}>"
    ]
    return any(
        function.key != run.function.key and _releases(run, function, place, family)
        for place in attached
        for function, _ in run.symbols.functions()
    )


def _releases(run: FunctionRun, function: Function, place: Location, family: str) -> bool:
    for _, call in calls(function):
        first = plain(call.arguments[0].value) if call.arguments else None
        if first is None or not _corresponds(run, function, first, place):
            continue
        model = run.models.lookup(call.name)
        if model is not None and any(family in one.families for one in model.releases):
            return True
    return False


def _corresponds(
    run: FunctionRun, function: Function, expression: Expression, place: Location
) -> bool:
    if place[0] == "this":
        member = Member(THIS, str(place[-1]).removeprefix("."))
        return function.record == run.function.record and expression == member and len(place) == 2
    return isinstance(expression, Variable) and any(
        expression.symbol == parameter.symbol for parameter in function.parameters
    )
