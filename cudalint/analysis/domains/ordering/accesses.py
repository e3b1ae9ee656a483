"""What the host reads and writes: through device pointers, and before a copy is complete."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.analysis.domains.ordering.buffers import Buffer, buffer_of
from cudalint.analysis.domains.ordering.log import OrderingLog
from cudalint.analysis.domains.ordering.order import NOTHING, Pending
from cudalint.analysis.domains.ordering.walk import Access, accesses_of
from cudalint.analysis.domains.ownership.adoption import adopted
from cudalint.analysis.domains.ownership.recorder import Recorder, live
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.facts.ordering import EarlyRead, HostAccess
from cudalint.analysis.shape.arguments import bindings
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.members import referred, type_of
from cudalint.analysis.shape.operations import terminal
from cudalint.analysis.shape.subjects import Subjects
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.values.values import Address, Pointer, Value
from cudalint.findings.finding import Step
from cudalint.program import (
    NUMBERS,
    Assign,
    Binary,
    Call,
    Expression,
    Function,
    Launch,
    Operation,
    Variable,
    render,
    variables,
)
from cudalint.source import Span


def observe(run: FunctionRun, operation: Operation | Expression, span: Span, state: State) -> None:
    """The accesses of an operation, a condition or a returned value, before it runs."""
    if state.part(NOTHING).pending and not run.python:
        _read_variables(run, operation, span, state)
    accesses = run.log(OrderingLog).accesses(operation)
    if not accesses or not (state.resources or state.part(NOTHING).pending):
        return
    for access in accesses:
        if _is_reference(run, operation, access):
            continue
        if not run.python:
            _through_pointer(run, access, span, state)
        if state.part(NOTHING).pending and not access.writes:
            _read(run, access, span, state)


def _is_reference(run: FunctionRun, operation: Operation | Expression, access: Access) -> bool:
    """What is bound to a reference is not read yet."""
    if isinstance(operation, Assign) and operation.declares and operation.value == access.place:
        return run.evaluator.kind(operation.target) == "reference"
    if isinstance(operation, Call) and access.argument is not None and not run.python:
        if operation.name and run.models.lookup(operation.name) is not None:
            return False
        definition = run.symbols.function(operation.key, run.filename)
        if definition is not None:
            parameters = definition.parameters
            if access.argument < len(parameters):
                return parameters[access.argument].by == "reference"
        return not run.models.never_waits(operation.name)
    return False


# Device pointers --------------------------------------------------------------------------------


def _through_pointer(run: FunctionRun, access: Access, span: Span, state: State) -> None:
    pointer = run.evaluator.value(access.base, state)
    held = _device_memory(run, pointer, state)
    if held is None:
        if isinstance(pointer, Pointer):
            run.log(OrderingLog).harmless_accesses.add(span)
        return
    if access.conditional or not _loads(run, access, state):
        return
    text = run.show(access.place)
    _host_access(run, held, text, span, access.writes, "")


def _device_memory(run: FunctionRun, value: Value, state: State) -> Pointer | None:
    """A pointer into memory that only the device can reach."""
    if not isinstance(value, Pointer):
        return None
    acquired = run.log(Recorder).of(value.resource)
    if acquired is None or acquired.ambiguous or acquired.managed:
        return None
    info = acquired.info
    if info.kind != "memory" or info.space != "device":
        return None
    status = state.status(value.resource)
    return value if live(status) or status is Status.ESCAPED else None


def _loads(run: FunctionRun, access: Access, state: State) -> bool:
    """Whether an access touches memory: an array within an array or a record decays to a pointer,
    which takes no more than arithmetic."""
    base = access.base
    while isinstance(base, Binary):
        base = base.left
    if not isinstance(base, Variable):
        return False
    kind = type_of(access.place, run.function, run.program, run.symbols)
    if adopted(state, base.symbol) is not None:
        owner = referred(run.evaluator.type_of(base))
        kind = owner.arguments[0] if owner is not None and owner.arguments else None
    decays = ("array", "function", "void", *(("record",) if access.field is not None else ()))
    return kind is not None and kind.kind not in decays


def _runs_on_host(run: FunctionRun) -> bool:
    """Whether a function is one of the host: where code of the device may call it too, whether one
    of the host does."""
    if not run.function.for_device:
        return True
    sites = run.symbols.memo(CallGraph).sites(identity(run.function))
    return any(not site.caller.for_device for site in sites)


def _host_access(
    run: FunctionRun,
    pointer: Pointer,
    text: str,
    span: Span,
    writes: bool,
    through: str,
    steps: tuple[Step, ...] = (),
) -> None:
    if not _runs_on_host(run):
        return
    acquired = run.log(Recorder).records[pointer.resource.origin].acquired
    home, where = acquired.from_callee or (acquired.filename, acquired.span)
    made = Step(home, where, f"`{acquired.shown}` is device memory from {acquired.api}")
    run.log(OrderingLog).host_accesses.setdefault(
        span,
        HostAccess(
            resource=acquired.resource(),
            text=text,
            span=span,
            writes=writes,
            through=through,
            steps=(made, *steps),
        ),
    )


# Reads before a copy is complete ----------------------------------------------------------------


def _read(run: FunctionRun, access: Access, span: Span, state: State) -> None:
    if access.conditional:
        return
    buffer = buffer_of(run, access.base, state)
    if buffer is not None:
        text = run.show(access.place)
        _check_read(run, buffer, f"`{text}`", span, state)


def _read_variables(
    run: FunctionRun, operation: Operation | Expression, span: Span, state: State
) -> None:
    """The copy's target may be a plain variable, by its address."""
    for pending in state.part(NOTHING).pending:
        if pending.kind != "download" or not isinstance(pending.buffer, tuple):
            continue
        location = pending.buffer[1]
        info = run.evaluator.variable(location[0]) if len(location) == 1 else None
        if info is None or info.type.kind not in NUMBERS:
            continue
        if location[0] in run.log(OrderingLog).variables(operation):
            if isinstance(operation, Call) and _may_bind(run, operation, location[0]):
                continue
            buffer = Buffer(pending.buffer, None, Address(location))
            _check_read(run, buffer, f"`{info.name}`", span, state)


