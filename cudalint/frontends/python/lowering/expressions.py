"""Lowers expressions: pure ones to values, calls in them to operations."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
import msgspec

from cudalint.frontends.python.constants import (
    constant,
    float_value,
    fold,
    integer_value,
    member_constant,
    string_value,
)
from cudalint.frontends.python.integers import integer_type
from cudalint.frontends.python.lowering.context import Context
from cudalint.frontends.python.scopes import (
    ClassInfo,
    ClassMember,
    Defined,
    Dotted,
    Local,
    Meaning,
    Receiver,
)
from cudalint.program.expressions import (
    THIS,
    Binary,
    Constant,
    Expression,
    FunctionReference,
    Index,
    Member,
    Slice,
    Tuple,
    Unary,
    Unknown,
)
from cudalint.program.functions import Use

_BINARY: dict[type[cst.BaseBinaryOp], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.MatrixMultiply: "@",
}
_AUGMENTED: dict[type[cst.BaseAugOp], str] = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
    cst.MatrixMultiplyAssign: "@",
}
_COMPARISONS: dict[type[cst.BaseCompOp], tuple[str, bool]] = {
    cst.Equal: ("==", False),
    cst.NotEqual: ("!=", False),
    cst.LessThan: ("<", False),
    cst.LessThanEqual: ("<=", False),
    cst.GreaterThan: (">", False),
    cst.GreaterThanEqual: (">=", False),
    cst.Is: ("is", False),
    cst.IsNot: ("is", True),
    cst.In: ("in", False),
    cst.NotIn: ("in", True),
}
NONE = Constant(None)
_SINGLETONS = {"None": NONE, "True": Constant(True), "False": Constant(False)}


def augmented_operator(operator: cst.BaseAugOp) -> str:
    """The operator of ``x += y``, without the ``=``."""
    return _AUGMENTED.get(type(operator), "+")


# -- names -----------------------------------------------------------------------------------


def reference(context: Context, meaning: Meaning) -> Expression:
    """The value that something fixed stands for."""
    match meaning:
        case Dotted():
            return FunctionReference(meaning.name, meaning.key)
        case Defined() | ClassInfo():
            return FunctionReference(meaning.key, meaning.key)
        case Local():
            return context.note(meaning)
        case Receiver():
            if meaning.is_class:
                return FunctionReference(meaning.owner.key, meaning.owner.key)
            return THIS
        case ClassMember():
            value = member_constant(meaning)
            if isinstance(value, Constant):
                return Constant(value.value, f"{meaning.owner.name}.{meaning.attribute}")
            owner = FunctionReference(meaning.owner.key, meaning.owner.key)
            return Member(owner, meaning.attribute)


def _name(context: Context, node: cst.Name) -> Expression:
    """A name: a variable, or what it is fixed to."""
    name = node.value
    if name in _SINGLETONS:
        return _SINGLETONS[name]
    meaning = context.scope.lookup(name)
    if meaning is None:
        return FunctionReference(name)
    return reference(context, meaning)


def _attribute(context: Context, node: cst.Attribute) -> Expression:
    """``base.name``: a part of a module, a class's member, or a member of an object."""
    meaning = context.scope.meaning(node)
    if meaning is not None:
        return reference(context, meaning)
    base = context.scope.meaning(node.value)
    if isinstance(base, Receiver):
        value = member_constant(ClassMember(base.owner, node.attr.value))
        if isinstance(value, Constant):
            return Constant(value.value, f"{base.name}.{node.attr.value}")
        return Member(context.lower(node.value), base.owner.member(node.attr.value))
    if isinstance(node.value, cst.Call):
        known = fold(node, context.scope)  # the size of an element type
        if isinstance(known, Constant):
            return known
    return Member(context.lower(node.value), node.attr.value)


# -- literals and displays -------------------------------------------------------------------


def _integer(context: Context, node: cst.Integer) -> Expression:
    value = integer_value(node)
    folded = constant(value) if value is not None else None
    return folded if folded is not None else context.unknown(node)


def _float(context: Context, node: cst.Float) -> Expression:
    value = float_value(node)
    return Constant(value) if value is not None else context.unknown(node)


def _string(context: Context, node: cst.SimpleString | cst.ConcatenatedString) -> Expression:
    value = string_value(node)
    if value is not None:
        folded = constant(value)
        if folded is not None:
            return folded
    if isinstance(node, cst.ConcatenatedString):
        return context.unknown(node, context.lower(node.left), context.lower(node.right))
    return context.unknown(node)


def _formatted(context: Context, node: cst.FormattedString) -> Expression:
    reads: list[Expression] = []
    pending: list[cst.BaseFormattedStringContent] = list(node.parts)
    while pending:
        part = pending.pop(0)
        if isinstance(part, cst.FormattedStringExpression):
            reads.append(context.lower(part.expression))
            pending[:0] = part.format_spec or ()
    return context.unknown(node, *(read for read in reads if not isinstance(read, Constant)))


