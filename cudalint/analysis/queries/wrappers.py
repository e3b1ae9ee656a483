"""Which functions wrap an allocator: their summaries say so in the terms of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.summary import RETURN, HandedOut, Outcome
from cudalint.analysis.facts.wrappers import Wrapper
from cudalint.analysis.summaries import Linker
from cudalint.analysis.values.values import Const, Input, Location, Polynomial, Value
from cudalint.program import Function


def wrappers(linker: Linker, runs: Sequence[FunctionRun]) -> tuple[Wrapper, ...]:
    """The functions that a caller out of sight of their bodies would need a model for."""
    found: dict[str, Wrapper | None] = {}
    for run in runs:
        function = run.function
        if not _is_callable(function) or not run.touches_cuda:
            continue
        summary, _ = linker.summary(function.key, function.filename)
        if summary is None or not summary.complete:
            continue
        for wrapper in (
            *_acquiring(function, summary.outcomes),
            *_releasing(function, summary.outcomes),
        ):
            # One name, two meanings (overloads): a model could not say which.
            known = found.get(wrapper.name, wrapper)
            same = known is not None and _meaning(known) == _meaning(wrapper)
            found[wrapper.name] = known if same else None
    return tuple(sorted(one for one in found.values() if one is not None))


def _meaning(one: Wrapper) -> tuple[object, ...]:
    return one.handle, one.families, one.acquires


def _is_callable(function: Function) -> bool:
    """Whether another file can call it by its name."""
    return (
        function.kind == "function"
        and function.record is None
        and function.parent is None
        and not function.is_main
        and not function.is_static
        and (function.key.startswith("c:@") or not function.key.startswith("c:"))
        and not function.is_generator
    )


def _acquiring(function: Function, outcomes: Sequence[Outcome]) -> Iterator[Wrapper]:
    returned = [outcome for outcome in outcomes if outcome.kind == "return"]
    giving = [outcome for outcome in returned if outcome.handed_out]
    handed = [one for outcome in giving for one in outcome.handed_out]
    if len({(one.location, one.family) for one in handed}) != 1 or len(handed) != len(giving):
        return
    first = handed[0]
    handle = _handle(first.location, function)
    if handle is None or any(one.escaped for one in handed):
        return
    empty = [outcome for outcome in returned if not outcome.handed_out]
    yield Wrapper(
        _name(function),
        function.filename,
        function.span,
        handle,
        (first.family,),
        acquires=True,
        # What one instance of a template takes is not what another does.
        bytes=None if "<#" in function.key else _amount(first.bytes, function),
        status=RETURN if _is_status(giving[0], first) else None,
        null_on_failure=handle == RETURN and bool(empty) and all(map(_gives_null, empty)),
    )


def _releasing(function: Function, outcomes: Sequence[Outcome]) -> Iterator[Wrapper]:
    """It always releases one argument, and hands nothing out."""
    returned = [outcome for outcome in outcomes if outcome.kind == "return"]
    released = [release for outcome in returned for release in outcome.released]
    places = {release.location for release in released}
    if len(places) != 1 or any(outcome.handed_out for outcome in returned):
        return
    (place,) = places
    number = _position(place, function)
    if number is None:
        return
    families = sorted(set[str]().union(*(release.families for release in released)))
    yield Wrapper(
        _name(function),
        function.filename,
        function.span,
        f"arg{number}",
        tuple(families),
        acquires=False,
    )


def _name(function: Function) -> str:
    """What calls of it are called once their imports are resolved."""
    return function.key if not function.key.startswith("c:") else function.name


def _handle(location: Location, function: Function) -> str | None:
    if location == (RETURN,):
        return RETURN
    if len(location) == 2 and location[0] == "@" and isinstance(location[1], Input):
        number = _position(location[1].location, function)
        return None if number is None else f"*arg{number}"
    return None


def _position(location: Location, function: Function) -> int | None:
    """The number of the parameter that a place is."""
    names = [parameter.name for parameter in function.parameters]
    if len(location) != 1 or location[0] not in names:
        return None
    return names.index(location[0])


def _amount(value: Value | None, function: Function) -> str | None:
    """An amount in the terms of a model, where it is an argument or a multiple of one."""
    if isinstance(value, Input):
        number = _position(value.location, function)
        return None if number is None else f"arg{number}"
    if isinstance(value, Polynomial) and len(value.terms) == 1:
        (factors, multiple), *_ = value.terms
        if len(factors) == 1 and (one := _amount(factors[0], function)) and multiple > 0:
            return f"{one} * {multiple}"
    return None


def _is_status(outcome: Outcome, handed: HandedOut) -> bool:
    return handed.condition is not None and outcome.value == handed.condition


def _gives_null(outcome: Outcome) -> bool:
    return isinstance(outcome.value, Const) and not outcome.value.value
