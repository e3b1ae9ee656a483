"""Lowers ``std::make_unique<Block>()``: as ``std::unique_ptr<Block>(new Block())``."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.apis.loader import load
from cudalint.frontends.cuda.lowering.allocation import allocate
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import Kind
from cudalint.frontends.cuda.lowering.names import FunctionFacts
from cudalint.frontends.cuda.lowering.objects import construct_dependent, fields_by_default
from cudalint.program import Argument, Assign, Call, Dereference, Expression, Type


def made_with_new(
    context: Context,
    cursor: Cursor,
    facts: FunctionFacts,
    function: Cursor,
    arguments: tuple[Argument, ...],
) -> Expression | None:
    """What a function of a library makes with ``new`` and gives to an owner; ``None`` where that is
    no struct of the project, or a class that ends what it holds: that is its own affair, and its
    constructors are not worth their paths here.
    """
    model = load("cuda").lookup(facts.name) if facts.is_system else None
    if model is None or not model.owned_new or function._kind_id != Kind.FUNCTION:
        return None
    owner = context.types.of(cursor)
    made = context.types.lower(context.library.template_argument(function, 0))
    if owner.kind != "record" or made.record not in context.unit.records:
        return None
    fields = None if arguments else fields_by_default(context, made.record)
    if fields is None and not (
        _ends_with_its_members(context, made.record)
        and context.unit.constructor_with(made.record, len(arguments))
    ):
        return None
    span = context.positions.span(cursor)
    pointer = allocate(context, cursor, Type(f"{made.text} *", "pointer", 8, pointee=made))
    if fields is None:
        construct_dependent(context, Dereference(pointer), made, arguments, span)
    else:
        context.graph.emit(Assign(Dereference(pointer), fields, span))
    place = context.temporary(owner)
    context.graph.emit(
        Call(
            model.owned_new,
            (Argument(pointer),),
            span,
            receiver=place,
            kind="constructor",
            may_throw=False,
            record=owner.record,
        )
    )
    return place


def _ends_with_its_members(context: Context, key: str) -> bool:
    """Whether a class, and what it is derived from, has no destructor of its own."""
    record = context.unit.records.get(key)
    return (
        record is not None
        and record.destructor in ("none", "defaulted")
        and all(_ends_with_its_members(context, base) for base in record.bases)
    )
