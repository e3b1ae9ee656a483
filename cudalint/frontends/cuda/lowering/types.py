"""Clang's types as the program model's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    TypeKind,
    address,
    library,
    string,
    usr,
)
from cudalint.frontends.cuda.lowering.templates import Templates
from cudalint.program import Type

_LEADING = (TypeKind.POINTER, TypeKind.LVALUE_REFERENCE, TypeKind.RVALUE_REFERENCE)
_RECORDS = (
    Kind.STRUCT,
    Kind.CLASS,
    Kind.UNION,
    Kind.CLASS_TEMPLATE,
    Kind.PARTIAL_SPECIALIZATION,
)
_ARRAYS = (
    TypeKind.CONSTANT_ARRAY,
    TypeKind.INCOMPLETE_ARRAY,
    TypeKind.VARIABLE_ARRAY,
    TypeKind.DEPENDENT_ARRAY,
)


_FIXED = re.compile(r"(?:const )?(?:cuda::)?std::array<.*, (\d+)>")
"""A class that is an array with so many elements."""


def as_parameter(written: Type) -> Type:
    """What a parameter of a type really is: an array decays to a pointer to its first element
    ([dcl.fct]), and what is stored in it is the caller's."""
    if written.kind != "array":
        return written
    return Type(written.text, "pointer", 8, False, written.pointee)


def is_only_read(written: Type) -> bool:
    """Whether what a parameter of a type points to is constant, at every level."""
    if written.kind == "reference" and written.pointee is not None:
        written = written.pointee
    if written.kind != "pointer" or written.pointee is None:
        return False
    while written.kind == "pointer" and written.pointee is not None:
        written = written.pointee
        if not written.constant:
            return False
    return True


def is_changeable(written: Type) -> bool:
    """Whether a parameter of a type stands for the caller's own variable, which may change."""
    to = written.pointee if written.kind == "reference" else None
    return to is not None and not to.constant and not written.text.endswith("&&")


