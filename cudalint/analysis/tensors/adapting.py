"""Models whose own pass computes gradients, as those that adapt to each task: without recording
they fail."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.shape.arguments import given
from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.symbols import Identity, identity
from cudalint.analysis.tensors.records import PASS
from cudalint.analysis.tensors.run import TensorRun
from cudalint.program import THIS, Assign, Call, Expression, Function, Index, Return, Variable

_CHOSEN = ""
"""In place of a class: one that the program chooses as it runs (``class_of(settings)()``)."""


def computes_gradients(run: TensorRun, function: Function, call: Call, model: str) -> bool:
    """Whether a call of a model that a function has by some name, or of a method of it, computes
    gradients, itself or by what it calls; if its class is chosen as the program runs, whether any
    module does."""
    run_by = _run_by(call, model)
    if any(_CHOSEN in _classes(run, function, name, set()) for name, _ in run_by):
        methods = {method for _, method in run_by}
        return any(_differentiates(run, one) for one in _passes(run, methods))
    return _differentiates(run, *methods_run(run, function, call, model))


def methods_run(
    run: TensorRun, function: Function, call: Call, model: str
) -> Iterator[tuple[str, Function]]:
    """The methods that a call of a model, or of a method of it, may run, each with the class of its
    object."""
    for by in _run_by(call, model):
        yield from _methods(run, function, *by)


def _run_by(call: Call, model: str) -> list[tuple[str, str]]:
    """The names that a model has in a function, and the methods that a call runs of it."""
    run_by = [(model, PASS)]
    if call.callee is None and (receiver := place(call.receiver)) is not None:
        run_by.append((receiver, call.name.removeprefix(".")))
    return run_by


def _differentiates(run: TensorRun, *passes: tuple[str, Function]) -> bool:
    """Whether one of some methods, each of a class, computes gradients, or what it calls."""
    pending: list[tuple[str | None, Function]] = [*passes]
    reached: set[tuple[str | None, Identity]] = set()
    while pending:
        record, one = pending.pop()
        if (record, identity(one)) in reached:
            continue
        reached.add((record, identity(one)))
        scan = run.scan(one)
        if scan.calls_backward or scan.needs_gradient:
            return True
        pending += _called(run, record, one)
    return False


def _passes(run: TensorRun, names: set[str]) -> Iterator[tuple[str, Function]]:
    """What runs the modules of the run by some names, each with its class."""
    for function, _ in run.symbols.functions():
        if function.record is not None and function.name.rpartition(".")[2] in names:
            yield function.record, function


def _called(
    run: TensorRun, record: str | None, function: Function
) -> Iterator[tuple[str | None, Function]]:
    """What a function calls, each with the class of its object; its own is of a class."""
    for _, call in calls(function):
        callee = run.callee(function, call)
        if call.receiver == THIS and record is not None:
            callee = run.symbols.method(record, call.name.removeprefix("."), function.filename)
            if callee is not None:
                yield record, callee
        elif callee is not None:
            yield callee.record, callee
        elif (name := place(call.callee)) is not None:
            yield from _methods(run, function, name, PASS)
        elif (name := place(call.receiver)) is not None:
            yield from _methods(run, function, name, call.name.removeprefix("."))


def _methods(
    run: TensorRun, function: Function, name: str, method: str
) -> Iterator[tuple[str, Function]]:
    """The methods of an object that a function has by some name, each with the object's class."""
    for record in sorted(_classes(run, function, name, set())):
        found = run.symbols.method(record, method, function.filename)
        if found is not None:
            yield record, found


def _classes(
    run: TensorRun, function: Function, name: str | None, seen: set[tuple[Identity, str]]
) -> set[str]:
    """The classes whose objects a function may have by some name: where it, its class, a function
    that it calls or who hands them over makes them."""
    if name is None or (identity(function), name) in seen:
        return set()
    seen.add((identity(function), name))
    is_member = name.startswith("this.")
    found: set[str] = set()
    for one in run.symbols.class_methods(function) if is_member else (function,):
        for at in operations(one):
            operation = at.operation
            if place(getattr(operation, "target", None)) != name:
                continue
            for source in _sources(run, operation):
                found |= _classes(run, one, place(source), seen)
            if not isinstance(operation, Call):
                continue
            if operation.kind == "constructor" and operation.key:
                found.add(operation.key)
            if _is_chosen(operation):
                found.add(_CHOSEN)
            for maker, returned in _returned(run, one, operation):
                found |= _classes(run, maker, place(returned), seen)
    numbers = [n for n, one in enumerate(function.parameters) if one.symbol == name]
    for number in numbers:
        for caller, call in _sites(run, function):
            handed = given(call).at(number, function.parameters[number].name)
            found |= _classes(run, caller, place(handed), seen)
    return found


def _returned(
    run: TensorRun, caller: Function, call: Call
) -> Iterator[tuple[Function, Expression | None]]:
    """What the function that is called returns, with that function."""
    callee = run.callee(caller, call)
    for block in callee.blocks if callee is not None else ():
        if callee is not None and isinstance(block.terminator, Return):
            yield callee, block.terminator.value


def _is_chosen(call: Call) -> bool:
    """Whether what a call returned, or an element of a table, is called: a class, it seems."""
    called = call.callee
    made = isinstance(called, Variable) and called.symbol.startswith("%")
    return call.kind == "indirect" and (made or isinstance(called, Index))


def _sources(run: TensorRun, operation: object) -> list[Expression]:
    """What an operation makes its target of: of another name, by moving it (`net.to(device)`) or by
    putting it in a module."""
    if isinstance(operation, Assign):
        return [operation.value]
    if not isinstance(operation, Call):
        return []
    effect = run.models.tensor_effect(operation.name)
    wraps = effect is not None and effect.result == "module"
    handed = [one.value for one in operation.arguments] if wraps else []
    return handed if operation.receiver is None else [operation.receiver]


def _sites(run: TensorRun, function: Function) -> Iterator[tuple[Function, Call]]:
    """The calls of a function; of a constructor, those that make objects of its class."""
    if function.kind != "constructor":
        yield from ((site.caller, site.call) for site in run.known(function).callers)
        return
    for caller, program in run.symbols.functions():
        for _, call in calls(caller) if program.language == "python" else ():
            if call.kind == "constructor" and call.key == function.record:
                yield caller, call
