"""Values of several parts: ``std::pair``, ``std::tuple`` and aggregates."""

from __future__ import annotations

import re

from cudalint.frontends.cuda.lowering.context import Context
from cudalint.program import Assign, Constant, Expression, Index, Member, Tuple, Type, Unknown
from cudalint.source import Span

REFERENCES = "references"
"""The kind of a ``Tuple`` of places that an assignment writes to, one by one."""
_PAIR = ("first", "second")
_PAIRS = frozenset(("std::pair", "cuda::std::pair", "thrust::pair"))
_PRODUCT_KEY = re.compile(r"@(pair|tuple)(?:>|$)")
_TUPLES = frozenset(("std::tuple", "cuda::std::tuple", "thrust::tuple"))


def is_product(name: str, values: int) -> bool:
    """Whether a class is one whose constructor puts that many values into its parts."""
    return values > 1 and (name in _TUPLES or (name in _PAIRS and values == len(_PAIR)))


def part(context: Context, value: Expression, type_: Type, number: int) -> Expression:
    """One of the parts, as structured bindings and ``std::get`` count them."""
    if type_.kind == "reference" and type_.pointee is not None:
        type_ = type_.pointee
    fields = context.unit.fields_of(type_.record) if type_.record else []
    if isinstance(value, Tuple) and number < len(value.items):
        return value.items[number]
    if number < len(fields):
        return Member(value, fields[number])
    found = _PRODUCT_KEY.search(type_.record or "")
    if found is not None and found.group(1) == "tuple":
        return Member(value, str(number))
    if found is not None and number < len(_PAIR):
        return Member(value, _PAIR[number])
    return Index(value, Constant(number))


def build(
    context: Context,
    place: Expression,
    type_: Type,
    values: list[Expression],
    span: Span,
    declares: bool = False,
) -> None:
    """Put values into the parts of a new object."""
    context.graph.emit(Assign(place, Unknown("uninitialized"), span, declares=declares))
    for number, value in enumerate(values):
        context.graph.emit(Assign(part(context, place, type_, number), value, span))


def unpack(
    context: Context, places: Tuple, value: Expression, type_: Type, span: Span
) -> Expression:
    """``std::tie(a, b) = value``."""
    for number, place in enumerate(places.items):
        if not isinstance(place, Unknown):
            context.graph.emit(Assign(place, part(context, value, type_, number), span))
    return places
