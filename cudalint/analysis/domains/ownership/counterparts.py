"""A function that registers memory of somebody else's, and its counterpart that ends that."""

from __future__ import annotations

from cudalint.analysis.domains.ownership.releases import attachment
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.values.values import Input, Pointer, Symbol, inside
from cudalint.program import Function


def left_to_counterpart(run: FunctionRun, state: State, resource: Symbol, family: str) -> bool:
    """Whether a resource is attached to memory that the caller passed, or to a member, and another
    function of the run ends what it has not begun: ``pin(p)`` and ``unpin(p)``."""
    attached = any(
        isinstance(value, Pointer)
        and value.resource == resource
        and location[0] == "@"
        and not isinstance(location[1], str)
        and location == attachment(location[1], family)
        and any(isinstance(part, Input) for part in inside(location[1]))
        for location, value in state.values.items()
    )
    return attached and any(
        function.key != run.function.key and _only_ends(run, function, family)
        for function, _ in run.symbols.functions()
    )


def _only_ends(run: FunctionRun, function: Function, family: str) -> bool:
    models = [model for _, call in calls(function) if (model := run.models.lookup(call.name))]
    begins = any(one.family == family for model in models for one in model.acquires)
    return not begins and any(family in one.families for model in models for one in model.releases)
