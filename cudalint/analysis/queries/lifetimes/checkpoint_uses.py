"""What becomes of the weights that a file held (Python)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cudalint.analysis.facts.lifetimes import CheckpointUse
from cudalint.analysis.shape.arguments import argument, bindings
from cudalint.analysis.shape.operations import calls, operands, operations
from cudalint.analysis.shape.places import place, places_read, root_of
from cudalint.analysis.shape.symbols import Symbols
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    EACH,
    Assign,
    Binary,
    Call,
    Constant,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Program,
    Return,
    Unknown,
    Variable,
    walk,
)


@dataclass(frozen=True)
class Use:
    """An operation that shows that a file held weights."""

    function: Function
    operation: Operation
    how: CheckpointUse


def use_of(function: Function, load: Call, program: Program, symbols: Symbols) -> Use | None:
    """What copies what a file held into a module, itself or what is taken out of it; what writes it
    into parameters one by one; what sums it up with others by their names; what moves a module that
    it held; what writes it to a file again with an entry changed."""
    models = symbols.models("python")
    effect = models.lifetime_effect(load.name)
    if effect is not None and effect.restores:
        # What a module reads into itself was handed out, from the CPU as a rule.
        itself = bool(load.arguments) and place(load.arguments[0].value) == "this"
        return None if itself else Use(function, load, "restored")
    readers = list(_readers(function, load, program, symbols))
    for one, held in readers:
        restore = next(_restores(one, load if one is function else None, held, symbols), None)
        if restore is not None:
            return Use(one, restore, "restored")
    for one, held in readers:
        keys, elements = _keys(one, held), _elements(one, held)
        for at in operations(one):
            how = _by_element(at.operation, held, elements, keys, models)
            if how is not None:
                return Use(one, at.operation, how)
    moved = _moved(function, load, models)
    if moved is not None:
        return Use(function, moved, "moved")
    rewritten = _rewritten(function, load, models)
    return Use(function, rewritten, "rewritten") if rewritten is not None else None


def _readers(
    function: Function, load: Call, program: Program, symbols: Symbols
) -> Iterator[tuple[Function, set[str]]]:
    """Who sees what was read, and where: the function, those that it returns it to or hands it to,
    and where a member has it, the methods of the class."""
    models = symbols.models("python")
    seeds = _named(load.target)
    yield function, _held(function, seeds, models)
    own = _parts(function, seeds)
    members = {name for name in own if name.startswith("this.")}
    returned = any(
        isinstance(end := block.terminator, Return) and _is_part(end.value, own)
        for block in function.blocks
    )
    methods = {one.key for one in symbols.class_methods(function)} if members else set()
    for other in program.functions:
        if other is function:
            continue
        found = set(members) if other.key in methods else set()
        for _, call in calls(other) if returned else ():
            found |= _named(call.target) if call.key == function.key else set()
        for _, call in calls(function):
            if call.key == other.key:
                bound = bindings(call, other.parameters)
                found |= {symbol for symbol, value in bound.items() if _is_part(value, own)}
        if found:
            yield other, _held(other, found, models)


def _parts(function: Function, seeds: set[str]) -> set[str]:
    """Some places, and those that they, or elements of them, are assigned to."""
    own = set(seeds)
    for _ in range(3):
        for at in operations(function):
            one = at.operation
            if isinstance(one, Assign) and _is_part(one.value, own):
                own |= _named(one.target)
    return own


def _is_part(value: Expression | None, own: set[str]) -> bool:
    """Whether a value is what some places hold, or an element of it."""
    return not _named(value, getattr(value, "base", None)).isdisjoint(own)


def _named(*expressions: Expression | None) -> set[str]:
    """The places that some expressions are, where they are one."""
    return {name for one in expressions if (name := place(one)) is not None}


def _moved(function: Function, load: Call, models: ApiModels) -> Call | None:
    """What moves a module that was read to a device that is chosen elsewhere."""
    own, moves, is_module = _named(load.target), None, False
    for _, call in calls(function):
        if place(call.receiver) not in own:
            continue
        effect = models.tensor_effect(call.name)
        is_module = is_module or (effect is not None and effect.module)
        if effect is not None and effect.device == "argument" and moves is None:
            named = any(isinstance(one.value, Constant) for one in call.arguments)
            moves = None if named else call
        if effect is not None and (effect.module or effect.device == "argument"):
            own |= _named(call.target)
    return moves if is_module else None


def _rewritten(function: Function, load: Call, models: ApiModels) -> Call | None:
    """What writes a table that was read to a file again, after an entry of it was replaced."""
    own = _named(load.target)
    changed = any(
        isinstance(target := getattr(at.operation, "target", None), Index)
        and isinstance(target.index, Constant)
        and place(target.base) in own
        for at in operations(function)
    )
    for _, call in calls(function) if changed else ():
        effect = models.lifetime_effect(call.name)
        stores = effect.stores if effect is not None else None
        if stores and place(argument(call, stores)) in own:
            return call
    return None


def _held(function: Function, seeds: Iterable[str], models: ApiModels) -> set[str]:
    """The places of a function that hold what some places hold, or a part of it. What is loaded
    comes from a file, whatever its name was taken from."""
    held = set(seeds)
    for _ in range(3):
        for at in operations(function):
            if not _loads(at.operation, models) and any(
                places_read(part) & held for part in operands(at.operation)
            ):
                held |= _holders(at.operation, models)
    return held


def _loads(operation: Operation, models: ApiModels) -> bool:
    effect = models.lifetime_effect(operation.name) if isinstance(operation, Call) else None
    return effect is not None and effect.loads is not None


def _holders(operation: Operation, models: ApiModels) -> set[str]:
    """The places that what an operation reads goes into: with an element, its container."""
    model = models.lookup(operation.name) if isinstance(operation, Call) else None
    found = {place(getattr(operation, "receiver", None))} if model and model.takes else set()
    target = getattr(operation, "target", None)
    while target is not None:
        found.add(place(target))
        target = target.base if isinstance(target, Index) else None
    return {name for name in found if name is not None}


def _restores(
    function: Function, load: Call | None, held: set[str], symbols: Symbols
) -> Iterator[Call]:
    """The calls behind a load that copy what it read into a module."""
    models = symbols.models("python")
    after = load is None
    for _, call in calls(function):
        after = after or call is load
        effect = models.lifetime_effect(call.name)
        if after and effect is not None and effect.restores:
            of_file = any(places_read(one.value) & held for one in call.arguments)
            stale = load is not None and _is_replaced(load, call, function, symbols)
            if of_file and not stale and not _is_opaque(call, function, symbols):
                yield call


def _is_replaced(load: Call, restore: Call, function: Function, symbols: Symbols) -> bool:
    """Whether the variable that a restore reads has the result of another load by then."""
    target = load.target
    read = {root_of(name) for one in restore.arguments for name in places_read(one.value)}
    if not isinstance(target, Variable) or target.symbol not in read:
        return False
    flow = symbols.flow(function)
    at = next(at for at, call in calls(function) if call is restore)
    return load not in flow.last_set(target.symbol, at.place)


def _is_opaque(restore: Call, function: Function, symbols: Symbols) -> bool:
    """Whether the state of what a call restores is no tensors of a device: by what made it last, or
    by its methods."""
    name = place(restore.receiver)
    sources = [one.type.text or "" for one in function.parameters if one.symbol == name]
    for _, call in sorted(calls(function), key=lambda one: one[1].span):
        if place(call.target) == name and call.span < restore.span:
            sources = [call.name]
    member = (name or "").startswith("this.")
    for other in symbols.class_methods(function) if member else (function,):
        for _, call in calls(other):
            made = place(call.target) == name and other is not function
            if name is not None and (made or place(call.receiver) == name):
                sources.append(call.name)
    effects = map(symbols.models("python").lifetime_effect, sources)
    return any(effect is not None and effect.opaque for effect in effects)


def _by_element(
    operation: Operation, held: set[str], elements: set[str], keys: set[str], models: ApiModels
) -> CheckpointUse | None:
    """How an operation uses an element of what was read, if as only weights are used: into the
    values of a parameter, or computed with what has the same name."""
    changes = False
    if isinstance(operation, Call):
        effect = models.lifetime_effect(operation.name)
        into, read = operation.receiver, [one.value for one in operation.arguments]
        changes = effect is not None and effect.changes
        if not changes:
            return None
    elif isinstance(operation, Assign):
        into, read = operation.target, [operation.value]
    else:
        return None
    parts = [part for value in read for part in walk(value)]
    one = any(_is_element(part, held) or place(part) in elements for part in parts)
    if into is None or not one:
        return None
    if any(_is_values(part, models) for part in walk(into)):
        return "filled"
    computed = changes or any(isinstance(part, Binary) for part in parts)
    named = any(
        isinstance(part, Index) and isinstance(part.index, Variable) and part.index.symbol in keys
        for part in (*parts, *walk(into))
    )
    return "summed" if computed and named else None


def _elements(function: Function, held: set[str]) -> set[str]:
    """The variables that hold elements of what was read."""
    return {
        name
        for at in operations(function)
        if isinstance(at.operation, Assign) and _is_element(at.operation.value, held)
        if (name := place(at.operation.target)) is not None
    }


def _is_element(value: Expression, held: set[str]) -> bool:
    return isinstance(value, Index) and place(value.base) in held


def _is_values(part: Expression, models: ApiModels) -> bool:
    """Whether it is what a parameter's values are written through."""
    effect = models.lifetime_effect(f".{part.field}") if isinstance(part, Member) else None
    return effect is not None and effect.values


def _keys(function: Function, held: set[str]) -> set[str]:
    """The variables that a function's loops over what was read call its keys."""
    return {
        at.operation.target.symbol
        for at in operations(function)
        if isinstance(at.operation, Assign)
        and isinstance(at.operation.target, Variable)
        and _is_key(at.operation.value, held)
    }


def _is_key(value: Expression, held: set[str]) -> bool:
    if isinstance(value, Unknown):
        return value.text == "key"
    return isinstance(value, Index) and value.index == EACH and place(value.base) in held
