"""Tensors read from files without a word on where they go (Python)."""

from __future__ import annotations

import re
from typing import NamedTuple

from cudalint.analysis.facts.lifetimes import CheckpointLoad
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.queries.lifetimes.checkpoint_origins import (
    is_placed,
    makes_steps,
    written_elsewhere,
    written_here,
)
from cudalint.analysis.shape.arguments import argument, given
from cudalint.analysis.shape.operations import (
    calls,
    defined,
    definitions,
    operands,
    operations,
    terminal,
)
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.subjects import is_module
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.walk import texts
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
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
    render,
    variables,
    walk,
)

_WEIGHTS = re.compile(
    r"(^|[^a-z])(ckpts?|check_?points?|weights?|resume|pre_?trained|snapshots?|state_dict)([^a-z]|$)"
    r"|\.(pth|ckpt)\b",
    re.IGNORECASE,
)
"""Names of files, and of the variables that hold them, that are those of weights."""
_OWN = re.compile(
    r"resum|restor|check_?point|ckpt|snapshot|latest|epoch|(?<!pre)(?<!pre[-_])trained"
    r"|(^|[^a-z])(best|last)([^a-z]|$)",
    re.IGNORECASE,
)
"""Names of files, and of what reads them, that a training writes as it goes."""
_HANDED_OUT = re.compile(r"pre_?train|imagenet|model_?zoo|https?:", re.IGNORECASE)
"""Paths of weights that others trained, and wrote from the CPU as a rule."""
_FETCHES = re.compile(r"download|from_url|urlretrieve|hf_hub|model_?zoo|cached_path", re.IGNORECASE)
"""Names of functions that bring a file from elsewhere."""
_PARTS = re.compile(r"^((model|net|generator|discriminator|ema|optim(izer)?)_?)?state(_?dict)?$")
"""Keys of a checkpoint."""
_PROGRESS = re.compile(
    r"(^|_)(optim(izer)?s?(_state(_dict)?)?|((start|global)_)?(epoch|step|iter(ation)?))$",
    re.IGNORECASE,
)
"""Keys of what a training writes to go on with."""
_NO_WEIGHTS = re.compile(
    r"rng|sched|scaler|vocab|tokeniz|sampler|loader|data_?set|meter|metric|stats|histor|config"
    r"|hparams|trainer_state|(^|[^a-z])(preds?|predictions?)([^a-z]|$)",
    re.IGNORECASE,
)
"""Names of what is saved beside the weights, and holds hardly any tensor."""


def checkpoints(
    function: Function, program: Program, symbols: Symbols, models: ApiModels
) -> tuple[CheckpointLoad, ...]:
    """The loads of a function that leave the device to the file."""
    found = []
    written: dict[str, Expression] | None = None
    for _, call in calls(function):
        effect = models.lifetime_effect(call.name)
        if effect is None or effect.loads is None or given(call).cut:
            continue
        place = argument(call, effect.loads)
        if place is not None and not _is_nowhere(_looked_up(function, place)):
            continue
        if written is None:
            written = written_calls(function)
        path = call.arguments[0].value if call.arguments else None
        if path is None:
            continue
        uses = _uses(function, call, program, models)
        restored = uses.restored
        origin = written_here(program, models, weights=restored is not None)
        elsewhere = "" if origin else written_elsewhere(program, symbols, models)
        if "host" in (origin, elsewhere):
            continue
        shown = render(substitute(path, written))
        named = any(_WEIGHTS.search(text) for text in (shown, function.name)) or _names(
            function, path
        )
        named = named and not _NO_WEIGHTS.search(shown)
        own = origin == "device" or uses.resumes
        if not own:
            placed = is_placed(uses.filled, function, call, program, models)
            kept = any(_OWN.search(text) for text in (shown, function.name))
            own = placed + kept + (elsewhere == "device") >= 2
        fetched = not own and _is_fetched(function)
        fetched = fetched or _is_opaque(function, uses.filled, models)
        if fetched or _is_pretrained(function, symbols) or _is_handed_out(function, call, shown):
            uses, restored, named = Uses(), None, False
        found.append(
            CheckpointLoad(
                api=call.name,
                span=call.span,
                name=render(call.target) if call.target is not None else "",
                explicit=place is not None,
                restored=restored,
                weights=uses.telling
                or (
                    named
                    and not _is_kept_whole(function, call)
                    and not _is_taken_apart(function, call)
                ),
                own=own and uses.telling,
            )
        )
    return tuple(found)


def _is_pretrained(function: Function, symbols: Symbols) -> bool:
    """Whether a module that is being made takes the weights of a part of it: such files are handed
    out, from the CPU as a rule, and the module is not on a device yet."""
    return (
        function.kind == "constructor"
        and function.record is not None
        and is_module(symbols, function.record, function.filename)
    )


