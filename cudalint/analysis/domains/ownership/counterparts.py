"""A function that registers memory of somebody else's, and its counterpart that ends that."""

from __future__ import annotations

from cudalint.analysis.domains.ownership.releases import attachment
from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.values.values import (
    Address,
    Input,
    Pointer,
    Symbol,
    Value,
    inside,
    resources_in,
)
from cudalint.apis.loader import ApiModels
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
        or run.symbols.memo(_Ending).elsewhere(family, run.function.key, run.program.language)
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


class _Ending:
    """The functions of a run that end what they have not begun."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._known: dict[tuple[str, str], set[str]] = {}

    def elsewhere(self, family: str, key: str, language: str) -> bool:
        """Whether one does so other than this one."""
        which = family, language
        if which not in self._known:
            models = self._symbols.models(language)
            functions = (function for function, _ in self._symbols.functions())
            self._known[which] = {one.key for one in functions if _only_ends(one, family, models)}
        return not self._known[which] <= {key}


def _only_ends(function: Function, family: str, known: ApiModels) -> bool:
    models = [model for _, call in calls(function) if (model := known.lookup(call.name))]
    begins = any(one.family == family for model in models for one in model.acquires)
    return not begins and any(family in one.families for model in models for one in model.releases)
