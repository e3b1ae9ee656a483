"""What calls and launches do to the order of streams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cudalint.analysis.domains.ordering.accesses import host_touches, observe, passed
from cudalint.analysis.domains.ordering.buffers import (
    Buffer,
    at_this_position,
    buffer_of,
    space_of,
)
from cudalint.analysis.domains.ordering.calm import checks_status, is_calm
from cudalint.analysis.domains.ordering.log import OrderingLog
from cudalint.analysis.domains.ordering.order import NOTHING, Pending, PendingKind
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
from cudalint.analysis.engine.domain import Domain
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts.ordering import PageableCopy, StreamHazard
from cudalint.analysis.values.values import (
    ZERO,
    Array,
    Const,
    Input,
    Pointer,
    Value,
    constant,
    integer,
)
from cudalint.apis.model import ApiFunction, CopyEffect, StreamOrder
from cudalint.findings.finding import Step
from cudalint.program import (
    NUMBERS,
    Call,
    Expression,
    Function,
    Launch,
    Operation,
    ScopeEnd,
    render,
)
from cudalint.source import Span

_KINDS: dict[str, PendingKind] = {"host-to-device": "upload", "device-to-host": "download"}


@dataclass
class _Work:
    """What a call or a launch puts on a stream, and uses there."""

    run: FunctionRun
    state: State
    api: str
    span: Span
    shown: Expression | None
    """The stream, as the code has it."""

    def __post_init__(self) -> None:
        self.stream = stream_of(self.run, self.shown, self.state)
        named = self.shown is not None and self.stream != DEFAULT
        self.stream_name = render(self.shown) if named and self.shown is not None else ""

    def passes(self) -> None:
        """It stands in the order of its stream."""
        self.state.keep(passes(self.run, self.state.part(NOTHING), self.stream))

    def use(self, expression: Expression | None) -> None:
        """It uses the memory that a pointer leads to."""
        buffer = buffer_of(self.run, expression, self.state) if expression is not None else None
        if buffer is not None and expression is not None and isinstance(buffer.value, Pointer):
            self.put("work", buffer, self.run.show(expression))

    def put(self, kind: PendingKind, buffer: Buffer, name: str, space: str | None = None) -> None:
        """One more operation is under way on a buffer."""
        if kind != "allocation":
            self.check(buffer, name, freed=False)
        pending = Pending(
            kind=kind,
            buffer=buffer.root,
            start=buffer.start,
            name=name,
            stream=self.stream,
            stream_name=self.stream_name,
            api=self.api,
            span=self.span,
            after=frozenset({self.stream}),
            space=space,
        )
        self.state.keep(self.state.part(NOTHING).add(pending))

    def check(self, buffer: Buffer, name: str, freed: bool) -> None:
        """Is the buffer freed, or used before its allocation, out of order?"""
        run, log = self.run, self.run.log(OrderingLog)
        if self.state.skipped & log.waiting_loops(run):
            return
        culprits = [
            pending
            for pending in self.state.part(NOTHING).pending
            if pending.buffer == buffer.root
            and (freed or pending.kind == "allocation")
            and different(run, pending.stream, self.stream)
            and not comes_after(run, pending, self.stream)
        ]
        if not culprits:
            return
        # What uses it tells more than what allocated it, and the last of these the most.
        pending = max(culprits, key=lambda one: (one.kind != "allocation", one.span))
        where = f"`{pending.stream_name}`" if pending.stream_name else "the default stream"
        does = "allocates" if pending.kind == "allocation" else "uses"
        story = f"{pending.api} on {where} {does} `{pending.name}` and is still under way"
        hazard = StreamHazard(
            name=name,
            api=self.api,
            span=self.span,
            freed=freed,
            stream=self.stream_name,
            other_stream=pending.stream_name,
            other_api=pending.api,
            other_span=pending.span,
            steps=(Step(run.filename, pending.span, story),),
        )
        log.hazards.setdefault(self.span, hazard)


class Ordering(Domain):
    """Keeps what the host has not waited for."""

    def operating(self, run: FunctionRun, operation: Operation, state: State) -> None:
        if isinstance(operation, Launch):
            kernel, stream = f"kernel {operation.kernel}", operation.stream
            work = _Work(run, state, kernel, operation.span, stream)
            work.passes()
            for argument in operation.arguments:
                work.use(argument.value)
        elif isinstance(operation, ScopeEnd):
            _ended(run, operation.symbols, state)
        else:
            observe(run, operation, operation.span, state)

    def reading(self, run: FunctionRun, expression: Expression, span: Span, state: State) -> None:
        observe(run, expression, span, state)

    def calling_modelled(
        self, run: FunctionRun, call: Call, name: str, model: ApiFunction, state: State
    ) -> None:
        if model.guess:
            self.calling_unknown(run, call, name, state)
            return
        binding = Binding(call, model.parameters, run.evaluator, state)
        if model.host_reads:
            host_touches(run, binding, model.host_reads, name, state, writes=False)
        if model.host_writes:
            host_touches(run, binding, model.host_writes, name, state, writes=True)
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
            stream = binding.expression(model.launches.stream)
            _Work(run, state, name, call.span, stream).passes()

    def calling_defined(
        self, run: FunctionRun, call: Call, definition: Function, state: State
    ) -> None:
        # What it does with streams is not followed, only whether it may wait.
        if is_calm(run.symbols, definition, checks_status(run, call, state)):
            passed(run, call, definition, state)
        elif state.part(NOTHING) is not NOTHING:
            state.keep(NOTHING)

    def calling_unknown(self, run: FunctionRun, call: Call, name: str, state: State) -> None:
        # It may wait for anything.
        if state.part(NOTHING) is NOTHING or call.kind == "copy" or run.models.never_waits(name):
            return
        if not checks_status(run, call, state):
            state.keep(NOTHING)


def _ended(run: FunctionRun, symbols: Iterable[str], state: State) -> None:
    """Variables go out of scope: the destructor of a class may wait."""
    for symbol in symbols if state.part(NOTHING) is not NOTHING else ():
        info = run.evaluator.variable(symbol)
        if info is None or info.type.kind != "record":
            continue
        if not run.models.never_waits(info.type.text):
            state.keep(NOTHING)
            return


# Copies -----------------------------------------------------------------------------------------


def _copied(
    run: FunctionRun,
    binding: Binding,
    model: ApiFunction,
    copy: CopyEffect,
    name: str,
    state: State,
) -> None:
    shown = binding.expression(copy.stream) if copy.stream is not None else None
    work = _Work(run, state, name, binding.call.span, shown)
    if not _is_asynchronous(run, binding, copy):
        if not model.synchronizes:
            state.keep(passes(run, state.part(NOTHING), DEFAULT))
        elif name.startswith(".") or copy.asynchronous_when is not None:
            state.keep(NOTHING)  # the current stream, which is out of sight
        else:
            for path in (copy.to, copy.source):
                work.use(binding.expression(path))
            passed_by = passes(run, state.part(NOTHING), DEFAULT)
            state.keep(waited_for(run, passed_by, DEFAULT))
        return
    work.passes()
    target = copy.into if _is_given(run, binding, copy.into) else copy.to
    assert target is not None
    direction = _direction(run, binding, copy, target)
    sides = ((target, direction == "device-to-host"), (copy.source, direction == "host-to-device"))
    for path, on_host in sides:
        expression = binding.expression(path)
        if path == "return":
            buffer = _returned(run, name) if on_host else None
        else:
            buffer = buffer_of(run, expression, state) if expression is not None else None
        if buffer is None:
            continue
        text = "" if expression is None else run.show(expression)
        if path == "return" and expression is not None:
            text = render(expression)
        if on_host:
            space = "pinned" if path == "return" else space_of(run, buffer, state)
            work.put(_KINDS[direction or ""], buffer, text, space)
            if space == "host" and work.stream_name:
                _pageable(work, buffer, text, direction == "host-to-device")
        elif direction is not None or isinstance(buffer.value, Pointer):
            work.put("work", buffer, text)


def _is_asynchronous(run: FunctionRun, binding: Binding, copy: CopyEffect) -> bool:
    """Whether the host goes on while a copy is under way."""
    when = copy.asynchronous_when
    if when is None:
        return copy.asynchronous
    if when.startswith("not "):
        value = binding.value(when.removeprefix("not "))
        return value is not None and constant(value) is False
    return _is_given(run, binding, when)


def _is_given(run: FunctionRun, binding: Binding, path: str | None) -> bool:
    """Whether the call gives an argument that is not false, 0 or ``None``."""
    expression = binding.expression(path) if path is not None else None
    if expression is None:
        return False
    value = run.evaluator.value(expression, binding.state)
    return not isinstance(value, Const) or bool(value.value)


def _direction(run: FunctionRun, binding: Binding, copy: CopyEffect, target: str) -> str | None:
    """The direction of a copy, from its argument or from where both sides are."""
    declared = direction_of(binding, copy.direction)
    if declared not in (None, "default"):
        return declared
    to, source = _side(run, binding, target), _side(run, binding, copy.source)
    if to == "host" and (source == "device" or target == "return"):
        return "device-to-host" if source != "host" else None
    if to == "device" and source == "host":
        return "host-to-device"
    return None


def _side(run: FunctionRun, binding: Binding, path: str) -> str | None:
    state = binding.state
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
        return "device" if run.python and run.placements.of(expression) == "device" else None
    return "host" if space in ("host", "pinned") else "device" if space == "device" else None


def _returned(run: FunctionRun, name: str) -> Buffer:
    origin = run.position.symbol(f"array:{name}")
    return Buffer(origin, None, Array("host", None, None, origin))


def _pageable(work: _Work, buffer: Buffer, name: str, to_device: bool) -> None:
    run = work.run
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
    elif isinstance(value, Input):
        return  # another method has made it
    elif isinstance(buffer.root, tuple):
        info = run.evaluator.variable(buffer.root[1][0])
        if info is not None and info.type.kind in NUMBERS:
            return  # one number: there is nothing to overlap
        if info is not None:
            made = info.type.text
            span = info.span
    run.log(OrderingLog).streams.add(work.stream)
    run.log(OrderingLog).pageable.setdefault(
        work.span,
        PageableCopy(
            name=name,
            api=work.api,
            span=work.span,
            stream=work.stream_name,
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
    work = _Work(run, state, name, binding.call.span, shown)
    if effect.waits is not None:
        _awaited(binding, effect.waits, None if model.synchronizes else work.stream)
        return
    event = binding.value(effect.records) if effect.records is not None else None
    if effect.records is not None and event is None:
        return
    work.passes()
    if event is not None:
        covers = state.part(NOTHING)
        state.keep(covers.record(event, lambda p: comes_after(run, p, work.stream)))
    elif model.synchronizes:
        state.keep(waited_for(run, state.part(NOTHING), work.stream))
    else:
        for path in effect.uses:
            work.use(binding.expression(path))
        if model.acquires:
            resource = run.position.symbol(f"{name}#0")
            buffer = Buffer(resource, None, Pointer(resource, ZERO))
            work.put("allocation", buffer, run.show(binding.place(model.acquires[0].handle)))
        for release in model.releases:
            _freed(work, binding.expression(release.handle))


def _awaited(binding: Binding, path: str, stream: Value | None) -> None:
    """The host, or a stream, waits for an event."""
    state = binding.state
    event = binding.value(path)
    covered = state.part(NOTHING).covered(event) if event is not None else None
    if covered is None:
        state.keep(NOTHING)  # recorded out of sight
    elif stream is None:
        state.keep(state.part(NOTHING).drop(lambda p: p.identity in covered))
    else:
        state.keep(state.part(NOTHING).follow(stream, lambda p: p.identity in covered))


def _freed(work: _Work, expression: Expression | None) -> None:
    buffer = buffer_of(work.run, expression, work.state) if expression is not None else None
    if buffer is not None and expression is not None:
        work.check(buffer, work.run.show(expression), freed=True)
        root = buffer.root
        work.state.keep(work.state.part(NOTHING).drop(lambda p: p.buffer == root))
