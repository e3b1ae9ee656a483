"""Lowers ``throw``, ``try`` and handlers."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.blocks import (
    compound,
    end_span,
    statement_or_text,
    statements_of,
)
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.declarations import declare_caught
from cudalint.frontends.cuda.lowering.graph import Node
from cudalint.frontends.cuda.lowering.libclang import Kind, children, values_of
from cudalint.program import Caught, Expression, ScopeEnd, Throw, Unknown
from cudalint.source import Span

_CATCHES_ALL = frozenset(
    ["std::exception", "std::runtime_error", "std::logic_error", "exception", "runtime_error"]
)


def throw(context: Context, cursor: Cursor) -> Expression:
    """Lower ``throw``."""
    values = values_of(cursor)
    value = context.expression(values[0]) if values else None
    context.graph.finish(Throw(value, context.positions.span(cursor), rethrow=not values))
    context.graph.current = context.graph.block()
    return Unknown("throw")


def try_(context: Context, cursor: Cursor) -> None:
    """Lower ``try`` and its handlers."""
    parts = children(cursor)
    handlers = [part for part in parts if part._kind_id == Kind.CATCH]
    dispatch, after = context.graph.block(), context.graph.block()
    outer = context.graph.unwind
    context.graph.unwind = dispatch.number
    context.graph.enter(context.graph.block())
    context.scopes.open()
    for part in parts:
        if part._kind_id != Kind.CATCH:
            for child in statements_of(context, part):
                statement_or_text(context, child)
    context.graph.unwind = outer
    scope = context.scopes.close(
        end_span(context, parts[0]) if parts else end_span(context, cursor)
    )
    context.graph.jump(after)
    context.graph.current = dispatch
    ended = scope.ended + scope.symbols
    if ended:
        context.graph.emit(ScopeEnd(tuple(reversed(ended)), end_span(context, cursor)))
    _handlers(context, handlers, after)
    context.graph.current = after


def _handlers(context: Context, handlers: list[Cursor], after: Node) -> None:
    span = Span(1, 1, 1, 1)
    for handler in handlers:
        span = context.positions.span(handler)
        parts = children(handler)
        variables = [part for part in parts if part._kind_id == Kind.VARIABLE]
        caught = context.types.of(variables[0]).text if variables else "..."
        node, following = context.graph.block(), context.graph.block()
        if _catches_all(caught):
            context.graph.jump(node)
        else:
            context.graph.branch(Caught(f"catch ({caught})"), node, following, span)
        context.graph.current = node
        context.scopes.open()
        for variable in variables:
            declare_caught(context, variable)
        for part in parts:
            if part._kind_id == Kind.COMPOUND:
                compound(context, part)
        context.scopes.close(end_span(context, handler))
        context.graph.jump(after)
        context.graph.current = following
    # What no handler took passes on (nothing gets here after a handler for everything).
    context.graph.finish(Throw(None, span, rethrow=True))


def _catches_all(caught: str) -> bool:
    """Whether a handler takes whatever may be thrown here."""
    bare = caught.replace("const ", "").replace("class ", "").strip(" &*")
    return bare == "..." or bare in _CATCHES_ALL
