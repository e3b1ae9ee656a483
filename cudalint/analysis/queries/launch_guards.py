"""Tests of functions that nobody calls, where launches depend on what they choose (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts.launches import UncalledGuard
from cudalint.analysis.shape.operations import calls, operands, operations
from cudalint.program import (
    Assign,
    Branch,
    Conditional,
    Expression,
    FunctionReference,
    Launch,
    Unary,
    Variable,
    variables,
    walk,
)
from cudalint.source import Span


def uncalled_guards(run: FunctionRun) -> tuple[UncalledGuard, ...]:
    """The tests that always choose the same for a launch: a function is true."""
    if not run.python:
        return ()
    launches = [
        (at.operation, run.flow.sources(variables_of(at.operation)))
        for at in operations(run.function)
        if isinstance(at.operation, Launch)
    ]
    found = []
    for guard, span, chosen in _choices(run) if launches else ():
        dependent = [launch for launch, made_from in launches if not made_from.isdisjoint(chosen)]
        if dependent and _is_called(run, guard):
            name = min(chosen & run.flow.sources(variables_of(dependent[0])))
            found.append(
                UncalledGuard(guard.name, span, name, dependent[0].kernel, dependent[0].span)
            )
    return tuple(found)


def variables_of(launch: Launch) -> set[str]:
    """The variables that a launch reads."""
    return {symbol for part in operands(launch) for symbol in variables(part)}


def _choices(run: FunctionRun) -> Iterator[tuple[FunctionReference, Span, set[str]]]:
    """The functions that a function tests, where, and what it assigns because of it and differently
    otherwise."""
    for block in run.function.blocks:
        branch = block.terminator
        if isinstance(branch, Branch) and (guard := _tested(branch.condition)) is not None:
            one, other = (
                {
                    operation.target.symbol
                    for operation in run.function.blocks[number].operations
                    if isinstance(operation, Assign) and isinstance(operation.target, Variable)
                }
                for number in (branch.then, branch.otherwise)
            )
            assigned = {
                symbol for symbol in one | other if len(run.flow.definitions.get(symbol, ())) > 1
            }
            yield guard, branch.span, assigned
    for at in operations(run.function):
        if isinstance(at.operation, Assign) and isinstance(at.operation.target, Variable):
            for part in walk(at.operation.value):
                if isinstance(part, Conditional) and (guard := _tested(part.condition)) is not None:
                    yield guard, at.operation.span, {at.operation.target.symbol}


def _tested(condition: Expression) -> FunctionReference | None:
    if isinstance(condition, Unary) and condition.operator == "!":
        condition = condition.operand
    return condition if isinstance(condition, FunctionReference) else None


def _is_called(run: FunctionRun, guard: FunctionReference) -> bool:
    """Whether a name is that of a function: the file calls it elsewhere. Where a module handles
    exceptions, an import may have failed, and the name may be ``None``."""
    functions = run.program.functions
    optional = any(one.kind == "module" and one.handlers for one in functions)
    return not optional and any(
        call.name == guard.name for one in functions for _, call in calls(one)
    )
