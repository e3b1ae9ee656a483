"""Objects that own device memory or handles, made in a function and never closed (Python)."""

from __future__ import annotations

from cudalint.analysis.engine.summary import released_by
from cudalint.analysis.facts.lifetimes import UnclosedOwner
from cudalint.analysis.shape.operations import At, calls, definitions, operands, operations
from cudalint.analysis.shape.walk import holds
from cudalint.analysis.summaries import Linker
from cudalint.analysis.values.values import Location
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Call,
    Expression,
    Function,
    FunctionReference,
    Member,
    Return,
    Throw,
    Variable,
    variables,
)

_PLAIN_BASES = frozenset({"object", "builtins.object", "abc.ABC", "typing.Generic"})


def unclosed_owners(
    function: Function, linker: Linker, models: ApiModels
) -> tuple[UnclosedOwner, ...]:
    """The owners that a function makes, keeps to itself and does not close."""
    if function.is_main or function.kind in ("module", "lambda"):
        return ()
    found = []
    for at, call in calls(function):
        if call.kind == "constructor" and call.key is not None:
            owner = _of_class(function, call, linker, models)
        else:
            owner = _of_stack(function, call, models)
        if owner is not None and _is_kept(function, at, call, owner, linker, models):
            found.append(owner)
    return tuple(found)


def _shown(call: Call) -> str:
    return call.target.name if isinstance(call.target, Variable) else ""


# What owns --------------------------------------------------------------------------------------


def _of_class(
    function: Function, call: Call, linker: Linker, models: ApiModels
) -> UnclosedOwner | None:
    """An object of the run whose constructor acquires what another of its methods releases."""
    methods = _methods(call.key, function.filename, linker)
    constructor = methods.get("__init__") if methods else None
    if methods is None or constructor is None or "__del__" in methods:
        return None
    summary, _ = linker.summary(constructor.key, constructor.filename)
    acquired: dict[Location, tuple[str, str]] = {}
    for outcome in summary.outcomes if summary is not None else ():
        if ("this",) in outcome.stored:
            return None  # something else knows the object
        for item in outcome.handed_out if outcome.kind == "return" else ():
            if item.location[0] != "this" or len(item.location) < 2:
                continue
            family = models.families.get(item.family)
            if item.escaped:
                return None
            if family is not None and not (item.managed or family.managed):
                acquired[item.location] = item.api, family.kind
    closing = _closing(methods, set(acquired), linker)
    owed = {location: what for location, what in acquired.items() if location in closing}
    if not owed:
        return None
    apis = tuple(dict.fromkeys(api for api, _ in owed.values()))
    return UnclosedOwner(
        name=_shown(call),
        made_by=call.name.rpartition(".")[2],
        span=call.span,
        apis=apis,
        closing=tuple(dict.fromkeys(closing[location] for location in owed)),
        is_handle=all(kind == "handle" for _, kind in owed.values()),
        members=tuple(dict.fromkeys(str(location[1]).lstrip(".") for location in owed)),
    )


def _methods(key: str | None, filename: str, linker: Linker) -> dict[str, Function] | None:
    """The methods of a class and its bases by name; ``None`` where some base is out of sight."""
    found: dict[str, Function] = {}
    for base, record in linker.lineage(key or "", filename).items():
        if base in _PLAIN_BASES:
            continue
        if record is None:
            return None
        for method in record.methods:
            function = linker.function(method, record.filename)
            name = method.rpartition(".")[2]
            if function is None:
                return None
            found.setdefault(name, function)
    return found


def _closing(
    methods: dict[str, Function], acquired: set[Location], linker: Linker
) -> dict[Location, str]:
    """For each member: the method that releases it, one that ends the object if there is one."""
    found: dict[Location, str] = {}
    for name in sorted(methods, key=lambda one: (one.startswith("_"), one != "close", one)):
        if name != "__init__":
            for location in acquired & _released(methods[name], linker):
                found.setdefault(location, name)
    return found


def _released(method: Function, linker: Linker) -> set[Location]:
    summary, _ = linker.summary(method.key, method.filename)
    return set(released_by(summary.outcomes if summary is not None else ()))


