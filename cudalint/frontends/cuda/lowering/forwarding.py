"""Functions of the standard library that hand on their arguments, or parts of them."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.context import Context, is_place
from cudalint.frontends.cuda.lowering.libclang import library
from cudalint.frontends.cuda.lowering.operators import address_of
from cudalint.frontends.cuda.lowering.products import REFERENCES, build, part
from cudalint.program import Expression, Tuple, Unknown, Variable

_TRANSPARENT = frozenset(
    (
        "std::move", "std::forward", "std::as_const", "std::launder", "cuda::std::move",
        "cuda::std::forward", "__builtin_expect",
    )
)  # fmt: skip
_ADDRESS = frozenset(("std::addressof", "std::__addressof", "__builtin_addressof"))
_TIE = frozenset(("std::tie", "cuda::std::tie", "thrust::tie"))
_IGNORE = "::std::ignore"
_MAKE = frozenset(
    (
        "std::make_pair", "std::make_tuple", "cuda::std::make_pair", "cuda::std::make_tuple",
        "thrust::make_pair", "thrust::make_tuple",
    )
)  # fmt: skip
_GET = frozenset(("std::get", "cuda::std::get", "thrust::get"))
_INTEGRAL = 4


def forwarded(
    context: Context, cursor: Cursor, name: str, operands: list[Cursor], function: Cursor | None
) -> Expression | None:
    """What such a call stands for; ``None`` for other functions."""
    if not operands:
        return None
    if name in _TRANSPARENT:
        return context.expression(operands[0])
    if name in _ADDRESS:
        return address_of(context, context.expression(operands[0]))
    if name in _GET:
        number = _number(function)
        if number is None:
            return None
        value = context.expression(operands[0])
        return part(context, value, context.types.of(operands[0]), number)
    if name in _TIE:
        places = [context.expression(operand) for operand in operands]
        return Tuple(tuple(_tied(place) for place in places), REFERENCES)
    if name in _MAKE and len(operands) > 1:
        type_ = context.types.of(cursor)
        held = context.temporary(type_)
        values = [context.expression(operand) for operand in operands]
        build(context, held, type_, values, context.positions.span(cursor))
        return held
    return None


def _tied(place: Expression) -> Expression:
    if not is_place(place) or (isinstance(place, Variable) and place.symbol == _IGNORE):
        return Unknown("ignored")
    return place


def _number(function: Cursor | None) -> int | None:
    """The first template argument, where it is a number."""
    functions = library()
    if function is None or functions.template_arguments(function) < 1:
        return None
    if functions.template_argument_kind(function, 0) != _INTEGRAL:
        return None
    return int(functions.template_argument_value(function, 0))
