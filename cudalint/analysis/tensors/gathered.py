"""Whether a comprehension only gathers what something already holds, which prolongs no life."""

from __future__ import annotations

from cudalint.analysis.shape.places import place
from cudalint.analysis.tensors.keeping import Keeping
from cudalint.analysis.tensors.records import Form, Record
from cudalint.analysis.tensors.view import View
from cudalint.program import EACH, Assign, Call, Constant, Expression, Index, Member, Slice

_MOST_DEPTH = 8


def is_gathered(view: View, keeping: Keeping) -> bool:
    """Whether a comprehension keeps elements of what its loop goes over, parts or views of them."""
    return keeping.symbol.startswith("%") and _is_taken(view, keeping.origin, keeping.value, 0)


def _is_taken(view: View, origin: int, expression: Expression, depth: int) -> bool:
    while isinstance(expression, Member | Index | Slice):
        if isinstance(expression, Index) and expression.index == EACH:
            return all(
                _is_there(view, one) for one in _made(view, origin, expression.base).values()
            )
        expression = expression.base
    made = _made(view, origin, expression)
    return (
        bool(made)
        and depth < _MOST_DEPTH
        and all(
            record is not None and _is_view(view, before, record, depth)
            for before, record in made.items()
        )
    )


def _made(view: View, origin: int, expression: Expression) -> dict[int, Record | None]:
    """What made a variable, as far as operations of the function did."""
    held = view.state_before(origin).values.get(place(expression) or "")
    return {one: view.records.get(one) for one in held.origins} if held is not None else {}


def _is_view(view: View, origin: int, record: Record, depth: int) -> bool:
    operation, effect = record.operation, record.effect
    if isinstance(operation, Assign):
        return _is_taken(view, origin, operation.value, depth + 1)
    if not isinstance(operation, Call) or operation.receiver is None:
        return False
    plain = all(isinstance(one.value, Constant) for one in operation.arguments)
    follows = effect is not None and effect.gradient == "follows"
    return plain and follows and _is_taken(view, origin, operation.receiver, depth + 1)


def _is_there(view: View, record: Record | None) -> bool:
    """Whether a loop goes over what is there as a whole: not over what a generator, or a call out
    of sight that may be one, makes one by one."""
    if record is None or record.form is not Form.CALL or not isinstance(record.operation, Call):
        return True
    callee = view.run.callee(view.function, record.operation)
    if callee is not None:
        return not callee.is_generator
    return record.operation.name.startswith("builtins.")
