"""Classes that stand in where a source has none that derives from an abstract one: what is pure in
that does nothing, and keeps the memory that it is given, as who takes it over would. A library's
handle is lent to who is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clang.cindex import CursorKind, ExceptionSpecificationKind, TypeKind

from cudalint.runtime.harness.subjects import HarnessError, is_plain, name_of

_REFUSES = "_exit(rejected);"
_REFERENCES = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_SILENT = (ExceptionSpecificationKind.BASIC_NOEXCEPT, ExceptionSpecificationKind.DYNAMIC_NONE)


def stand_in(
    name: str,
    base: Any,
    given_back: Callable[[Any], str],
    spelled: Callable[[Any], str],
    lent: Callable[[Any], bool],
) -> str:
    """A class ``name`` that derives from an abstract one; ``given_back`` gives an expression of a
    type."""
    kind = f"::{name_of(base)}"
    methods = (_override(one, given_back, spelled, lent) for one in pure_methods(base).values())
    return (
        f"struct {name} : {kind} {{ template <class... All> explicit {name}(All&&... all)"
        f" : {kind}(std::forward<All>(all)...) {{ stands_in(); }} {' '.join(methods)} }};"
    )


def pure_methods(declaration: Any) -> dict[tuple[str, ...], Any]:
    """What a class that derives from one has to define."""
    definition = declaration.get_definition() or declaration
    found: dict[tuple[str, ...], Any] = {}
    for child in definition.get_children():
        if child.kind == CursorKind.CXX_BASE_SPECIFIER:
            found |= pure_methods(child.type.get_canonical().get_declaration())
    for child in definition.get_children():
        if child.kind == CursorKind.CXX_METHOD:
            kinds = [one.type.get_canonical().spelling for one in child.get_arguments()]
            key = (child.spelling, str(child.is_const_method()), *kinds)
            if child.is_pure_virtual_method():
                found[key] = child
            else:
                found.pop(key, None)
    return found


def _override(
    method: Any,
    given_back: Callable[[Any], str],
    spelled: Callable[[Any], str],
    lent: Callable[[Any], bool],
) -> str:
    kinds = [one.type for one in method.get_arguments()]
    head = f"{spelled(method.result_type)} {method.spelling}("
    head += ", ".join(f"{spelled(kind)} a{number}" for number, kind in enumerate(kinds)) + ")"
    head += " const" if method.is_const_method() else ""
    head += " noexcept" if method.exception_specification_kind in _SILENT else ""
    return f"{head} override {{ {_body(method, kinds, given_back, lent)} }}"


def _body(
    method: Any, kinds: list[Any], given_back: Callable[[Any], str], lent: Callable[[Any], bool]
) -> str:
    result = method.result_type.get_canonical()
    if result.kind in _REFERENCES or not all(map(_is_kept, kinds)):
        return _REFUSES
    held = (number for number, kind in enumerate(kinds) if not lent(kind))
    kept = " ".join(f"keep_all(a{number});" for number in held)
    if result.kind == TypeKind.VOID:
        return kept
    try:
        return f"{kept} return {given_back(method.result_type)};"
    except HarnessError:
        return _REFUSES


def _is_kept(kind: Any) -> bool:
    """Whether what a parameter holds is in its own bytes."""
    meant = kind.get_canonical()
    if meant.kind in _REFERENCES:
        meant = meant.get_pointee().get_canonical()
    return meant.kind != TypeKind.RECORD or is_plain(meant.get_declaration())