def _is_handed_out(function: Function, load: Call, path: str) -> bool:
    """Whether the file comes from others, by its path, by what makes that or by who reads it."""
    read = variables(load.arguments[0].value)
    makers = [
        made.name
        for _, made in calls(function)
        if made.target is not None and variables(made.target) & read
    ]
    named = any(_HANDED_OUT.search(text) for text in (path, function.name, *makers))
    return named or any(map(_FETCHES.search, makers))


def _is_fetched(function: Function) -> bool:
    """Whether a function brings files from elsewhere, so that what it reads may be one."""
    return any(_FETCHES.search(call.name.rpartition(".")[2]) for _, call in calls(function))


def _is_opaque(function: Function, module: str, models: ApiModels) -> bool:
    """Whether a module decides itself what its state is (a serialized engine), by its class."""
    made = [
        call
        for _, call in calls(function)
        if call.target is not None and place(call.target) == module
    ]
    for call in made:
        effect = models.lifetime_effect(call.name)
        if effect is not None and effect.opaque:
            return True
    return False


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


class Uses(NamedTuple):
    """What is done with what a file held."""

    restored: Site | None = None
    """Where it is copied into a module."""
    filled: str = ""
    """That module."""
    telling: bool = False
    """The keys that are read are those of a checkpoint, or the result is used as a module."""
    resumes: bool = False
    """A training goes on with it: keys of a checkpoint, or the state of an optimizer."""


def _uses(function: Function, load: Call, program: Program, models: ApiModels) -> Uses:
    if load.target is None:
        return Uses()
    held = {place(load.target) or ""}
    restored: Site | None = None
    into = ""
    keyed = resumes = telling_module = moved = passed = after = False
    for _ in range(3):  # what is taken out of it, and out of that
        for at in operations(function):
            operation = at.operation
            passed = passed or operation is load
            reads = list(operands(operation))
            if not any(_reads(part, held) for part in reads):
                continue
            keys = [key for part in reads for key in _keys(part, held)]
            keyed = keyed or any(map(_PARTS.match, keys))
            resumes = resumes or any(map(_PROGRESS.search, keys))
            if isinstance(operation, Call) and operation is not load:
                effect = models.lifetime_effect(operation.name)
                known = models.tensor_effect(operation.name)
                filled = place(operation.receiver) or "" if operation.receiver is not None else ""
                restores = effect is not None and effect.restores and not _NO_WEIGHTS.search(filled)
                if restores and any(_reads(given.value, held) for given in operation.arguments):
                    if restored is None or (passed and not after):
                        after = passed
                        restored = Site(function.filename, operation.span, operation.name)
                        into = filled
                    of = operation.receiver
                    if of is not None and makes_steps(of, function, program, models):
                        resumes = True
                of_it = operation.receiver is not None and _reads(operation.receiver, held)
                if of_it and known is not None and known.device in ("device", "argument"):
                    moved = True  # a whole module, which goes to its device next
                if of_it and known is not None and known.module:
                    telling_module = True
            held |= _holders(operation, models)
    for block in function.blocks:
        value = terminal(block)
        if value is not None and any(_PARTS.match(key) for key in _keys(value, held)):
            keyed = True
    telling = restored is not None or keyed or (telling_module and not moved)
    return Uses(restored, into, telling, keyed or resumes)


def _holders(operation: Operation, models: ApiModels) -> set[str]:
    """The places that what an operation reads goes into: with an element, its container."""
    found = set()
    target = getattr(operation, "target", None)
    while target is not None:
        found.add(place(target) or "")
        target = target.base if isinstance(target, Index) else None
    if isinstance(operation, Call) and operation.receiver is not None:
        model = models.lookup(operation.name)
        if model is not None and model.takes:
            found.add(place(operation.receiver) or "")
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


def _is_taken_apart(function: Function, load: Call) -> bool:
    """Whether the result is a sequence of a known length, or that of a call's arguments: data."""
    for at in operations(function):
        for part in operands(at.operation):
            if (
                isinstance(part, Index)
                and part.base == load.target
                and isinstance(part.index, Constant)
                and isinstance(part.index.value, int)
            ):
                return True
        if isinstance(at.operation, Call) and any(
            given.starred and given.value == load.target for given in at.operation.arguments
        ):
            return True
    return False


def _reads(expression: Expression, held: set[str]) -> bool:
    return any(
        isinstance(part, Variable | Member) and place(part) in held for part in walk(expression)
    )


def _keys(expression: Expression, held: set[str]) -> list[str]:
    return [
        text
        for part in walk(expression)
        if isinstance(part, Index) and _reads(part.base, held)
        for text in texts(part.index)
    ]
