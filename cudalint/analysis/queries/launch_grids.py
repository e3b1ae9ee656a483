"""Grids of as many blocks as whole ones fit into an amount: the rest gets no thread (Python).
Grids whose second axis, which takes 65535 blocks, is as long as some data (CUDA C++)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts.launches import RoundedGrid, TallGrid
from cudalint.analysis.shape.arguments import bindings
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.counts import is_bounded
from cudalint.analysis.shape.operations import calls, expressions, operations
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.shape.walk import plain
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

_LIMITS = (65535, 65536)


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


def tall_grids(run: FunctionRun) -> tuple[TallGrid, ...]:
    """The launches with a block for each row and column of what is as large as a caller wants, in
    a function that knows of no limit."""
    if run.python or any(
        isinstance(part, Constant) and isinstance(part.value, int) and part.value in _LIMITS
        for expression in expressions(run.function)
        for part in walk(expression)
    ):
        return ()
    found = []
    parameters = {parameter.symbol for parameter in run.function.parameters}
    for at in operations(run.function):
        one = at.operation
        axes = _dimensions(run, one.grid) if isinstance(one, Launch) else ()
        if isinstance(one, Launch) and len(axes) > 1 and all(_is_given(run, a) for a in axes[:2]):
            names = run.flow.sources(variables(axes[1]))
            if is_bounded(names & parameters, run.flow, expressions(run.function)):
                continue
            found.append(TallGrid(one.kernel, one.span, run.show(axes[1])))
    return tuple(found)


def _dimensions(run: FunctionRun, grid: Expression) -> tuple[Expression, ...]:
    """What a grid is made of."""
    shape = _value(run, grid)
    for _, call in calls(run.function):
        if call.kind == "constructor" and call.receiver == shape and isinstance(shape, Variable):
            return tuple(argument.value for argument in call.arguments)
    return shape.items if isinstance(shape, Tuple) else ()


def _is_given(run: FunctionRun, amount: Expression) -> bool:
    """Whether an amount is an argument, or what an object says of itself."""
    if not isinstance(amount, Variable):
        return False
    parameters = run.function.parameters
    only = run.flow.only(amount.symbol)
    for one in parameters:
        if one.symbol == amount.symbol:
            sites = run.symbols.memo(CallGraph).sites(identity(run.function))
            given_here = (bindings(site.call, parameters) for site in sites)
            known = any(isinstance(plain(g.get(one.symbol, amount)), Constant) for g in given_here)
            return one.type.kind == "integer" and only is None and not known
    if isinstance(only, Assign):
        return _is_given(run, only.value)
    return (
        isinstance(only, Call)
        and only.receiver is not None
        and all(isinstance(argument.value, Constant) for argument in only.arguments)
    )


def _launches(run: FunctionRun) -> Iterator[tuple[str, Expression, Expression, Span]]:
    """The launches of kernels out of sight: also calls of what may be one, in a file that makes
    kernels, with a grid, a block and arguments."""
    for at in operations(run.function):
        one = at.operation
        if isinstance(one, Launch):
            if run.symbols.kernel(one.kernel_key, one.kernel, run.filename) is None:
                yield one.kernel, one.grid, one.block, one.span
        elif isinstance(one, Call) and one.kind == "indirect" and one.callee is not None:
            values = [argument.value for argument in one.arguments if argument.keyword is None]
            given = len(values) >= 3 and all(isinstance(value, Tuple) for value in values[:3])
            if given and _makes_kernels(run):
                yield run.show(one.callee), values[0], values[1], one.span


def _makes_kernels(run: FunctionRun) -> bool:
    return any(
        (model := run.models.kernel_model(call.name)) is not None and model.makes == "kernel"
        for function in run.program.functions
        for _, call in calls(function)
    )


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
