"""Which pointers device code stores where others find them: ``buckets[i].bytes = block``.

Device code is not lowered; what it assigns is read from its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from clang.cindex import Cursor

from cudalint.frontends.cuda.blanked import blanked
from cudalint.frontends.cuda.lowering.brackets import Beyond, separated
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    TypeKind,
    address,
    children,
    library,
    name_of,
)

_CASTS = r"(?:\w+_cast\s*<[^;=]*>\s*\(\s*|\([^()]*\*\s*\)\s*)*"
_PLACE = re.compile(
    r"(?:^|[;{})]|\belse\b)\s*(?P<through>\**)\s*\(?\s*(?P<inner>\**)\s*(?P<root>[A-Za-z_]\w*)"
    r"(?P<path>(?:\s*\)|\s*(?:\.|->)\s*\w+|\s*\[[^;{}]*?\])*)\s*$"
)
"""What stands left of an assignment: ``*slot``, ``(*table).rows``, ``nodes[i].left``."""
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^;(){}]*>)?\s*\(")
_MOST_CALLED = 50
"""Device functions that are looked into for one kernel."""


class StoredParameters:
    """The pointers among the parameters of device functions that these store."""

    def __init__(
        self, text_of: Callable[[Cursor], str], functions: Mapping[str, Sequence[Cursor]]
    ) -> None:
        self._text_of = text_of
        self._functions = functions
        self._known: dict[int, frozenset[int]] = {}

    def of(self, function: Cursor) -> frozenset[int]:
        """The numbers of those of a kernel or of a device function, from 0."""
        identity = address(function)
        if identity not in self._known:
            self._known[identity] = frozenset()  # where it calls itself
            self._known[identity] = self._find(function)
        return self._known[identity]

    def _find(self, function: Cursor) -> frozenset[int]:
        parameters = [part for part in children(function) if part._kind_id == Kind.PARAMETER]
        body = blanked(self._text_of(function)).partition("{")[2]
        return frozenset(
            number
            for number, name in enumerate(map(name_of, parameters))
            if name and (_is_stored(name, body, function) or self._is_passed_on(name, body))
        )

    def _is_passed_on(self, name: str, body: str) -> bool:
        """Whether a device function that is given it stores it."""
        if len(self._known) > _MOST_CALLED:
            return False
        return any(
            number in self.of(one)
            for called, number in _given_to(name, body, self._functions)
            for one in self._functions[called]
        )


def _is_stored(name: str, body: str, function: Cursor) -> bool:
    assigned = re.compile(rf"(?<![=!<>+\-*/%&|^])=\s*{_CASTS}{re.escape(name)}\s*(?:[+][^;]*)?\)*;")
    places = (_PLACE.search(body[: one.start()]) for one in assigned.finditer(body))
    return any(place is not None and _is_shared(place, function) for place in places)


def _is_shared(place: re.Match[str], function: Cursor) -> bool:
    """Whether what an assignment writes outlives the function."""
    root, path = place["root"], place["path"].lstrip(" \t\r\n)")
    if place["through"] or place["inner"] or path.startswith("->"):
        return True
    kind = _own(function).get(root)
    if not path:
        return kind is None
    return kind not in _ITSELF


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


def _given_to(name: str, body: str, known: Collection[str]) -> Iterator[tuple[str, int]]:
    """The functions that are given it by itself, and as which argument."""
    for call in _CALL.finditer(body):
        if call[1] not in known:
            continue
        try:
            arguments = list(separated(body[call.end() :]))
        except Beyond:
            continue
        yield from ((call[1], number) for number, one in enumerate(arguments) if one == name)
