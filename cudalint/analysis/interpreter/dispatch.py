"""Which class an object is of: what runs at a virtual call, and where an object is deleted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from cudalint.analysis.domains.ownership import objects
from cudalint.analysis.domains.ownership.objects import CLASS
from cudalint.analysis.engine.run import FunctionRun, Next, Raised
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.shape.operations import successors
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.values.values import Const, Input, Operation, Symbol, Value, resources_in
from cudalint.program import THIS, Branch, Expression

Ran = TypeVar("Ran", bound=Hashable)

MOST_CLASSES = 8
"""Classes that are told apart where it is not known of which one an object is."""


def by_class(
    run: FunctionRun,
    place: Expression,
    record: str,
    state: State,
    runs: Callable[[str], Ran],
) -> list[tuple[Ran | None, State]]:
    """What runs for an object of a class, or of one derived from it, and in which states; ``None``:
    nobody can say."""
    if place == THIS and run.function.kind in ("constructor", "destructor"):
        return [(runs(run.function.record or record), state)]  # the rest of it is not, or no more
    location = run.evaluator.location(place, state)
    declared = None if location is None else objects.declared_class(run, location)
    if declared is not None:
        return [(runs(declared), state)]
    value = None if location is None else state.read((*location, CLASS))
    value = state.equal.get(value, value) if value is not None else None
    if isinstance(value, Const) and isinstance(value.value, str):
        return [(runs(value.value), state)]
    groups: dict[Ran, list[str]] = defaultdict(list)
    for one in run.symbols.concrete(record):
        groups[runs(one)].append(one)
    if len(groups) == 1:
        return [(next(iter(groups)), state)]
    most = max(groups, key=lambda one: len(groups[one]), default=None)
    told = [(one, key) for key, classes in groups.items() if key != most for one in classes]
    if most is None or not isinstance(value, Input) or len(told) >= MOST_CLASSES:
        return [(None, state)]
    found: list[tuple[Ran | None, State]] = []
    answers = {one: Operation("==", (value, Const(one))) for one, _ in told}
    for chosen, ran in (*told, (None, most)):
        forks = [state.copy()]
        for one, answer in answers.items():
            forks = [
                after
                for fork in forks
                for after in run.conditions.assume(fork, answer, one == chosen)
            ]
        for fork in forks:
            # Also what follows from the class: it still holds where paths of several classes meet.
            fork.conditions.update({answers[one]: one == chosen for one in answers})
            found.append((ran, fork))
    return found


def asked_class(condition: Value) -> Value | None:
    """The object's class, where a condition asks for that."""
    if isinstance(condition, Operation) and condition.operator == "==":
        asked = condition.operands[0]
        if isinstance(asked, Input) and asked.location[-1] == CLASS:
            return asked
        if isinstance(asked, Operation) and asked.operator == CLASS:
            return asked
    return None


def left_open(run: FunctionRun, before: State, ways: Sequence[Sequence[Next]]) -> list[State]:
    """Nobody knows which of several methods has run: what some release, and others do not, may be
    owned by somebody or by nobody from here on. What nothing reads any more nobody releases; and
    where those that release say so, who asks knows. Gives the states in which somebody has asked,
    beside those of the ways."""
    each = [list(_states(way)) for way in ways if way]
    asking = {id(one) for way in ways for one in way}
    told: list[State] = []
    for resource in before.resources:
        ends = [{state.status(resource) is Status.RELEASED for state in states} for states in each]
        states = [state for states in each for state in states]
        differ = any(end != ends[0] for end in ends)
        if not differ or not any(_is_read(run, state, resource) for state in states):
            continue
        flag = _flag(run, before, states, resource)
        for state in (*states, *told):
            if flag is None or id(state) not in asking:
                state.set_status(resource, Status.ESCAPED)
            elif state.status(resource) is not Status.RELEASED:
                knowing = _asked(run, flag, state, resource)
                if knowing:
                    asking.remove(id(state))
                    asking.update(map(id, knowing))
                    told += knowing
    return told


def _flag(
    run: FunctionRun, before: State, states: Sequence[State], resource: Symbol
) -> tuple[Expression, bool] | None:
    """What is asked after a call before a resource is read, and the answer with which it is: the
    ways that release it, and they alone, have seen to the other one (``if (!step.done)``)."""
    kept = {place[0] for place, value in before.values.items() if resource in resources_in(value)}
    released = [state for state in states if state.status(resource) is Status.RELEASED]
    blocks, here = run.flow.blocks, run.position.block
    for number in sorted(closure([here], lambda number: successors(blocks[number]))):
        branch = blocks[number].terminator
        if not isinstance(branch, Branch):
            continue
        reads = [bool(kept & run.flow.live[side]) for side in (branch.then, branch.otherwise)]
        if reads[0] == reads[1]:
            continue
        asked = [run.evaluator.value(branch.condition, state) for state in (before, *released)]
        first, *others = zip((before, *released), asked, strict=True)
        if _may_be(run, *first, reads[0]) and not any(
            _may_be(run, state, value, reads[0]) for state, value in others
        ):
            return branch.condition, reads[0]
    return None


def _may_be(run: FunctionRun, state: State, value: Value, truth: bool) -> bool:
    return bool(run.conditions.assume(state.copy(), value, truth))


def _asked(
    run: FunctionRun, flag: tuple[Expression, bool], state: State, resource: Symbol
) -> list[State]:
    """A way that has not released a resource: who asks whether one has reads it, if this way has
    not answered that itself; who does not may have it from somebody else."""
    condition, reads = flag
    value = run.evaluator.value(condition, state)
    owned = run.conditions.assume(state.copy(), value, reads)
    if owned and _may_be(run, state, value, not reads):
        run.conditions.assume(state, value, not reads)
        state.set_status(resource, Status.ESCAPED)
        return owned
    return []


def _is_read(run: FunctionRun, state: State, resource: Symbol) -> bool:
    """Whether anything that leads to a resource may be read after the call that runs now."""
    return any(
        resource in state.reachable([value])
        for location, value in state.values.items()
        if run.reads_later(location[0]) or not run.evaluator.is_local(location)
    )


def _states(way: Iterable[Next]) -> Iterator[State]:
    return (one.state if isinstance(one, Raised) else one for one in way)
