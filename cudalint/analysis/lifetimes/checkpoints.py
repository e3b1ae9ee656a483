"""Tensors read from files without a word on where they go (Python)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cudalint.analysis.facts.lifetimes import CheckpointLoad
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.flow import defined, operands
from cudalint.analysis.lifetimes.walk import (
    argument,
    calls,
    definitions,
    operations,
    texts,
    unpacks,
)
from cudalint.analysis.wording import substitute, written_calls
from cudalint.program import (
    Assign,
    Branch,
    Call,
    Conditional,
    Constant,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Program,
    Unary,
    Variable,
    children,
    render,
    variables,
)

if TYPE_CHECKING:
    from cudalint.apis.loader import ApiModels

_WEIGHTS = re.compile(
    r"(^|[^a-z])(ckpts?|check_?points?|weights?|resume|pre_?trained|snapshots?|state_dict)([^a-z]|$)"
    r"|\.(pth|ckpt)\b",
    re.IGNORECASE,
)
"""Names of files, and of the variables that hold them, that are those of weights."""
_HANDED_OUT = re.compile(r"pre_?train|imagenet|model_?zoo", re.IGNORECASE)
"""Paths of weights that others trained, and wrote from the CPU as a rule."""
_PARTS = re.compile(r"^((model|net|generator|discriminator|ema|optim(izer)?)_?)?state(_?dict)?$")
"""Keys of a checkpoint."""
_OPTIMIZER = re.compile(r"optim(izer)?s?([^a-z]|$)", re.IGNORECASE)
"""Names of optimizers."""
_NO_WEIGHTS = re.compile(
    r"rng|sched|scaler|vocab|tokeniz|sampler|loader|data_?set|meter|metric|stats|histor|config"
    r"|hparams|trainer_state|(^|[^a-z])(preds?|predictions?)([^a-z]|$)",
    re.IGNORECASE,
)
"""Names of what is saved beside the weights, and holds hardly any tensor."""


def checkpoints(
    function: Function, program: Program, models: ApiModels
) -> tuple[CheckpointLoad, ...]:
    """The loads of a function that leave the device to the file."""
    found = []
    written: dict[str, Expression] | None = None
    for _, call in calls(function):
        effect = models.lifetime_effect(call.name)
        if effect is None or effect.loads is None or unpacks(call):
            continue
        place = argument(call, effect.loads)
        if place is not None and not _is_nowhere(_looked_up(function, place)):
            continue
        if written is None:
            written = written_calls(function)
        path = call.arguments[0].value if call.arguments else None
        restored, telling = _uses(function, call, models)
        if path is None or _saves_from_host(program, models, weights=restored is not None):
            continue
        shown = render(substitute(path, written))
        named = any(_WEIGHTS.search(text) for text in (shown, function.name)) or _names(
            function, path
        )
        named = named and not _NO_WEIGHTS.search(shown)
        if _is_pretrained(function, program) or _is_handed_out(function, call, shown, models):
            restored, telling, named = None, False, False
        found.append(
            CheckpointLoad(
                api=call.name,
                span=call.span,
                name=render(call.target) if call.target is not None else "",
                path=shown,
                explicit=place is not None,
                restored=restored,
                weights=telling or (named and not _is_kept_whole(function, call)),
            )
        )
    return tuple(found)


def _is_pretrained(function: Function, program: Program) -> bool:
    """Whether a module that is being made takes the weights of a part of it: such files are handed
    out, from the CPU as a rule, and the module is not on a device yet."""
    if function.kind != "constructor":
        return False
    return any(
        record.key == function.record
        and any(base.rpartition(".")[2] in ("Module", "LightningModule") for base in record.bases)
        for record in program.records
    )


def _is_handed_out(function: Function, load: Call, path: str, models: ApiModels) -> bool:
    """Whether a path says that others trained the weights, before anything is on a device."""
    read = variables(load.arguments[0].value)
    makers = [
        made.name
        for _, made in calls(function)
        if made.target is not None and variables(made.target) & read
    ]
    if not any(_HANDED_OUT.search(text) for text in (path, *makers)):
        return False
    moves = (
        call
        for _, call in calls(function)
        if call.receiver is not None
        and call.span.row < load.span.row
        and (effect := models.tensor_effect(call.name)) is not None
        and effect.device in ("device", "argument")
    )
    return next(moves, None) is None


def _looked_up(function: Function, place: Expression) -> Expression:
    """What a variable that is given one value holds."""
    if not isinstance(place, Variable):
        return place
    given = definitions(function).get(place.symbol, [])
    first = given[0] if len(given) == 1 else None
    return first.value if isinstance(first, Assign) else place


def _is_nowhere(place: Expression) -> bool:
    """``None``, or ``None`` except on the CPU."""
    if isinstance(place, Conditional):
        return any(_is_nowhere(part) for part in (place.then, place.otherwise))
    return isinstance(place, Constant) and place.value is None


def _names(function: Function, path: Expression) -> bool:
    """Whether what the path was made of says that it holds weights."""
    read = variables(path)
    for at in operations(function):
        if defined(at.operation) in read and any(
            _WEIGHTS.search(text) for part in operands(at.operation) for text in texts(part)
        ):
            return True
    return False


def _uses(function: Function, load: Call, models: ApiModels) -> tuple[Site | None, bool]:
    """Where the weights are copied into a module; whether the keys that are read are those of a
    checkpoint, or the result is used as a module."""
    if load.target is None:
        return None, False
    held = {render(load.target)}
    restored: Site | None = None
    telling = telling_module = moved = False
    for _ in range(3):  # what is taken out of it, and out of that
        for at in operations(function):
            operation = at.operation
            reads = list(operands(operation))
            if not any(_reads(part, held) for part in reads):
                continue
            telling = telling or any(
                _PARTS.match(key) for part in reads for key in _keys(part, held)
            )
            if isinstance(operation, Call) and operation is not load:
                effect = models.lifetime_effect(operation.name)
                known = models.tensor_effect(operation.name) if operation.name else None
                filled = render(operation.receiver) if operation.receiver is not None else ""
                into = effect is not None and effect.restores and not _NO_WEIGHTS.search(filled)
                if into and any(_reads(given.value, held) for given in operation.arguments):
                    restored = restored or Site(function.filename, operation.span, operation.name)
                    telling = True
                of_it = operation.receiver is not None and _reads(operation.receiver, held)
                if of_it and known is not None and known.device in ("device", "argument"):
                    moved = True  # a whole module, which goes to its device next
                if of_it and known is not None and known.module:
                    telling_module = True
            held |= _holders(operation, models)
    for block in function.blocks:
        end = block.terminator
        value = end.condition if isinstance(end, Branch) else getattr(end, "value", None)
        if value is not None and any(_PARTS.match(key) for key in _keys(value, held)):
            telling = True
    return restored, telling or (telling_module and not moved)


def _holders(operation: Operation, models: ApiModels) -> set[str]:
    """The places that what an operation reads goes into: with an element, its container."""
    found = set()
    target = getattr(operation, "target", None)
    while target is not None:
        found.add(render(target))
        target = target.base if isinstance(target, Index) else None
    if isinstance(operation, Call) and operation.receiver is not None:
        model = models.lookup(operation.name)
        if model is not None and model.takes:
            found.add(render(operation.receiver))
    return found


def _is_kept_whole(function: Function, load: Call) -> bool:
    """Whether the result is kept as it is in an object, or counted: no checkpoint is."""
    if isinstance(load.target, Member):
        return True
    for at in operations(function):
        operation = at.operation
        whole = isinstance(operation, Assign) and operation.value == load.target
        if whole and isinstance(getattr(operation, "target", None), Member):
            return True
        for part in operands(operation):
            if isinstance(part, Unary) and part.operator == "len" and part.operand == load.target:
                return True
    return False


def _reads(expression: Expression, held: set[str]) -> bool:
    pending = [expression]
    while pending:
        current = pending.pop()
        if isinstance(current, Variable | Member) and render(current) in held:
            return True
        pending.extend(children(current))
    return False


def _keys(expression: Expression, held: set[str]) -> list[str]:
    found = []
    pending = [expression]
    while pending:
        current = pending.pop()
        if isinstance(current, Index) and _reads(current.base, held):
            found += list(texts(current.index))
        pending.extend(children(current))
    return found


def _saves_from_host(program: Program, models: ApiModels, *, weights: bool) -> bool:
    """Whether the file writes checkpoints itself, and all from the CPU.

    Where weights are read, what is written of an optimizer alone says nothing.
    """
    saves = [
        _is_host(function, call, models)
        for function in program.functions
        for _, call in calls(function)
        if (effect := models.lifetime_effect(call.name)) is not None
        and effect.stores
        and not (weights and _is_of_optimizer(function, call))
    ]
    return bool(saves) and (
        all(saves) or _offloads(program, models) or not _uses_device(program, models)
    )


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
    return bool(sources) and all(_OPTIMIZER.search(name) for name in sources)


def _uses_device(program: Program, models: ApiModels) -> bool:
    """Whether anything in the file may go to a device."""
    for function in program.functions:
        for _, call in calls(function):
            effect = models.tensor_effect(call.name) if call.name else None
            moves = effect is not None and (
                effect.device == "device"
                or (effect.device == "argument" and call.receiver is not None)
            )
            if moves or ".cuda" in call.name:
                return True
            if any(given.keyword == "device" for given in call.arguments):
                return True
            if any(text.startswith("cuda") for a in call.arguments for text in texts(a.value)):
                return True
    return False


def _offloads(program: Program, models: ApiModels) -> bool:
    """Whether a policy says that what is saved is moved to the CPU."""
    return any(
        effect.offloads is not None
        and any(
            given.keyword == effect.offloads and given.value == Constant(True)
            for given in call.arguments
        )
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
            effect = models.tensor_effect(call.name) if call.name else None
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
