"""What the code compares things with: a thing that is asked whether it is 2 may have to be 2."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from clang.cindex import CursorKind

_EQUAL = re.compile(r"(?<![\w\])] [-+*/%&|] )\b([A-Za-z_]\w*) [!=]= (\d{1,9}|'[^'\\]')(?![.\w])")
_EQUAL_FIRST = re.compile(
    r"(?<![.\w])(\d{1,9}|'[^'\\]') [!=]= ((?:[A-Za-z_]\w* (?:->|\.) )*[A-Za-z_]\w*)\b(?! [(\[])"
)
_SWITCH = re.compile(r"\bswitch \( (?:[A-Za-z_]\w* (?:->|\.) )*([A-Za-z_]\w*) \) \{")
_CASE = re.compile(r"\bcase (\d{1,9}|'[^'\\]') :")
_MOST_VALUES = 4

Asked = dict[str, tuple[int, ...]]
"""What things are compared with, by the name of a parameter, a field or an enumeration."""


def asked_values(functions: Iterable[Any]) -> Asked:
    """What functions compare numbers and enumerators with, in the order in which they ask."""
    found: dict[str, dict[int, None]] = {}
    for function in functions:
        for name, value in (*_numbers(function), *_enumerators(function)):
            if len(values := found.setdefault(name, {})) < _MOST_VALUES:
                values[value] = None
    return {name: tuple(values) for name, values in found.items()}


def _numbers(function: Any) -> list[tuple[str, int]]:
    text = " ".join(token.spelling for token in function.get_tokens())
    found = [(name, _value(literal)) for name, literal in _EQUAL.findall(text)]
    found += [
        (path.rpartition(" ")[2], _value(literal)) for literal, path in _EQUAL_FIRST.findall(text)
    ]
    for switch in _SWITCH.finditer(text):
        cases = text[switch.end() :].partition("switch (")[0]
        found += [(switch[1], _value(literal)) for literal in _CASE.findall(cases)]
    return [(name, value) for name, value in found if value > 0]  # nothing is nonsense's to try


def _value(literal: str) -> int:
    return int(literal) if literal.isdigit() else ord(literal[1])


def _enumerators(function: Any) -> Iterable[tuple[str, int]]:
    for one in function.walk_preorder():
        if one.kind == CursorKind.DECL_REF_EXPR and one.referenced is not None:
            meant = one.referenced
            if meant.kind == CursorKind.ENUM_CONSTANT_DECL:
                yield meant.semantic_parent.type.get_canonical().spelling, meant.enum_value
