"""Lowers kernel launches."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.arguments import lower_arguments
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.dimensions import as_dim3, without_cast
from cudalint.frontends.cuda.lowering.libclang import Kind, children, is_value, name_of
from cudalint.frontends.cuda.lowering.syntax import is_default
from cudalint.program import Expression, FunctionReference, Launch, Unknown, render

_CONFIGURATION = "__cudaPushCallConfiguration"


def is_configuration(context: Context, operands: list[Cursor]) -> bool:
    """Whether a call is a kernel launch."""
    return (
        len(operands) > 1
        and operands[1]._kind_id == Kind.CALL
        and name_of(operands[1]) == _CONFIGURATION
    )


def launch(context: Context, cursor: Cursor, operands: list[Cursor]) -> Expression:
    """Lower a kernel launch."""
    parts = [child for child in children(operands[1]) if is_value(child)][1:]
    kernel = context.expression(operands[0])
    name, key = render(kernel), None
    if isinstance(kernel, FunctionReference):
        name, key = kernel.name, kernel.key
    values: list[Expression | None] = []
    for number, part in enumerate(parts):
        if number >= 2 and is_default(context, part):
            values.append(None)
            continue
        value = without_cast(context.expression(part)) if number == 2 else context.expression(part)
        values.append(as_dim3(value) if number < 2 else value)
    values += [None] * (4 - len(values))
    grid, block, shared, stream = values[:4]
    arguments = lower_arguments(context, operands[2:])
    context.graph.emit(
        Launch(
            name,
            grid if grid is not None else Unknown("grid"),
            block if block is not None else Unknown("block"),
            arguments,
            context.positions.span(cursor),
            shared,
            stream,
            key,
            through=None if isinstance(kernel, FunctionReference) else kernel,
        )
    )
    return Unknown("void")
