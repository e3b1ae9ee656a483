"""The values that variables outside of functions start with, and keep where nothing writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context, Parts
from cudalint.frontends.cuda.lowering.graph import Symbols
from cudalint.frontends.cuda.lowering.libclang import Linkage, evaluate, initializer, library
from cudalint.frontends.cuda.lowering.unit import Unit
from cudalint.program import (
    AddressOf,
    Assign,
    Call,
    Cast,
    Constant,
    Dereference,
    Expression,
    Function,
    FunctionReference,
    Index,
    Launch,
    Member,
    Return,
    Tuple,
    Type,
    Unknown,
    Variable,
    VariableInfo,
    children,
    walk,
)

_NUMBERS = ("integer", "float", "bool", "enumeration")


def start(parts: Parts, unit: Unit, cursor: Cursor) -> Expression | None:
    """What a variable starts with, where that is a number, functions or a table of these, and only
    this file can write it."""
    type_ = unit.types.of(cursor)
    own = library().linkage(cursor) != Linkage.EXTERNAL
    if not (own or type_.constant) or library().has_attributes(cursor):
        return None
    if "volatile" in type_.text or not library().is_definition(cursor):
        return None
    initial = initializer(cursor)
    if type_.kind in _NUMBERS:
        value = evaluate(initial) if initial is not None else 0
        if value is None:
            return None
        return Constant(bool(value) if type_.kind == "bool" else value)
    if initial is None or not _holds_functions(unit, type_):
        return None
    context = Context(parts, unit, "", "", Symbols())
    lowered = context.expression(initial)
    emitted = any(node.operations for node in context.graph.nodes)
    return lowered if not emitted and _is_closed(lowered) else None


def _holds_functions(unit: Unit, type_: Type) -> bool:
    if type_.kind == "array" and type_.pointee is not None:
        return _holds_functions(unit, type_.pointee)
    if type_.kind == "record":
        record = unit.records.get(type_.record or "")
        return record is not None and any(
            _holds_functions(unit, field.type) for field in record.fields
        )
    return type_.pointee is not None and type_.pointee.kind == "function"


def _is_closed(value: Expression) -> bool:
    return all(
        isinstance(part, Constant | FunctionReference | Tuple | Cast) for part in walk(value)
    )


def keep_starts(
    starts: dict[str, Expression],
    functions: Iterable[Function],
    variables: dict[str, VariableInfo],
) -> None:
    """Make constants of the variables that nothing in the file may write."""
    everything = list(functions)
    kept = starts.keys() - {
        symbol
        for function in everything
        for symbol in _written(function)
        if not _is_constant(variables.get(symbol))
    }
    for table in (variables, *(function.variables for function in everything)):
        for symbol in kept & table.keys():
            table[symbol] = msgspec.structs.replace(table[symbol], constant=starts[symbol])


def _is_constant(info: VariableInfo | None) -> bool:
    return info is not None and info.type.constant


def _written(function: Function) -> Iterator[str]:
    """The variables that a function may write, or may let others write."""
    for block in function.blocks:
        for operation in block.operations:
            match operation:
                case Assign(target=target, value=value):
                    yield from _root(target)
                    yield from _given_away(value, target)
                case Call(arguments=arguments, target=target, receiver=receiver, key=key):
                    yield from _root(target)
                    yield from _root(receiver)
                    for argument in arguments:
                        if argument.reference or key is None:
                            yield from _root(argument.value)
                        yield from _given_away(argument.value)
                case Launch(arguments=arguments):
                    for argument in arguments:
                        yield from _given_away(argument.value)
                case _:
                    pass
        terminator = block.terminator
        if isinstance(terminator, Return) and terminator.value is not None:
            yield from _given_away(terminator.value)


def _root(place: Expression | None) -> Iterator[str]:
    """The variable that a place is, or is a part of."""
    while isinstance(place, Member | Index | Cast):
        place = place.operand if isinstance(place, Cast) else place.base
    if isinstance(place, Variable):
        yield place.symbol


def _given_away(*expressions: Expression) -> Iterator[str]:
    """The variables whose address is taken, and those in what could not be lowered."""
    for part in walk(*expressions):
        if isinstance(part, AddressOf):
            yield from _root(part.place)
        elif isinstance(part, Unknown):
            for inner in walk(*children(part)):
                yield from _root(inner)
        elif isinstance(part, Dereference):
            yield from _root(part.pointer)
