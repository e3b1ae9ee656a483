"""Device work in the handlers of out-of-memory exceptions (Python)."""

from __future__ import annotations

from collections import defaultdict

from cudalint.analysis.facts.lifetimes import Retry
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.shape.operations import calls, expressions, operations
from cudalint.analysis.shape.placement import Placements
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.walk import is_within, space_of_device, texts
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
    Branch,
    Call,
    Constant,
    Expression,
    Function,
    FunctionReference,
    Handler,
    Member,
    Return,
    Unary,
    Variable,
    render,
    variables,
    walk,
)

_DEPTH = 4
"""Calls in calls that are looked into for device work."""


def retries(function: Function, symbols: Symbols, models: ApiModels) -> tuple[Retry, ...]:
    """The first such call of each handler."""
    found = []
    for handler in function.handlers:
        region, sure = _region(function, handler, symbols, models), True
        if not region and _tells(function, handler, models):
            region, sure = {block.number for block in function.blocks}, False
        retry = _first(function, handler, region, symbols, models, sure) if region else None
        if retry is not None:
            found.append(retry)
    return tuple(found)


def _first(
    function: Function,
    handler: Handler,
    region: set[int],
    symbols: Symbols,
    models: ApiModels,
    sure: bool,
) -> Retry | None:
    placements = Placements(function, symbols)
    guarded = [call for _, call in calls(function) if is_within(call.span, handler.guarded)]
    if _has_no_frames(guarded, models):
        return None
    tried = set(map(_callee, guarded))
    given = {_delivers(function, call) for call in guarded} - {""}
    read = {symbol for call in guarded for one in call.arguments for symbol in variables(one.value)}
    taken = read - {"this"}
    work: list[tuple[Call, bool]] = []
    for at, call in calls(function):
        if at.block not in region or not is_within(call.span, handler.body):
            continue
        effect = models.lifetime_effect(call.name)
        if effect is not None and effect.clears_frames:
            return None
        if effect is not None and effect.host:
            continue
        sources = [placements.of(part.value) for part in call.arguments]
        named = (part.value.value for part in call.arguments if isinstance(part.value, Constant))
        if "host" in (*sources, placements.made_by(call), *map(space_of_device, named)):
            continue  # on the CPU there is room
        delivers = _delivers(function, call) in given
        again = _callee(call) in tried and _may_compute(call, models)
        if not call.arguments and not delivers:
            again = False  # it asks for something: `get_rank()`, `net.parameters()`
        instead = (
            any(variables(part.value) & taken for part in call.arguments)
            and delivers
            and models.lookup(call.name) is None
        )
        if again or instead or _computes(call, function.filename, symbols, models):
            work.append((call, again))
    if not work:
        return None
    work.sort(key=lambda pair: pair[0].span)
    written = written_calls(function)
    (first, same), *others = work
    return Retry(
        call=_shown(first, written),
        span=first.span,
        handler=handler.span,
        exception=", ".join(kind.removeprefix("builtins.") for kind in handler.kinds)
        or "any exception",
        others=tuple(
            Site(function.filename, call.span, _shown(call, written))
            for call, _ in others
            if call.span.row != first.span.row
        ),
        same=same,
        unsure=not sure,
    )


def _has_no_frames(guarded: list[Call], models: ApiModels) -> bool:
    """Whether all that a ``try`` calls makes a tensor of its size alone, which no frame of Python
    is needed for: the exception keeps nothing that is not there behind the handler as well."""
    working = [call for call in guarded if not call.name.startswith("builtins.")]
    return bool(working) and all(_is_made_of_size(call, models) for call in working)


def _is_made_of_size(call: Call, models: ApiModels) -> bool:
    effect = models.tensor_effect(call.name)
    return (
        effect is not None
        and (effect.result, effect.gradient, effect.device) == ("tensor", "detached", "argument")
        and call.receiver is None
    )


def _shown(call: Call, written: dict[str, Expression]) -> str:
    if call.kind == "indirect" and call.callee is not None:
        return render(substitute(call.callee, written))
    if call.receiver is not None and call.name.startswith("."):
        owner = render(substitute(call.receiver, written))
        return f"{'self' if owner == 'this' else owner}{call.name}"
    return call.name.rpartition(".")[2]


def _callee(call: Call) -> str:
    if call.callee is not None:
        return render(call.callee)
    return (render(call.receiver) if call.receiver is not None else "") + call.name


def _delivers(function: Function, call: Call) -> str:
    """What gets the result of a call: a variable, or the caller; what computes it in the handler
    does the work of the ``try`` once more."""
    target = call.target
    if not isinstance(target, Variable) or not target.symbol.startswith("%"):
        return render(target) if target is not None else ""
    returned = any(
        isinstance(block.terminator, Return) and block.terminator.value == target
        for block in function.blocks
    )
    return "return" if returned else ""


def _may_compute(call: Call, models: ApiModels) -> bool:
    """Whether a call that the ``try`` makes too may be the one that took the memory."""
    lasting = models.lifetime_effect(call.name)
    if lasting is not None and lasting.host:
        return False
    if lasting is not None and lasting.computes:
        return any(not isinstance(given.value, Constant) for given in call.arguments)
    model = models.lookup(call.name)
    if model is not None and model.may_throw is False and model.returns is None:
        return False
    effect = models.tensor_effect(call.name)
    if effect is not None and effect.result == "number":
        return False
    if effect is not None and (effect.backward or effect.calls_module):
        return True
    return call.kind == "indirect" or call.target is not None


