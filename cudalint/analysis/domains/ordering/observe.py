"""The door for the interpreter: what streams, and the host between the calls, do."""

from __future__ import annotations

from cudalint.analysis.domains.ordering import accesses, effects
from cudalint.analysis.engine.domain import Domain
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.apis.model import ApiFunction
from cudalint.program import Call, Expression, Function, Launch, Operation, ScopeEnd
from cudalint.source import Span


class Ordering(Domain):
    """Keeps what the host has not waited for."""

    def operating(self, run: FunctionRun, operation: Operation, state: State) -> None:
        if isinstance(operation, Launch):
            effects.launched(run, operation, state)
        elif isinstance(operation, ScopeEnd):
            effects.ended(run, operation.symbols, state)
        else:
            accesses.observe(run, operation, operation.span, state)

    def reading(self, run: FunctionRun, expression: Expression, span: Span, state: State) -> None:
        accesses.observe(run, expression, span, state)

    def calling_modelled(
        self, run: FunctionRun, call: Call, name: str, model: ApiFunction, state: State
    ) -> None:
        effects.modelled(run, call, name, model, state)

    def calling_defined(
        self, run: FunctionRun, call: Call, definition: Function, state: State
    ) -> None:
        effects.in_run(run, call, definition, state)

    def calling_unknown(self, run: FunctionRun, call: Call, name: str, state: State) -> None:
        effects.out_of_sight(run, call, name, state)