def _may_bind(run: FunctionRun, call: Call, symbol: str) -> bool:
    """Whether a call may take a reference to a variable, and not its value."""
    for number, argument in enumerate(call.arguments):
        if isinstance(argument.value, Variable) and argument.value.symbol == symbol:
            whole = Access(argument.value, argument.value, False, argument=number)
            if not _is_reference(run, call, whole):
                return False
        elif symbol in variables(argument.value):
            return False
    return True


def _check_read(run: FunctionRun, buffer: Buffer, text: str, span: Span, state: State) -> None:
    pending = _download(buffer, state)
    if pending is None or state.skipped & run.log(OrderingLog).waiting_loops(run):
        return
    run.log(OrderingLog).early_reads.setdefault(
        (span, pending.identity),
        EarlyRead(
            name=pending.name.removeprefix("&"),
            text=text,
            span=span,
            copy_api=pending.api,
            copy_span=pending.span,
            stream=pending.stream_name,
            space=pending.space,
            steps=(
                Step(
                    run.filename,
                    pending.span,
                    f"{pending.api} starts to write `{pending.name}` and returns",
                ),
            ),
        ),
    )


def _download(buffer: Buffer, state: State) -> Pending | None:
    for pending in state.part(NOTHING).pending:
        if (
            pending.kind == "download"
            and pending.buffer == buffer.root
            and buffer.begins_at(pending.start)
        ):
            return pending
    return None


def host_touches(
    run: FunctionRun,
    binding: Binding,
    paths: Iterable[str],
    name: str,
    state: State,
    writes: bool,
) -> None:
    """A call reads, or writes, host memory."""
    span = binding.call.span
    for path in paths:
        expression = binding.expression(path)
        if expression is None:
            continue
        buffer = buffer_of(run, expression, state)
        if buffer is None:
            continue
        if not run.python:
            held = _device_memory(run, buffer.value, state)
            if held is not None:
                _host_access(run, held, run.show(expression), span, writes, name)
            elif isinstance(buffer.value, Pointer):
                run.log(OrderingLog).harmless_accesses.add(span)
        if not writes and state.part(NOTHING).pending:
            shown = run.show(expression)
            short = name.lstrip(".").rpartition(".")[2]
            text = f"`{shown}.{short}()`" if path == "this" else f"{short}({shown})"
            _check_read(run, buffer, text if path == "this" else f"`{text}`", span, state)


def passed(run: FunctionRun, call: Call, definition: Function, state: State) -> None:
    """A function of the run that waits for nothing is given memory: does it look at it?"""
    if not (state.resources or state.part(NOTHING).pending):
        return
    bound = bindings(call, definition.parameters)
    for parameter in definition.parameters:
        argument = bound.get(parameter.symbol)
        if argument is None:
            continue
        if parameter.type.kind not in ("pointer", "array", "reference") and not run.python:
            continue
        buffer = buffer_of(run, argument, state)
        if buffer is None:
            continue
        waiting = _download(buffer, state)
        held = None if run.python else _device_memory(run, buffer.value, state)
        if waiting is None and held is None:
            continue
        found = _dereferenced(run, definition, parameter.symbol)
        if found is None:
            continue
        access, where = found
        text = f"`{definition.name}`"
        if waiting is not None and not access.writes:
            _check_read(run, buffer, text, call.span, state)
        if held is not None and identity(definition) not in run.symbols.memo(Subjects).dealing:
            step = Step(definition.filename, where, f"`{render(access.place)}` is accessed here")
            shown = run.show(argument)
            _host_access(run, held, shown, call.span, access.writes, definition.name, (step,))


def _dereferenced(
    run: FunctionRun, definition: Function, symbol: str
) -> tuple[Access, Span] | None:
    """Where a function accesses memory through a parameter that it does not change."""
    found: tuple[Access, Span] | None = None
    for block in definition.blocks:
        items: list[tuple[Operation | Expression, Span]] = [
            (operation, operation.span) for operation in block.operations
        ]
        last = terminal(block)
        if last is not None:
            items.append((last, getattr(block.terminator, "span", definition.span)))
        for operation, span in items:
            if isinstance(operation, Assign | Call):
                target = operation.target
                if isinstance(target, Variable) and target.symbol == symbol:
                    return None
            if isinstance(operation, Launch):
                continue
            for access in accesses_of(operation, run.python):
                at = isinstance(access.base, Variable) and access.base.symbol == symbol
                if at and not access.conditional and access.field is None and found is None:
                    found = (access, span)
    return found
