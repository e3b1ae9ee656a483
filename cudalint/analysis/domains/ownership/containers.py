"""Lists joined to lists (Python): what both held, the result holds."""

from __future__ import annotations

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.values.values import Bag, Pointer, Sequence, Symbol
from cudalint.program import Assign, Binary


def joined(run: FunctionRun, operation: Assign, state: State) -> frozenset[Symbol]:
    """The resources in the list that ``a + b`` or ``a += b`` makes; none if these are no lists."""
    source = operation.value
    if not run.python or not isinstance(source, Binary) or source.operator != "+":
        return frozenset()
    found: set[Symbol] = set()
    lists = False
    for part in (source.left, source.right):
        value = run.evaluator.value(part, state)
        if isinstance(value, Pointer):
            return frozenset()
        location = run.evaluator.location(part, state)
        inner = [] if location is None else [v for key, v in state.below(location) if key[1:]]
        lists = lists or bool(inner) or isinstance(value, Sequence | Bag)
        found |= state.reachable([value, *inner])
    return frozenset(found) if lists else frozenset()
