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
from cudalint.frontends.python.graph import OpenBlock
from cudalint.frontends.python.integers import integer_type
from cudalint.frontends.python.scopes import (
    ClassInfo,
    ClassMember,
    Defined,
    Dotted,
    Local,
    Meaning,
    Receiver,
)
from cudalint.frontends.python.state import FunctionState
from cudalint.program.expressions import (
    THIS,
    Binary,
    Conditional,
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
from cudalint.source import Span

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


class ExpressionLowering(FunctionState):
    """Lowers expressions into the current block."""

    def lower(self, node: cst.BaseExpression) -> Expression:
        """Lower an expression: its calls become operations, the rest is the result."""
        method = _LOWERED.get(type(node))
        return method(self, node) if method is not None else self.unknown(node)

    def lower_all(self, nodes: list[cst.BaseExpression]) -> tuple[Expression, ...]:
        """Lower expressions left to right."""
        return tuple([self.lower(node) for node in nodes])

    # -- names -----------------------------------------------------------------------------------

    def reference(self, meaning: Meaning) -> Expression:
        """The value that something fixed stands for."""
        match meaning:
            case Dotted():
                return FunctionReference(meaning.name, meaning.key)
            case Defined() | ClassInfo():
                return FunctionReference(meaning.key, meaning.key)
            case Local():
                return self.note(meaning)
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

    def name(self, node: cst.Name) -> Expression:
        """A name: a variable, or what it is fixed to."""
        name = node.value
        if name in _SINGLETONS:
            return _SINGLETONS[name]
        meaning = self.scope.lookup(name)
        if meaning is None:
            return FunctionReference(name)
        return self.reference(meaning)

    def attribute(self, node: cst.Attribute) -> Expression:
        """``base.name``: a part of a module, a class's member, or a member of an object."""
        meaning = self.scope.meaning(node)
        if meaning is not None:
            return self.reference(meaning)
        base = self.scope.meaning(node.value)
        if isinstance(base, Receiver):
            value = member_constant(ClassMember(base.owner, node.attr.value))
            if isinstance(value, Constant):
                return Constant(value.value, f"{base.name}.{node.attr.value}")
        if isinstance(node.value, cst.Call):
            known = fold(node, self.scope)  # the size of an element type
            if isinstance(known, Constant):
                return known
        return Member(self.lower(node.value), node.attr.value)

    # -- literals and displays -------------------------------------------------------------------

    def _integer(self, node: cst.Integer) -> Expression:
        value = integer_value(node)
        folded = constant(value) if value is not None else None
        return folded if folded is not None else self.unknown(node)

    def _float(self, node: cst.Float) -> Expression:
        value = float_value(node)
        return Constant(value) if value is not None else self.unknown(node)

    def _string(self, node: cst.SimpleString | cst.ConcatenatedString) -> Expression:
        value = string_value(node)
        if value is not None:
            folded = constant(value)
            if folded is not None:
                return folded
        if isinstance(node, cst.ConcatenatedString):
            return self.unknown(node, self.lower(node.left), self.lower(node.right))
        return self.unknown(node)

    def _formatted(self, node: cst.FormattedString) -> Expression:
        reads: list[Expression] = []
        pending: list[cst.BaseFormattedStringContent] = list(node.parts)
        while pending:
            part = pending.pop(0)
            if isinstance(part, cst.FormattedStringExpression):
                reads.append(self.lower(part.expression))
                pending[:0] = part.format_spec or ()
        return self.unknown(node, *(read for read in reads if not isinstance(read, Constant)))

    def _display(self, node: cst.Tuple | cst.List | cst.Set) -> Expression:
        kind = type(node).__name__.lower()
        items: list[Expression] = []
        for element in node.elements:
            value = self.lower(element.value)
            if isinstance(element, cst.StarredElement):
                value = Unknown("*", (value,))
            items.append(value)
        return Tuple(tuple(items), kind)

    def _dict(self, node: cst.Dict) -> Expression:
        items: list[Expression] = []
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                items.append(self.lower(element.key))
                items.append(self.lower(element.value))
            else:
                items.append(Unknown("**"))
                items.append(Unknown("**", (self.lower(element.value),)))
        return Tuple(tuple(items), "dict")

    # -- operators -------------------------------------------------------------------------------

    def _unary(self, node: cst.UnaryOperation) -> Expression:
        operand = self.lower(node.expression)
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

    def _binary(self, node: cst.BinaryOperation) -> Expression:
        left = self.lower(node.left)
        right = self.lower(node.right)
        operator = _BINARY.get(type(node.operator), "+")
        return Binary(operator, left, right, integer_type(node, self.scope))

    def _comparison(self, node: cst.Comparison) -> Expression:
        left = self.lower(node.left)
        result: Expression | None = None
        for target in node.comparisons:
            right = self.lower(target.comparator)
            operator, inverted = _COMPARISONS.get(type(target.operator), ("==", False))
            link: Expression = Binary(operator, left, right)
            if inverted:
                link = Unary("!", link)
            result = link if result is None else Binary("&&", result, link)
            left = right
        return result if result is not None else left

    def _boolean(self, node: cst.BooleanOperation) -> Expression:
        """``and``/``or`` as a value: an operator or a choice where pure, else branches."""
        is_and = isinstance(node.operator, cst.And)
        left = self.lower(node.left)
        before = self.graph.current
        right_block = self.graph.block()
        self.graph.start(right_block)
        right = self.lower(node.right)
        if self._is_untouched(right_block):
            self.graph.current = before
            if _is_boolean(node.left):
                return Binary("&&" if is_and else "||", left, right)
            return Conditional(left, right, left) if is_and else Conditional(left, left, right)
        span = self.reader.span(node)
        end = self.graph.current
        result = self.temporary()
        after = self.graph.block()
        self.graph.current = before
        self.store(result, left, span)
        then, otherwise = (right_block, after) if is_and else (after, right_block)
        self.graph.branch(left, then, otherwise, self.reader.span(node.left))
        self.graph.current = end
        self.store(result, right, span)
        self.graph.jump(after)
        self.graph.start(after)
        return result

    def choice(self, node: cst.IfExp, target: Expression | None = None) -> Expression:
        """``a if test else b`` as a value; calls in its arms write to the target, if one is
        given."""
        test = self.lower(node.test)
        before = self.graph.current
        blocks: list[OpenBlock] = []
        ends: list[OpenBlock] = []
        values: list[Expression] = []
        for part in (node.body, node.orelse):
            block = self.graph.block()
            self.graph.start(block)
            if target is not None and isinstance(part, cst.Call):
                values.append(self.lower_call(part, target))
            else:
                values.append(self.lower(part))
            blocks.append(block)
            ends.append(self.graph.current)
        pure = all(
            block is end and not block.operations for block, end in zip(blocks, ends, strict=True)
        )
        self.graph.current = before
        if pure:
            return Conditional(test, values[0], values[1])
        result = target if target is not None else self.temporary()
        after = self.graph.block()
        self.graph.branch(test, blocks[0], blocks[1], self.reader.span(node.test))
        for end, value, part in zip(ends, values, (node.body, node.orelse), strict=True):
            self.graph.current = end
            if value is not result:
                self.store(result, value, self.reader.span(part))
            self.graph.jump(after)
        self.graph.start(after)
        return result

    def lower_into(self, node: cst.BaseExpression, target: Expression, span: Span) -> None:
        """Lower an expression and store it: a call writes to the target itself."""
        match node:
            case cst.Call():
                value = self.lower_call(node, target)
            case cst.IfExp():
                value = self.choice(node, target)
            case cst.Await(expression=cst.Call() as call):
                value = self.lower_call(call, target)
                self.graph.emit(Use(value, self.reader.span(node), "await"))
            case _:
                value = self.lower(node)
        if value is not target:
            self.store(target, value, span)

    def _is_untouched(self, block: OpenBlock) -> bool:
        return self.graph.current is block and not block.operations

    # -- subscripts ------------------------------------------------------------------------------

    def subscript(self, node: cst.Subscript) -> Expression:
        """``base[...]``: an element, or a view where a slice is among the indices."""
        base = self.lower(node.value)
        indices: list[Expression] = []
        view: Slice | None = None
        subscripts: list[Expression] = []
        for element in node.slice:
            part = element.slice
            if isinstance(part, cst.Slice):
                lower, upper, step = (
                    self.lower(bound) if bound is not None else None
                    for bound in (part.lower, part.upper, part.step)
                )
                subscripts.append(Slice(Unknown(), lower, upper, step))
                if view is None:
                    view = Slice(base, lower, upper, step) if not indices else Slice(base)
            elif isinstance(part, cst.Index):
                value = self.lower(part.value)
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

    def _await(self, node: cst.Await) -> Expression:
        value = self.lower(node.expression)
        self.graph.emit(Use(value, self.reader.span(node), "await"))
        return value

    def _yield(self, node: cst.Yield) -> Expression:
        self.is_generator = True
        value: Expression = NONE
        if isinstance(node.value, cst.From):
            value = self.lower(node.value.item)
        elif node.value is not None:
            value = self.lower(node.value)
        self.graph.emit(Use(value, self.reader.span(node), "yield"))
        return Unknown("yield")

    def _named(self, node: cst.NamedExpr) -> Expression:
        self.assign(node.target, node.value, self.reader.span(node))
        return self.lower(node.target)

    # -- conditions ------------------------------------------------------------------------------

    def condition(self, node: cst.BaseExpression, then: OpenBlock, otherwise: OpenBlock) -> None:
        """End the current block with the branches that a condition takes."""
        match node:
            case cst.UnaryOperation(operator=cst.Not()):
                self.condition(node.expression, otherwise, then)
            case cst.BooleanOperation():
                right = self.graph.block()
                if isinstance(node.operator, cst.And):
                    self.condition(node.left, right, otherwise)
                else:
                    self.condition(node.left, then, right)
                self.graph.start(right)
                self.condition(node.right, then, otherwise)
            case _:
                value = self.lower(node)
                if isinstance(value, Unary) and value.operator == "!":
                    value, then, otherwise = value.operand, otherwise, then
                self.graph.branch(value, then, otherwise, self.reader.span(node))


def negated(value: Expression) -> Expression:
    """``not value``."""
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return Constant(not value.value)
    return Unary("!", value)


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


def _lower_call(state: ExpressionLowering, node: cst.Call) -> Expression:
    return state.lower_call(node, None)


def _ellipsis(state: ExpressionLowering, node: cst.Ellipsis) -> Expression:
    return FunctionReference("builtins.Ellipsis")


_LOWERED: dict[type[cst.CSTNode], Callable[..., Expression]] = {
    cst.Name: ExpressionLowering.name,
    cst.Attribute: ExpressionLowering.attribute,
    cst.Call: _lower_call,
    cst.Subscript: ExpressionLowering.subscript,
    cst.Integer: ExpressionLowering._integer,
    cst.Float: ExpressionLowering._float,
    cst.SimpleString: ExpressionLowering._string,
    cst.ConcatenatedString: ExpressionLowering._string,
    cst.FormattedString: ExpressionLowering._formatted,
    cst.Tuple: ExpressionLowering._display,
    cst.List: ExpressionLowering._display,
    cst.Set: ExpressionLowering._display,
    cst.Dict: ExpressionLowering._dict,
    cst.UnaryOperation: ExpressionLowering._unary,
    cst.BinaryOperation: ExpressionLowering._binary,
    cst.Comparison: ExpressionLowering._comparison,
    cst.BooleanOperation: ExpressionLowering._boolean,
    cst.IfExp: ExpressionLowering.choice,
    cst.Await: ExpressionLowering._await,
    cst.Yield: ExpressionLowering._yield,
    cst.NamedExpr: ExpressionLowering._named,
    cst.Ellipsis: _ellipsis,
    cst.Lambda: lambda state, node: state.lower_lambda(node),
    cst.ListComp: lambda state, node: state.lower_comprehension(node),
    cst.SetComp: lambda state, node: state.lower_comprehension(node),
    cst.DictComp: lambda state, node: state.lower_comprehension(node),
    cst.GeneratorExp: lambda state, node: state.lower_comprehension(node),
}
