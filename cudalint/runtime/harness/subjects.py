"""What a harness can call: the function around a line, or a public one that calls it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any

from clang.cindex import AccessSpecifier, CursorKind, TypeKind

from cudalint.apis import loader
from cudalint.runtime.harness.handles import Handles
from cudalint.runtime.question import real_path

_FUNCTIONS = (
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR,
    CursorKind.FUNCTION_TEMPLATE,
)
CLASSES = (CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE)
_SCOPES = (*CLASSES, CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL)
_MOST_REACHED = 24
_DEVICE_ONLY = (CursorKind.CUDAGLOBAL_ATTR, CursorKind.CUDADEVICE_ATTR)


class HarnessError(Exception):
    """No harness can be written or built; says why in one line."""


class Unit:
    """The functions that a parsed source and its own headers define."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._functions = list(_definitions(root))
        self.handles = Handles(root)

    def around(self, filename: str, row: int) -> Any:
        """The innermost function around a line."""
        path = real_path(filename)
        found = [
            cursor
            for cursor in self._functions
            if cursor.extent.start.line <= row <= cursor.extent.end.line
            and real_path(cursor.extent.start.file.name) == path
        ]
        if not found:
            raise HarnessError("no function that could be called is at this line")
        return max(found, key=lambda cursor: cursor.extent.start.line)

    def reachable(self, cursor: Any, further: int = 0) -> Any:
        """The function itself, where others may call it, else one that calls it; ``further``: not
        the nearest of these but one after it, which a user may have to call."""
        if any(child.kind in _DEVICE_ONLY for child in cursor.get_children()):
            raise HarnessError(f"`{name_of(cursor)}` runs on the device")
        if cursor.spelling == "main":
            raise HarnessError("it is in `main`, which only the program itself can run")
        found = next(itertools.islice(self._public_callers(cursor), further, None), None)
        if found is not None:
            return found
        if further:
            raise HarnessError(f"nothing else that is public calls `{name_of(cursor)}`")
        raise HarnessError(f"`{name_of(cursor)}` is not public, and nothing public calls it")

    def _public_callers(self, cursor: Any) -> Iterator[Any]:
        """The public functions that lead to one, it among them, the nearest first."""
        pending, seen = [cursor], {cursor.get_usr()}
        for one in pending:
            if is_public(one) and one.spelling != "main":
                yield one
            for caller in self._functions:
                if caller.get_usr() not in seen and one.get_usr() in _called(caller):
                    seen.add(caller.get_usr())
                    pending.append(caller)

    def reached_from(self, cursor: Any) -> list[Any]:
        """A function, and those of this source that it calls, and so on."""
        by_name = {one.get_usr(): one for one in self._functions}
        pending, seen = [cursor], {cursor.get_usr()}
        for one in pending:
            for usr in _called(one):
                if usr in by_name and usr not in seen and len(pending) < _MOST_REACHED:
                    seen.add(usr)
                    pending.append(by_name[usr])
        return pending

    def leads_to(self, cursor: Any, function: Any) -> bool:
        """Whether a function is another one, or calls it, itself or by what it calls."""
        usr = function.get_usr()
        bodies = (one for one in self._functions if one.get_usr() == cursor.get_usr())
        return any(one.get_usr() == usr for body in bodies for one in self.reached_from(body))

    def functions_of(self, kind: Any) -> list[Any]:
        """The functions outside of classes that take one thing of a class of the project's, or a
        pointer to it, and nothing else."""
        aimed = kind.get_pointee() if kind.kind == TypeKind.POINTER else kind
        if aimed.get_canonical().kind != TypeKind.RECORD:
            return []
        wanted = _plain_name(kind)
        return [
            one
            for one in self._functions
            if one.kind == CursorKind.FUNCTION_DECL and _only_parameter(one) == wanted
        ]

    def derived(self, declaration: Any) -> Iterator[Any]:
        """The classes of this source that derive from one and can be constructed."""
        for one in _classes(self._root):
            bases = (
                base.type.get_canonical().get_declaration().get_usr()
                for base in one.get_children()
                if base.kind == CursorKind.CXX_BASE_SPECIFIER
            )
            if declaration.get_usr() not in bases:
                continue
            if one.is_abstract_record():
                yield from self.derived(one)
            else:
                yield one

    def releases(self, method: Any) -> bool:
        """Whether a function releases something, itself or by what it calls in this source."""
        by_name = {cursor.get_usr(): cursor for cursor in self._functions}
        pending, seen = [method.get_usr()], set[str]()
        while pending:
            usr = pending.pop()
            if usr in seen or usr not in by_name:
                continue
            seen.add(usr)
            called = _called(by_name[usr])
            if any(_is_release(name) for name in called.values()):
                return True
            pending += called
        return False