def _computes(
    call: Call, filename: str, symbols: Symbols, models: ApiModels, depth: int = _DEPTH
) -> bool:
    """Whether a call surely works on tensors: a function of the run that does, and whose result is
    wanted."""
    effect = models.tensor_effect(call.name)
    if effect is not None and (effect.backward or effect.calls_module):
        return True
    callee = symbols.function(call.key, filename)
    if callee is None or not depth or (depth == _DEPTH and call.target is None):
        return False
    return any(
        _makes_tensors(inner, models)
        or _computes(inner, callee.filename, symbols, models, depth - 1)
        for _, inner in calls(callee)
    )


def _makes_tensors(call: Call, models: ApiModels) -> bool:
    if call.name.startswith((".", "builtins.")):
        return False
    effect = models.tensor_effect(call.name)
    return effect is not None and effect.result in ("tensor", "module")


# Which blocks run after the memory was exhausted ------------------------------------------------


def _region(function: Function, handler: Handler, symbols: Symbols, models: ApiModels) -> set[int]:
    """The blocks of a handler that an out-of-memory exception reaches."""
    named = symbols.memo(_Names).meanings(handler.kinds, function)
    effects = [models.lifetime_effect(kind) for kind in named]
    if any(effect is not None and effect.out_of_memory for effect in effects):
        return {block.number for block in function.blocks}
    messages = {effect.message for effect in effects if effect is not None and effect.message}
    if not handler.kinds:
        default = models.lifetime_effect("builtins.BaseException")
        messages = {default.message} if default is not None and default.message else set()
    if not messages:
        return set()
    region: set[int] = set()
    for block in function.blocks:
        branch = block.terminator
        if not isinstance(branch, Branch) or not is_within(branch.span, handler.body):
            continue
        condition, positive = branch.condition, branch.then
        if isinstance(condition, Unary) and condition.operator == "!":
            condition, positive = condition.operand, branch.otherwise
        if _tests(function, condition, messages, symbols, models):
            region |= _reached(function, positive, handler)
    return region


class _Names:
    """The names that the files of a run, and their classes, have for the classes of others."""

    def __init__(self, symbols: Symbols) -> None:
        self.values: dict[str, set[str]] = defaultdict(set)
        for function, program in symbols.functions():
            if program.language == "python" and function.kind == "module":
                for at in operations(function):
                    if isinstance(at.operation, Assign):
                        self._keep(at.operation, function)

    def _keep(self, assign: Assign, module: Function) -> None:
        value, target = assign.value, assign.target
        if not isinstance(value, FunctionReference):
            return
        if isinstance(target, Member) and isinstance(target.base, FunctionReference):
            self.values[f"{target.base.key}.{target.field}"].add(value.name)
        elif isinstance(target, Variable):
            self.values[f"{module.key.removesuffix('<module>')}{target.name}"].add(value.name)

    def meanings(self, names: tuple[str, ...], function: Function) -> set[str]:
        """What some names mean in a function."""
        module = function.key.removesuffix(function.name)
        found: set[str] = set()
        for name in names:
            own = f"{function.record}.{name.removeprefix('self.')}"
            spelled = (name, f"{module}{name}", own if name.startswith("self.") else name)
            found.update({name}, *(self.values.get(one, ()) for one in spelled))
        return found


def _tells(function: Function, handler: Handler, models: ApiModels) -> bool:
    """Whether a handler of exceptions that nothing here knows, or of any, says itself that it was
    the memory."""
    default = models.lifetime_effect("builtins.BaseException")
    messages = {default.message} if default is not None and default.message else set()
    known = [kind for kind in handler.kinds if kind.startswith("builtins.")]
    effects = [models.lifetime_effect(kind) for kind in known]
    return all(effect is not None and effect.message for effect in effects) and any(
        is_within(call.span, handler.body)
        and any(_says(one.value, messages, models) for one in call.arguments)
        for _, call in calls(function)
    )


def _tests(
    function: Function,
    condition: Expression,
    messages: set[str],
    symbols: Symbols,
    models: ApiModels,
) -> bool:
    """Whether a condition asks if it was the memory."""
    if _says(condition, messages, models):
        return True
    read = variables(condition)
    for _, call in calls(function):
        target = call.target
        if not isinstance(target, Variable) or target.symbol not in read:
            continue
        callee = symbols.function(call.key, function.filename)
        asked = [given.value for given in call.arguments]
        asked += [] if callee is None else expressions(callee)
        if any(_says(part, messages, models) for part in asked):
            return True
    return False


def _says(expression: Expression, messages: set[str], models: ApiModels) -> bool:
    if any(m and m in text.lower() for text in texts(expression) for m in messages):
        return True
    named = (part for part in walk(expression) if isinstance(part, FunctionReference))
    effects = (models.lifetime_effect(part.name) for part in named)
    return any(effect is not None and effect.out_of_memory for effect in effects)


def _reached(function: Function, start: int, handler: Handler) -> set[int]:
    inside = {
        block.number
        for block in function.blocks
        for first in (*block.operations, block.terminator)[:1]
        if (span := getattr(first, "span", None)) is None or is_within(span, handler.body)
    }
    return closure(inside & {start}, ways(function.blocks, inside))
