"""Holes: what a string takes from a value that is not known before the program runs."""

from __future__ import annotations

import re

from cudalint.frontends.python.embedded.texts import Text, standing_for, substituted

_FIRST = 0xF0000
_MOST = 0xFFF0
_HOLES = re.compile(f"[{chr(_FIRST)}-{chr(_FIRST + _MOST - 1)}]")
_BEFORE = re.compile(r"[;{}]\s*$")
_MACRO = re.compile(r"^[ \t]*#[^\n]*$")

UNKNOWN = "cudalint_unknown_"
"""What identifiers begin with that stand for a hole."""

_UNKNOWN_NAME = re.compile(rf"\w*{UNKNOWN}\d+\w*")
_NAMES = re.compile(r"[A-Za-z_]\w*")
_DEFINITIONS = re.compile(
    r"^[ \t]*\#[ \t]*define[ \t]+(?P<macro>\w+)(?P<body>(?:\\\r?\n|[^\n])*)"
    r"|\b(?:const|constexpr|static|enum|using)\b[^;{}=]*?\b(?P<name>\w+)\s*=(?P<value>[^;]*)"
    r"|\btypedef\b(?P<old>[^;{}]*?)\b(?P<new>\w+)\s*;",
    re.MULTILINE | re.VERBOSE,
)


class Holes:
    """The holes of a file's strings. A hole is one character (of a private plane) while strings are
    put together; the same expression always makes the same hole."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def hole(self, expression: str, start: int, end: int) -> Text:
        """The hole that an expression leaves."""
        number = self._numbers.setdefault(expression, len(self._numbers))
        return standing_for(chr(_FIRST + min(number, _MOST - 1)), start, end)

    def named(self, text: Text) -> Text:
        """The text with an identifier for each hole, so that it still parses. A hole where a
        declaration, a statement or a directive would stand becomes nothing."""
        return substituted(
            text,
            (
                (match.start(), match.end(), _standing_for(text, match.start()))
                for match in _HOLES.finditer(text.value)
            ),
        )


def is_hole(text: Text) -> bool:
    """Whether a text is unknown altogether."""
    return len(text) == 1 and _HOLES.match(text.value) is not None


def _standing_for(text: Text, position: int) -> Text:
    value = text.value
    name = f"{UNKNOWN}{ord(value[position]) - _FIRST}"
    end = position + 1
    line_start = value.rfind("\n", 0, position) + 1
    before = value[line_start:position]
    line_end = value.find("\n", end)
    after = value[end : line_end if line_end >= 0 else len(value)]
    if not _MACRO.match(before):
        above = _HOLES.sub("", value[max(0, position - 2000) : position]).rstrip()
        begins = not above or _BEFORE.search(above) is not None or above.endswith((">", '"', "*/"))
        ends = not after.strip(" \t;\r") or after.lstrip().startswith("}")
        directive = value[value.rfind("\n", 0, len(above)) + 1 : len(above)].lstrip()
        if ends and (begins or (not before.strip() and directive.startswith(("#", "//")))):
            name = ""
    return standing_for(name, text.starts[position], text.ends[position])


def depends_on_hole(code: str, tainted: frozenset[str]) -> bool:
    """Whether code mentions a hole, or something that is defined by one."""
    return UNKNOWN in code or not tainted.isdisjoint(_NAMES.findall(code))


def tainted_names(code: str) -> frozenset[str]:
    """The macros, constants and types of a source that are defined by a hole."""
    if UNKNOWN not in code:
        return frozenset()
    definitions = []
    for match in _DEFINITIONS.finditer(code):
        name = match["macro"] or match["name"] or match["new"]
        body = match["body"] or match["value"] or match["old"] or ""
        definitions.append((name, frozenset(_NAMES.findall(body)), UNKNOWN in body))
    tainted: set[str] = {name for name, _, unknown in definitions if unknown}
    growing = True
    while growing:
        more = {name for name, words, _ in definitions if name not in tainted and words & tainted}
        growing = bool(more)
        tainted |= more
    return frozenset(tainted | set(_UNKNOWN_NAME.findall(code)))
