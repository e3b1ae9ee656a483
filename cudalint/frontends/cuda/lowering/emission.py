"""Emits calls, by what is called: a function, or a value."""

from __future__ import annotations

from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import Kind
from cudalint.frontends.cuda.lowering.names import FunctionFacts
from cudalint.program import (
    Argument,
    Call,
    Expression,
    FunctionReference,
    Unknown,
    Unreachable,
    render,
)


def emit_call(
    context: Context,
    cursor: Cursor,
    facts: FunctionFacts,
    function: Cursor,
    arguments: tuple[Argument, ...],
    kind: Any,
    receiver: Expression | None,
    wanted: bool,
    name: str | None = None,
) -> Expression:
    """Emit the call of a function."""
    span = context.positions.span(cursor)
    result = context.types.of(cursor)
    target = None
    if wanted and result.kind != "void" and not facts.noreturn:
        target = context.temporary(result)
    record = None
    if facts.record is not None:
        record = context.types.record_key(facts.record)
    context.graph.emit(
        Call(
            name or facts.name,
            arguments,
            span,
            target,
            facts.key,
            receiver,
            None,
            kind,
            facts.may_throw,
            facts.noreturn,
            record,
            _template_bytes(context, function),
            context.positions.macro(cursor),
        )
    )
    if facts.noreturn:
        context.graph.finish(Unreachable(span))
    return target if target is not None else Unknown("void")


def _template_bytes(context: Context, function: Cursor) -> int | None:
    if function._kind_id != Kind.FUNCTION or context.library.template_arguments(function) < 1:
        return None
    size = context.library.size(context.library.template_argument(function, 0))
    return int(size) if size > 0 else None


def emit_indirect(
    context: Context,
    cursor: Cursor,
    callee: Expression,
    arguments: tuple[Argument, ...],
    wanted: bool,
) -> Expression:
    """A call of a function pointer, a lambda or a callable object."""
    span, result = context.positions.span(cursor), context.types.of(cursor)
    target = context.temporary(result) if wanted and result.kind != "void" else None
    direct = callee if isinstance(callee, FunctionReference) else None
    context.graph.emit(
        Call(
            direct.name if direct else render(callee),
            arguments,
            span,
            target,
            direct.key if direct else context.unit.lambda_key(callee),
            None,
            None if direct and not direct.name.startswith("<") else callee,
            "function" if direct and not direct.name.startswith("<") else "indirect",
            expansion=context.positions.macro(cursor),
        )
    )
    return target if target is not None else Unknown("void")
