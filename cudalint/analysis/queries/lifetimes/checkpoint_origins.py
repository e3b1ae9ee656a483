"""Where the checkpoints that a run reads were written from, as far as its files say (Python)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from cudalint.analysis.queries.lifetimes.placement import Placements
from cudalint.analysis.shape.arguments import named_constant
from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.subjects import uses_device
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
    Call,
    Function,
    Program,
    render,
    variables,
)

Origin = Literal["device", "host", ""]
"""Empty: no file of the run writes weights."""

_OPTIMIZER = re.compile(r"optim(izer)?s?([^a-z]|$)", re.IGNORECASE)
"""Names of optimizers."""
_OF_MODELS = re.compile(
    r"state|model|net|weight|param|ckpt|check_?point|snapshot|policy|actor|critic|agent|encoder"
    r"|decoder|generator|discriminator|\.pth",
    re.IGNORECASE,
)
"""Names of what is saved that are those of weights, or of what holds them."""


def is_optimizer(name: str) -> bool:
    """Whether a name is that of an optimizer."""
    return _OPTIMIZER.search(name) is not None


def written_here(program: Program, models: ApiModels, *, weights: bool) -> Origin:
    """From where a file writes its checkpoints.

    Where weights are read, what is written of an optimizer alone says nothing.
    """
    saves = [
        (function, call)
        for function, call in _saves(program, models)
        if not (weights and _is_of_optimizer(function, call))
    ]
    if not saves:
        return ""
    if _all_from_host(saves, program, models) or not uses_device(program, models):
        return "host"
    return "device" if any(_is_of_weights(*save) for save in saves) else ""


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
    saves = [save for save in _saves(program, models) if _is_of_weights(*save)]
    saves = [save for save in saves if not _is_of_optimizer(*save)]
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


def _is_of_weights(function: Function, save: Call) -> bool:
    """Whether what is saved holds weights, by what it is made of and by the names around it."""
    written = written_calls(function)
    parts = [render(substitute(given.value, written)) for given in save.arguments]
    return any(_OF_MODELS.search(text) for text in (*parts, function.name)) or any(
        call.name.endswith(".state_dict") for _, call in calls(function)
    )


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


def _is_of_optimizer(function: Function, save: Call) -> bool:
    """Whether what is saved is the state of optimizers, and of nothing else."""
    written = variables(save.arguments[0].value) if save.arguments else set()
    sources = [
        render(call.receiver)
        for _, call in calls(function)
        if call.receiver is not None
        and call.target is not None
        and variables(call.target) & written
    ]
    return bool(sources) and all(map(is_optimizer, sources))


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
