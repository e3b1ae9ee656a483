"""Where the checkpoints that a run reads were written from, as far as its files say (Python)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from cudalint.analysis.queries.lifetimes.placement import Placements
from cudalint.analysis.shape.arguments import given, named_constant
from cudalint.analysis.shape.operations import calls, operands, operations, targets
from cudalint.analysis.shape.places import place, root
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.subjects import uses_device
from cudalint.analysis.shape.symbols import Symbols
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
    Call,
    Expression,
    Function,
    Program,
    Return,
    variables,
    walk,
)

Origin = Literal["device", "host", ""]
"""Empty: no file of the run writes weights."""

_DEPTH = 3
"""Calls of calls through which a value is followed back."""


def written_here(program: Program, models: ApiModels, *, weights: bool) -> Origin:
    """From where a file writes its checkpoints.

    Where weights are read, what is written of an optimizer alone says nothing.
    """
    saves = [(save, _holds(*save, program, models)) for save in _saves(program, models)]
    saves = [(save, held) for save, held in saves if not weights or held != Held(False, True)]
    if not saves:
        return ""
    if _all_from_host([save for save, _ in saves], program, models) or not uses_device(
        program, models
    ):
        return "host"
    return "device" if any(held.weights for _, held in saves) else ""


def _holds(function: Function, save: Call, program: Program, models: ApiModels) -> Held:
    return _held(save.arguments[0].value, function, program, models) if save.arguments else Held()


class _Writers:
    """From where the files of a run write checkpoints, as far as it is known already."""

    def __init__(self, symbols: Symbols) -> None:
        self.origins: dict[str, Origin] = {}


def written_elsewhere(program: Program, symbols: Symbols, models: ApiModels) -> Origin:
    """From where the other files that belong to it write weights; of several, from a device."""
    found: set[Origin] = set()
    for other in symbols.programs.values():
        if other is program or other.language != "python":
            continue
        written = symbols.memo(_Writers).origins
        origin = written.get(other.filename)
        if origin is None:
            origin = written[other.filename] = _written(other, models)
        found.add(origin)
    return "device" if "device" in found else "host" if "host" in found else ""


def _written(program: Program, models: ApiModels) -> Origin:
    saves = [save for save in _saves(program, models) if _holds(*save, program, models).weights]
    if not saves:
        return ""
    return "host" if _all_from_host(saves, program, models) else "device"


def _saves(program: Program, models: ApiModels) -> list[tuple[Function, Call]]:
    return [
        (function, call)
        for function in program.functions
        for _, call in calls(function)
        if (effect := models.lifetime_effect(call.name)) is not None and effect.stores
    ]


def _all_from_host(
    saves: Iterable[tuple[Function, Call]], program: Program, models: ApiModels
) -> bool:
    return all(_is_host(*save, models) for save in saves) or _offloads(program, models)


class Held(NamedTuple):
    """What a value holds the state of."""

    weights: bool = False
    optimizers: bool = False


def _held(
    value: Expression, function: Function, program: Program, models: ApiModels, depth: int = _DEPTH
) -> Held:
    """What a value is made of: the state of modules, or modules themselves, and of optimizers. What
    is given to the function, and what functions of the file return, is looked into."""
    flowing = _flowing(value, function)
    saved = {place(part) for part in walk(value)}
    found: list[Held] = []
    for _, call in calls(function):
        flows = call.target is not None and not flowing.isdisjoint(variables(call.target))
        if call.receiver is not None and (
            (flows and _is_state(call, models))
            or (place(call.receiver) in saved and _is_of_module(call, models))
        ):
            steps = makes_steps(call.receiver, function, program, models)
            found.append(Held(not steps, steps))
        elif flows and depth and call.key is not None:
            ends = (end for one in program.functions if one.key == call.key for end in _ends(one))
            found += [_held(end, one, program, models, depth - 1) for one, end in ends]
    for caller, bound in _callers(function, program) if depth else ():
        mine = [bound[symbol] for symbol in sorted(flowing & bound.keys())]
        found += [_held(one, caller, program, models, depth - 1) for one in mine]
    return Held(*(any(parts) for parts in zip(*found, strict=True))) if found else Held()


def _is_state(call: Call, models: ApiModels) -> bool:
    effect = models.lifetime_effect(call.name)
    return effect is not None and effect.gives_state


def _is_of_module(call: Call, models: ApiModels) -> bool:
    effect = models.tensor_effect(call.name)
    return _is_state(call, models) or (effect is not None and effect.module)


def makes_steps(
    value: Expression, function: Function, program: Program, models: ApiModels, depth: int = _DEPTH
) -> bool:
    """Whether somebody makes steps with an object: an optimizer, or what sets its learning rate."""
    name = place(value)
    member = name is not None and name.startswith("this.")
    for other in program.functions:
        if other is function or (member and other.record == function.record):
            for _, call in calls(other):
                effect = models.tensor_effect(call.name)
                at = call.target if effect is not None and effect.optimizer else call.receiver
                known = effect is not None and (effect.steps or effect.optimizer)
                if known and at is not None and place(at) == name:
                    return True
    return depth > 0 and any(
        makes_steps(bound[name], caller, program, models, depth - 1)
        for caller, bound in _callers(function, program)
        if name in bound
    )


def _flowing(value: Expression, function: Function) -> set[str]:
    """The variables whose values flow into a value."""
    written: dict[str, set[str]] = defaultdict(set)
    for at in operations(function):
        for target in targets(at.operation):
            read = (variables(part) for part in operands(at.operation))
            written[root(target) or ""].update(*read)
    return closure(variables(value), lambda symbol: written.get(symbol, ()))


def _ends(function: Function) -> Iterator[tuple[Function, Expression]]:
    for block in function.blocks:
        if isinstance(block.terminator, Return) and block.terminator.value is not None:
            yield function, block.terminator.value


def _callers(
    function: Function, program: Program
) -> Iterator[tuple[Function, dict[str, Expression]]]:
    """Who calls a function, and what they give it for its parameters."""
    for caller in program.functions:
        for _, call in calls(caller):
            if call.key == function.key:
                yield caller, given(call).bind(function.parameters, lambda rest: rest[0])


def is_placed(
    module: str, function: Function, load: Call, program: Program, models: ApiModels
) -> bool:
    """Whether a module is on a device before a function loads its weights: it, or another method
    of its class, moves it there."""
    others = (
        other
        for other in program.functions
        if other is not function and other.record == function.record is not None
    )
    before = _placed(function, models, load.span.row)
    return module in before or (
        module.startswith("this") and any(module in _placed(other, models) for other in others)
    )


def _placed(function: Function, models: ApiModels, row: int | None = None) -> set[str | None]:
    """The places of what a function moves to a device, before a row of the file."""
    found: set[str | None] = set()
    placements = Placements(function, models)
    for at in operations(function):
        operation = at.operation
        if row is not None and operation.span.row >= row:
            continue
        if isinstance(operation, Assign) and place(operation.value) in found:
            found.add(place(operation.target))
        if not isinstance(operation, Call):
            continue
        receiver = operation.receiver
        effect = models.tensor_effect(operation.name)
        given = [argument.value for argument in operation.arguments]
        moves = (
            receiver is not None
            and effect is not None
            and (
                effect.device == "device"
                or (
                    effect.device == "argument"
                    and any(placements.device(value) in ("device", "asked") for value in given)
                )
            )
        )
        sources = {place(value) for value in (*given, *([receiver] if receiver else []))}
        if moves and receiver is not None:
            found.add(place(receiver))
        if operation.target is not None and (moves or sources & found):
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


def _is_host(function: Function, save: Call, models: ApiModels) -> bool:
    """Whether what is saved was moved to the CPU, itself or the module that it is the state of."""
    value = save.arguments[0].value if save.arguments else None
    if value is None:
        return False
    read = variables(value)
    moved: set[str] = set()
    for _ in range(3):
        for _, call in calls(function):
            effect = models.tensor_effect(call.name)
            result = variables(call.target) if call.target is not None else set()
            sources = variables(call.receiver) if call.receiver is not None else set()
            if effect is not None and effect.device == "host":
                moved |= result | sources
            elif effect is not None and effect.module and sources & moved:
                moved |= result
            if sources & moved and call.receiver is not None:
                moved |= sources
            if result & read:
                read |= sources
            if result & moved and effect is not None and (effect.module or effect.evaluates):
                moved |= sources
    return bool(read & moved)
