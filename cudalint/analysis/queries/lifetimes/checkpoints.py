"""Weights read from files without a word on where they go (Python)."""

from __future__ import annotations

from cudalint.analysis.facts.lifetimes import CheckpointLoad
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.queries.lifetimes.checkpoint_origins import (
    is_placed,
    written_elsewhere,
    written_here,
)
from cudalint.analysis.shape.arguments import argument, given
from cudalint.analysis.shape.operations import calls, operands, operations
from cudalint.analysis.shape.places import place, places_read
from cudalint.analysis.shape.subjects import is_module
from cudalint.analysis.shape.symbols import Symbols
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
    Call,
    Conditional,
    Constant,
    Expression,
    Function,
    Index,
    Operation,
    Program,
    Variable,
    render,
)


def checkpoints(
    function: Function, program: Program, symbols: Symbols, models: ApiModels
) -> tuple[CheckpointLoad, ...]:
    """The loads of weights in a function that leave the device to the file."""
    found = []
    for _, call in calls(function):
        effect = models.lifetime_effect(call.name)
        if effect is None or effect.loads is None or given(call).cut:
            continue
        where = argument(call, effect.loads)
        made = symbols.flow(function).only(where.symbol) if isinstance(where, Variable) else None
        if where is not None and not _is_nowhere(made.value if isinstance(made, Assign) else where):
            continue
        restore = _restore(function, call, program, models)
        if restore is None:
            continue
        origins = written_here(program, models), written_elsewhere(program, symbols, models)
        if "host" in origins or _is_part_of_another(function, symbols):
            continue
        found.append(
            CheckpointLoad(
                api=call.name,
                span=call.span,
                name=render(call.target) if call.target is not None else "",
                explicit=where is not None,
                restored=Site(function.filename, restore.span, restore.name),
                own=origins[0] == "device"
                or (origins[1] == "device" and is_placed(restore, function, program, symbols)),
            )
        )
    return tuple(found)


def _is_part_of_another(function: Function, symbols: Symbols) -> bool:
    """Whether a module that is being made takes the weights of a part of it: such files are handed
    out, from the CPU as a rule, and the module is not on a device yet."""
    return (
        function.kind == "constructor"
        and function.record is not None
        and is_module(symbols, function.record, function.filename)
    )


def _is_opaque(
    receiver: Expression | None, function: Function, program: Program, models: ApiModels
) -> bool:
    """Whether the state of an object is no tensors, by its class: a serialized engine, the numbers
    of a schedule."""
    name = place(receiver)
    classes = [one.type.text or "" for one in function.parameters if one.symbol == name]
    for other in program.functions:
        same = other.record == function.record and (name or "").startswith("this.")
        if other is function or same:
            classes += [call.name for _, call in calls(other) if place(call.target) == name]
    effects = map(models.lifetime_effect, classes)
    return any(effect is not None and effect.opaque for effect in effects)


def _is_nowhere(place: Expression) -> bool:
    """``None``, or ``None`` except on the CPU."""
    if isinstance(place, Conditional):
        return any(_is_nowhere(part) for part in (place.then, place.otherwise))
    return isinstance(place, Constant) and place.value is None


def _restore(function: Function, load: Call, program: Program, models: ApiModels) -> Call | None:
    """What copies what a file held into a module: itself, or what is taken out of it."""
    held = {place(load.target)} if load.target is not None else set()
    after = False
    for _ in range(3):
        for at in operations(function):
            operation = at.operation
            after = after or operation is load
            if not any(places_read(part) & held for part in operands(operation)):
                continue
            if after and isinstance(operation, Call):
                effect = models.lifetime_effect(operation.name)
                of_file = any(places_read(one.value) & held for one in operation.arguments)
                restores = effect is not None and effect.restores and of_file
                if restores and not _is_opaque(operation.receiver, function, program, models):
                    return operation
            held |= _holders(operation, models)
    return None


def _holders(operation: Operation, models: ApiModels) -> set[str | None]:
    """The places that what an operation reads goes into: with an element, its container."""
    model = models.lookup(operation.name) if isinstance(operation, Call) else None
    found = {place(getattr(operation, "receiver", None))} if model and model.takes else set()
    target = getattr(operation, "target", None)
    while target is not None:
        found.add(place(target))
        target = target.base if isinstance(target, Index) else None
    return found - {None}
