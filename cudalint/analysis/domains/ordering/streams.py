"""Tells streams apart."""

from __future__ import annotations

from cudalint.analysis.domains.ordering.log import OrderingLog
from cudalint.analysis.domains.ordering.order import Order, Pending
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.values.values import Const, Pointer, Value, integer
from cudalint.program import Expression

DEFAULT: Value = Const("the default stream")
_LEGACY = 1
"""``cudaStreamLegacy``; 2, ``cudaStreamPerThread``, stays a stream of its own."""


def stream_of(run: FunctionRun, expression: Expression | None, state: State) -> Value:
    """The stream that an argument names; the default stream where there is none."""
    if expression is None:
        return DEFAULT
    value = run.evaluator.value(expression, state)
    if value == Const(None) or integer(value) in (0, _LEGACY):
        return DEFAULT
    return value


def is_known(run: FunctionRun, stream: Value) -> bool:
    """Whether a stream is the default one, or was made in sight."""
    if stream == DEFAULT:
        return True
    if not isinstance(stream, Pointer) or stream.resource.older:
        return False
    acquired = run.log(Recorder).of(stream.resource)
    return acquired is not None and acquired.info.kind == "handle"


def different(run: FunctionRun, one: Value, other: Value) -> bool:
    """Whether two streams are certainly not the same."""
    return one != other and is_known(run, one) and is_known(run, other)


def waits_for_default(run: FunctionRun, stream: Value) -> bool:
    """Whether a stream and the default stream wait for each other; so for unknown ones too."""
    if not isinstance(stream, Pointer):
        return True
    return stream.resource.origin not in run.log(OrderingLog).non_blocking


def comes_after(run: FunctionRun, pending: Pending, stream: Value) -> bool:
    """Whether what a stream is given now may run after a pending operation only."""
    if any(not different(run, known, stream) for known in pending.after):
        return True
    if stream == DEFAULT:
        return any(waits_for_default(run, known) for known in pending.after)
    return DEFAULT in pending.after and waits_for_default(run, stream)


def passes(run: FunctionRun, order: Order, stream: Value) -> Order:
    """Work is put on a stream: on the default stream it stands between what the other streams had
    before and what they get afterwards."""
    if stream != DEFAULT:
        return order
    return order.follow(DEFAULT, lambda pending: comes_after(run, pending, DEFAULT))


def waited_for(run: FunctionRun, order: Order, stream: Value) -> Order:
    """The host waits for a stream."""
    return order.drop(lambda pending: comes_after(run, pending, stream))
