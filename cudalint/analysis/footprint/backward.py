"""The backward pass of automatic differentiation: gradients come, what was saved goes."""

from __future__ import annotations

from cudalint.analysis.footprint.expressions import current_span
from cudalint.analysis.footprint.objects import Array, Memory, Node
from cudalint.analysis.footprint.state import State
from cudalint.analysis.footprint.surroundings import Surroundings


def backward(machine: Surroundings, state: State, loss: Array) -> None:
    """Walk the graph from the loss to its leaves. The gradient of an operation's operand is as
    large as the operand; it lives until the operand's own operation has used it."""
    if loss.node is None:
        return
    span, filename = current_span(state), state.frame.function.filename
    held: dict[int, Array] = {id(loss.node): _gradient(loss.node, span, filename)}
    depth = len(state.operands)
    for node in _ordered(loss.node):
        incoming = held.pop(id(node), None)
        if incoming is None:
            continue
        if node.leaf is not None:
            if node.leaf.gradient is None:
                node.leaf.gradient = incoming.memory
            continue
        state.operands.append(incoming)
        for parent in node.parents:
            grown = _gradient(parent, span, filename) if node.saved else incoming
            state.operands += [grown, *held.values()]
            machine.peaks.observe(state, span)
            del state.operands[depth + 1 :]
            held.setdefault(id(parent), grown)
        state.operands.pop()
        node.saved = ()
    del state.operands[depth:]


def _gradient(node: Node, span: object, filename: str) -> Array:
    return Array(Memory(node.bytes, span, "gradient", filename), None, None, "torch")  # type: ignore[arg-type]


def _ordered(root: Node) -> list[Node]:
    """Each node after all that use its result."""
    order: list[Node] = []
    seen: set[int] = set()
    stack = [(root, 0)]
    while stack:
        node, position = stack.pop()
        if position == 0:
            if id(node) in seen:
                continue
            seen.add(id(node))
        if position < len(node.parents):
            stack += [(node, position + 1), (node.parents[position], 0)]
        else:
            order.append(node)
    return order[::-1]
