"""A function that registers memory of somebody else's, and its counterpart that ends that."""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

from cudalint.analysis.domains.ownership.releases import attachment
from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.arguments import given_at
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.walk import plain
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
from cudalint.apis.paths import parse_path
from cudalint.program import Function, Member, Variable


def left_to_counterpart(run: FunctionRun, state: State, resource: Symbol, family: str) -> bool:
    """Whether a resource is attached to memory that the function has not made, and another function
    of the run ends what it has not begun, ``pin(p)`` and ``unpin(p)``, or another branch does."""
    attached = [
        location[1]
        for location, value in state.values.items()
        if isinstance(value, Pointer)
        and value.resource == resource
        and location[0] == "@"
        and not isinstance(location[1], str)
        and location == attachment(location[1], family)
        and _is_anothers(run, location[1])
    ]
    return bool(attached) and (
        _ends_in_another_branch(run, resource, family)
        or run.symbols.memo(_Ending).elsewhere(family, run, attached)
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
        self._known: dict[tuple[str, str], list[_Counterpart]] = {}

    def elsewhere(self, family: str, run: FunctionRun, attached: list[Value]) -> bool:
        """Whether one does so other than this one, and of no other members of the same object
        alone."""
        which = family, run.program.language
        if which not in self._known:
            models = self._symbols.models(run.program.language)
            functions = (function for function, _ in self._symbols.functions())
            known = (_counterpart(one, family, models) for one in functions)
            self._known[which] = [one for one in known if one is not None]
        own, others = run.function, {one.function.key for one in self._known[which]}
        members = {one.location[1] for one in attached if _is_member(one)}
        return bool(others - {own.key}) and not (
            len(members) == len(attached)
            and all(
                one.function.record == own.record
                and one.members is not None
                and members.isdisjoint(one.members)
                for one in self._known[which]
                if one.function.key != own.key
            )
        )


class _Counterpart(NamedTuple):
    function: Function
    members: frozenset[str] | None
    """Those of its own object that it ends; ``None`` where it ends something else too."""


def _is_member(memory: Value) -> TypeGuard[Input]:
    return isinstance(memory, Input) and memory.location[0] == "this" and len(memory.location) == 2


def _counterpart(function: Function, family: str, known: ApiModels) -> _Counterpart | None:
    """What a function ends of a family of which it begins nothing."""
    of = [(call, model) for _, call in calls(function) if (model := known.lookup(call.name))]
    begins = any(one.family == family for _, model in of for one in model.acquires)
    ended = [
        given_at(call, parse_path(release.handle, model.parameters))
        for call, model in of
        for release in model.releases
        if family in release.families
    ]
    if begins or not ended:
        return None
    parts = [plain(part) for part in ended if part is not None]
    members = [
        f".{part.field}"
        for part in parts
        if isinstance(part, Member) and part.base == Variable("this", "this")
    ]
    return _Counterpart(function, frozenset(members) if len(members) == len(ended) else None)
