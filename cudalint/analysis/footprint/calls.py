"""Calls: what API models, functions of the run and Python's own functions do to memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cudalint.analysis.footprint.backward import backward
from cudalint.analysis.footprint.builtin import BUILTINS
from cudalint.analysis.footprint.expressions import (
    allocate,
    connected,
    current_span,
    evaluate,
    store,
    view,
)
from cudalint.analysis.footprint.objects import (
    NOTHING,
    Array,
    Instance,
    Items,
    Memory,
    Name,
    Node,
    Plain,
    Raw,
    flat,
    texts_of,
    unknown,
)
from cudalint.analysis.footprint.results import Arguments, items_dtype, named_dtype
from cudalint.analysis.footprint.state import Frame, State
from cudalint.analysis.footprint.surroundings import Surroundings
from cudalint.analysis.shape.arguments import Given
from cudalint.analysis.shape.walk import space_of_device
from cudalint.apis.model import ApiFunction
from cudalint.apis.paths import parse_path
from cudalint.program import Call, Function, Member, Variable, render

_LIBRARIES = ("cupy", "torch", "numpy", "jax", "numba", "pycuda")
_MODULE_CALLS = ("forward", "__call__")


def call(machine: Surroundings, operation: Call, state: State) -> list[State]:
    """All ways in which a call may come back."""
    depth = len(state.operands)
    receiver = None
    if operation.receiver is not None:
        receiver = evaluate(machine, operation.receiver, state)
        state.operands.append(receiver)
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    cut = False
    for argument in operation.arguments:
        value = evaluate(machine, argument.value, state)
        state.operands.append(value)
        if argument.keyword is not None:
            keywords[argument.keyword] = value
        elif argument.starred == "*" and isinstance(value, Items):
            positional += value.items
        elif argument.starred:
            cut = True
        elif not cut:
            positional.append(value)
    given = Given(positional, keywords, cut)
    function, this = _callee(machine, operation, receiver, state)
    if function is not None:
        # The callee's variables hold the arguments now; temporaries are nobody else's.
        del state.operands[depth:]
        state.frame.drop_temporaries()
        return _enter(machine, operation, function, this, given, state)
    result = _result(machine, operation, receiver, Arguments(receiver, given), state)
    del state.operands[depth:]
    if operation.target is not None:
        store(machine, operation.target, result, state)
    return [state]


# Functions of the run ---------------------------------------------------------------------------


def _callee(
    machine: Surroundings, operation: Call, receiver: Any, state: State
) -> tuple[Function | None, Any]:
    """The function of the run that a call means, and what it is called on."""
    if len(state.frames) > 8:
        return None, None
    key, this = operation.key, receiver
    function: Function | None = None
    filename = state.frame.function.filename
    if operation.kind == "indirect" or not operation.name:
        value = evaluate(machine, operation.callee, state) if operation.callee else None
        if isinstance(value, Name):
            key = value.key
        elif isinstance(value, Instance):
            methods = (machine.symbols.method(value.record, n, filename) for n in _MODULE_CALLS)
            function, this = next(filter(None, methods), None), value
    elif isinstance(receiver, Instance) and operation.name.startswith("."):
        function = machine.symbols.method(receiver.record, operation.name[1:], filename)
    elif operation.kind == "constructor" and key is not None:
        record = machine.symbols.record(key, filename)
        if record is not None:
            this = Instance(record.key)
            function = machine.symbols.method(record.key, "__init__", filename)
            if function is None and operation.target is not None:
                store(machine, operation.target, this, state)
    function = function or machine.symbols.function(key, filename)
    if function is None or not function.blocks or function.is_generator:
        return None, None
    if sum(frame.function is function for frame in state.frames) > 1:
        return None, None
    return function, this


def _enter(
    machine: Surroundings,
    operation: Call,
    function: Function,
    this: Any,
    arguments: Given[Any],
    state: State,
) -> list[State]:
    frame = Frame(function, machine.symbols.flow(function))
    if this is not None:
        frame.env["this"] = this
    bound = arguments.bind(function.parameters, lambda rest: Items(list(rest), "tuple"))
    for parameter in function.parameters:
        if parameter.symbol in bound:
            frame.env[parameter.symbol] = bound[parameter.symbol]
        elif parameter.default is not None and not arguments.cut:
            frame.env[parameter.symbol] = evaluate(machine, parameter.default, state)
        else:
            frame.env[parameter.symbol] = unknown(parameter.name)
    held = state.operands
    state.operands = []
    state.frames.append(frame)
    after: list[State] = []
    for value, one in machine.follow(state):
        one.operands = held
        if operation.target is not None:
            store(machine, operation.target, value, one)
        after.append(one)
    return after


# API models -------------------------------------------------------------------------------------


def _result(
    machine: Surroundings, operation: Call, receiver: Any, arguments: Arguments, state: State
) -> Any:
    name = operation.name
    model = _model(machine, name, receiver)
    effect = machine.models.tensor_effect(name)
    if effect is not None and effect.backward is not None:
        loss = receiver if isinstance(receiver, Array) else arguments.given.at(0, None)
        if isinstance(loss, Array):
            backward(machine, state, loss)
        return NOTHING
    if effect is not None and effect.mode == "disabled":
        return Name(name)
    if name in (".__enter__", ".__exit__") and isinstance(receiver, Name):
        entered = machine.models.tensor_effect(receiver.name)
        if entered is not None and entered.mode == "disabled":
            state.recording = name == ".__exit__"
        return receiver
    if name == ".__enter__":
        return receiver
    builtin = BUILTINS.get(name.removeprefix("builtins.")) if name.startswith("builtins.") else None
    if builtin is not None:
        return builtin(list(arguments.given.positional))
    if model is None:
        return _unmodelled(machine, operation, arguments)
    arguments.parameters = model.parameters
    if model.asks_device:
        return Plain(True)
    _release(model, arguments)
    for path in model.inserts:
        if isinstance(receiver, Items):
            receiver.items.append(arguments.value(path))
    acquired = _acquire(machine, model, operation, arguments, state)
    if acquired is not None:
        return acquired
    if model.aliases is not None:
        return arguments.value(model.aliases) or unknown()
    if model.returns is None:
        return unknown(texts_of(*arguments.given.positional))
    return _returned(machine, model, operation, arguments, state)


def _model(machine: Surroundings, name: str, receiver: Any) -> ApiFunction | None:
    if not name.startswith("."):
        return machine.models.lookup(name)
    family = (receiver.space or "array") if isinstance(receiver, Array) else None
    model = machine.models.lookup_method(name, family)
    return model if model is None or model.receiver is None or family is not None else None


def _unmodelled(machine: Surroundings, operation: Call, arguments: Arguments) -> Any:
    """Nothing is known of it: what it returns, if it is given arrays, may be another array."""
    on_device = (isinstance(one, Array) and one.space == "device" for one in arguments.all())
    text = operation.name.lstrip(".").rpartition(".")[2]
    if text and operation.target is not None and any(on_device):
        machine.peaks.unknown.setdefault(f"{text}(...)")
    return unknown(texts_of(*arguments.all()))


def _release(model: ApiFunction, arguments: Arguments) -> None:
    for release in model.releases:
        value = arguments.value(release.handle)
        if isinstance(value, Raw):
            value.released = True


def _acquire(
    machine: Surroundings, model: ApiFunction, operation: Call, arguments: Arguments, state: State
) -> Any:
    for acquisition in model.acquires:
        family = machine.models.families.get(acquisition.family)
        if family is None or family.kind != "memory" or family.space not in ("device", "array"):
            continue
        path = parse_path(acquisition.handle, model.parameters)
        if path.root != "return":
            continue
        memory = Memory(
            arguments.bytes(acquisition.bytes),
            current_span(state),
            render(operation.target) if operation.target is not None else operation.name,
            state.frame.function.filename,
            texts_of(*arguments.given.positional) or operation.name,
        )
        if acquisition.managed or family.managed:
            value: Any = Array(memory, None, None, "")
            state.operands.append(value)
        else:
            value = Raw(memory)
            state.raws.append(value)
        machine.peaks.observe(state, memory.span)
        for step in path.steps:
            if isinstance(step, int):
                return Items([*[unknown()] * step, value], "tuple")
        return value
    return None


# Arrays -----------------------------------------------------------------------------------------


def _returned(
    machine: Surroundings, model: ApiFunction, operation: Call, arguments: Arguments, state: State
) -> Any:
    returns = model.returns
    assert returns is not None
    if returns.in_place is not None:
        return arguments.value(returns.in_place)
    operands = [value for value in flat(arguments.all()) if isinstance(value, Array)]
    library = _library(operation.name, operands)
    torch = library == "torch"
    base, aliased = arguments.array(returns.view_of), arguments.array(returns.may_alias)
    shape, reason = arguments.shape(returns.shape, base) if returns.shape else (None, "")
    dtype = arguments.dtype(returns.dtype, torch) if returns.dtype else None
    device = (
        arguments.value("device")
        if "device" in model.parameters
        else arguments.given.named.get("device")
    )
    if named_dtype(device) is not None:
        dtype, device = named_dtype(device), None
    if base is not None:
        shown = base.shape if shape is None and returns.shape is None else shape
        return replace(view(base, shown), dtype=dtype or base.dtype, unknown=reason or base.unknown)
    space = _space(returns.space, device, operands)
    if aliased is not None:
        dtype = dtype or aliased.dtype
        if aliased.space == space and aliased.dtype == dtype:
            return aliased
        shape = aliased.shape if shape is None else shape
    if dtype is None and "fill_value" in model.parameters:
        dtype = arguments.dtype("like fill_value", torch)
    if dtype is None and returns.dtype is not None and not operands:
        lists = (value for value in arguments.given.positional if isinstance(value, Items))
        dtype = items_dtype(next(lists, None), torch)
    out = arguments.array("out") if "out" in model.parameters else None
    if out is not None:
        return out
    if space != "device":
        if space is None and not operands:
            return unknown(reason)
        return Array(None, shape, dtype, library, space, unknown=reason)
    if returns.workspace is not None and torch:
        machine.keep(state, returns.workspace)
    temporary = arguments.bytes(returns.temporary_bytes) or 0
    name = _shown(operation)
    wanted = returns.second_if is None or arguments.value(returns.second_if) is not None
    pair = returns.second is not None and wanted and torch
    first = 0 if pair else temporary
    result = allocate(machine, state, shape, dtype, library, name, reason, first)
    _connect(model, result, arguments, operands, state)
    if pair:
        with state.holding(result):
            second = allocate(
                machine, state, shape, returns.second, library, name, reason, temporary
            )
        return Items([result, second], "tuple")
    return result


def _connect(
    model: ApiFunction, result: Array, arguments: Arguments, operands: list[Array], state: State
) -> None:
    saved: list[Memory] = []
    for path in model.saves:
        value = result if path == "return" else arguments.array(path)
        if value is not None and value.memory is not None:
            saved.append(value.memory)
    wanted = arguments.given.named.get("requires_grad")
    if isinstance(wanted, Plain) and wanted.value is True:
        size = result.memory.bytes if result.memory is not None else 0
        result.node = Node((), (), size, leaf=result)
    else:
        result.node = connected(state, result, operands, tuple(saved))


def _library(name: str, operands: list[Array]) -> str:
    first = name.split(".")[0].replace("cupyx", "cupy")
    if first in _LIBRARIES:
        return first
    return next((array.library for array in operands), "")


def _space(declared: str, device: Any, operands: list[Array]) -> str | None:
    if isinstance(device, Plain) and device.known:
        if device.value is not None:
            return space_of_device(device.value)
    elif device is not None:
        return device.space if isinstance(device, Array) else None
    if declared == "same":
        spaces = [array.space for array in operands]
        return "device" if "device" in spaces else next(iter(spaces), None)
    return None if declared == "unknown" else declared


def _shown(operation: Call) -> str:
    target = operation.target
    if isinstance(target, Variable) and not target.symbol.startswith("%"):
        return target.name
    if isinstance(target, Member):
        return render(target)
    return f"{operation.name.lstrip('.').rpartition('.')[2]}(...)"
