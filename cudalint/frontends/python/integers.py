"""Integers of fixed width, as NumPy makes them: what is computed of two of them may overflow."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.scopes import Dotted, Local, Scope
from cudalint.program.expressions import Type

_MOST_DEPTH = 20
_ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.FloorDivide, cst.Modulo)


def integer_type(node: cst.CSTNode, scope: Scope, depth: int = 0) -> Type | None:
    """The type of an integer of fixed width; ``None`` for what may be anything else."""
    if depth > _MOST_DEPTH:
        return None
    match node:
        case cst.Call():
            meaning = scope.meaning(node.func)
            return made_by(meaning.name, scope) if isinstance(meaning, Dotted) else None
        case cst.Name():
            meaning = scope.meaning(node)
            if not isinstance(meaning, Local):
                return None
            bindings = meaning.scope.bindings.names.get(meaning.variable.name, [])
            if len(bindings) != 1 or bindings[0].kind != "value" or bindings[0].value is None:
                return None
            return integer_type(bindings[0].value, meaning.scope, depth + 1)
        case cst.BinaryOperation(operator=operator) if isinstance(operator, _ARITHMETIC):
            left = integer_type(node.left, scope, depth + 1)
            right = integer_type(node.right, scope, depth + 1) if left is not None else None
            return common(left, right)
    return None


def made_by(name: str, scope: Scope) -> Type | None:
    """The type of integers that a function makes."""
    model = scope.module.models.lookup(name)
    if model is None or model.integer in (None, "unbounded"):
        return None
    bits = int(model.integer.lstrip("uint"))
    return Type(name, "integer", bits // 8, not model.integer.startswith("u"))


def common(left: Type | None, right: Type | None) -> Type | None:
    """The type in which two integers are computed: the wider one. With one side signed and the
    other not, it may be a third."""
    if left is None or right is None or left.signed != right.signed:
        return None
    return left if (left.bytes or 0) >= (right.bytes or 0) else right
