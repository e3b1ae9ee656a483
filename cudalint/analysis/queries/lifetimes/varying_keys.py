"""Whether what a cache is asked for differs from one time to the next (Python)."""

from __future__ import annotations

from cudalint.analysis.shape.arguments import bindings, inputs
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.operations import definitions
from cudalint.analysis.shape.symbols import Symbols, identity
from cudalint.program import (
    EACH,
    Assign,
    Call,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Unary,
    Unknown,
    Variable,
    walk,
)

_CALLS_DEEP = 3


def varies(
    value: Expression,
    function: Function,
    symbols: Symbols,
    rounded: bool = False,
    deep: int = _CALLS_DEEP,
) -> bool:
    """Whether a value has, or is made of, the extents of an array, what a loop goes over, or what
    callers give that has. What is rounded to a whole number is not: there are few of those, but for
    extents."""
    models = symbols.models("python")
    made = definitions(function)
    flow = symbols.flow(function)
    counted = frozenset[str]().union(*flow.induction.values())
    seen: set[tuple[str, bool]] = set()

    def is_extent(part: Expression) -> bool:
        if isinstance(part, Unary):
            return part.operator == "len"
        effect = models.lifetime_effect(f".{part.field}") if isinstance(part, Member) else None
        return effect is not None and effect.extents

    def is_element(part: Expression) -> bool:
        if isinstance(part, Index):
            return part.index == EACH
        return isinstance(part, Unknown) and part.text in ("key", "index")

    def looks(part: Expression, rounded: bool) -> bool:
        if is_extent(part) or (not rounded and is_element(part)):
            return True
        if not isinstance(part, Variable) or (part.symbol, rounded) in seen:
            return False
        if part.symbol in counted and not rounded:
            return True
        seen.add((part.symbol, rounded))
        definers = made.get(part.symbol, [])
        return any(of(one, rounded) for one in definers) or given_by_callers(part.symbol, rounded)

    def of(operation: Operation, rounded: bool) -> bool:
        if isinstance(operation, Assign):
            return through(operation.value, rounded)
        if not isinstance(operation, Call):
            return False
        effect = models.lifetime_effect(operation.name)
        if effect is not None and effect.extents:
            return True
        rounded = rounded or (effect is not None and effect.rounds)
        return any(through(part, rounded) for part in inputs(operation))

    def through(expression: Expression, rounded: bool) -> bool:
        return any(looks(part, rounded) for part in walk(expression))

    def given_by_callers(symbol: str, rounded: bool) -> bool:
        parameters = function.parameters
        if not deep or symbol not in [one.symbol for one in parameters]:
            return False
        for caller, _, call in symbols.memo(CallGraph).sites(identity(function)):
            bound = bindings(call, parameters)
            unpacked = [one.value for one in call.arguments if one.starred]
            for one in [bound[symbol]] if symbol in bound else unpacked:
                if varies(one, caller, symbols, rounded, deep - 1):
                    return True
        return False

    return through(value, rounded)
