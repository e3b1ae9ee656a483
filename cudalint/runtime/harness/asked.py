"""What the code compares things with: a thing that is asked whether it is 2 may have to be 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from clang.cindex import BinaryOperator, CursorKind

from cudalint.frontends.cuda.lowering.libclang import evaluate

_EQUALITY = (BinaryOperator.EQ, BinaryOperator.NE)
_AROUND = (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR, CursorKind.CSTYLE_CAST_EXPR)
"""What stands around an expression and leaves its value as it is, but for its type."""
_NAMES = (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR)
_MOST_VALUES = 4
_GREATEST = 999_999_999

Asked = dict[str, tuple[int, ...]]
"""What things are compared with, by the name of a parameter, a field or an enumeration."""


def asked_values(functions: Iterable[Any]) -> Asked:
    """What functions compare numbers and enumerators with, in the order in which they ask."""
    found: dict[str, dict[int, None]] = {}
    for function in functions:
        for one in function.walk_preorder():
            for name, value in _asked_by(one):
                if len(values := found.setdefault(name, {})) < _MOST_VALUES:
                    values[value] = None
    return {name: tuple(values) for name, values in found.items()}


def _asked_by(one: Any) -> Iterator[tuple[str, int]]:
    if one.kind == CursorKind.BINARY_OPERATOR and one.binary_operator in _EQUALITY:
        left, right = one.get_children()
        yield from _numbers(left, [right])
        yield from _numbers(right, [left])
    elif one.kind == CursorKind.SWITCH_STMT:
        *_, subject, body = one.get_children()
        yield from _numbers(subject, _cases(body))
    elif one.kind == CursorKind.DECL_REF_EXPR:
        meant = one.referenced
        if meant is not None and meant.kind == CursorKind.ENUM_CONSTANT_DECL:
            yield meant.semantic_parent.type.get_canonical().spelling, meant.enum_value


def _numbers(asked: Any, constants: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """What a thing with a name is compared with."""
    name = _name(asked)
    for constant in constants if name else ():
        value = evaluate(constant)
        if isinstance(value, int) and 0 < value <= _GREATEST:  # nothing is nonsense's to try
            yield name, value


def _cases(body: Any) -> Iterator[Any]:
    """The constants of a switch, but not those of the ones in it."""
    for child in body.get_children():
        if child.kind == CursorKind.CASE_STMT:
            yield next(child.get_children())
        if child.kind != CursorKind.SWITCH_STMT:
            yield from _cases(child)


def _name(expression: Any) -> str:
    """What a parameter or a field is called; empty of anything else."""
    while expression.kind in _AROUND:
        inner = list(expression.get_children())
        if not inner:
            return ""
        expression = inner[-1]  # before it stands the type that it is cast to
    return str(expression.spelling) if expression.kind in _NAMES else ""
