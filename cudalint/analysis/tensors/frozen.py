"""Models whose weights are frozen, by their constructor or by who has them: of their calls nothing
is recorded."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.shape.arguments import given
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import calls, operands, operations
from cudalint.analysis.shape.places import place, root_of
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.tensors.lattice import Value
from cudalint.analysis.tensors.records import Form, is_off
from cudalint.analysis.tensors.run import TensorRun
from cudalint.analysis.tensors.view import View
from cudalint.program import (
    THIS,
    Assign,
    Call,
    Constant,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Variable,
    variables,
)


def calls_frozen(view: View) -> bool:
    """Whether a function, its class or one that calls it makes a module that freezes itself."""
    graph = view.run.symbols.memo(CallGraph)
    callers = closure([identity(view.function)], graph.callers)
    return any(
        _makes_frozen(view, function)
        for function, _ in view.run.symbols.functions()
        if identity(function) in callers
        or (function.kind == "constructor" and function.record == view.function.record is not None)
    )


def _makes_frozen(view: View, function: Function) -> bool:
    for _, call in calls(function):
        if call.kind == "constructor" and call.key and view.run.is_module(call.key):
            constructor = view.run.symbols.method(call.key, "__init__", function.filename)
            if constructor is not None and freezes_itself(view, constructor):
                return True
    return False


def freezes_itself(view: View, constructor: Function) -> bool:
    """Whether all weights of the module need no gradient, unless its maker wishes otherwise."""
    defaults = ((one.symbol, one.default) for one in constructor.parameters)
    off = frozenset(symbol for symbol, default in defaults if default == Constant(False))
    flow = view.run.symbols.flow(constructor)

    def is_weight(expression: Expression) -> bool:
        """It is each of the parameters in turn."""
        made = flow.only(place(expression) or "")
        if not isinstance(made, Assign) or not isinstance(made.value, Index):
            return False
        all_weights = flow.only(place(made.value.base) or "")
        return isinstance(all_weights, Call) and all_weights.receiver == THIS

    for at in operations(constructor):
        for frozen in _frozen(view.run, at.operation, off):
            if frozen == THIS:
                return True
            if isinstance(at.operation, Assign):
                return is_weight(frozen)
    return False


def may_freeze(run: TensorRun, function: Function, model: str) -> bool:
    """Whether a function freezes a model, or anything that may be a part of it (`for weight in
    model.parameters()`)."""
    flow = run.symbols.flow(function)

    def made_of(name: str) -> Iterator[str]:
        made = (operands(one) for one in flow.definitions.get(name, ()))
        return (symbol for parts in made for part in parts for symbol in variables(part))

    frozen = {
        symbol
        for at in operations(function)
        for part in _frozen(run, at.operation)
        for symbol in variables(part)
    }
    return root_of(model) in closure(frozen, made_of)


def is_of_frozen(view: View, value: Value) -> bool:
    """Whether a value is what frozen models say of data without a graph: it has none either."""

    def made_of(origin: int) -> list[int]:
        record = view.records.get(origin)
        copied = record is not None and record.form is Form.COPY
        return record.sources if record is not None and copied else []

    reached = [view.records.get(origin) for origin in closure(value.origins, made_of)]
    made = [one for one in reached if one is None or one.form is not Form.COPY]
    return bool(made) and all(
        record is not None
        and record.form is Form.MODEL
        and not any(one.may_attach for one in record.operands)
        and _is_frozen(view, record.callee)
        for record in made
    )


def _is_frozen(view: View, model: str) -> bool:
    """Whether the function freezes the whole model, or a method of its class does so of a member;
    themselves, or by a function that they hand it to."""
    functions = {identity(view.function): view.function}
    if model.startswith("this."):
        methods = view.run.symbols.methods(view.function.record)
        functions |= {identity(method): method for method in methods}
    return any(
        _freezes_whole(view.run, function, model) or _hands_to_freezer(view, function, model)
        for function in functions.values()
    )


def _hands_to_freezer(view: View, function: Function, model: str) -> bool:
    for _, call in calls(function):
        if all(place(argument.value) != model for argument in call.arguments):
            continue
        callee = view.run.callee(function, call)
        if callee is None:
            continue
        values = {
            one.symbol: given(call).at(number, one.name)
            for number, one in enumerate(callee.parameters)
        }
        off = frozenset(name for name, value in values.items() if value == Constant(False))
        names = [name for name, value in values.items() if place(value) == model]
        if any(_freezes_whole(view.run, callee, name, off) for name in names):
            return True
    return False


def _freezes_whole(
    run: TensorRun, function: Function, model: str, off: frozenset[str] = frozenset()
) -> bool:
    """Whether a function freezes a model as a whole, or its weights in turn; with the parameters
    that are false in the call."""
    flow = run.symbols.flow(function)

    def made_of(name: str) -> Iterator[str]:
        for one in flow.definitions.get(name, ()):
            for part in operands(one):
                whole = part.base if isinstance(part, Index) else part
                inner = place(whole)
                if inner is not None:
                    yield inner

    frozen = {
        name
        for at in operations(function)
        for part in _frozen(run, at.operation, off)
        if (name := place(part)) is not None
    }
    return model in closure(frozen, made_of)


def _frozen(
    run: TensorRun, operation: Operation, off: frozenset[str] = frozenset()
) -> list[Expression]:
    """What an operation freezes if some variables are false: a module, or a weight."""
    if isinstance(operation, Call) and operation.receiver is not None:
        effect = run.models.tensor_effect(operation.name)
        freezes = effect is not None and effect.freezes and is_off(operation)
        return [operation.receiver] if freezes else []
    if isinstance(operation, Assign) and isinstance(operation.target, Member):
        value = operation.value
        is_false = value == Constant(False) or (isinstance(value, Variable) and value.symbol in off)
        is_flag = operation.target.field == "requires_grad"
        return [operation.target.base] if is_flag and is_false else []
    return []
