"""Memory that is held while the program waits."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.domain import Domain
from cudalint.analysis.engine.evaluate import nbytes
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts.lifetimes import IdleHold
from cudalint.analysis.facts.resources import Site
from cudalint.analysis.shape.arguments import argument
from cudalint.analysis.shape.operations import calls, operands, operations, successors
from cudalint.analysis.values.values import Array, Value, constant, integer
from cudalint.program import (
    Branch,
    Call,
    Constant,
    Delete,
    Expression,
    Operation,
    ScopeEnd,
    Variable,
    variables,
)
from cudalint.source import Span

LEAST_BYTES = 64 * 1024**2
"""Below this nobody counts what is held."""
_DEVICE = ("device", "array", "managed")


class IdleLog:
    """What one function holds where it waits."""

    def __init__(self, run: FunctionRun) -> None:
        self.waits = any(
            (effect := run.models.lifetime_effect(call.name)) is not None and effect.waits
            for _, call in calls(run.function)
        )
        """Whether it waits anywhere."""
        self.holds: dict[tuple[str, Span], IdleHold] = {}


class Idle(Domain):
    """Notes what a path holds where it waits."""

    def operating(self, run: FunctionRun, operation: Operation, state: State) -> None:
        if isinstance(operation, Call) and run.log(IdleLog).waits:
            _waiting(run, operation, state)

    def keeps(self, run: FunctionRun, value: Value) -> bool:
        return isinstance(value, Array) and run.log(IdleLog).waits


def _waiting(run: FunctionRun, call: Call, state: State) -> None:
    """A path waits: note what it holds."""
    effect = run.models.lifetime_effect(call.name)
    if effect is None or effect.waits is None:
        return
    seconds: float | None = None
    if effect.waits != "forever" and not _endless(run):
        seconds = _seconds(run, call, effect.waits, state)
        if seconds is None:
            return
    wait = Site(run.filename, call.span, call.name)
    holds = run.log(IdleLog).holds
    for hold in _holds(run, wait, seconds, state):
        earlier = holds.get((hold.name, hold.span))
        longer = earlier is None or _length(earlier.seconds) < _length(seconds)
        if hold.bytes >= LEAST_BYTES and longer:
            holds[(hold.name, hold.span)] = hold


def _holds(run: FunctionRun, wait: Site, seconds: float | None, state: State) -> Iterator[IdleHold]:
    """What a path holds of known sizes."""
    for _, acquired in run.log(Recorder).held(state):
        size = integer(acquired.bytes)
        own = acquired.through is None and not acquired.managed
        if own and acquired.info.space in _DEVICE and size is not None:
            root = acquired.location[0] if acquired.location else None
            used = root is not None and _used_later(run, root)
            release = next(iter(acquired.info.releases), "")
            name, api, span = acquired.name, acquired.api, acquired.span
            yield IdleHold(name, api, span, size, wait, seconds, used, release)
    for location, value in state.values.items():
        root = location[0]
        if not isinstance(value, Array) or value.space != "device":
            continue
        made = run.made_by(value.origin.origin)
        size = integer(nbytes(value))
        if root.startswith(("%", "@")) or made is None or size is None:
            continue
        name = root.removeprefix("::")
        if len(location) > 1:
            name = f"self{location[1]}" if root == "this" else f"{name}{location[1]}"
        used = _used_later(run, root)
        yield IdleHold(name, made.name, made.span, size, wait, seconds, used)


def _length(seconds: float | None) -> float:
    return float("inf") if seconds is None else seconds


def _seconds(run: FunctionRun, call: Call, path: str, state: State) -> float | None:
    given = argument(call, path)
    if given is None:
        return None
    number = constant(run.evaluator.value(given, state))
    if isinstance(number, int | float):
        return float(number)
    return _duration(run, given)


def _duration(run: FunctionRun, given: Expression) -> float | None:
    """``std::chrono::seconds(600)``: the constant that the duration was made of."""
    if not isinstance(given, Variable):
        return None
    declared = run.evaluator.type_of(given)
    effect = run.models.lifetime_effect(declared.text) if declared is not None else None
    if effect is None or effect.unit is None:
        return None
    for _, call in calls(run.function):
        if call.receiver == given and call.kind == "constructor" and len(call.arguments) == 1:
            count = call.arguments[0].value
            if isinstance(count, Constant) and isinstance(count.value, int | float):
                return float(count.value) * effect.unit
    return None


def _endless(run: FunctionRun) -> bool:
    """Whether the wait stands in a loop without end that does nothing else."""
    for header in run.flow.enclosing.get(run.position.block, ()):
        body = run.flow.loops[header]
        leaves = any(
            target not in body for number in body for target in successors(run.flow.blocks[number])
        )
        condition = run.flow.blocks[header].terminator
        forever = not leaves or (
            isinstance(condition, Branch)
            and isinstance(condition.condition, Constant)
            and bool(condition.condition.value)
        )
        if forever and not any(_works(run, call) for _, call in calls(run.flow.body(header))):
            return True
    return False


def _works(run: FunctionRun, call: Call) -> bool:
    """Whether a call may be what the loop is there for."""
    effect = run.models.lifetime_effect(call.name)
    if effect is not None and effect.waits is not None:
        return False
    model = run.models.lookup(call.name)
    return model is None or model.may_throw is not False


def _used_later(run: FunctionRun, root: str) -> bool:
    """Whether anything after the wait reads the variable, releases aside."""
    here = (run.position.block, run.position.index)
    for at in operations(run.function):
        operation = at.operation
        if isinstance(operation, Delete | ScopeEnd):
            continue
        if isinstance(operation, Call):
            model = run.models.lookup(operation.name)
            if model is not None and model.releases:
                continue
        if not any(root in variables(part) for part in operands(operation)):
            continue
        if run.flow.reaches(*here, *at.place):
            return True
    ends = (getattr(block.terminator, "value", None) for block in run.function.blocks)
    return any(value is not None and root in variables(value) for value in ends)
