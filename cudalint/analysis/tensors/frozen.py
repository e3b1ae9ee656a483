"""Models whose constructor freezes all their weights: of their calls nothing is recorded."""

from __future__ import annotations

from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.tensors.records import is_off
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
    Variable,
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
