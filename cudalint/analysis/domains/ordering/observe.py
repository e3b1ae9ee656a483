"""The door for the path engine: what the host does between the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.analysis.domains.ordering import accesses, effects
from cudalint.analysis.engine.state import State
from cudalint.program import Expression, Launch, Operation, ScopeEnd
from cudalint.source import Span

if TYPE_CHECKING:
    from cudalint.analysis.interpreter.worklist import FunctionRun


def operation(run: FunctionRun, operation: Operation, state: State) -> None:
    """An operation is about to run: what does the host read and write, what is launched?"""
    if isinstance(operation, Launch):
        effects.launched(run, operation, state)
    elif isinstance(operation, ScopeEnd):
        effects.ended(run, operation.symbols, state)
    else:
        accesses.observe(run, operation, operation.span, state)


def read(run: FunctionRun, expression: Expression | None, span: Span, state: State) -> None:
    """A condition, or a value that is returned."""
    if expression is not None:
        accesses.observe(run, expression, span, state)
