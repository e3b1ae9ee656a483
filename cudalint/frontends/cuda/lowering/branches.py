"""Lowers ``if`` and ``switch``."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.blocks import end_span, scoped
from cudalint.frontends.cuda.lowering.conditions import condition
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import Kind, children
from cudalint.frontends.cuda.lowering.variables import mentioned
from cudalint.program import Assign, Binary, Constant, Unknown, Variable
from cudalint.source import Span


def if_(context: Context, cursor: Cursor) -> None:
    """Lower ``if``."""
    parts = children(cursor)
    context.scopes.open()
    # Before the condition: an initialiser, or the condition's variable.
    split = 0
    while split < len(parts) and (
        parts[split]._kind_id in (Kind.DECLARATION, Kind.VARIABLE, Kind.UNEXPOSED_DECL)
    ):
        context.statement(parts[split])
        split += 1
    rest = parts[split:]
    if len(rest) > 3 or (len(rest) == 3 and not _has_else(context, cursor, rest)):
        context.statement(rest[0])
        rest = rest[1:]
    if len(rest) < 2:
        # The condition is lost: either way may be taken.
        lost_condition(context, cursor, rest)
        context.scopes.close(end_span(context, cursor))
        return
    then, otherwise, after = (context.graph.block() for _ in range(3))
    condition(context, rest[0], then, otherwise)
    context.graph.current = then
    scoped(context, rest[1])
    context.graph.jump(after)
    context.graph.current = otherwise
    if len(rest) > 2:
        scoped(context, rest[2])
    context.graph.enter(after)
    context.scopes.close(end_span(context, cursor))


def _has_else(context: Context, cursor: Cursor, rest: list[Cursor]) -> bool:
    """Whether three parts are condition, then, else (and not init; condition, then)."""
    if rest[1]._kind_id >= 200:
        return True
    name, _, end = context.positions.offsets(rest[1])
    _, start, _ = context.positions.offsets(rest[2])
    return "else" in context.positions.text_of(name, end, start) or context.positions.from_macro(
        rest[1]
    )


def lost_condition(context: Context, cursor: Cursor, rest: list[Cursor]) -> None:
    """Lower a branch whose condition clang lost."""
    span = context.positions.span(cursor)
    then, after = context.graph.block(), context.graph.block()
    text = context.positions.text(cursor).partition("{")[0]
    context.graph.branch(Unknown(text[:100], mentioned(context, text)), then, after, span)
    context.graph.current = then
    for part in rest:
        scoped(context, part)
    context.graph.enter(after)


def switch(context: Context, cursor: Cursor) -> None:
    """Lower ``switch``."""
    parts = children(cursor)
    context.scopes.open()
    for part in parts[:-2]:
        context.statement(part)
    span = context.positions.span(cursor)
    value = context.expression(parts[-2])
    if not isinstance(value, Variable | Constant):
        held = context.temporary(context.types.of(parts[-2]))
        context.graph.emit(Assign(held, value, context.positions.span(parts[-2])))
        value = held
    dispatch, after = context.graph.current, context.graph.block()
    context.graph.current = context.graph.block()
    with context.jumps.switch(after) as cases:
        scoped(context, parts[-1])
    context.graph.jump(after)
    context.graph.current = dispatch
    default = after
    for label in cases:
        values, node, place = label.values, label.node, label.span
        if not values:
            default = node
            continue
        following = context.graph.block()
        if len(values) == 1:
            context.graph.branch(Binary("==", value, values[0]), node, following, place)
        else:
            inside = context.graph.block()
            context.graph.branch(Binary(">=", value, values[0]), inside, following, place)
            context.graph.current = inside
            context.graph.branch(Binary("<=", value, values[1]), node, following, place)
        context.graph.current = following
    context.graph.jump(default)
    context.graph.current = after
    context.scopes.close(Span(span.end_row, span.end_column, span.end_row, span.end_column))


def case(context: Context, cursor: Cursor) -> None:
    """Lower a label of a ``switch``, with the statement behind it."""
    parts = children(cursor)
    labels = [] if cursor._kind_id == Kind.DEFAULT else parts[:-1]
    span = context.positions.span(labels[0]) if labels else context.positions.span(cursor)
    context.jumps.case(tuple(context.expression(label) for label in labels), span)
    if parts:
        context.statement(parts[-1])