def _display(context: Context, node: cst.Tuple | cst.List | cst.Set) -> Expression:
    kind = type(node).__name__.lower()
    items: list[Expression] = []
    for element in node.elements:
        value = context.lower(element.value)
        if isinstance(element, cst.StarredElement):
            value = Unknown("*", (value,))
        items.append(value)
    return Tuple(tuple(items), kind)


def _dict(context: Context, node: cst.Dict) -> Expression:
    items: list[Expression] = []
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            items.append(context.lower(element.key))
            items.append(context.lower(element.value))
        else:
            items.append(Unknown("**"))
            items.append(Unknown("**", (context.lower(element.value),)))
    return Tuple(tuple(items), "dict")


# -- operators -------------------------------------------------------------------------------


def _unary(context: Context, node: cst.UnaryOperation) -> Expression:
    operand = context.lower(node.expression)
    match node.operator:
        case cst.Not():
            return negated(operand)
        case cst.Minus():
            if isinstance(operand, Constant) and isinstance(operand.value, int | float):
                return constant(-operand.value) or Unary("-", operand)
            return Unary("-", operand)
        case cst.BitInvert():
            return Unary("~", operand)
    return operand


def _binary(context: Context, node: cst.BinaryOperation) -> Expression:
    left = context.lower(node.left)
    right = context.lower(node.right)
    operator = _BINARY.get(type(node.operator), "+")
    return Binary(operator, left, right, integer_type(node, context.scope))


def _comparison(context: Context, node: cst.Comparison) -> Expression:
    left = context.lower(node.left)
    result: Expression | None = None
    for target in node.comparisons:
        right = context.lower(target.comparator)
        operator, inverted = _COMPARISONS.get(type(target.operator), ("==", False))
        link: Expression = Binary(operator, left, right)
        if inverted:
            link = Unary("!", link)
        result = link if result is None else Binary("&&", result, link)
        left = right
    return result if result is not None else left


# -- subscripts ------------------------------------------------------------------------------


def subscript(context: Context, node: cst.Subscript) -> Expression:
    """``base[...]``: an element, or a view where a slice is among the indices."""
    base = context.lower(node.value)
    indices: list[Expression] = []
    view: Slice | None = None
    subscripts: list[Expression] = []
    for element in node.slice:
        part = element.slice
        if isinstance(part, cst.Slice):
            lower, upper, step = (
                context.lower(bound) if bound is not None else None
                for bound in (part.lower, part.upper, part.step)
            )
            subscripts.append(Slice(Unknown(), lower, upper, step))
            if view is None:
                view = Slice(base, lower, upper, step) if not indices else Slice(base)
        elif isinstance(part, cst.Index):
            value = context.lower(part.value)
            if isinstance(part.value, cst.Ellipsis) or value == NONE:
                view = view or Slice(base)
            indices.append(value)
            dots = isinstance(part.value, cst.Ellipsis)
            subscripts.append(Unknown("...") if dots else value)
    if view is not None and len(subscripts) > 1:
        return msgspec.structs.replace(view, subscripts=tuple(subscripts))
    if view is not None:
        return view
    return Index(base, indices[0] if len(indices) == 1 else Tuple(tuple(indices)))


# -- what suspends or binds ------------------------------------------------------------------


def _await(context: Context, node: cst.Await) -> Expression:
    value = context.lower(node.expression)
    context.graph.emit(Use(value, context.span(node), "await"))
    return value


def _yield(context: Context, node: cst.Yield) -> Expression:
    context.is_generator = True
    value: Expression = NONE
    if isinstance(node.value, cst.From):
        value = context.lower(node.value.item)
    elif node.value is not None:
        value = context.lower(node.value)
    context.graph.emit(Use(value, context.span(node), "yield"))
    return Unknown("yield")


def negated(value: Expression) -> Expression:
    """``not value``."""
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return Constant(not value.value)
    return Unary("!", value)


def _ellipsis(context: Context, node: cst.Ellipsis) -> Expression:
    return FunctionReference("builtins.Ellipsis")


EXPRESSIONS: dict[type[cst.CSTNode], Callable[..., Expression]] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.Subscript: subscript,
    cst.Integer: _integer,
    cst.Float: _float,
    cst.SimpleString: _string,
    cst.ConcatenatedString: _string,
    cst.FormattedString: _formatted,
    cst.Tuple: _display,
    cst.List: _display,
    cst.Set: _display,
    cst.Dict: _dict,
    cst.UnaryOperation: _unary,
    cst.BinaryOperation: _binary,
    cst.Comparison: _comparison,
    cst.Await: _await,
    cst.Yield: _yield,
    cst.Ellipsis: _ellipsis,
}