def _only_parameter(function: Any) -> str:
    kinds = [one.type.get_canonical() for one in function.get_arguments()]
    if len(kinds) != 1:
        return ""
    (kind,) = kinds
    if kind.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        kind = kind.get_pointee()
    return _plain_name(kind)


def _plain_name(kind: Any) -> str:
    return str(kind.get_canonical().spelling).removeprefix("const ")


def is_public(cursor: Any) -> bool:
    """Whether anybody may call a function, as a member of classes that anybody may name."""
    while cursor is not None and cursor.kind != CursorKind.TRANSLATION_UNIT:
        if cursor.access_specifier in (AccessSpecifier.PRIVATE, AccessSpecifier.PROTECTED):
            return False
        cursor = cursor.semantic_parent
    return True


def class_of(cursor: Any) -> Any | None:
    """The class whose member a function is."""
    parent = cursor.semantic_parent
    return parent if parent is not None and parent.kind in CLASSES else None


def is_plain(declaration: Any) -> bool:
    """Whether a class is only its public fields."""
    definition = declaration.get_definition() or declaration
    special = (
        CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR, CursorKind.CXX_BASE_SPECIFIER,
    )  # fmt: skip
    return not name_of(definition).startswith("std::") and all(
        one.kind not in special and (one.kind != CursorKind.FIELD_DECL or is_public(one))
        for one in definition.get_children()
    )


def name_of(cursor: Any) -> str:
    """The qualified name: ``JBU::CudaRun``; what has no name has none here."""
    parts: list[str] = []
    while cursor is not None and cursor.kind != CursorKind.TRANSLATION_UNIT:
        if cursor.spelling and "(" not in cursor.spelling.partition("<")[0]:
            parts.append(cursor.spelling.partition("<")[0])
        cursor = cursor.semantic_parent
    return "::".join(reversed(parts))


def _definitions(root: Any) -> Iterator[Any]:
    """The functions with a body, but those of system headers: none of them knows the project's."""
    for child in root.get_children():
        if child.kind in _FUNCTIONS:
            is_own = child.is_definition() and child.extent.start.file is not None
            if is_own and not child.location.is_in_system_header:
                yield child
        elif child.kind in _SCOPES and not child.location.is_in_system_header:
            yield from _definitions(child)


def _classes(root: Any) -> Iterator[Any]:
    for child in root.get_children():
        if child.kind in _SCOPES and not child.location.is_in_system_header:
            if child.kind in CLASSES[:2] and child.is_definition():
                yield child
            yield from _classes(child)


def _called(cursor: Any) -> dict[str, str]:
    """The functions that a function names, with their plain names."""
    found: dict[str, str] = {}
    for one in cursor.walk_preorder():
        if one.kind in (CursorKind.CALL_EXPR, CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR):
            target = one.referenced
            if target is not None and target.kind in _FUNCTIONS:
                found[target.get_usr()] = target.spelling
    return found


@functools.cache
def _is_release(name: str) -> bool:
    model = loader.load("cuda").lookup(name)
    return model is not None and bool(model.releases)
