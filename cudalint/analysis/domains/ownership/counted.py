"""Loops whose number of turns is written down (Python)."""

from __future__ import annotations

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.values.values import integer
from cudalint.program import Expression, Variable

_MOST_BOUNDS = 3


def never_empty(run: FunctionRun, iterable: Expression, state: State) -> bool:
    """Whether a loop goes over a ``range`` that is known to have an element."""
    made = run.flow.ranges.get(iterable.symbol) if isinstance(iterable, Variable) else None
    if made is None or not 0 < len(made.arguments) <= _MOST_BOUNDS:
        return False
    bounds: list[int] = []
    for given in made.arguments:
        bound = integer(run.evaluator.value(given.value, state))
        if bound is None or given.starred:
            return False
        bounds.append(bound)
    return 0 not in bounds[2:] and len(range(*bounds)) > 0
