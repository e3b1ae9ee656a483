"""Constants that a Python file gives names to: numbers, strings and tuples of them."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.bindings import Binding
from cudalint.frontends.python.element_types import item_bytes
from cudalint.frontends.python.integers import made_by
from cudalint.frontends.python.scopes import ClassMember, Dotted, Local, Scope
from cudalint.program.expressions import Cast, Constant, Expression, FunctionReference, Tuple

Value = int | float | str | bool | None

LARGEST = 2**64 - 1
"""Integers beyond cannot be written to the cache, and no size is that large."""

_MAXIMUM_DEPTH = 40
_MAXIMUM_TEXT = 1_000_000


def constant(value: Value, text: str = "") -> Expression | None:
    """A constant of the model, where it can be encoded."""
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value <= LARGEST:
        return None
    if isinstance(value, str):
        value = encodable(value)
    return Constant(value, text)


def encodable(text: str) -> str:
    """Text without lone surrogates, which no encoding takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def string_value(node: cst.CSTNode) -> str | None:
    """The value of a plain or concatenated string; bytes as their Latin-1 characters."""
    if isinstance(node, cst.SimpleString):
        text = node.value
        quote = text[0]
        if quote in "'\"" and "\\" not in text:
            width = 3 if text.startswith(quote * 3) and len(text) >= 6 else 1
            return text[width:-width]
        try:
            value = node.evaluated_value
        except (ValueError, SyntaxError):
            return None
        return value.decode("latin-1") if isinstance(value, bytes) else value
    if isinstance(node, cst.ConcatenatedString):
        left, right = string_value(node.left), string_value(node.right)
        return left + right if left is not None and right is not None else None
    return None


def integer_value(node: cst.Integer) -> int | None:
    """The value of an integer literal, old octal spelling and absurd lengths refused."""
    try:
        return int(node.value.replace("_", ""), 0)
    except ValueError:
        return None


def float_value(node: cst.Float) -> float | None:
    """The value of a float literal."""
    try:
        return float(node.value.replace("_", ""))
    except ValueError:
        return None


def fold(node: cst.CSTNode, scope: Scope, depth: int = 0) -> Expression | None:
    """The constant that an expression always has, seen from a scope; ``None`` if it has none.

    A dtype such as ``numpy.float32`` is one too, as a ``FunctionReference``.
    """
    if depth > _MAXIMUM_DEPTH:
        return None
    match node:
        case cst.Integer():
            return constant(integer_value(node)) if integer_value(node) is not None else None
        case cst.Float():
            return constant(float_value(node)) if float_value(node) is not None else None
        case cst.SimpleString() | cst.ConcatenatedString():
            text = string_value(node)
            return constant(text) if text is not None else None
        case cst.Tuple() | cst.List():
            items = []
            for element in node.elements:
                item = fold(element.value, scope, depth + 1)
                if item is None or isinstance(element, cst.StarredElement):
                    return None
                items.append(item)
            return Tuple(tuple(items), "tuple" if isinstance(node, cst.Tuple) else "list")
        case cst.Name(value="True"):
            return Constant(True)
        case cst.Name(value="False"):
            return Constant(False)
        case cst.Attribute(value=cst.Call() as call, attr=cst.Name(value="itemsize" | "nbytes")):
            return _element_size(call, scope, depth)
        case cst.Name() | cst.Attribute():
            return _named(node, scope, depth)
        case cst.UnaryOperation():
            return _unary(node, scope, depth)
        case cst.BinaryOperation():
            left = fold(node.left, scope, depth + 1)
            right = fold(node.right, scope, depth + 1) if left is not None else None
            return _binary(node.operator, left, right)
        case cst.Call():
            return _call(node, scope, depth)
    return None


def _named(node: cst.Name | cst.Attribute, scope: Scope, depth: int) -> Expression | None:
    meaning = scope.meaning(node)
    if isinstance(meaning, Dotted):
        return FunctionReference(meaning.name, meaning.key)
    if isinstance(meaning, Local):
        return binding_constant(meaning.variable.name, meaning.scope, depth)
    if isinstance(meaning, ClassMember):
        return member_constant(meaning, depth)
    return None


