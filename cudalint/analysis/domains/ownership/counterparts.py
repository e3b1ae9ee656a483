"""A function that registers its caller's memory, and its counterpart that ends that."""

from __future__ import annotations

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.walk import plain
from cudalint.analysis.values.values import Input, Pointer, Symbol
from cudalint.program import Function, Variable


def left_to_counterpart(run: FunctionRun, state: State, resource: Symbol, family: str) -> bool:
    """Whether a resource is attached to memory that the caller passed, and another function of the
    run releases what it is passed in the same way: ``pin(p)`` and ``unpin(p)``."""
    if run.python:
        return False
    attached = any(
        location[0] == "@"
        and isinstance(location[1], Input)
        and len(location[1].location) == 1
        and location[-1] == f".<{family}>"
        for location, value in state.values.items()
        if isinstance(value, Pointer) and value.resource == resource
    )
    return attached and any(
        function.key != run.function.key and _releases_argument(run, function, family)
        for function, _ in run.symbols.functions()
    )


def _releases_argument(run: FunctionRun, function: Function, family: str) -> bool:
    parameters = {parameter.symbol for parameter in function.parameters}
    for _, call in calls(function):
        first = plain(call.arguments[0].value) if call.arguments else None
        if not isinstance(first, Variable) or first.symbol not in parameters:
            continue
        model = run.models.lookup(call.name)
        if model is not None and any(family in one.families for one in model.releases):
            return True
    return False
