"""Members that a method of a module empties when it is done, and leaves full when it fails
(Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts.lifetimes import SkippedClear
from cudalint.analysis.shape.loops import ordinary_blocks
from cudalint.analysis.shape.operations import At, calls, operations
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.subjects import is_module
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.walk import is_within
from cudalint.apis.loader import ApiModels
from cudalint.program import (
    Assign,
    Binary,
    Block,
    Call,
    Constant,
    Expression,
    Function,
    Handler,
    Return,
    Throw,
    Tuple,
)


def skipped_clears(function: Function, symbols: Symbols) -> tuple[SkippedClear, ...]:
    """The clears at the end of a method that an exception passes. That the method clears at its
    beginning too shows that what is kept is for one call."""
    record = function.record
    if record is None or not is_module(symbols, record, function.filename):
        return ()
    made = list(calls(function))
    found = []
    for key in dict.fromkeys(call.key for _, call in made if _is_own(call)):
        cleaner = symbols.function(key, function.filename)
        members = _emptied(cleaner) if cleaner is not None and cleaner is not function else set()
        sites = sorted(
            ((at, call) for at, call in made if call.key == key), key=lambda site: site[1].span
        )
        if len(sites) < 2 or not members or not _frames(function, symbols, sites):
            continue
        first, last = sites[0][1], sites[-1][1]
        for _, call in made:
            filled = [name for one in call.arguments if (name := place(one.value)) in members]
            between = first.span < call.span < last.span
            guarded = any(is_within(call.span, one.guarded) for one in function.handlers)
            if filled and between and not guarded and _is_on_this(call):
                name = filled[0].removeprefix("this.")
                survived = _is_survived(function, symbols)
                found.append(
                    SkippedClear(last.name, last.span, name, call.name, call.span, survived)
                )
                break
    return tuple(found)


def _is_survived(function: Function, symbols: Symbols) -> bool:
    """Whether something of the run calls a method of an object of its class where an exception is
    taken, and does not raise it again."""
    method = "." + function.name.rpartition(".")[2]
    return any(
        call.name == method
        and is_within(call.span, handler.guarded)
        and _may_be_of(function.record, call.receiver, other, symbols)
        for other, program in symbols.functions()
        if program.language == "python"
        for handler in other.handlers
        if not any(_raises_in(block, handler) for block in other.blocks)
        for _, call in calls(other)
    )


def _may_be_of(
    record: str | None, receiver: Expression | None, function: Function, symbols: Symbols
) -> bool:
    """Whether a receiver is an object of a class, or of one that derives from it, by one of the
    ways in which the function, or of a member its class, makes it."""
    name = place(receiver)
    if name is None:
        return False
    methods = symbols.class_methods(function) if name.startswith("this.") else (function,)
    made = {one for other in methods for one in _made(name, other, symbols.models("python"))}
    if name == "this" and function.record is not None:
        made.add(function.record)
    return any(record in symbols.lineage(one, function.filename) for one in made)


def _made(name: str, function: Function, models: ApiModels) -> set[str]:
    """The classes that a function makes what a place holds from, moved to a device or not."""

    def the_same(held: str) -> Iterator[str]:
        for _, call in calls(function):
            effect = models.tensor_effect(call.name)
            if effect is not None and (effect.device or effect.evaluates or effect.trains):
                source = place(call.receiver) if place(call.target) == held else None
                yield from (source,) if source is not None else ()

    held = closure((name,), the_same)
    return {
        call.key
        for _, call in calls(function)
        if call.kind == "constructor" and call.key is not None and place(call.target) in held
    }


def _raises_in(block: Block, handler: Handler) -> bool:
    """Whether a block ends with a ``raise`` that stands in a handler; what no handler takes is
    raised behind the last one, where nothing stands."""
    end = block.terminator
    if not isinstance(end, Throw) or not is_within(end.span, handler.body):
        return False
    return (end.span.row, end.span.column) != (end.span.end_row, end.span.end_column)


def _is_on_this(call: Call) -> bool:
    return (place(call.receiver) or "").partition(".")[0] == "this"


def _is_own(call: Call) -> bool:
    return place(call.receiver) == "this" and call.key is not None and not call.arguments


def _frames(function: Function, symbols: Symbols, sites: list[tuple[At, Call]]) -> bool:
    """Whether the first of some calls begins a function, the last ends it, and no exception leads
    to one."""
    flow = symbols.flow(function)
    ordinary = ordinary_blocks(flow)
    (start, first), (end, last) = sites[0], sites[-1]
    block = function.blocks[end.block]
    return (
        all(at.block in ordinary for at, _ in sites)
        and start.block == flow.order[0]
        and function.blocks[start.block].operations[0] is first
        and block.operations[-1] is last
        and isinstance(block.terminator, Return)
    )


def _emptied(cleaner: Function) -> set[str]:
    """The members that a method sets to containers without anything in them."""
    return {
        name
        for at in operations(cleaner)
        if isinstance(at.operation, Assign) and _is_empty(at.operation.value)
        if (name := place(at.operation.target)) is not None and name.startswith("this.")
    }


def _is_empty(value: Expression) -> bool:
    if isinstance(value, Binary) and value.operator == "*":
        return isinstance(value.left, Tuple) and all(
            item == Constant(None) for item in value.left.items
        )
    return isinstance(value, Tuple) and not value.items and value.kind != "tuple"
