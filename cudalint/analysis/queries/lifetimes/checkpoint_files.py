"""Which file a checkpoint is read from and written to, as far as its name is spelled (Python)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.analysis.shape.arguments import argument, bindings
from cudalint.analysis.shape.operations import At, calls, operands
from cudalint.analysis.shape.places import place, root
from cudalint.analysis.shape.symbols import Symbols
from cudalint.program import (
    Call,
    Constant,
    Expression,
    Function,
    Program,
    Unknown,
    variables,
    walk,
)

_FILE = re.compile(r"[^/\"']*\.[a-z0-9]+(?=[\"']?$)")
_HOLE = re.compile(r"\\\{.*?\}|%[-+0-9.]*[a-z]")
_CALLERS = 3


def is_another_file(load: Call, function: Function, program: Program, symbols: Symbols) -> bool:
    """Whether a call reads a file under whose name this program writes none, all names being
    spelled: what is handed out, or was converted."""
    models = symbols.models("python")
    read = _names(load, function, program, symbols)
    written = [
        _names(call, one, program, symbols)
        for one in program.functions
        for _, call in calls(one)
        if (effect := models.lifetime_effect(call.name)) is not None and effect.stores
    ]
    if not read or not all(written):
        return False
    patterns = [_HOLE.sub(".*", re.escape(name)) for names in written for name in names]
    return not any(_HOLE.search(re.escape(name)) for name in read) and not any(
        re.fullmatch(pattern, name) for pattern in patterns for name in read
    )


def is_written_here(load: Call, function: Function, program: Program, symbols: Symbols) -> bool:
    """Whether this program writes a file under the very name that a call reads."""
    models = symbols.models("python")
    read = _names(load, function, program, symbols)
    return any(
        read & _names(call, one, program, symbols)
        for one in program.functions
        for _, call in calls(one)
        if (effect := models.lifetime_effect(call.name)) is not None and effect.stores
    )


def is_written_before(load: At, function: Function, program: Program, symbols: Symbols) -> bool:
    """Whether the same process has written the file, under the name that is read, on the way to a
    load: it goes back to where it came from."""
    flow = symbols.flow(function)
    assert isinstance(load.operation, Call)
    path = _path(load.operation, symbols)
    if path is None:
        return False
    read = _without_holes(path, function, program, symbols)
    name, variable = place(path), root(path) or ""
    for at, call in calls(function):
        if not flow.reaches(*at.place, *load.place):
            continue
        for written in _written(call, function, symbols):
            same = name is not None and place(written) == name
            if same and flow.last_set(variable, at.place) == flow.last_set(variable, load.place):
                return True
            if read & _without_holes(written, function, program, symbols):
                return True
    return False


def _written(call: Call, function: Function, symbols: Symbols) -> Iterator[Expression]:
    """The paths of the files that a call writes, itself or by the function that it calls."""
    effect = symbols.models("python").lifetime_effect(call.name)
    if effect is not None and effect.stores and (path := _path(call, symbols)) is not None:
        yield path
    callee = symbols.function(call.key, function.filename) if call.key else None
    bound = bindings(call, callee.parameters) if callee is not None else {}
    for _, inner in calls(callee) if callee is not None and bound else ():
        effect = symbols.models("python").lifetime_effect(inner.name)
        given = place(_path(inner, symbols)) if effect is not None and effect.stores else None
        if given in bound:
            yield bound[given]


def _without_holes(
    path: Expression, function: Function, program: Program, symbols: Symbols
) -> set[str]:
    names = _spelled(path, function, program, symbols, _CALLERS)
    return {_HOLE.sub("", re.escape(name)) for name in names}


def _path(call: Call, symbols: Symbols) -> Expression | None:
    """The path of the file that a call reads or writes."""
    effect = symbols.models("python").lifetime_effect(call.name)
    return argument(call, effect.path) if effect is not None and effect.path else None


def _names(call: Call, function: Function, program: Program, symbols: Symbols) -> set[str]:
    path = _path(call, symbols)
    return set() if path is None else _spelled(path, function, program, symbols, _CALLERS)


def _spelled(
    path: Expression, function: Function, program: Program, symbols: Symbols, depth: int
) -> set[str]:
    """The names of files that are spelled in what a path is made of."""
    flow = symbols.flow(function)
    sources = flow.sources(variables(path))
    given = {one.symbol: one.default for one in function.parameters if one.symbol in sources}
    parts = [path, *(one for one in given.values() if one is not None)]
    for symbol in sources:
        parts += (part for made in flow.definitions.get(symbol, ()) for part in operands(made))
    found = {name for part in parts for one in walk(part) for name in _name(one)}
    for caller in program.functions if given and depth and function.key else ():
        for _, call in calls(caller):
            bound = bindings(call, function.parameters) if call.key == function.key else {}
            for symbol in sorted(bound.keys() & given.keys()):
                found |= _spelled(bound[symbol], caller, program, symbols, depth - 1)
    return found


def _name(part: Expression) -> list[str]:
    """The name of a file at the end of a string, holes and all."""
    match part:
        case Constant(value=str() as text) | Unknown(text=text):
            return [f"{{}}{name}" if name[0] == "." else name for name in _FILE.findall(text)]
        case _:
            return []
