"""Whether an array is on the device, by the chain of methods that leads to it (Python)."""

from __future__ import annotations

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.values.values import Array
from cudalint.program import (
    Assign,
    Binary,
    Call,
    Expression,
    Index,
    Member,
    Slice,
    Variable,
)

_MOST_STEPS = 8


def on_device(run: FunctionRun, expression: Expression, state: State, steps: int = 0) -> bool:
    """Whether an expression is computed from a device array by methods that leave it there."""
    if not run.python or steps > _MOST_STEPS:
        return False
    value = run.evaluator.value(expression, state)
    if isinstance(value, Array):
        return value.space == "device"
    match expression:
        case Member(base=base) | Index(base=base) | Slice(base=base):
            return on_device(run, base, state, steps + 1)
        case Binary(left=left, right=right):
            return any(on_device(run, side, state, steps + 1) for side in (left, right))
        case Variable(symbol=symbol):
            found = run.flow.definitions.get(symbol, [])
            made = found[0] if len(found) == 1 else None
            if isinstance(made, Assign):
                return on_device(run, made.value, state, steps + 1)
            if isinstance(made, Call) and made.receiver is not None:
                model = run.models.lookup(made.name)
                moves = model is not None and model.returns is not None
                if moves and model.returns.space != "same":  # type: ignore[union-attr]
                    return model.returns.space == "device"  # type: ignore[union-attr]
                return on_device(run, made.receiver, state, steps + 1)
    return False
