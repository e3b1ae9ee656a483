"""Which pointers device code stores where others find them: ``buckets[i].bytes = block``.

Device code is not lowered; what it assigns is read from its text.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from clang.cindex import Cursor

from cudalint.frontends.cuda.blanked import blanked
from cudalint.frontends.cuda.lowering.brackets import Beyond, balanced, separated
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    TypeKind,
    address,
    children,
    library,
    name_of,
)

_CASTS = r"(?:\w+_cast\s*<[^;=()]*>\s*\(\s*|\([^()]*\*\s*\)\s*)?"
_ROOT = re.compile(r"(?P<through>\**)\s*\(?\s*(?P<inner>\**)\s*(?P<root>[A-Za-z_]\w*)")
"""Where what stands left of an assignment begins: ``*slot``, ``(*table).rows``, ``nodes``."""
_STEP = re.compile(r"\s*(?:\)|(?:\.|->)\s*\w+)")
_HEAD = re.compile(r"\s*(?:else\b|(?:if|for|while)\b\s*(?=\())")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^;(){}]*>)?\s*\(")
_DEEPEST = 50
"""Calls below a kernel that are followed; what lies deeper may store all that it is given."""


class StoredParameters:
    """The pointers among the parameters of device functions that these store."""

    def __init__(
        self, text_of: Callable[[Cursor], str], functions: Mapping[str, Sequence[Cursor]]
    ) -> None:
        self._text_of = text_of
        self._functions = functions
        self._known: dict[int, frozenset[int]] = {}
        self._depth = 0

    def of(self, function: Cursor) -> frozenset[int]:
        """The numbers of those of a kernel or of a device function, from 0."""
        identity = address(function)
        if identity not in self._known:
            parameters = [part for part in children(function) if part._kind_id == Kind.PARAMETER]
            if self._depth == _DEEPEST:
                return frozenset(range(len(parameters)))
            self._known[identity] = frozenset()  # where it calls itself
            self._depth += 1
            self._known[identity] = self._find(function, list(map(name_of, parameters)))
            self._depth -= 1
        return self._known[identity]

    def _find(self, function: Cursor, names: list[str]) -> frozenset[int]:
        body = blanked(self._text_of(function)).partition("{")[2]
        passed = self._passed_on(body)
        return frozenset(
            number
            for number, name in enumerate(names)
            if name and (name in passed or _is_stored(name, body, function))
        )

    def _passed_on(self, body: str) -> set[str]:
        """What is given, by itself, to a device function that stores it."""
        return {
            one
            for called, arguments in _calls(body, self._functions)
            for function in self._functions[called]
            for number, one in enumerate(arguments)
            if number in self.of(function)
        }


def _is_stored(name: str, body: str, function: Cursor) -> bool:
    assigned = re.compile(rf"(?<![=!<>+\-*/%&|^])=\s*{_CASTS}{re.escape(name)}\s*(?:[+][^;]*)?\)*;")
    return any(_is_shared(body[: one.start()], function) for one in assigned.finditer(body))


def _is_shared(before: str, function: Cursor) -> bool:
    """Whether what an assignment writes, behind some text, outlives the function."""
    place = _without_head(before[max(map(before.rfind, ";{}")) + 1 :])
    found = _ROOT.match(place)
    path = "" if found is None else place[found.end() :]
    if found is None or not _is_path(path):
        return False  # a declaration
    root, path = found["root"], path.lstrip(" \t\r\n)")
    if found["through"] or found["inner"] or path.startswith("->"):
        return True
    kind = _own(function).get(root)
    return kind is None if not path else kind not in _ITSELF


def _without_head(statement: str) -> str:
    """A statement without the condition or the loop that it is the body of."""
    begin = depth = 0
    for place, character in enumerate(statement):
        depth += (character == "(") - (character == ")")
        if depth < 0:  # the end of a loop's head, whose beginning stands before the last `;`
            begin, depth = place + 1, 0
    statement = statement[begin:]
    while (head := _HEAD.match(statement)) is not None:
        end = head.end()
        try:
            end = balanced(statement, end) if statement.startswith("(", end) else end
        except Beyond:
            return ""
        statement = statement[end:]
    return statement.strip()


def _is_path(text: str) -> bool:
    """Whether a text goes on from a variable to what is in it."""
    place = 0
    text = text.rstrip()
    while place < len(text):
        step = _STEP.match(text, place)
        if step is not None:
            place = step.end()
            continue
        while place < len(text) and text[place].isspace():
            place += 1
        if not text.startswith("[", place):
            return False
        try:
            place = balanced(text, place)
        except Beyond:
            return False
    return True


_ITSELF = (TypeKind.RECORD, TypeKind.CONSTANT_ARRAY, TypeKind.DEPENDENT_ARRAY)
"""Types of variables that are the memory themselves, and lead to none."""


def _own(function: Cursor) -> dict[str, int]:
    """The kinds of the types of a function's own variables and parameters."""
    kinds: dict[str, int] = {}
    pending = children(function)
    while pending:
        part = pending.pop()
        if part._kind_id in (Kind.VARIABLE, Kind.PARAMETER):
            type_ = library().canonical_type(library().type(part))
            kinds[name_of(part)] = type_._kind_id
        elif part._kind_id >= 200:  # statements only: no declaration stands in an expression
            pending.extend(children(part))
    return kinds


def _calls(body: str, known: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """The calls of known functions, with the texts of what they are given."""
    for call in _CALL.finditer(body):
        if call[1] in known:
            with contextlib.suppress(Beyond):
                yield call[1], list(separated(body[call.end() :]))
