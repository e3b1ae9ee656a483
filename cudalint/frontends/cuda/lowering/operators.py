"""Lowers the built-in operators and assignments."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Mapping

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.conditions import branch_on
from cudalint.frontends.cuda.lowering.context import Context, is_place
from cudalint.frontends.cuda.lowering.conversions import wrap
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    TypeKind,
    binary_operator,
    children,
    name_of,
    referenced,
    unary_operator,
    usr,
    values_of,
)
from cudalint.frontends.cuda.lowering.literals import macro_name
from cudalint.frontends.cuda.lowering.syntax import bare, is_trapped, two
from cudalint.frontends.cuda.lowering.unknowns import other
from cudalint.frontends.cuda.lowering.variables import variable_of
from cudalint.program import (
    THIS,
    AddressOf,
    Assign,
    Binary,
    Conditional,
    Constant,
    Dereference,
    Expression,
    FunctionReference,
    Index,
    Type,
    Unary,
    Unknown,
)

_BOOL = Type("bool", "bool", 1, False)
_EXACT: Mapping[str, Callable[[int, int], int]] = {
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def unary(context: Context, cursor: Cursor) -> Expression:
    """Lower a prefix or postfix operator."""
    operator = unary_operator(cursor)
    operands = children(cursor)
    if not operands:
        return other(context, cursor)
    if operator in ("x++", "x--", "++x", "--x"):
        return step(context, cursor, operator, wanted=True)
    if operator == "!":
        return apply(context, operator, context.expression(bare(context, operands[0])), cursor)
    if operator == "&" and (field := _pointer_to_member(context, cursor)) is not None:
        return field
    value = context.expression(operands[0])
    if operator == "&" and isinstance(value, Constant):
        value = _unfolded(context, operands[0], value)
    return apply(context, operator, value, cursor)


def apply(context: Context, operator: str, value: Expression, cursor: Cursor) -> Expression:
    """What a prefix operator makes of a lowered expression."""
    if operator == "!":
        return _not(context, value)
    if operator == "&":
        return address_of(context, value)
    if operator == "*":
        if isinstance(value, AddressOf):
            return value.place
        if value == THIS or isinstance(value, FunctionReference):
            return value
        return Dereference(value)
    if operator in ("-", "~"):
        if isinstance(value, Constant) and isinstance(value.value, int | float):
            if operator == "-":
                return Constant(-value.value)
            if isinstance(value.value, int):
                return Constant(wrap(~value.value, context.types.of(cursor)))
        return Unary(operator, value)
    return value


def _pointer_to_member(context: Context, cursor: Cursor) -> Expression | None:
    """``&Image::pixels``."""
    declaration = referenced(children(cursor)[0])
    written = context.library.canonical_type(context.library.type(cursor))
    if declaration is None or declaration._kind_id != Kind.FIELD:
        return None
    if written._kind_id != TypeKind.MEMBER_POINTER:
        return None
    return FunctionReference(context.names.qualified(declaration), usr(declaration))


def _unfolded(context: Context, cursor: Cursor, value: Expression) -> Expression:
    """The variable behind a folded constant: its address is taken."""
    inner = cursor
    while inner._kind_id in (Kind.PARENTHESES, Kind.UNEXPOSED):
        inner = children(inner)[0]
    declaration = referenced(inner) if inner._kind_id == Kind.NAME else None
    if declaration is None or declaration._kind_id != Kind.VARIABLE:
        return value
    return variable_of(context, declaration, name_of(declaration))


def _not(context: Context, value: Expression) -> Expression:
    if isinstance(value, Constant) and not isinstance(value.value, str):
        return Constant(not value.value)
    return Unary("!", value)


def address_of(context: Context, value: Expression) -> Expression:
    """The address of a lowered expression."""
    if isinstance(value, Dereference) and not value.implicit:
        return value.pointer
    if value == THIS or isinstance(value, FunctionReference):
        return value
    if is_place(value):
        return AddressOf(value)
    if isinstance(value, Constant | Unknown):
        return Unknown("&", (value,))
    return AddressOf(value)


def step(context: Context, cursor: Cursor, operator: str, wanted: bool) -> Expression:
    """Lower an increment or decrement."""
    place = context.expression(children(cursor)[0])
    type_ = context.types.of(cursor)
    span = context.positions.span(cursor)
    value: Expression = place
    if wanted and operator.startswith("x"):
        value = context.temporary(type_)
        context.graph.emit(Assign(value, place, span))
    stepped = Binary(
        operator.replace("x", "")[0],
        place,
        Constant(1),
        type_ if type_.kind == "integer" else None,
    )
    context.graph.emit(Assign(place, stepped, span, augmented=True))
    return value


def binary(context: Context, cursor: Cursor) -> Expression:
    """Lower a binary operator or an assignment."""
    operator = binary_operator(cursor)
    left, right = two(cursor)
    if operator == "=":
        return assign(context, left, right, cursor)
    if operator == ",":
        if not is_trapped(context, left, right):
            context.discard(left)
        return context.expression(right)
    if operator in ("&&", "||"):
        return _both(context, operator, left, right, cursor)
    type_ = context.types.of(cursor)
    first = context.expression(left)
    second = context.expression(right)
    if operator in (".*", "->*"):
        return Index(first if operator == ".*" else Dereference(first), second)
    if not operator:
        return Unknown(context.positions.text(cursor), (first, second))
    always = _compared_to_least(context, operator, (left, first), (right, second))
    if always is not None:
        return Constant(always)
    result = type_ if type_.kind == "integer" else None
    positions = context.positions
    if positions.from_macro(left) and positions.offsets(left) == positions.offsets(right):
        return _written_by_macro(macro_name(context, left), operator, first, second, result)
    return Binary(operator, first, second, result)


def _written_by_macro(
    name: str, operator: str, left: Expression, right: Expression, result: Type | None
) -> Expression:
    """An operation in the body of a macro: its name stands for the result, where that is a constant
    and does not wrap around, and for neither operand alone."""
    first, second = _unnamed(left, name), _unnamed(right, name)
    exact = _EXACT.get(operator)
    match first, second:
        case Constant(value=int() as one), Constant(value=int() as other) if name and exact:
            value = exact(one, other)
            if result is not None and wrap(value, result) == value:
                return Constant(value, name)
    return Binary(operator, first, second, result)


def _unnamed(operand: Expression, name: str) -> Expression:
    if isinstance(operand, Constant) and operand.text == name:
        return Constant(operand.value)
    return operand


def _compared_to_least(
    context: Context,
    operator: str,
    left: tuple[Cursor, Expression],
    right: tuple[Cursor, Expression],
) -> bool | None:
    """What a comparison with 0 tells that holds for all unsigned numbers, or for none."""
    if operator in (">", "<="):
        return _compared_to_least(context, _MIRRORED[operator], right, left)
    (number, _), (_, limit) = left, right
    if operator not in _MIRRORED or not isinstance(limit, Constant) or limit.value != 0:
        return None
    type_ = context.types.of(number)
    if type_.kind != "integer" or type_.signed:
        return None
    return operator == ">="


def _both(
    context: Context, operator: str, left: Cursor, right: Cursor, cursor: Cursor
) -> Expression:
    """``&&`` and ``||`` as values: branches only where the right side does something."""
    first = context.expression(bare(context, left))
    before, node = context.graph.current, context.graph.block()
    context.graph.current = node
    second = context.expression(bare(context, right))
    if context.graph.current is node and not node.operations and context.graph.is_open:
        context.graph.current = before
        return Binary(operator, first, second)
    result, span = context.temporary(_BOOL), context.positions.span(cursor)
    context.graph.emit(Assign(result, second, span))
    short, after = context.graph.block(), context.graph.block()
    context.graph.jump(after)
    context.graph.current = before
    ways = (node, short) if operator == "&&" else (short, node)
    branch_on(context, first, *ways, span)
    context.graph.current = short
    context.graph.emit(Assign(result, Constant(operator == "||"), span))
    context.graph.enter(after)
    return result


def conditional(context: Context, cursor: Cursor) -> Expression:
    """Lower ``a ? b : c``."""
    parts = values_of(cursor)
    if len(parts) != 3:
        return other(context, cursor)
    test = context.expression(bare(context, parts[0]))
    if isinstance(test, Constant) and not isinstance(test.value, str):
        return context.expression(parts[1] if test.value else parts[2])
    before = context.graph.current
    arms = []
    for part in parts[1:]:
        start = context.graph.current = context.graph.block()
        arms.append((start, context.expression(part), context.graph.current))
    if all(start is end and not start.operations for start, _, end in arms) and not any(
        start.terminator for start, _, _ in arms
    ):
        context.graph.current = before
        return Conditional(test, arms[0][1], arms[1][1])
    result, span = context.temporary(context.types.of(cursor)), context.positions.span(cursor)
    after = context.graph.block()
    for _, value, end in arms:
        context.graph.current = end
        if context.graph.is_open:
            context.graph.emit(Assign(result, value, span))
            context.graph.jump(after)
    context.graph.current = before
    branch_on(context, test, arms[0][0], arms[1][0], span)
    context.graph.current = after
    return result


def assign(context: Context, left: Cursor, right: Cursor, cursor: Cursor) -> Expression:
    """Lower ``left = right``."""
    value = context.expression(right)
    place = context.expression(left)
    context.graph.emit(Assign(place, value, context.positions.span(cursor)))
    return place


def compound_assignment(context: Context, cursor: Cursor) -> Expression:
    """Lower ``a += b`` and the like."""
    left, right = two(cursor)
    value = context.expression(right)
    place = context.expression(left)
    type_ = context.types.of(cursor)
    result = Binary(
        binary_operator(cursor), place, value, type_ if type_.kind == "integer" else None
    )
    context.graph.emit(Assign(place, result, context.positions.span(cursor), augmented=True))
    return place
