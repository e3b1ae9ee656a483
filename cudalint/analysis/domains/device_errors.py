"""Which calls of a path can fail only by an error of the device, or one that came before.

After such an error the context is of no more use, and nothing in it can be released. Whoever waits,
copies, fills or launches is told of nothing else, if the arguments are right
(``ApiFunction.only_sticky``); others are so after what the path has seen:

- The last error is one of the device where each call since it was last asked for has been looked
  at, or reports nothing else, and no launch since is known to be refused
  (``cudaErrorInvalidConfiguration``), which leaves the context as it was.
- A device that was current can be chosen again.
- Memory that is there can be asked for.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cudalint.analysis.domains.launches import dimensions
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.conditions import OF_DEVICE
from cudalint.analysis.engine.domain import Domain
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.subjects import Subjects
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.values.values import Pointer, Symbol, Value, integer
from cudalint.apis.model import ApiFunction
from cudalint.findings.rule import Limits
from cudalint.program import Call, Function, Launch, render, variables
from cudalint.program import Operation as ProgramOperation

_EVERY_DEVICE = Limits()
"""What every device accepts."""


class Errors(NamedTuple):
    """What one path knows of its earlier calls."""

    unread: frozenset[Symbol] = frozenset()
    """The statuses of those that were made since the last error was asked for."""
    doubtful: bool = False
    """Something else since then may have left an error."""
    chosen: tuple[tuple[Symbol, Value], ...] = ()
    """The devices that were chosen, each with the status of that."""

    def join(self, other: Errors) -> Errors:
        """What either path may have left; what both have chosen."""
        return Errors(
            self.unread | other.unread,
            self.doubtful or other.doubtful,
            tuple(one for one in self.chosen if one in other.chosen),
        )


_NONE = Errors()


class DeviceErrors(Domain):
    """Notes what may leave an error that is none of the device."""

    def operating(self, run: FunctionRun, operation: ProgramOperation, state: State) -> None:
        if isinstance(operation, Launch) and not _is_accepted(run, operation, state):
            _doubt(state)

    def calling_defined(
        self, run: FunctionRun, call: Call, definition: Function, state: State
    ) -> None:
        if identity(definition) in run.symbols.memo(Subjects).dealing:
            _doubt(state)

    def calling_unknown(self, run: FunctionRun, call: Call, name: str, state: State) -> None:
        if call.kind == "operator" or not run.models.never_waits(name):
            _doubt(state)


def _doubt(state: State) -> None:
    state.keep(state.part(_NONE)._replace(doubtful=True))


def only_of_device(run: FunctionRun, binding: Binding, model: ApiFunction, state: State) -> bool:
    """Whether a call that is about to be made fails only so."""
    if model.only_sticky or model.copies or model.sets or model.launches:
        return True
    if model.reads_last_error:
        errors = state.part(_NONE)
        return not errors.doubtful and all(
            one.origin.startswith(OF_DEVICE) or state.conditions.get(one) for one in errors.unread
        )
    if model.asks_about is not None:
        return is_there(binding.value(model.asks_about), state)
    if model.selects_device and binding.call.arguments:
        return _was_chosen(run, binding.call, state)
    return False


def is_there(value: Value | None, state: State) -> bool:
    """Whether a value is a pointer to memory that has been acquired on a path."""
    return isinstance(value, Pointer) and state.status(value.resource) is Status.OWNED


def answered(
    run: FunctionRun, binding: Binding, model: ApiFunction, status: Symbol, state: State
) -> None:
    """A call has been made that answers with a status."""
    errors = state.part(_NONE)
    if model.reads_last_error:
        errors = errors._replace(unread=frozenset(), doubtful=False)
    elif status in errors.unread:
        # In a loop: what the call before has answered is not known any more.
        errors = errors._replace(doubtful=True)
    if model.selects_device and binding.call.arguments:
        value = run.evaluator.value(binding.call.arguments[0].value, state)
        others = tuple(one for one in errors.chosen if one[0] != status)
        errors = errors._replace(chosen=(*others, (status, value)))
    state.keep(errors._replace(unread=errors.unread | {status}))


def _was_chosen(run: FunctionRun, call: Call, state: State) -> bool:
    """Whether a device has been current before."""
    argument = call.arguments[0].value
    value = run.evaluator.value(argument, state)
    if any(chosen == value and state.conditions.get(status) for status, chosen in _chosen(state)):
        return True
    if isinstance(value, Symbol):
        asked = run.made_by(value.origin)
        model = run.models.lookup(asked.name) if asked is not None else None
        if model is not None and model.tells_device:
            return True
    return _was_chosen_by_a_loop(run, call)


def _chosen(state: State) -> tuple[tuple[Symbol, Value], ...]:
    return state.part(_NONE).chosen


def _was_chosen_by_a_loop(run: FunctionRun, call: Call) -> bool:
    """Whether an earlier loop has chosen each device that this one goes over."""
    here = (run.position.block, run.position.index)
    loops = run.flow.enclosing.get(here[0], ())
    shown = render(call.arguments[0].value)
    return bool(loops and variables(call.arguments[0].value)) and any(
        other.name == call.name
        and other.arguments
        and render(other.arguments[0].value) == shown
        and run.flow.enclosing.get(at.block, ())
        and not set(loops) & set(run.flow.enclosing[at.block])
        and run.flow.reaches(*at.place, *here)
        and not run.flow.reaches(*here, *at.place)
        and run.conditions.looked_at(call.name, *at.place)
        for at, other in calls(run.function)
    )


# Launches ---------------------------------------------------------------------------------------


def _is_accepted(run: FunctionRun, launch: Launch, state: State) -> bool:
    """Whether no device is known to refuse the configuration of a launch."""
    threads = dimensions(run, launch.block, state)
    counts = [
        integer(count) if count is not None else None
        for count in (*dimensions(run, launch.grid, state), *threads)
    ]
    limits = (*_EVERY_DEVICE.grid, *_EVERY_DEVICE.block)
    whole = math.prod(count or 1 for count in counts[-len(threads) :])
    return whole <= _EVERY_DEVICE.threads_per_block and all(
        count is None or 1 <= count <= most for count, most in zip(counts, limits, strict=True)
    )
