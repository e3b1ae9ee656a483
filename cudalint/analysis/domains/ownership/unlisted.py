"""A table that is not the function's own is asked for a block, and does not list it."""

from __future__ import annotations

from cudalint.analysis.domains.ownership.escape import give_away
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.values.values import Input, Value, resources_in
from cudalint.program import Assign, Binary, Call, Expression, Variable


def look_up(run: FunctionRun, condition: Expression, truth: bool, state: State) -> None:
    """Where ``blocks_.find(block) == blocks_.end()``, the block is somebody else's: what a pool
    lists it also has made, and of other blocks nobody here knows who looks after them."""
    if run.python or not isinstance(condition, Binary):
        return
    if condition.operator not in ("==", "!=") or (condition.operator == "==") != truth:
        return
    asked = [_asked(run, side) for side in (condition.left, condition.right)]
    for sought, other in (asked, asked[::-1]):
        if sought is None or not sought.arguments or other is None or other.arguments:
            continue
        receiver = sought.receiver
        table = None if receiver is None else run.evaluator.location(receiver, state)
        block = run.evaluator.value(sought.arguments[0].value, state)
        if table is not None and not run.evaluator.is_local(table) and _is_pointer(run, block):
            give_away(run, [block], state)


def _asked(run: FunctionRun, side: Expression) -> Call | None:
    """The call of a container that an iterator comes from."""
    made = run.flow.only(side.symbol) if isinstance(side, Variable) else None
    if isinstance(made, Assign) and isinstance(made.value, Variable):
        made = run.flow.only(made.value.symbol)
    model = run.models.lookup(made.name) if isinstance(made, Call) else None
    iterates = model is not None and model.iterates and not model.removes
    return made if isinstance(made, Call) and iterates else None


def _is_pointer(run: FunctionRun, value: Value) -> bool:
    if isinstance(value, Input):
        return run.evaluator.kind(value.location) == "pointer"
    return bool(resources_in(value))
