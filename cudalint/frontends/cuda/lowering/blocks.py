"""Lowers braces: the statements in them, and their scope."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import Kind, children
from cudalint.frontends.cuda.lowering.recovery import recover_statement
from cudalint.program import Assign, Expression, Unknown
from cudalint.source import Span


def statement_or_text(context: Context, child: Cursor | tuple[str, Span]) -> None:
    """Lower a statement, or what is left of one that clang lost."""
    if isinstance(child, tuple):
        recover_statement(context, *child)
    else:
        context.statement(child)


def statements_of(context: Context, cursor: Cursor) -> list[Cursor | tuple[str, Span]]:
    """The statements in braces, with the text of those that clang lost."""
    found = children(cursor)
    lost = context.unit.lost.inside(cursor, found) if context.unit.lost else []
    if not lost:
        return list(found)
    places: list[tuple[int, Cursor | tuple[str, Span]]] = [
        (context.positions.offsets(child)[1], child) for child in found
    ]
    places += [(start, (text, span)) for start, text, span in lost]
    return [child for _, child in sorted(places, key=lambda pair: pair[0])]


def end_span(context: Context, cursor: Cursor) -> Span:
    """The closing brace."""
    span = context.positions.span(cursor)
    return Span(span.end_row, max(span.end_column - 1, 1), span.end_row, span.end_column)


def lower_braces(context: Context, cursor: Cursor) -> None:
    """Lower the braces of a function: its locals end with it, not before."""
    for child in statements_of(context, cursor):
        statement_or_text(context, child)


def compound(context: Context, cursor: Cursor) -> None:
    """Lower braces inside a function."""
    context.scopes.open()
    for child in statements_of(context, cursor):
        statement_or_text(context, child)
    context.scopes.close(end_span(context, cursor))


def scoped(context: Context, cursor: Cursor) -> None:
    """A branch or loop body: a scope even without braces."""
    if cursor._kind_id == Kind.COMPOUND:
        compound(context, cursor)
    else:
        context.scopes.open()
        context.statement(cursor)
        context.scopes.close(end_span(context, cursor))


def statement_expression(context: Context, cursor: Cursor, wanted: bool = True) -> Expression:
    """Lower ``({ ... })``: the value is the last statement's."""
    result: Expression = Unknown("void")
    for braces in children(cursor):
        found = children(braces)
        context.scopes.open()
        for number, child in enumerate(found):
            is_last = number == len(found) - 1
            if is_last and wanted and Kind.UNEXPOSED <= child._kind_id < 200:
                value = context.expression(child)
                type_ = context.types.of(cursor)
                if type_.kind == "void":
                    continue
                result = context.temporary(type_)
                context.graph.emit(Assign(result, value, context.positions.span(child)))
            else:
                context.statement(child)
        context.scopes.close(end_span(context, braces))
    return result
