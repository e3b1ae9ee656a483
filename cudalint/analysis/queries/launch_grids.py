"""Grids of as many blocks as whole ones fit into an amount: the rest gets no thread (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts.launches import RoundedGrid
from cudalint.analysis.shape.operations import calls, expressions, operations
from cudalint.program import (
    Assign,
    Binary,
    Call,
    Constant,
    Expression,
    Launch,
    Tuple,
    Variable,
    variables,
    walk,
)
from cudalint.source import Span


def rounded_grids(run: FunctionRun) -> tuple[RoundedGrid, ...]:
    """The launches whose grid is an amount divided by the block, and rounded down. Where the
    function asks for the rest, it knows."""
    if not run.python:
        return ()
    found = []
    for kernel, grid, block, span in _launches(run):
        for one, threads in zip(_axes(run, grid), _axes(run, block), strict=False):
            quotient = _quotient(run, one, threads)
            if quotient is not None and not _minds(run, one, quotient):
                text = run.show(quotient)
                found.append(RoundedGrid(kernel, span, text, run.show(quotient.left)))
    return tuple(found)


def _launches(run: FunctionRun) -> Iterator[tuple[str, Expression, Expression, Span]]:
    """The launches of kernels out of sight: also calls of what may be one, in a file that makes
    kernels, with a grid, a block and arguments."""
    makes = any(
        (model := run.models.kernel_model(call.name)) is not None and model.makes == "kernel"
        for function in run.program.functions
        for _, call in calls(function)
    )
    for at in operations(run.function):
        one = at.operation
        if isinstance(one, Launch):
            if run.symbols.kernel(one.kernel_key, one.kernel, run.filename) is None:
                yield one.kernel, one.grid, one.block, one.span
        elif isinstance(one, Call) and one.kind == "indirect" and makes and one.callee is not None:
            values = [argument.value for argument in one.arguments if argument.keyword is None]
            if len(values) >= 3 and all(isinstance(value, Tuple) for value in values[:3]):
                yield run.show(one.callee), values[0], values[1], one.span


def _axes(run: FunctionRun, shape: Expression) -> tuple[Expression, ...]:
    shape = _value(run, shape)
    return shape.items if isinstance(shape, Tuple) else (shape,)


def _value(run: FunctionRun, expression: Expression) -> Expression:
    """What a variable holds, if only one line says so."""
    only = run.flow.only(expression.symbol) if isinstance(expression, Variable) else None
    return only.value if isinstance(only, Assign) else expression


def _quotient(run: FunctionRun, blocks: Expression, threads: Expression) -> Binary | None:
    """The quotient that a number of blocks is, or the larger one of it and 1."""
    only = run.flow.only(blocks.symbol) if isinstance(blocks, Variable) else None
    parts = [blocks]
    if isinstance(only, Call) and only.name.startswith("builtins."):
        given = [argument.value for argument in only.arguments]
        parts = [value for value in given if value != Constant(1)]
    value = _value(run, parts[0]) if len(parts) == 1 else None
    if (
        isinstance(value, Binary)
        and value.operator == "//"
        and _value(run, value.right) == _value(run, threads)
        and not isinstance(amount := _value(run, value.left), Binary | Constant)
        and variables(amount)
    ):
        return value
    return None


def _minds(run: FunctionRun, blocks: Expression, quotient: Binary) -> bool:
    """Whether the function asks for the rest, or goes on computing with the number of blocks."""
    named = variables(blocks) if isinstance(blocks, Variable) else set()
    return any(
        isinstance(part, Binary)
        and (
            (part.operator == "%" and variables(part.left) & variables(quotient.left))
            or (part.operator in ("*", "+", "-") and variables(part) & named)
        )
        for expression in expressions(run.function)
        for part in walk(expression)
    )
