"""Members that a method renews on one way without a look at what they hold, and releases on
another: it knows that they may hold something, and what decides between the ways does not say that
they are empty here.

    if (count == 0) { cudaFree(data_); data_ = nullptr; }
    else cudaMalloc(&data_, count * sizeof(float));
"""

from __future__ import annotations

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import Site
from cudalint.analysis.shape.callgraph import only_side
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.values.values import Location
from cudalint.program import (
    THIS,
    Binary,
    Branch,
    Constant,
    Expression,
    Member,
    Unary,
    Variable,
    walk,
)
from cudalint.source import Span


def released_on_another_way(run: FunctionRun, member: Location, acquired: Span) -> Site | None:
    """Where a way through a method releases what it renews on one that does not ask."""
    spans = run.log(Recorder).released_inputs.get(member, set())
    own = [at.block for at, call in calls(run.function) if call.span == acquired]
    for release in (
        one
        for other in run.outcomes
        if other.kind == "return" and other.failure is None
        for one in other.released
        if one.location == member
    ):
        blocks = [at.block for at, call in calls(run.function) if call.span in spans]
        if own and blocks and all(_says_nothing(run, one, own, member) for one in blocks):
            return Site(release.step.filename, release.step.span, release.api)
    return None


def _says_nothing(run: FunctionRun, released: int, acquired: list[int], member: Location) -> bool:
    """Whether what decides for a release, and not for the acquisition, is what the method is given:
    a member may say that the other one is empty, unless it is as large as an argument."""
    given = {one.symbol for one in run.function.parameters}
    name = str(member[-1]).removeprefix(".")
    for block in run.function.blocks:
        end = block.terminator
        if not isinstance(end, Branch):
            continue
        side = only_side(run.function, block.number, released)
        if side and not side.issuperset(acquired) and not _is_given(end.condition, given, name):
            return False
    return True


def _is_given(condition: Expression, given: set[str], name: str) -> bool:
    """Whether a condition is of arguments, of the member itself, and of members equal to these."""
    match condition:
        case Unary(operator="!", operand=inner):
            return _is_given(inner, given, name)
        case Binary(operator="&&" | "||", left=left, right=right):
            return _is_given(left, given, name) and _is_given(right, given, name)
        case Binary(operator="==" | "!=", left=left, right=right):
            sides = (left, right)
            if any(isinstance(one, Variable) and one.symbol in given for one in sides):
                return all(isinstance(one, Constant | Variable) or _is_own(one) for one in sides)
        case _:
            pass
    for part in walk(condition):
        if isinstance(part, Variable) and part != THIS and part.symbol not in given:
            return False
        if isinstance(part, Member) and not (_is_own(part) and part.place == name):
            return False
    return True


def _is_own(place: Expression) -> bool:
    return isinstance(place, Member) and place.base == THIS
