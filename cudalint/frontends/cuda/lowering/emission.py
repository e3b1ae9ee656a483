"""Emits the calls of functions, methods and callable values."""

from __future__ import annotations

from typing import Any

import msgspec
from clang.cindex import Cursor

from cudalint.apis.loader import load
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import Kind, values_of
from cudalint.frontends.cuda.lowering.names import FunctionFacts
from cudalint.frontends.cuda.lowering.syntax import unwrapped
from cudalint.frontends.cuda.lowering.types import is_changeable, is_only_read
from cudalint.program import (
    Argument,
    Call,
    Dereference,
    Expression,
    FunctionReference,
    Type,
    Unknown,
    Unreachable,
    Variable,
    render,
)


def emit_call(
    context: Context,
    cursor: Cursor,
    name: str,
    arguments: tuple[Argument, ...],
    wanted: bool,
    facts: FunctionFacts | None = None,
    *,
    kind: Any,
    key: str | None = None,
    receiver: Expression | None = None,
    callee: Expression | None = None,
    record: str | None = None,
    template_bytes: int | None = None,
    returns: Type | None = None,
) -> Expression:
    """Emit a call; ``facts``: of the function, where it is known, and what it ``returns``: a
    reference is the pointer to what it is bound to."""
    refers = returns is not None and returns.kind == "reference"
    span = context.positions.span(cursor)
    result = returns if returns is not None and refers else context.types.of(cursor)
    noreturn = facts is not None and facts.noreturn
    has_value = wanted and result.kind != "void" and not noreturn
    target = context.temporary(result) if has_value else None
    if record is None and facts is not None and facts.record is not None:
        record = context.types.record_key(facts.record)
    virtual = receiver is not None and bool(context.library.is_dynamic_call(cursor))
    context.graph.emit(
        Call(
            name,
            arguments,
            span,
            target,
            key,
            receiver,
            callee,
            kind,
            facts.may_throw if facts is not None else None,
            noreturn,
            (_static_class(context, cursor) if virtual else None) or record,
            template_bytes,
            context.positions.macro(cursor),
            virtual,
        )
    )
    if noreturn:
        context.graph.finish(Unreachable(span))
    if target is None:
        return Unknown("void")
    return Dereference(target, implicit=True) if refers else target


def _static_class(context: Context, call: Cursor) -> str | None:
    """The class of which a virtual method is called: the method's own, or one derived from it."""
    callee = unwrapped(values_of(call)[0])
    for base in values_of(callee)[:1]:
        kind = context.types.of(base)
        return kind.record or (kind.pointee.record if kind.pointee is not None else None)
    return context.record


def emit_resolved(
    context: Context,
    cursor: Cursor,
    facts: FunctionFacts,
    function: Cursor,
    arguments: tuple[Argument, ...],
    kind: Any,
    receiver: Expression | None,
    wanted: bool,
) -> Expression:
    """Emit the call of a function; of an instantiation, with the size of its first argument, and
    the class, where it makes an object of that."""
    arguments = _as_passed(context, function, arguments)
    size, made = -1, None
    if function._kind_id == Kind.FUNCTION and context.library.template_arguments(function) > 0:
        first = context.library.template_argument(function, 0)
        size = context.library.size(first)
        model = load("cuda").lookup(facts.name) if facts.is_system else None
        if model is not None and model.makes_one:
            made = context.types.lower(first).record
    return emit_call(
        context,
        cursor,
        facts.name,
        arguments,
        wanted,
        facts,
        kind=kind,
        key=facts.key,
        receiver=receiver,
        record=made,
        template_bytes=int(size) if size > 0 else None,
        returns=context.types.result(function) if _is_place(facts) else None,
    )


def _is_place(facts: FunctionFacts) -> bool:
    """Whether the result of a function is a place where it is a reference: what is known of a
    library's function is said of the value."""
    model = load("cuda").lookup(facts.name) if facts.is_system else None
    return model is None or model.elements or model.unboxes


def _as_passed(
    context: Context, function: Cursor, arguments: tuple[Argument, ...]
) -> tuple[Argument, ...]:
    """The arguments, with what the types of the parameters say of what becomes of them."""
    parameters = context.types.parameters(function)
    passed = tuple(
        msgspec.structs.replace(
            argument, constant=is_only_read(type_), reference=is_changeable(type_)
        )
        for argument, type_ in zip(arguments, parameters, strict=False)
    )
    return (*passed, *arguments[len(passed) :])


def emit_indirect(
    context: Context,
    cursor: Cursor,
    callee: Expression,
    arguments: tuple[Argument, ...],
    wanted: bool,
    returns: Type | None = None,
) -> Expression:
    """Emit the call of a function pointer, a lambda or a callable object."""
    key, name, kind = context.unit.lambda_key(callee), render(callee), "indirect"
    of: Expression | None = callee
    if isinstance(callee, FunctionReference):
        name = callee.name
        if not name.startswith("<"):
            kind, key, of = "function", callee.key, None
    elif isinstance(callee, Variable) and callee.symbol.startswith("::"):
        name = callee.symbol.removeprefix("::")  # of a namespace: `gpu::free` is not `free`
    return emit_call(
        context, cursor, name, arguments, wanted, kind=kind, key=key, callee=of, returns=returns
    )
