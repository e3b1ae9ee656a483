"""A function that registers memory of somebody else's, and its counterpart that ends that."""

from __future__ import annotations

from cudalint.analysis.domains.ownership.releases import attachment
from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.values.values import (
    Address,
    Input,
    Pointer,
    Symbol,
    Value,
    inside,
    resources_in,
)
from cudalint.program import Function


def left_to_counterpart(run: FunctionRun, state: State, resource: Symbol, family: str) -> bool:
    """Whether a resource is attached to memory that the function has not made, and another function
    of the run ends what it has not begun, ``pin(p)`` and ``unpin(p)``, or another branch does."""
    attached = any(
        isinstance(value, Pointer)
        and value.resource == resource
        and location[0] == "@"
        and not isinstance(location[1], str)
        and location == attachment(location[1], family)
        and _is_anothers(run, location[1])
        for location, value in state.values.items()
    )
    return attached and (
        _ends_in_another_branch(run, resource, family)
        or any(
            function.key != run.function.key and _only_ends(run, function, family)
            for function, _ in run.symbols.functions()
        )
    )


def _is_anothers(run: FunctionRun, memory: Value) -> bool:
    """Whether memory was passed to a function, is a member's, or was given by a call out of
    sight."""
    return not resources_in(memory) and any(
        not run.evaluator.is_local(part.location)
        and run.evaluator.kind(part.location[:1]) != "record"
        if isinstance(part, Address)
        else isinstance(part, Input | Symbol)
        for part in inside(memory)
    )


def _ends_in_another_branch(run: FunctionRun, resource: Symbol, family: str) -> bool:
    begun = position_of(resource.origin)
    ends = [
        at.place
        for at, call in calls(run.function)
        if (model := run.models.lookup(call.name)) is not None
        and any(family in one.families for one in model.releases)
    ]
    return (
        begun is not None
        and not any(run.flow.reaches(*begun, *end) for end in ends)
        and any(not run.flow.reaches(*end, *begun) for end in ends)
    )


def _only_ends(run: FunctionRun, function: Function, family: str) -> bool:
    models = [model for _, call in calls(function) if (model := run.models.lookup(call.name))]
    begins = any(one.family == family for model in models for one in model.acquires)
    return not begins and any(family in one.families for model in models for one in model.releases)
