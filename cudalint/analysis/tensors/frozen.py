"""Models whose weights are frozen, by their constructor or by who has them: of their calls nothing
is recorded."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import calls, operands, operations
from cudalint.analysis.shape.places import place, root_of
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.tensors.records import is_off
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
    off = {one.symbol for one in constructor.parameters if one.default == Constant(False)}
    flow = view.run.symbols.flow(constructor)

    def is_weight(expression: Expression) -> bool:
        """It is each of the parameters in turn."""
        made = flow.only(place(expression) or "")
        if not isinstance(made, Assign) or not isinstance(made.value, Index):
            return False
        all_weights = flow.only(place(made.value.base) or "")
        return isinstance(all_weights, Call) and all_weights.receiver == THIS

    for at in operations(constructor):
        one = at.operation
        if isinstance(one, Call) and one.receiver == THIS:
            effect = view.effect(one)
            if effect is not None and effect.freezes and is_off(one):
                return True
        if isinstance(one, Assign) and isinstance(one.target, Member):
            value = one.value
            given = isinstance(value, Variable) and value.symbol in off
            if one.target.field == "requires_grad" and (given or value == Constant(False)):
                return is_weight(one.target.base)
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


def _frozen(run: TensorRun, operation: Operation) -> list[Expression]:
    """What an operation freezes: a module, or a weight."""
    if isinstance(operation, Call) and operation.receiver is not None:
        effect = run.models.tensor_effect(operation.name)
        off = effect is not None and effect.freezes and is_off(operation)
        return [operation.receiver] if off else []
    target = getattr(operation, "target", None)
    if isinstance(operation, Assign) and isinstance(target, Member):
        off = target.field == "requires_grad" and operation.value == Constant(False)
        return [target.base] if off else []
    return []
