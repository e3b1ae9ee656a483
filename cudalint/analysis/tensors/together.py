"""Whether one turn of a loop keeps a value and computes its gradient, too."""

from __future__ import annotations

from typing import NamedTuple

from cudalint.analysis.shape.operations import At, defined, operations, successors
from cudalint.analysis.shape.places import is_inside, place
from cudalint.analysis.tensors.records import position_of
from cudalint.analysis.tensors.view import Loop, View
from cudalint.program import Branch, Expression, Unary, Variable, walk

_MOST_STATES = 4000


class _Turn(NamedTuple):
    """How far a turn of the loop has come."""

    block: int
    asked: frozenset[tuple[str, bool]]
    """The answers to what the loop does not change."""
    holds: bool = False
    """The variable has the value."""
    kept: bool = False
    differentiated: bool = False


def in_one_turn(
    view: View, loop: Loop, made: int, kept: tuple[int, Expression], backward: int
) -> bool:
    """Whether a turn may compute a value, keep it and compute its gradient, in this order or the
    last two the other way round; what is asked twice is answered alike."""
    at, expression = kept
    name = place(expression)
    inside = made > 0 and all(position_of(one)[0] in loop.body for one in (made, at, backward))
    if not inside or name is None or not isinstance(expression, Variable):
        return True
    changed = {place(getattr(one.operation, "target", None)) for one in _inside(view, loop)}
    pending = [_Turn(loop.header, frozenset())]
    seen = set(pending)
    while pending:
        turn = _run(view, pending.pop(), made, at, name, backward)
        if turn.kept and turn.differentiated:
            return True
        for block, asked in _next(view, turn, changed):
            following = turn._replace(block=block, asked=asked)
            if block != loop.header and block in loop.body and following not in seen:
                seen.add(following)
                pending.append(following)
        if len(seen) > _MOST_STATES:
            return True
    return False


def _inside(view: View, loop: Loop) -> list[At]:
    return list(operations(view.flow.body(loop.header)))


def _run(view: View, turn: _Turn, made: int, at: int, name: str, backward: int) -> _Turn:
    """A turn after the operations of a block."""
    holds, kept, differentiated = turn.holds, turn.kept, turn.differentiated
    for index, operation in enumerate(view.function.blocks[turn.block].operations):
        here = (turn.block, index)
        kept = kept or (here == position_of(at) and holds)
        differentiated = differentiated or here == position_of(backward)
        if here == position_of(made):
            holds = True
        elif defined(operation) == name:
            holds = False
    return turn._replace(holds=holds, kept=kept, differentiated=differentiated)


def _next(
    view: View, turn: _Turn, changed: set[str | None]
) -> list[tuple[int, frozenset[tuple[str, bool]]]]:
    """Where a turn may go on, and what has been answered then."""
    block = view.function.blocks[turn.block]
    branch = block.terminator
    if not isinstance(branch, Branch):
        return [(number, turn.asked) for number in successors(block)]
    condition, yes = branch.condition, True
    while isinstance(condition, Unary) and condition.operator == "!":
        condition, yes = condition.operand, not yes
    question = place(condition)
    if question is None or _may_change(condition, changed):
        return [(number, turn.asked) for number in successors(block)]
    ways = ((branch.then, yes), (branch.otherwise, not yes))
    return [
        (number, turn.asked | {(question, answer)})
        for number, answer in ways
        if (question, not answer) not in turn.asked
    ]


def _may_change(condition: Expression, changed: set[str | None]) -> bool:
    names = [name for part in walk(condition) if (name := place(part)) is not None]
    return any(is_inside(one, other) for one in names for other in changed if other is not None)
