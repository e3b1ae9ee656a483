"""Sizes in bytes that are given for what a function takes as a number of elements."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import ScaledTwice, Site
from cudalint.analysis.shape.arguments import given, sizes
from cudalint.analysis.shape.counts import element_sizes, factors
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.summaries import Linker
from cudalint.program import Call, Variable


def scaled_twice(run: FunctionRun, linker: Linker) -> tuple[ScaledTwice, ...]:
    """The calls of a function that give bytes where the callee multiplies with their size again."""
    return tuple(_found(run, linker)) if not run.python else ()


def _found(run: FunctionRun, linker: Linker) -> Iterator[ScaledTwice]:
    for _, call in calls(run.function):
        definition = linker.definition(call.key, run.filename) if call.key else None
        for index, argument in enumerate(given(call).positional if definition else ()):
            sized = {one.value for one in element_sizes(argument)} & _pointed_to(run, call)
            parameters = definition[0].parameters if definition and sized else ()
            callee = linker.run_of(*definition) if definition and index < len(parameters) else None
            size = _scaling(callee, parameters[index].symbol) if callee is not None else None
            if callee is not None and size is not None:
                scaled = Site(callee.filename, size.span, size.name)
                text, name = run.show(argument), parameters[index].name
                yield ScaledTwice(call.name, text, name, call.span, scaled)


def _pointed_to(run: FunctionRun, call: Call) -> set[object]:
    """The sizes of what the pointers among the arguments of a call point to."""
    found: set[object] = set()
    for argument in call.arguments:
        value = argument.value
        info = run.evaluator.variable(value.symbol) if isinstance(value, Variable) else None
        kind = info.type if info is not None else None
        if kind is not None and kind.pointee is not None and kind.kind in ("pointer", "array"):
            found.add(kind.pointee.bytes)
    return found - {None, 1}


def _scaling(callee: FunctionRun, parameter: str) -> Call | None:
    """The call whose size a function makes of a parameter and the size of an element."""
    if parameter in callee.flow.definitions:
        return None  # made a number of elements first
    return next(
        (
            call
            for _, call in calls(callee.function)
            for size in sizes(callee.models.lookup(call.name), call)
            if any(one.value != 1 for one in element_sizes(size))
            and any(isinstance(one, Variable) and one.symbol == parameter for one in factors(size))
        ),
        None,
    )