class Types:
    """The types of one translation unit, each lowered once.

    ``use_record`` is told of every record that a type names.
    """

    def __init__(
        self, unit: Any, templates: Templates, use_record: Callable[[Cursor, str], None]
    ) -> None:
        self._library = library()
        self._unit = unit
        self._templates = templates
        self._use_record = use_record
        self._types: dict[int, Type] = {}
        self._keys: dict[int, str] = {}

    @contextmanager
    def afresh(self) -> Iterator[None]:
        """Inside, nothing holds that was found so far."""
        kept = self._types, self._keys
        self._types, self._keys = {}, {}
        try:
            yield
        finally:
            self._types, self._keys = kept

    def of(self, cursor: Cursor) -> Type:
        """The type of an expression or a declaration."""
        return self.lower(self._library.type(cursor))

    def lower(self, clang_type: Any) -> Type:
        """The model's type for clang's."""
        identity = clang_type.data[0]
        if identity is None:
            return Type("")
        known = self._types.get(identity)
        if known is None:
            # Against types that contain themselves:
            self._types[identity] = Type(string(self._library.type_spelling(clang_type)))
            known = self._types[identity] = self._lower(clang_type)
        return known

    def record_key(self, declaration: Cursor) -> str:
        """The key of a class."""
        identity = address(declaration)
        key = self._keys.get(identity)
        if key is None:
            chosen = self._templates.chosen(declaration)
            key = self._keys[identity] = usr(chosen)
            self._use_record(chosen, key)
        return key

    def parameters(self, function: Cursor) -> list[Type]:
        """The types of a function's parameters; of an instantiation, those that it got."""
        written = self._library.type(function)
        number = self._library.argument_types(written)
        return [self.lower(self._library.argument_type(written, n)) for n in range(number)]

    def classes_given(self, function: Cursor) -> Iterator[Cursor]:
        """The classes of which a function is given an object, or a pointer to one."""
        written = self._library.type(function)
        for number in range(self._library.argument_types(written)):
            declaration = self.class_meant(self._library.argument_type(written, number))
            if declaration is not None:
                yield declaration

    def class_meant(self, clang_type: Any) -> Cursor | None:
        """The class that a type is, or that it leads to."""
        meant = self._library.canonical_type(clang_type)
        while meant._kind_id in _LEADING or meant._kind_id in _ARRAYS:
            inner = (
                self._library.element_type if meant._kind_id in _ARRAYS else self._library.pointee
            )
            meant = self._library.canonical_type(inner(meant))
        declaration: Cursor = self._library.type_declaration(meant)
        if declaration._kind_id not in _RECORDS:
            return None
        declaration._tu = self._unit
        return declaration

    def result(self, function: Cursor) -> Type:
        """What a function, or one that an expression points to, returns."""
        written = self._library.result_type(function)
        if not written._kind_id:
            pointed = self._library.pointee(
                self._library.canonical_type(self._library.type(function))
            )
            written = self._library.function_result(pointed)
        return self.lower(written)

    def _size(self, clang_type: Any) -> int | None:
        size = self._library.size(clang_type)
        return int(size) if size >= 0 else None

    def _lower(self, clang_type: Any) -> Type:
        text = string(self._library.type_spelling(clang_type))
        constant = bool(self._library.is_const(clang_type))
        canonical = self._library.canonical_type(clang_type)
        kind = canonical._kind_id
        constant = constant or bool(self._library.is_const(canonical))
        if kind in TypeKind.INTEGERS:
            signed = kind not in TypeKind.UNSIGNED
            return Type(text, "integer", self._size(canonical), signed, constant=constant)
        if kind == TypeKind.BOOL:
            return Type(text, "bool", 1, False, constant=constant)
        if kind in TypeKind.FLOATS:
            return Type(text, "float", self._size(canonical), constant=constant)
        if kind in (TypeKind.POINTER, TypeKind.MEMBER_POINTER):
            pointee = self.lower(self._pointee(clang_type, canonical))
            return Type(text, "pointer", 8, False, pointee, constant=constant)
        if kind == TypeKind.NULLPTR:
            return Type(text, "pointer", 8, False, constant=constant)
        if kind in (TypeKind.LVALUE_REFERENCE, TypeKind.RVALUE_REFERENCE):
            pointee = self.lower(self._pointee(clang_type, canonical))
            return Type(text, "reference", pointee.bytes, False, pointee)
        if kind in _ARRAYS:
            return self._array(text, kind, canonical, constant)
        if kind == TypeKind.ENUM:
            return Type(text, "enumeration", self._size(canonical), constant=constant)
        if kind in (TypeKind.FUNCTION, TypeKind.FUNCTION_NO_PROTOTYPE):
            return Type(text, "function")
        if kind == TypeKind.VOID:
            return Type(text, "void")
        return self._record(text, clang_type, canonical, constant)

    def _pointee(self, clang_type: Any, canonical: Any) -> Any:
        written = self._library.pointee(clang_type)
        return written if written._kind_id else self._library.pointee(canonical)

    def _array(self, text: str, kind: int, canonical: Any, constant: bool) -> Type:
        element = self.lower(self._library.element_type(canonical))
        count = self._library.array_size(canonical) if kind == TypeKind.CONSTANT_ARRAY else -1
        return Type(
            text,
            "array",
            self._size(canonical) if kind == TypeKind.CONSTANT_ARRAY else None,
            pointee=element,
            elements=int(count) if count >= 0 else None,
            constant=constant or element.constant,
        )

    def _record(self, text: str, clang_type: Any, canonical: Any, constant: bool) -> Type:
        declaration = self._library.type_declaration(canonical)
        if declaration._kind_id not in _RECORDS:
            declaration = self._library.type_declaration(clang_type)
        if declaration._kind_id not in _RECORDS:
            return Type(text, constant=constant)
        declaration._tu = self._unit
        key = self.record_key(declaration)
        found = _FIXED.fullmatch(string(self._library.type_spelling(canonical)))
        return Type(
            text,
            "record",
            self._size(canonical),
            elements=int(found.group(1)) if found is not None else None,
            record=key,
            constant=constant,
            arguments=self._arguments(canonical),
        )

    def _arguments(self, canonical: Any) -> tuple[Type, ...]:
        """The types that a template is given: their names, and sizes where they are no records."""
        found = []
        for number in range(max(0, self._library.type_arguments(canonical))):
            written = self._library.type_argument(canonical, number)
            declaration = self._library.type_declaration(written)
            name = string(self._library.type_spelling(written))
            if declaration._kind_id in _RECORDS:
                declaration._tu = self._unit
                found.append(Type(name, "record", record=usr(self._templates.chosen(declaration))))
            else:
                size = self._library.size(written)
                found.append(Type(name, bytes=size if size > 0 else None))
        return tuple(found)
