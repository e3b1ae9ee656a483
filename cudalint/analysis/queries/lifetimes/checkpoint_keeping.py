"""Whether what is read from a file is gone before the work goes on (Python)."""

from __future__ import annotations

from collections.abc import Callable

from cudalint.analysis.facts.resources import is_shown
from cudalint.analysis.queries.lifetimes.checkpoint_files import is_written_before
from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.operations import At, calls, operations
from cudalint.analysis.shape.placement import Placements
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.symbols import Symbols
from cudalint.apis.loader import ApiModels
from cudalint.program import Branch, Call, Delete, Function, Program, Variable, render, variables


def is_brief(
    function: Function, load: At, used: At, placed: bool, program: Program, symbols: Symbols
) -> bool:
    """Whether the weights are dropped before anything is computed, by the only process of a
    program: they take their place twice, for a moment, or once, where the module is not ``placed``
    on a device yet. A program that asks whether there is a device reads a file of another run
    beside a placed module only at the risk that there is none, if it is not placed in any case."""
    loaded = load.operation
    assert isinstance(loaded, Call)
    models = symbols.models("python")
    if _calls_any(program, lambda call: _is_for_processes(call, models)):
        return False
    asks = placed and _calls_any(program, lambda call: models.asks_device(call.name))
    if asks and not (
        _needs_device(function, used, symbols)
        or is_written_before(load, function, program, symbols)
    ):
        return False
    target = loaded.target
    if target is None or not is_shown(render(target)):
        return True
    if not isinstance(target, Variable):
        return False  # kept by an object
    flow = symbols.flow(function)
    return _is_deleted(flow, target.symbol) or not _works_on(
        function, used, target.symbol, flow, symbols
    )


def is_held(function: Function, load: Call, used: At, symbols: Symbols) -> bool:
    """Whether a variable keeps what was loaded while the function goes on to work with what was
    filled from it."""
    target, flow = load.target, symbols.flow(function)
    if not isinstance(target, Variable) or not is_shown(render(target)):
        return False
    if _is_deleted(flow, target.symbol) or len(flow.definitions[target.symbol]) > 1:
        return False
    return _works_on(function, used, target.symbol, flow, symbols)


def _calls_any(program: Program, is_meant: Callable[[Call], bool]) -> bool:
    return any(is_meant(call) for function in program.functions for _, call in calls(function))


def _is_for_processes(call: Call, models: ApiModels) -> bool:
    """Whether a call is for one process of several, each with its device: what others saved lands
    on the device of one of them."""
    effect = models.lifetime_effect(call.name)
    return effect is not None and effect.device_of_its_own


def _needs_device(function: Function, used: At, symbols: Symbols) -> bool:
    """Whether the module that is filled was moved to a GPU on every way there."""
    module = place(getattr(used.operation, "receiver", None))
    placements, flow = Placements(function, symbols), symbols.flow(function)
    return module is not None and any(
        module in (place(call.receiver), place(call.target))
        and placements.told_by(call) == "device"
        and used.place not in flow.passed((0, -1), {at.place})
        for at, call in calls(function)
    )


def _is_deleted(flow: Flow, symbol: str) -> bool:
    return any(
        isinstance(at.operation, Delete) and symbol in variables(at.operation.place)
        for block in flow.blocks
        for at in operations([block])
    )


def _works_on(function: Function, used: At, symbol: str, flow: Flow, symbols: Symbols) -> bool:
    """Whether a loop follows, here or in a function that is called, other than one through what was
    read."""
    for header, body in flow.loops.items():
        around = used.block in body
        if around or not flow.reaches(*used.place, header, 0):
            continue
        end = flow.blocks[header].terminator
        through = isinstance(end, Branch) and symbol in flow.sources(variables(end.condition))
        if not through:
            return True
    for at, call in calls(function):
        called = symbols.function(call.key, function.filename) if call.key else None
        if called is None or not symbols.flow(called).loops:
            continue
        given = {name for one in call.arguments for name in variables(one.value)}
        if symbol not in given and flow.reaches(*used.place, *at.place):
            return True
    return False
