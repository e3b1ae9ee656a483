"""Lowers what branches: conditions, ``and`` and ``or``, choices."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.lowering.context import Context
from cudalint.program.expressions import Binary, Conditional, Expression, Unary


def boolean(context: Context, node: cst.BooleanOperation) -> Expression:
    """``and``/``or`` as a value: an operator or a choice where pure, else branches."""
    is_and = isinstance(node.operator, cst.And)
    left = context.lower(node.left)
    before = context.graph.current
    right_block = context.graph.block()
    context.graph.start(right_block)
    right = context.lower(node.right)
    if _is_untouched(context, right_block):
        context.graph.current = before
        if _is_boolean(node.left):
            return Binary("&&" if is_and else "||", left, right)
        return Conditional(left, right, left) if is_and else Conditional(left, left, right)
    span = context.span(node)
    end = context.graph.current
    result = context.temporary()
    after = context.graph.block()
    context.graph.current = before
    context.store(result, left, span)
    then, otherwise = (right_block, after) if is_and else (after, right_block)
    context.graph.branch(left, then, otherwise, context.span(node.left))
    context.graph.current = end
    context.store(result, right, span)
    context.graph.jump(after)
    context.graph.start(after)
    return result


def choice(context: Context, node: cst.IfExp, target: Expression | None = None) -> Expression:
    """``a if test else b`` as a value; calls in its arms write to the target, if one is
    given."""
    test = context.lower(node.test)
    before = context.graph.current
    blocks: list[OpenBlock] = []
    ends: list[OpenBlock] = []
    values: list[Expression] = []
    for part in (node.body, node.orelse):
        block = context.graph.block()
        context.graph.start(block)
        if target is not None and isinstance(part, cst.Call):
            values.append(context.call(part, target))
        else:
            values.append(context.lower(part))
        blocks.append(block)
        ends.append(context.graph.current)
    pure = all(
        block is end and not block.operations for block, end in zip(blocks, ends, strict=True)
    )
    context.graph.current = before
    if pure:
        return Conditional(test, values[0], values[1])
    result = target if target is not None else context.temporary()
    after = context.graph.block()
    context.graph.branch(test, blocks[0], blocks[1], context.span(node.test))
    for end, value, part in zip(ends, values, (node.body, node.orelse), strict=True):
        context.graph.current = end
        if value is not result:
            context.store(result, value, context.span(part))
        context.graph.jump(after)
    context.graph.start(after)
    return result


def _is_untouched(context: Context, block: OpenBlock) -> bool:
    return context.graph.current is block and not block.operations


def branch_on(
    context: Context, node: cst.BaseExpression, then: OpenBlock, otherwise: OpenBlock
) -> None:
    """End the current block with the branches that a condition takes."""
    match node:
        case cst.UnaryOperation(operator=cst.Not()):
            branch_on(context, node.expression, otherwise, then)
        case cst.BooleanOperation():
            right = context.graph.block()
            if isinstance(node.operator, cst.And):
                branch_on(context, node.left, right, otherwise)
            else:
                branch_on(context, node.left, then, right)
            context.graph.start(right)
            branch_on(context, node.right, then, otherwise)
        case _:
            value = context.lower(node)
            if isinstance(value, Unary) and value.operator == "!":
                value, then, otherwise = value.operand, otherwise, then
            context.graph.branch(value, then, otherwise, context.span(node))


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
