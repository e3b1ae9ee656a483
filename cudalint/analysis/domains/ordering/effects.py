"""What calls and launches do to the order of streams."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.analysis.domains.ordering.accesses import host_reads, host_writes, passed
from cudalint.analysis.domains.ordering.buffers import (
    PLAIN,
    Buffer,
    at_this_position,
    buffer_of,
    space_of,
)
from cudalint.analysis.domains.ordering.calm import checks_status, is_calm
from cudalint.analysis.domains.ordering.log import OrderingLog
from cudalint.analysis.domains.ordering.order import NOTHING, Pending, PendingKind
from cudalint.analysis.domains.ordering.provenance import on_device
from cudalint.analysis.domains.ordering.streams import (
    DEFAULT,
    comes_after,
    different,
    passes,
    stream_of,
    waited_for,
)
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.domains.transfers import direction_of
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts.ordering import PageableCopy, StreamHazard
from cudalint.analysis.values.values import ZERO, Array, Const, Pointer, Value, constant, integer
from cudalint.apis.model import ApiFunction, CopyEffect, StreamOrder
from cudalint.findings.finding import Step
from cudalint.program import Call, Expression, Function, Launch, render

_KINDS: dict[str, PendingKind] = {"host-to-device": "upload", "device-to-host": "download"}


# Calls of every kind ----------------------------------------------------------------------------


def launched(run: FunctionRun, launch: Launch, state: State) -> None:
    """A kernel is put on a stream."""
    stream = stream_of(run, launch.stream, state)
    state.keep(passes(run, state.part(NOTHING), stream))
    for argument in launch.arguments:
        buffer = buffer_of(run, argument.value, state)
        if buffer is not None and isinstance(buffer.value, Pointer):
            text = run.show(argument.value)
            used = _Use(text, f"kernel {launch.kernel}", stream, launch.stream)
            _put(run, "work", buffer, used, launch, state)


def modelled(run: FunctionRun, call: Call, name: str, model: ApiFunction, state: State) -> None:
    """A call whose model says what it does."""
    if model.guess:
        out_of_sight(run, call, name, state)
        return
    binding = Binding(call, model.parameters, run.evaluator, state)
    if model.host_reads:
        host_reads(run, binding, model.host_reads, name, state)
    if model.host_writes:
        host_writes(run, binding, model.host_writes, name, state)
    if model.acquires:
        state.keep(state.part(NOTHING).drop(lambda p: at_this_position(run, p.buffer)))
    if model.returns is not None and model.returns.space == "pinned" and model.returns.view_of:
        locked = binding.value(model.returns.view_of)
        if isinstance(locked, Array):
            run.log(OrderingLog).pinned.add(locked.origin)
    if model.copies is not None:
        _copied(run, binding, model, model.copies, name, state)
    elif model.order is not None:
        _ordered(run, binding, model, model.order, name, state)
    elif model.synchronizes or model.resets:
        state.keep(NOTHING)
    if model.launches is not None and model.launches.stream is not None:
        stream = stream_of(run, binding.expression(model.launches.stream), state)
        state.keep(passes(run, state.part(NOTHING), stream))


def in_run(run: FunctionRun, call: Call, definition: Function, state: State) -> None:
    """A function of the run is called: what it does with streams is not followed, only whether it
    may wait."""
    trusted = checks_status(run, call, state)
    if is_calm(run.symbols, definition, trusted):
        passed(run, call, definition, state)
    elif state.part(NOTHING) is not NOTHING:
        state.keep(NOTHING)


def out_of_sight(run: FunctionRun, call: Call, name: str, state: State) -> None:
    """Nothing is known of the callee: it may wait for anything."""
    if state.part(NOTHING) is NOTHING or call.kind == "copy" or run.models.never_waits(name):
        return
    if not checks_status(run, call, state):
        state.keep(NOTHING)


def ended(run: FunctionRun, symbols: Iterable[str], state: State) -> None:
    """Variables go out of scope: the destructor of a class may wait."""
    for symbol in symbols if state.part(NOTHING) is not NOTHING else ():
        info = run.evaluator.variable(symbol)
        if info is None or info.type.kind != "record":
            continue
        if not run.models.never_waits(info.type.text):
            state.keep(NOTHING)
            return


# Copies -----------------------------------------------------------------------------------------


class _Use:
    """Who uses memory, and where in the order of streams."""

    def __init__(self, name: str, api: str, stream: Value, shown: Expression | None) -> None:
        self.name = name
        self.api = api
        self.stream = stream
        self.stream_name = render(shown) if shown is not None and stream != DEFAULT else ""


def _copied(
    run: FunctionRun,
    binding: Binding,
    model: ApiFunction,
    copy: CopyEffect,
    name: str,
    state: State,
) -> None:
    call = binding.call
    shown = binding.expression(copy.stream) if copy.stream is not None else None
    stream = stream_of(run, shown, state)
    if not is_asynchronous(run, binding, copy, state):
        if not model.synchronizes:
            state.keep(passes(run, state.part(NOTHING), DEFAULT))
        elif name.startswith(".") or copy.asynchronous_when is not None:
            state.keep(NOTHING)  # the current stream, which is out of sight
        else:
            _uses(run, binding, (copy.to, copy.source), name, stream, shown, state)
            passed_by = passes(run, state.part(NOTHING), DEFAULT)
            state.keep(waited_for(run, passed_by, DEFAULT))
        return
    state.keep(passes(run, state.part(NOTHING), stream))
    target = copy.into if _is_given(run, binding, copy.into, state) else copy.to
    assert target is not None
    direction = copy_direction(run, binding, copy, target, state)
    sides = ((target, direction == "device-to-host"), (copy.source, direction == "host-to-device"))
    for path, on_host in sides:
        expression = binding.expression(path)
        if path == "return":
            buffer = _returned(run, binding, name, on_host)
        else:
            buffer = buffer_of(run, expression, state) if expression is not None else None
        if buffer is None:
            continue
        shown_name = "" if expression is None else run.show(expression)
        if path == "return" and expression is not None:
            shown_name = render(expression)
        used = _Use(shown_name, name, stream, shown)
        if on_host:
            space = "pinned" if path == "return" else space_of(run, buffer, state)
            _put(run, _KINDS[direction or ""], buffer, used, call, state, space)
            if space == "host" and shown is not None and stream != DEFAULT:
                _pageable(run, buffer, used, direction == "host-to-device", call, state)
        elif direction is not None or isinstance(buffer.value, Pointer):
            _put(run, "work", buffer, used, call, state)


def is_asynchronous(run: FunctionRun, binding: Binding, copy: CopyEffect, state: State) -> bool:
    """Whether the host goes on while a copy is under way."""
    when = copy.asynchronous_when
    if when is None:
        return copy.asynchronous
    if when.startswith("not "):
        value = binding.value(when.removeprefix("not "))
        return value is not None and constant(value) is False
    return _is_given(run, binding, when, state)


def _is_given(run: FunctionRun, binding: Binding, path: str | None, state: State) -> bool:
    """Whether the call gives an argument that is not false, 0 or ``None``."""
    expression = binding.expression(path) if path is not None else None
    if expression is None:
        return False
    value = run.evaluator.value(expression, state)
    return not isinstance(value, Const) or bool(value.value)


def copy_direction(
    run: FunctionRun, binding: Binding, copy: CopyEffect, target: str, state: State
) -> str | None:
    """The direction of a copy, from its argument or from where both sides are."""
    declared = direction_of(run, binding, copy.direction)
    if declared not in (None, "default"):
        return declared
    to, source = _side(run, binding, target, state), _side(run, binding, copy.source, state)
    if to == "host" and (source == "device" or target == "return"):
        return "device-to-host" if source != "host" else None
    if to == "device" and source == "host":
        return "host-to-device"
    return None


def _side(run: FunctionRun, binding: Binding, path: str, state: State) -> str | None:
    if path == "return":
        device = binding.value("device") if "device" in binding.parameters else None
        text = constant(device) if device is not None else None
        return "host" if text == "cpu" else None
    expression = binding.expression(path)
    if expression is None:
        return None
    buffer = buffer_of(run, expression, state)
    space = space_of(run, buffer, state) if buffer is not None else None
    if space is None:
        return "device" if on_device(run, expression, state) else None
    return "host" if space in ("host", "pinned") else "device" if space == "device" else None


def _returned(run: FunctionRun, binding: Binding, name: str, on_host: bool) -> Buffer | None:
    if not on_host:
        return None
    origin = run.position.symbol(f"array:{name}")
    return Buffer(origin, None, Array("host", None, None, origin))


def _pageable(
    run: FunctionRun, buffer: Buffer, used: _Use, to_device: bool, call: Call, state: State
) -> None:
    made, span = "a local array", None
    value = buffer.value
    if isinstance(value, Pointer):
        acquired = run.log(Recorder).records[value.resource.origin].acquired
        made, span = acquired.api, acquired.span
    elif isinstance(value, Array):
        creation = run.made_by(value.origin.origin)
        if creation is None:
            return
        made, span = creation.name, creation.span
    elif isinstance(buffer.root, tuple):
        info = run.evaluator.variable(buffer.root[1][0])
        if info is not None and info.type.kind in PLAIN:
            return  # one number: there is nothing to overlap
        if info is not None:
            made = info.type.text
            span = info.span
    run.log(OrderingLog).streams.add(used.stream)
    run.log(OrderingLog).pageable.setdefault(
        call.span,
        PageableCopy(
            name=used.name,
            api=used.api,
            span=call.span,
            stream=used.stream_name,
            to_device=to_device,
            made=made,
            made_span=span,
            in_loop=bool(run.flow.enclosing.get(run.position.block)),
        ),
    )


# Streams and events -----------------------------------------------------------------------------


def _ordered(
    run: FunctionRun,
    binding: Binding,
    model: ApiFunction,
    effect: StreamOrder,
    name: str,
    state: State,
) -> None:
    if effect.flags is not None:
        flags = integer(binding.value(effect.flags))
        origin = run.position.symbol(f"{name}#0").origin
        if flags is not None and flags & 1:
            run.log(OrderingLog).non_blocking.add(origin)
        return
    shown = binding.expression(effect.stream) if effect.stream is not None else None
    stream = stream_of(run, shown, state)
    if effect.records is not None:
        _recorded(run, binding, effect.records, stream, state)
    elif effect.waits is not None:
        _awaited(run, binding, effect.waits, None if model.synchronizes else stream, state)
    elif model.synchronizes:
        order = passes(run, state.part(NOTHING), stream)
        state.keep(waited_for(run, order, stream))
    else:
        state.keep(passes(run, state.part(NOTHING), stream))
        _uses(run, binding, effect.uses, name, stream, shown, state)
        if model.acquires:
            _allocated(run, binding, name, stream, shown, state)
        for release in model.releases:
            _freed(run, binding, release.handle, name, stream, shown, state)


def _recorded(run: FunctionRun, binding: Binding, path: str, stream: Value, state: State) -> None:
    event = binding.value(path)
    if event is not None:
        state.keep(passes(run, state.part(NOTHING), stream))
        state.keep(state.part(NOTHING).record(event, lambda p: comes_after(run, p, stream)))


def _awaited(
    run: FunctionRun, binding: Binding, path: str, stream: Value | None, state: State
) -> None:
    """The host, or a stream, waits for an event."""
    event = binding.value(path)
    covered = state.part(NOTHING).covered(event) if event is not None else None
    if covered is None:
        state.keep(NOTHING)  # recorded out of sight
    elif stream is None:
        state.keep(state.part(NOTHING).drop(lambda p: p.identity in covered))
    else:
        state.keep(state.part(NOTHING).follow(stream, lambda p: p.identity in covered))


def _allocated(
    run: FunctionRun,
    binding: Binding,
    name: str,
    stream: Value,
    shown: Expression | None,
    state: State,
) -> None:
    acquisition = run.models.lookup(name)
    assert acquisition is not None
    handle = acquisition.acquires[0].handle
    resource = run.position.symbol(f"{name}#0")
    used = _Use(run.show(binding.place(handle)), name, stream, shown)
    buffer = Buffer(resource, None, Pointer(resource, ZERO))
    _put(run, "allocation", buffer, used, binding.call, state)


def _uses(
    run: FunctionRun,
    binding: Binding,
    paths: Iterable[str],
    name: str,
    stream: Value,
    shown: Expression | None,
    state: State,
) -> None:
    for path in paths:
        expression = binding.expression(path)
        buffer = buffer_of(run, expression, state) if expression is not None else None
        if buffer is not None and expression is not None and isinstance(buffer.value, Pointer):
            used = _Use(run.show(expression), name, stream, shown)
            _put(run, "work", buffer, used, binding.call, state)


def _freed(
    run: FunctionRun,
    binding: Binding,
    path: str,
    name: str,
    stream: Value,
    shown: Expression | None,
    state: State,
) -> None:
    expression = binding.expression(path)
    buffer = buffer_of(run, expression, state) if expression is not None else None
    if buffer is None or expression is None:
        return
    used = _Use(run.show(expression), name, stream, shown)
    _check(run, buffer, used, binding.call, state, freed=True)
    state.keep(state.part(NOTHING).drop(lambda p: p.buffer == buffer.root))


# Operations -------------------------------------------------------------------------------------


def _put(
    run: FunctionRun,
    kind: PendingKind,
    buffer: Buffer,
    used: _Use,
    operation: Call | Launch,
    state: State,
    space: str | None = None,
) -> None:
    """One more operation is under way on a buffer."""
    if kind != "allocation":
        _check(run, buffer, used, operation, state, freed=False)
    order = state.part(NOTHING).add(
        Pending(
            kind=kind,
            buffer=buffer.root,
            start=buffer.start,
            name=used.name,
            stream=used.stream,
            stream_name=used.stream_name,
            api=used.api,
            span=operation.span,
            after=frozenset({used.stream}),
            space=space,
        )
    )
    state.keep(order)


def _check(
    run: FunctionRun,
    buffer: Buffer,
    used: _Use,
    operation: Call | Launch,
    state: State,
    freed: bool,
) -> None:
    """Is the buffer freed, or used before its allocation, out of order?"""
    if state.skipped & run.log(OrderingLog).waiting_loops(run):
        return
    for pending in state.part(NOTHING).pending:
        if (
            pending.buffer != buffer.root
            or (not freed and pending.kind != "allocation")
            or not different(run, pending.stream, used.stream)
            or comes_after(run, pending, used.stream)
        ):
            continue
        run.log(OrderingLog).hazards.setdefault(
            operation.span,
            StreamHazard(
                name=used.name,
                api=used.api,
                span=operation.span,
                freed=freed,
                stream=used.stream_name,
                other_stream=pending.stream_name,
                other_api=pending.api,
                other_span=pending.span,
                steps=(Step(run.filename, pending.span, _story(pending)),),
            ),
        )
        return


def _story(pending: Pending) -> str:
    where = f"`{pending.stream_name}`" if pending.stream_name else "the default stream"
    does = "allocates" if pending.kind == "allocation" else "uses"
    return f"{pending.api} on {where} {does} `{pending.name}` and is still under way"
