"""How a harness gets a handle of a library: by the function that acquires it, as the API models
tell."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind, TypeKind

from cudalint.apis import loader, paths
from cudalint.frontends.cuda.toolchain import MADE_UP, OWN_HEADERS

_NOT_THERE = (MADE_UP, str(OWN_HEADERS / "cuda") + os.sep)
"""What only a linter's parse declares: no compiler knows it."""
_TRANSPARENT = (CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL)


@dataclass(frozen=True)
class HandleMaker:
    """A function that puts a handle where one of its parameters points."""

    function: Any
    place: int
    """Which parameter that is."""
    bytes: int | None
    """The parameter that says how large it is, where it is memory."""


class Handles:
    """The functions that a parsed source declares and that acquire handles."""

    def __init__(self, root: Any) -> None:
        self._makers: dict[str, list[HandleMaker]] = {}
        for one in _functions(root):
            for maker in _made_by(one):
                if str(one.location.file).startswith(_NOT_THERE):
                    break
                kind = list(one.get_arguments())[maker.place].type.get_pointee()
                self._makers.setdefault(name_of_handle(kind), []).append(maker)

    def makers(self, name: str) -> list[HandleMaker]:
        """Those of one type of handle, that which needs least first."""
        found = self._makers.get(name, []) if name else []
        return sorted(found, key=lambda one: len(list(one.function.get_arguments())))


def name_of_handle(kind: Any) -> str:
    """What tells handles of one type from others, empty where it is none: what a pointer points to;
    of a number its type's own name."""
    meant = kind.get_canonical()
    if meant.kind == TypeKind.POINTER:
        aimed = meant.get_pointee()
        return f"{aimed.spelling} *" if aimed.kind == TypeKind.RECORD else ""
    name = str(kind.spelling).removeprefix("const ")
    return name if name != meant.spelling.removeprefix("const ") else ""


def _functions(root: Any) -> Iterator[Any]:
    for child in root.get_children():
        if child.kind == CursorKind.FUNCTION_DECL:
            yield child
        elif child.kind in _TRANSPARENT:
            yield from _functions(child)


def _made_by(function: Any) -> Iterator[HandleMaker]:
    model = loader.load("cuda").lookup(function.spelling)
    for acquired in () if model is None else model.acquires:
        path = paths.parse_path(acquired.handle)
        kinds = [one.type.get_canonical().kind for one in function.get_arguments()]
        if path.index is None or path.index >= len(kinds) or not path.dereference or path.steps:
            continue
        if kinds[path.index] == TypeKind.POINTER:
            size = None if acquired.bytes is None else paths.parse_amount(acquired.bytes)
            yield HandleMaker(
                function, path.index, size.index if isinstance(size, paths.Path) else None
            )
