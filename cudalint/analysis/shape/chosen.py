"""What runs only where one text equals another: what the input chooses, as a parser does."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.shape.callgraph import Site, only_side
from cudalint.analysis.shape.flow import Flow
from cudalint.apis.loader import ApiModels
from cudalint.program import Binary, Branch, Call, Constant, Expression, Unary, Variable


def is_chosen(site: Site, flow: Flow, models: ApiModels) -> bool:
    """Whether a call in a loop is made where a text, that an iteration looks at, is a certain
    one."""
    loops = flow.enclosing.get(site.at.block, frozenset())
    return any(
        loops & flow.enclosing.get(number, frozenset())
        and (branch.then if equal else branch.otherwise)
        in only_side(site.caller, number, site.at.block)
        for number, branch, equal in _comparisons(flow, models)
    )


def _comparisons(flow: Flow, models: ApiModels) -> Iterator[tuple[int, Branch, bool]]:
    """The branches on texts, and whether ``then`` is taken where they are equal."""
    for number, block in enumerate(flow.blocks):
        if isinstance(block.terminator, Branch):
            equal = _when_equal(block.terminator.condition, flow, models)
            if equal is not None:
                yield number, block.terminator, equal


def _when_equal(condition: Expression, flow: Flow, models: ApiModels) -> bool | None:
    """What a condition is where the texts that it compares are equal, if it does."""
    match condition:
        case Unary("!", operand):
            inner = _when_equal(operand, flow, models)
            return None if inner is None else not inner
        case Binary("==" | "!=" as sign, left, right):
            if _is_text(left) or _is_text(right):
                return sign == "=="
            compared = next((one for one in (left, right) if not isinstance(one, Constant)), left)
            inner = _when_equal(compared, flow, models)
            return None if inner is None else (sign == "!=") == inner
        case Variable(symbol=symbol):
            made = flow.only(symbol)
            return _of_call(made, models) if isinstance(made, Call) else None
    return None


def _of_call(call: Call, models: ApiModels) -> bool | None:
    model = models.lookup(call.name)
    if model is not None and model.compares_texts:
        return False  # it is 0 then
    named = call.name.endswith(("operator==", "operator!="))
    if named and any(_is_text(one.value) for one in call.arguments):
        return call.name.endswith("==")
    return None


def _is_text(value: Expression) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, str)
