"""What is known of a value behind a question whether it is a tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.places import place
from cudalint.analysis.shape.walk import texts
from cudalint.analysis.tensors.lattice import OBJECT, Gradient, Kind, State, Value
from cudalint.analysis.tensors.transfer import Transfer
from cudalint.apis.loader import ApiModels
from cudalint.program import Block, Branch, Call, Expression, Tuple, Unary, Variable, render


def behind(block: Block, target: int, state: State, flow: Flow, transfer: Transfer) -> State:
    """The state on the way from a block to one that follows: where the answer is no, what was asked
    is no tensor."""
    branch = block.terminator
    if not isinstance(branch, Branch) or branch.then == branch.otherwise:
        return state
    condition, yes = branch.condition, target == branch.then
    while isinstance(condition, Unary) and condition.operator == "!":
        condition, yes = condition.operand, not yes
    asked = _asked(condition, flow, transfer.around.models)
    name = place(asked)
    if asked is None or name is None:
        return state
    # Said on both ways, it joins to either of them.
    value = transfer.value(state, asked)
    return replace(
        state, values={**state.values, name: value if yes else _other_than_a_tensor(value)}
    )


def _other_than_a_tensor(value: Value) -> Value:
    kind = value.kind & ~Kind.TENSOR
    if not kind or (value.gradient & Gradient.ATTACHED and not kind & Kind.LIST):
        return OBJECT  # it was the tensor that had a gradient
    other = replace(value, kind=kind)
    # Of what it may be made of, whoever gives a tensor does not come this way.
    return other if kind & Kind.LIST else other.of()


def _asked(condition: Expression, flow: Flow, models: ApiModels) -> Expression | None:
    """What a condition asks whether it is a tensor: ``torch.is_tensor(x)``, ``isinstance(x,
    torch.Tensor)``, ``hasattr(x, "item")``."""
    call = flow.only(condition.symbol) if isinstance(condition, Variable) else None
    effect = models.tensor_effect(call.name) if isinstance(call, Call) else None
    if not isinstance(call, Call) or effect is None or not effect.asks or not call.arguments:
        return None
    asked, *said = [one.value for one in call.arguments]
    named = [name for one in said for name in _named(one, effect.asks == "member")]
    told = map(models.tensor_effect, named)
    if effect.asks == "itself" or any(
        one is not None and (effect.asks == "member" or one.result == "tensor") for one in told
    ):
        return asked
    return None


def _named(expression: Expression, member: bool) -> Iterator[str]:
    """The classes, or the members, that an argument names."""
    for item in expression.items if isinstance(expression, Tuple) else (expression,):
        yield from (f".{text}" for text in texts(item)) if member else (render(item),)