def _of_stack(function: Function, call: Call, models: ApiModels) -> UnclosedOwner | None:
    """An ``ExitStack`` that is given what releases something, and that nobody leaves."""
    effect = models.lifetime_effect(call.name)
    if effect is None or not effect.left_by or not isinstance(call.target, Variable):
        return None
    apis = []
    for _, given in calls(function):
        if not isinstance(given.receiver, Variable) or given.receiver != call.target:
            continue
        for argument in given.arguments[:1]:
            if isinstance(argument.value, FunctionReference):
                model = models.lookup(argument.value.name)
                if model is not None and model.releases:
                    apis.append(argument.value.name)
    if not apis:
        return None
    return UnclosedOwner(
        name=_shown(call),
        made_by=call.name.rpartition(".")[2],
        span=call.span,
        apis=tuple(dict.fromkeys(apis)),
        closing=tuple(name.lstrip(".") for name in effect.left_by),
        is_handle=all(_ends_handle(name, models) for name in apis),
        is_stack=True,
    )


def _ends_handle(name: str, models: ApiModels) -> bool:
    model = models.lookup(name)
    return all(
        models.families[family].kind == "handle"
        for effect in (model.releases if model is not None else ())
        for family in effect.families
        if family in models.families
    )


# What becomes of it -----------------------------------------------------------------------------


def _is_kept(
    function: Function,
    at: At,
    made: Call,
    owner: UnclosedOwner,
    linker: Linker,
    models: ApiModels,
) -> bool:
    """Whether an object stays in the function, and nothing there may close it."""
    if made.target is None:
        return True  # nobody ever has it
    if not isinstance(made.target, Variable) or made.target.symbol.startswith("::"):
        return False
    symbol = made.target.symbol
    info = function.variables.get(symbol)
    if info is None or info.storage not in ("local", "temporary"):
        return False
    if len(definitions(function).get(symbol, ())) != 1 or _is_captured(function, symbol, linker):
        return False
    methods = {} if owner.is_stack else _methods(made.key, function.filename, linker) or {}
    for block in function.blocks:
        end = block.terminator
        if isinstance(end, Return | Throw) and end.value and holds(end.value, {symbol}):
            return False
    for other in operations(function):
        operation = other.operation
        if operation is made or not any(symbol in variables(o) for o in operands(operation)):
            continue
        if not isinstance(operation, Call):
            if any(
                holds(part, {symbol}) or _is_owned(part, symbol, owner)
                for part in operands(operation)
            ):
                return False
            continue
        own = isinstance(operation.receiver, Variable) and operation.receiver.symbol == symbol
        if any(holds(argument.value, {symbol}) for argument in operation.arguments):
            return False
        if own and not _leaves_open(operation, owner, methods, linker):
            return False
        if not own and not _borrows(operation, symbol, owner, models):
            return False
    return True


def _is_captured(function: Function, symbol: str, linker: Linker) -> bool:
    return any(
        other.parent == function.key and symbol in other.variables
        for other, _ in linker.functions()
        if other.filename == function.filename
    )


def _leaves_open(
    call: Call, owner: UnclosedOwner, methods: dict[str, Function], linker: Linker
) -> bool:
    """Whether a method of the object neither closes it nor hands it to anybody."""
    name = call.name.rpartition(".")[2]
    if owner.is_stack:
        return name not in owner.closing
    method = methods.get(name)
    if method is None or _released(method, linker):
        return False
    summary, _ = linker.summary(method.key, method.filename)
    if summary is None:
        return False
    return name != "__enter__" and all(("this",) not in one.stored for one in summary.outcomes)


def _is_owned(expression: Expression, symbol: str, owner: UnclosedOwner) -> bool:
    """Whether an expression is a member that holds what the object owns."""
    return (
        isinstance(expression, Member)
        and isinstance(expression.base, Variable)
        and expression.base.symbol == symbol
        and expression.field in owner.members
    )


def _borrows(call: Call, symbol: str, owner: UnclosedOwner, models: ApiModels) -> bool:
    """Whether a call is not given what the object owns, or is a known one that takes nothing."""
    if not any(_is_owned(one.value, symbol, owner) for one in call.arguments):
        return True
    model = models.lookup(call.name)
    return model is not None and not model.releases and not model.takes
