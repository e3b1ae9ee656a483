"""Data sets all of whose items go to the device before they are asked for (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts.lifetimes import MovedSet
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.shape.arguments import inputs
from cudalint.analysis.shape.operations import calls, expressions, operands, operations
from cudalint.analysis.shape.placement import Placements
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.symbols import Symbols
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    EACH,
    THIS,
    Assign,
    Binary,
    Call,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Program,
    Return,
    Unary,
    render,
    variables,
    walk,
)


def moved_sets(
    function: Function, program: Program, symbols: Symbols, models: ApiModels
) -> tuple[MovedSet, ...]:
    """The data sets that a function moves to the device: the items that an object hands out, and
    the elements of a list."""
    found = {one.name: one for one in _items(function, program, symbols, models)}
    return (*found.values(), *_elements(function, symbols))


def _items(
    function: Function, program: Program, symbols: Symbols, models: ApiModels
) -> Iterator[MovedSet]:
    """The members that the function puts on the device, of a data set that counts or hands them
    out."""
    methods = list(_methods(function, program, symbols, models))
    placements = Placements(function, symbols)
    for at in operations(function) if methods else ():
        target = place(getattr(at.operation, "target", None)) or ""
        made = placements.made_by(at.operation) or _returned(at.operation, function, symbols)
        if target.startswith("this.") and made in ("device", "asked"):
            first = function.kind == "constructor"
            site = next((_site(m) for m in methods if _gives(m, target, first)), None)
            if site is not None:
                name = target.replace("this.", "self.")
                given = _is_given(at.operation, function, symbols)
                yield MovedSet(name, at.operation.span, given=given, items=site)


def _methods(
    function: Function, program: Program, symbols: Symbols, models: ApiModels
) -> Iterator[Function]:
    """What counts and hands out the items of the data sets of a file that have a method."""
    for record in program.records if function.record is not None else ():
        lineage = list(symbols.lineage(record.key, record.filename))
        effects = map(models.lifetime_effect, lineage)
        is_set = any(effect is not None and effect.data_sets for effect in effects)
        for name in lineage if is_set and function.record in lineage else ():
            for method in symbols.methods(name):
                if method.name.rpartition(".")[2] in ("__len__", "__getitem__", "__iter__"):
                    yield method


def _returned(operation: Operation, function: Function, symbols: Symbols) -> str:
    """Where what a method of the object returns lives."""
    if not isinstance(operation, Call) or operation.receiver != THIS:
        return ""
    method = symbols.method(function.record, operation.name.lstrip("."), function.filename)
    placements = Placements(method, symbols) if method is not None else None
    for block in method.blocks if method is not None else ():
        end = block.terminator
        if placements is not None and isinstance(end, Return) and end.value is not None:
            return placements.of(end.value)
    return ""


def _is_given(operation: Operation, function: Function, symbols: Symbols) -> bool:
    """Whether what is moved is made of what the function is given: how much that is, its callers
    know, who have it already."""
    moved = [*inputs(operation)][:1] if isinstance(operation, Call) else operands(operation)
    read = {symbol for part in moved for symbol in variables(part)}
    given = {parameter.symbol for parameter in function.parameters}
    return not given.isdisjoint(symbols.flow(function).sources(read))


def _site(method: Function) -> Site:
    return Site(method.filename, method.span, "")


def _gives(method: Function, member: str, first: bool) -> bool:
    """Whether a method counts the elements of a member, or takes one out; or goes through it, where
    it was there from the ``first``."""
    parts = walk(*expressions(method))
    if method.is_generator:
        return first and any(place(part) == member for part in parts)
    return any(
        (isinstance(part, Unary) and part.operator == "len" and place(part.operand) == member)
        or (isinstance(part, Index) and place(part.base) == member)
        for part in parts
    )


def _elements(function: Function, symbols: Symbols) -> Iterator[MovedSet]:
    """The lists of records whose elements a loop moves, with the arrays in them."""
    elements: dict[str, Expression] = {
        name: at.operation.value.base
        for at in operations(function)
        if isinstance(at.operation, Assign) and (name := place(at.operation.target)) is not None
        if isinstance(at.operation.value, Index) and at.operation.value.index == EACH
    }
    computed = {
        place(elements.get(place(target.base) or ""))
        for at in operations(function)
        if isinstance(at.operation, Assign) and isinstance(at.operation.value, Binary)
        if isinstance(target := at.operation.target, Member)
    }
    placements = Placements(function, symbols)
    for _, call in calls(function):
        of = elements.get(place(call.receiver) or "")
        if of is None or call.target is not None or place(of) not in computed:
            continue
        if placements.moves(call):
            yield MovedSet(render(of).replace("this.", "self."), call.span, by_one=True)