def binding_constant(name: str, scope: Scope, depth: int = 0) -> Expression | None:
    """The constant that a variable holds all its life: it is bound once."""
    bindings: list[Binding] = scope.bindings.names.get(name, [])
    if len(bindings) != 1 or bindings[0].kind != "value" or bindings[0].value is None:
        return None
    return fold(bindings[0].value, scope, depth + 1)


def member_constant(member: ClassMember, depth: int = 0) -> Expression | None:
    """The constant that a class attribute holds, if no method assigns to it."""
    lineage = member.owner.lineage()
    if any(member.attribute in owner.attributes for owner in lineage):
        return None
    for owner in lineage:
        if member.attribute in owner.scope.bindings.names:
            return binding_constant(member.attribute, owner.scope, depth)
    return None


def _element_size(call: cst.Call, scope: Scope, depth: int) -> Expression | None:
    """``numpy.dtype(numpy.float32).itemsize``, ``numpy.float32(0).nbytes``."""
    made = scope.meaning(call.func)
    if not isinstance(made, Dotted) or len(call.args) > 1:
        return None
    dtype: Expression | None = FunctionReference(made.name)
    if made.name.endswith(".dtype") and call.args:
        dtype = fold(call.args[0].value, scope, depth + 1)
    size = item_bytes(dtype)
    return constant(size) if size is not None else None


def _unary(node: cst.UnaryOperation, scope: Scope, depth: int) -> Expression | None:
    operand = fold(node.expression, scope, depth + 1)
    if not isinstance(operand, Constant) or not isinstance(operand.value, int | float):
        return None
    match node.operator:
        case cst.Minus():
            return constant(-operand.value)
        case cst.Plus():
            return operand
        case cst.BitInvert() if isinstance(operand.value, int):
            return constant(~operand.value)
    return None


def _binary(
    operator: cst.BaseBinaryOp, left: Expression | None, right: Expression | None
) -> Expression | None:
    if isinstance(left, Tuple) and isinstance(operator, cst.Add) and isinstance(right, Tuple):
        return Tuple(left.items + right.items, left.kind)
    if not isinstance(left, Constant) or not isinstance(right, Constant):
        return None
    value = _arithmetic(operator, left.value, right.value)
    return constant(value) if value is not None else None


def _arithmetic(operator: cst.BaseBinaryOp, left: Value, right: Value) -> Value:
    if isinstance(left, str):
        if isinstance(operator, cst.Add) and isinstance(right, str):
            return left + right if len(left) + len(right) <= _MAXIMUM_TEXT else None
        return None
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return None
    try:
        match operator:
            case cst.Add():
                return left + right
            case cst.Subtract():
                return left - right
            case cst.Multiply():
                return left * right
            case cst.Divide():
                return left / right
            case cst.FloorDivide():
                return left // right
            case cst.Modulo():
                return left % right
            case cst.Power() if abs(right) <= 128:
                power: int | float | complex = left**right
                return power if isinstance(power, int | float) else None
    except (ArithmeticError, ValueError):
        return None
    if isinstance(left, int) and isinstance(right, int):
        match operator:
            case cst.LeftShift() if 0 <= right <= 128:
                return left << right
            case cst.RightShift() if 0 <= right <= 128:
                return left >> right
            case cst.BitAnd():
                return left & right
            case cst.BitOr():
                return left | right
    return None


def _call(node: cst.Call, scope: Scope, depth: int) -> Expression | None:
    meaning = scope.meaning(node.func)
    if not isinstance(meaning, Dotted) or not node.args:
        return None
    values = []
    for argument in node.args:
        value = fold(argument.value, scope, depth + 1)
        if argument.keyword or argument.star or not isinstance(value, Constant):
            return None
        if not isinstance(value.value, int | float):
            return None
        values.append(value.value)
    try:
        if len(values) == 1 and (made := made_by(meaning.name, scope)) is not None:
            whole = constant(int(values[0]))
            return Cast(made, whole) if whole is not None else None
        match meaning.name, len(values):
            case "builtins.int", 1:
                return constant(int(values[0]))
            case "builtins.float", 1:
                return constant(float(values[0]))
            case "builtins.min", _ if len(values) > 1:
                return constant(min(values))
            case "builtins.max", _ if len(values) > 1:
                return constant(max(values))
    except (OverflowError, ValueError):
        pass
    return None
