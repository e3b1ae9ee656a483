"""Where the checkpoints that a run reads were written from, as far as its files say (Python)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from cudalint.analysis.shape.arguments import bindings, inputs, named_constant
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import calls, operands, operations, targets, terminal
from cudalint.analysis.shape.placement import Placements
from cudalint.analysis.shape.places import is_inside, place, root
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.subjects import uses_device
from cudalint.analysis.shape.symbols import Symbols, identity
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
    Call,
    Expression,
    Function,
    Program,
    Variable,
    render,
    variables,
    walk,
)

Origin = Literal["device", "host", ""]
"""Empty: no file of the run writes weights."""

_DEPTH = 3
"""Calls of calls through which a value is followed back."""


class _Writers:
    """From where the files of a run write weights, each asked once."""

    def __init__(self, symbols: Symbols) -> None:
        self.origins: dict[str, Origin] = {}


def written_elsewhere(program: Program, symbols: Symbols, models: ApiModels) -> Origin:
    """From where the other files that belong to it write weights; of several, from a device."""
    written = symbols.memo(_Writers).origins
    found: set[Origin] = set()
    for other in symbols.programs.values():
        if other is not program and other.language == "python":
            if other.filename not in written:
                origin = written_here(other, models)
                written[other.filename] = origin or _written_for_others(other, symbols, models)
            found.add(written[other.filename])
    return "device" if "device" in found else "host" if "host" in found else ""


def written_here(program: Program, models: ApiModels) -> Origin:
    """From where a file writes weights; of several, from the host."""
    saves = _saves(program, models)
    if not saves:
        return ""
    on_host = any(_is_host(value, function, models) for function, value in saves)
    if on_host or _offloads(program, models):
        return "host"
    if uses_device(program, models):
        return "device"
    return "" if any(_is_given(value, one, program) for one, value in saves) else "host"


def _written_for_others(program: Program, symbols: Symbols, models: ApiModels) -> Origin:
    """Whether a file writes the weights of those who call it from other files, which use a
    device."""
    graph = symbols.memo(CallGraph)
    callers = {
        site.caller.filename
        for function, _ in _saves(program, models)
        for site in graph.sites(identity(function))
    }
    programs = (symbols.programs.get(name) for name in sorted(callers - {program.filename}))
    return "device" if any(one and uses_device(one, models) for one in programs) else ""


def _saves(program: Program, models: ApiModels) -> list[tuple[Function, Expression]]:
    """Where a file writes weights, and what."""
    saves = [
        (function, call.arguments[0].value)
        for function in program.functions
        for _, call in calls(function)
        if (effect := models.lifetime_effect(call.name)) is not None and effect.stores
        if call.arguments
    ]
    return [(one, value) for one, value in saves if _is_state(value, one, program, models)]


def _is_state(
    value: Expression, function: Function, program: Program, models: ApiModels, depth: int = _DEPTH
) -> bool:
    """Whether a value is made of the state of modules, or is a module. What is given to the
    function, and what functions of the file return, is looked into."""
    flowing = _flowing(value, function)
    saved = {place(part) for part in walk(value)}
    for _, call in calls(function):
        flows = call.target is not None and not flowing.isdisjoint(variables(call.target))
        lasting, effect = models.lifetime_effect(call.name), models.tensor_effect(call.name)
        gives = lasting is not None and lasting.gives_state
        of_module = gives or (effect is not None and effect.module)
        if (flows and gives) or (of_module and place(call.receiver) in saved - {None}):
            return True
        if flows and depth and call.key is not None:
            for one in (one for one in program.functions if one.key == call.key):
                ends = (end for block in one.blocks if (end := terminal(block)) is not None)
                if any(_is_state(end, one, program, models, depth - 1) for end in ends):
                    return True
    return depth > 0 and any(
        _is_state(bound[symbol], caller, program, models, depth - 1)
        for caller, bound in _callers(function, program)
        for symbol in sorted(flowing & bound.keys())
    )


def _is_given(value: Expression, function: Function, program: Program) -> bool:
    """Whether a value comes from those who call a function, or made its object, and the file does
    neither, but in factories of the class: on which device it is, they decide."""
    read = _flowing(value, function)
    if not read.isdisjoint(parameter.symbol for parameter in function.parameters):
        return not any(_callers(function, program))
    others = (one for one in program.functions if one.record != function.record)
    made = any(call.key == function.record for one in others for _, call in calls(one))
    return "this" in read and not made


def _flowing(value: Expression, function: Function) -> set[str]:
    """The variables whose values flow into a value."""
    written: dict[str, set[str]] = defaultdict(set)
    for at in operations(function):
        for target in targets(at.operation):
            read = (variables(part) for part in operands(at.operation))
            written[root(target) or ""].update(*read)
    return closure(variables(value), lambda symbol: written.get(symbol, ()))


def _callers(
    function: Function, program: Program
) -> Iterator[tuple[Function, dict[str, Expression]]]:
    """Who calls a function, and what they give it for its parameters."""
    for caller in program.functions:
        for _, call in calls(caller):
            if call.key == function.key:
                yield caller, bindings(call, function.parameters)


def is_placed(restore: Call, function: Function, symbols: Symbols) -> bool:
    """Whether a module is on a device before a function restores its weights: it, or another method
    of its class, moves it there."""
    module = place(restore.receiver) or ""
    return module in _placed(function, symbols, restore.span.row) or (
        module.startswith("this")
        and any(module in _placed(other, symbols) for other in symbols.class_methods(function))
    )


def is_placed_on(where: Expression, restore: Call, function: Function, symbols: Symbols) -> bool:
    """Whether the device that an expression names is the one that a module was made for, or moved
    to, before a function restores its weights."""
    module, written = place(restore.receiver), render(where)
    placements, placed = Placements(function, symbols), set[str | None]()
    for at in operations(function):
        operation = at.operation
        if isinstance(operation, Assign) and root(operation.value) in placed:
            placed.add(place(operation.target))
        elif isinstance(operation, Call) and operation.span < restore.span:
            given = {render(argument.value) for argument in operation.arguments}
            if written in given and placements.told_by(operation) in ("device", "asked"):
                placed |= {place(operation.receiver), place(operation.target)}
    return module is not None and module in placed


def _placed(function: Function, symbols: Symbols, row: int | None = None) -> set[str | None]:
    """The places of what a function moves to a device, before a row of the file."""
    found: set[str | None] = set()
    placements = Placements(function, symbols)
    for at in operations(function):
        operation = at.operation
        if row is not None and operation.span.row >= row:
            continue
        if isinstance(operation, Assign) and place(operation.value) in found:
            found.add(place(operation.target))
        if not isinstance(operation, Call):
            continue
        effect = symbols.models("python").tensor_effect(operation.name)
        moves = effect is not None and effect.device in ("device", "argument")
        sources = {place(value) for value in inputs(operation)}
        if moves and placements.made_by(operation) in ("device", "asked"):
            found |= {place(operation.receiver), place(operation.target)}
        elif sources & found:
            found.add(place(operation.target))
        found.discard(None)
    return found


def _offloads(program: Program, models: ApiModels) -> bool:
    """Whether a policy says that what is saved is moved to the CPU."""
    return any(
        named_constant(call, effect.offloads) is True
        for function in program.functions
        for _, call in calls(function)
        if (effect := models.lifetime_effect(call.name)) is not None
    )


def _is_host(value: Expression, function: Function, models: ApiModels) -> bool:
    """Whether what is saved was moved to the CPU, itself or the module that it is the state of, or
    is the state of a module that has no name: nothing else ever has that."""
    read = variables(value) | _flowing(value, function)
    moved: set[str] = set()
    nameless: set[str] = set()
    states: set[str] = set()
    for _ in range(3):
        for _, call in calls(function):
            effect = models.tensor_effect(call.name)
            lasting = models.lifetime_effect(call.name)
            result = variables(call.target) if call.target is not None else set()
            sources = {name} if (name := place(call.receiver)) is not None else set()
            from_moved = any(is_inside(one, other) for one in sources for other in moved)
            if effect is not None and effect.result == "module" and not sources:
                nameless |= {symbol for symbol in result if symbol.startswith("%")}
            if effect is not None and effect.device == "host":
                moved |= result | sources
            elif effect is not None and effect.module and from_moved:
                moved |= result
            if (lasting is not None and lasting.gives_state) or (effect and effect.module):
                states |= result | (sources if result & read else set())
            if from_moved:
                moved |= sources
            if result & read:
                if sources & nameless and lasting is not None and lasting.gives_state:
                    return True
                read |= sources
            if result & moved and effect is not None and (effect.module or effect.evaluates):
                moved |= sources
    whole = variables(value)
    return any(
        one in whole | states or not states.isdisjoint(_flowing(Variable(one, one), function))
        for one in read & moved
    )
