"""What follows the paths beside the engine: a domain hears of events, and keeps a log of its own.

The engine knows no domain. The interpreter tells all of them what happens, in a fixed order; a
domain keeps what belongs to one path in a part of the state (``State.part``), and what it saw on
all paths in a log (``FunctionRun.log``). Each event does nothing unless a domain says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.values.values import Value
from cudalint.apis.model import ApiFunction
from cudalint.program import Call, Expression, Function, Operation
from cudalint.source import Span


class Domain:
    """The events of a path, in the order in which they come."""

    def operating(self, run: FunctionRun, operation: Operation, state: State) -> None:
        """An operation is about to run."""

    def reading(self, run: FunctionRun, expression: Expression, span: Span, state: State) -> None:
        """A condition, or a value that is returned, is evaluated."""

    def calling_modelled(
        self, run: FunctionRun, call: Call, name: str, model: ApiFunction, state: State
    ) -> None:
        """A call is about to be made whose model says what it does."""

    def calling_defined(
        self, run: FunctionRun, call: Call, definition: Function, state: State
    ) -> None:
        """It is one of a function of the run."""

    def calling_unknown(self, run: FunctionRun, call: Call, name: str, state: State) -> None:
        """Nothing is known of the callee."""

    def modelled(
        self, run: FunctionRun, binding: Binding, name: str, model: ApiFunction, state: State
    ) -> None:
        """A modelled call takes effect; what it releases is released already."""

    def called(self, run: FunctionRun, call: Call, states: Sequence[State]) -> None:
        """A call came back, in some states."""

    def cut(self, run: FunctionRun) -> None:
        """Not all paths of a function were followed: what else it does is not known."""

    def keeps(self, run: FunctionRun, value: Value) -> bool:
        """Whether a value matters though nothing reads its variable any more."""
        return False
