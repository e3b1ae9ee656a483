"""Which calls of a path can fail only by an error of the device, or one that came before.

After such an error the context is of no more use, and nothing in it can be released. A call that
waits reports nothing else (``ApiFunction.only_sticky``); others do so after what the path has seen:

- The last error is one of the device where each call since it was last asked for has been looked
  at, and each launch since has a configuration that no device refuses. A launch that is refused
  (``cudaErrorInvalidConfiguration``) leaves the context as it was. A grid that is empty where no
  memory is held either counts as one that none refuses.
- A device that was current can be chosen again.
- Memory that is there can be asked for.
"""

from __future__ import annotations

from typing import NamedTuple

from cudalint.analysis.domains.launches import dimensions
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.domain import Domain
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.subjects import Subjects
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.values.values import (
    ZERO,
    Const,
    Operation,
    Pointer,
    Polynomial,
    Symbol,
    Value,
    integer,
)
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
    if model.only_sticky:
        return True
    if model.reads_last_error:
        errors = state.part(_NONE)
        return not errors.doubtful and all(state.conditions.get(one) for one in errors.unread)
    if model.sticky_for is not None:
        return is_there(binding.value(model.sticky_for), state)
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
    """Whether every device accepts the configuration of a launch."""
    threads = [integer(one) for one in dimensions(run, launch.block, state)]
    shared = run.evaluator.value(launch.shared, state) if launch.shared is not None else ZERO
    amount = integer(shared)
    if amount is None or amount > _EVERY_DEVICE.default_shared or launch.least is not None:
        return False
    whole = 1
    for count, most in zip(threads, _EVERY_DEVICE.block, strict=True):
        if count is None or not 1 <= count <= most:
            return False
        whole *= count
    blocks = dimensions(run, launch.grid, state)
    return whole <= _EVERY_DEVICE.threads_per_block and all(
        _fits(run, count, most, state)
        for count, most in zip(blocks, _EVERY_DEVICE.grid, strict=True)
    )


def _fits(run: FunctionRun, count: Value | None, most: int, state: State) -> bool:
    number = integer(count) if count is not None else None
    if number is not None:
        return 1 <= number <= most
    if most == _EVERY_DEVICE.grid[0] and (covered := _covered(count)) is not None:
        held = [acquired.bytes for _, acquired in run.log(Recorder).held(state)]
        return all(_vanishes(size, covered) for size in held)
    return False


def _covered(count: Value | None) -> Value | None:
    """``n`` of ``(n + 255) / 256``: so many blocks are none only if there is none of that."""
    match count:
        case Operation("/", (Polynomial(terms), Const(value=int(size)))):
            rest = sum(factor for product, factor in terms if not product)
            products = [(product, factor) for product, factor in terms if product]
            if rest >= size - 1 and len(products) == 1:
                ((product, factor),) = products
                return product[0] if len(product) == 1 and factor > 0 else None
    return None


def _vanishes(size: Value | None, covered: Value) -> bool:
    """Whether an amount is 0 where a number is."""
    if isinstance(size, Polynomial):
        return all(covered in product for product, _ in size.terms)
    return size == covered
