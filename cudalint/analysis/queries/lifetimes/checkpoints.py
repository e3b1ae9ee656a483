"""Weights read from files without a word on where they go (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts.lifetimes import CheckpointLoad
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.queries.lifetimes.checkpoint_elements import needed_on_device
from cudalint.analysis.queries.lifetimes.checkpoint_files import is_another_file, is_written_here
from cudalint.analysis.queries.lifetimes.checkpoint_keeping import is_brief, is_held
from cudalint.analysis.queries.lifetimes.checkpoint_origins import (
    is_placed,
    is_placed_on,
    written_elsewhere,
    written_here,
)
from cudalint.analysis.queries.lifetimes.checkpoint_uses import Use, use_of
from cudalint.analysis.shape.arguments import argument, given
from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.loops import without_device
from cudalint.analysis.shape.operations import At, calls, operations
from cudalint.analysis.shape.subjects import is_module
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.walk import space_of_device, texts
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
    Call,
    Conditional,
    Constant,
    Expression,
    Function,
    Operation,
    Program,
    Return,
    Variable,
    render,
)


def checkpoints(
    function: Function, program: Program, symbols: Symbols, models: ApiModels
) -> tuple[CheckpointLoad, ...]:
    """The loads of weights in a function that leave the device to the file."""
    found = list(_onto_devices(function, program, symbols, models))
    for at, call, where in _undirected(function, symbols, models):
        use = use_of(function, call, program, symbols) or _beside(function, call, symbols)
        if use is None:
            continue
        origins = written_here(program, models), written_elsewhere(program, symbols, models)
        if "host" in origins or _is_part_of_another(function, symbols):
            continue
        by = use.operation
        placed = isinstance(by, Call) and is_placed(by, function, symbols)
        another = is_another_file(call, function, program, symbols)
        mine = origins[0] == "device" and not another
        likely = origins[1] == "device" or is_written_here(call, function, program, symbols)
        reckoned = use.how == "beside" or _depends(where, function, symbols)
        found.append(
            CheckpointLoad(
                api=call.name,
                span=call.span,
                name=render(call.target) if call.target is not None else "",
                told=None if where is None else "None",
                used=Site(use.function.filename, by.span, by.name if isinstance(by, Call) else ""),
                use=use.how,
                own=use.how == "restored"
                and use.function is function
                and (mine or (origins[1] == "device" and placed)),
                likely=reckoned or (likely and not another),
                placed=placed,
                brief=use.function is function
                and is_brief(function, at, _place(function, by), placed, program, symbols),
                needed=needed_on_device(function, at, symbols),
            )
        )
    return tuple(found)


def _place(function: Function, operation: Operation) -> At:
    return next(at for at in operations(function) if at.operation is operation)


def _onto_devices(
    function: Function, program: Program, symbols: Symbols, models: ApiModels
) -> Iterator[CheckpointLoad]:
    """The loads onto the device of what they fill that are kept while the function goes on to work
    with that."""
    for _, call, where in _loads(function, symbols, models):
        target = call.target
        if where is None or target is None or _is_nowhere(where, function, symbols):
            continue
        use = use_of(function, call, program, symbols)
        by = use.operation if use is not None and use.function is function else None
        if use is None or use.how != "restored" or not isinstance(by, Call):
            continue
        if is_placed_on(where, by, function, symbols) and is_held(
            function, call, _place(function, by), symbols
        ):
            used = Site(function.filename, by.span, by.name)
            yield CheckpointLoad(
                call.name, call.span, render(target), render(where), used, onto=True
            )


def _undirected(
    function: Function, symbols: Symbols, models: ApiModels
) -> Iterator[tuple[At, Call, Expression | None]]:
    """The loads without a word on where what they read goes, with what gives them ``None``."""
    for at, call, where in _loads(function, symbols, models):
        if where is None or _is_nowhere(where, function, symbols):
            yield at, call, where


def _loads(
    function: Function, symbols: Symbols, models: ApiModels
) -> Iterator[tuple[At, Call, Expression | None]]:
    """The loads of weights where there is a device, with what says where they go."""
    for at, call in calls(function):
        effect = models.lifetime_effect(call.name)
        if effect is None or effect.loads is None or given(call).cut:
            continue
        if at.block not in without_device(symbols.flow(function), models.asks_device):
            yield at, call, argument(call, effect.loads)  # else it fails, or the file is the CPU's


def _beside(function: Function, load: Call, symbols: Symbols) -> Use | None:
    """Another load of the class that does say where to, if this one's result is returned: the class
    does not know more of the one file than of the other."""
    returned = any(
        isinstance(block.terminator, Return) and block.terminator.value == load.target
        for block in function.blocks
    )
    if function.record is None or load.target is None or not returned:
        return None
    for other in symbols.class_methods(function):
        for _, call in calls(other):
            effect = symbols.models("python").lifetime_effect(call.name)
            where = argument(call, effect.loads) if effect and effect.loads else None
            if where is not None and not _is_nowhere(where, other, symbols):
                return Use(other, call, "beside")
    return None


def _is_part_of_another(function: Function, symbols: Symbols) -> bool:
    """Whether a module that is being made takes the weights of a part of it: such files are handed
    out, from the CPU as a rule, and the module is not on a device yet."""
    return (
        function.kind == "constructor"
        and function.record is not None
        and is_module(symbols, function.record, function.filename)
    )


def _is_nowhere(where: Expression, function: Function, symbols: Symbols) -> bool:
    """``None``, or ``None`` except on the CPU."""
    values = list(_values(where, symbols.flow(function)))
    elsewhere = [one for one in values if one != Constant(None)]
    return len(elsewhere) < len(values) and all(
        any(space_of_device(text) == "host" for text in texts(one)) for one in elsewhere
    )


def _depends(where: Expression | None, function: Function, symbols: Symbols) -> bool:
    """Whether what gives ``None`` gives the CPU where there is no device: such files are expected
    to come from one."""
    values = _values(where, symbols.flow(function)) if where is not None else ()
    return any(value != Constant(None) for value in values)


def _values(where: Expression, flow: Flow) -> Iterator[Expression]:
    """All that an expression may be, by the definitions of a variable; of an object what it is made
    from."""
    made = flow.definitions.get(where.symbol, ()) if isinstance(where, Variable) else ()
    for one in made:
        if isinstance(one, Assign):
            yield from _either(one.value)
        elif isinstance(one, Call):
            yield from (argument.value for argument in one.arguments[:1])
    if not made:
        yield from _either(where)


def _either(value: Expression) -> Iterator[Expression]:
    if isinstance(value, Conditional):
        yield from _either(value.then)
        yield from _either(value.otherwise)
    else:
        yield value
