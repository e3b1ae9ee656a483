"""Lowers what branches: conditions, ``and`` and ``or``, choices."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.lowering.state import FunctionState
from cudalint.program.expressions import Binary, Conditional, Expression, Unary


def boolean(state: FunctionState, node: cst.BooleanOperation) -> Expression:
    """``and``/``or`` as a value: an operator or a choice where pure, else branches."""
    is_and = isinstance(node.operator, cst.And)
    left = state.lower(node.left)
    before = state.graph.current
    right_block = state.graph.block()
    state.graph.start(right_block)
    right = state.lower(node.right)
    if _is_untouched(state, right_block):
        state.graph.current = before
        if _is_boolean(node.left):
            return Binary("&&" if is_and else "||", left, right)
        return Conditional(left, right, left) if is_and else Conditional(left, left, right)
    span = state.span(node)
    end = state.graph.current
    result = state.temporary()
    after = state.graph.block()
    state.graph.current = before
    state.store(result, left, span)
    then, otherwise = (right_block, after) if is_and else (after, right_block)
    state.graph.branch(left, then, otherwise, state.span(node.left))
    state.graph.current = end
    state.store(result, right, span)
    state.graph.jump(after)
    state.graph.start(after)
    return result


def choice(state: FunctionState, node: cst.IfExp, target: Expression | None = None) -> Expression:
    """``a if test else b`` as a value; calls in its arms write to the target, if one is
    given."""
    test = state.lower(node.test)
    before = state.graph.current
    blocks: list[OpenBlock] = []
    ends: list[OpenBlock] = []
    values: list[Expression] = []
    for part in (node.body, node.orelse):
        block = state.graph.block()
        state.graph.start(block)
        if target is not None and isinstance(part, cst.Call):
            values.append(state.call(part, target))
        else:
            values.append(state.lower(part))
        blocks.append(block)
        ends.append(state.graph.current)
    pure = all(
        block is end and not block.operations for block, end in zip(blocks, ends, strict=True)
    )
    state.graph.current = before
    if pure:
        return Conditional(test, values[0], values[1])
    result = target if target is not None else state.temporary()
    after = state.graph.block()
    state.graph.branch(test, blocks[0], blocks[1], state.span(node.test))
    for end, value, part in zip(ends, values, (node.body, node.orelse), strict=True):
        state.graph.current = end
        if value is not result:
            state.store(result, value, state.span(part))
        state.graph.jump(after)
    state.graph.start(after)
    return result


def _is_untouched(state: FunctionState, block: OpenBlock) -> bool:
    return state.graph.current is block and not block.operations


def branch_on(
    state: FunctionState, node: cst.BaseExpression, then: OpenBlock, otherwise: OpenBlock
) -> None:
    """End the current block with the branches that a condition takes."""
    match node:
        case cst.UnaryOperation(operator=cst.Not()):
            branch_on(state, node.expression, otherwise, then)
        case cst.BooleanOperation():
            right = state.graph.block()
            if isinstance(node.operator, cst.And):
                branch_on(state, node.left, right, otherwise)
            else:
                branch_on(state, node.left, then, right)
            state.graph.start(right)
            branch_on(state, node.right, then, otherwise)
        case _:
            value = state.lower(node)
            if isinstance(value, Unary) and value.operator == "!":
                value, then, otherwise = value.operand, otherwise, then
            state.graph.branch(value, then, otherwise, state.span(node))


def _is_boolean(node: cst.BaseExpression) -> bool:
    """Whether an expression is a truth value and nothing else."""
    match node:
        case cst.Comparison() | cst.UnaryOperation(operator=cst.Not()):
            return True
        case cst.BooleanOperation():
            return _is_boolean(node.left) and _is_boolean(node.right)
        case cst.Call(func=cst.Name(value="isinstance" | "callable" | "hasattr" | "bool")):
            return True
    return False
