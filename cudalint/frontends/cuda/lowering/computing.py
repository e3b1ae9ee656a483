"""Methods that only compute: numbers in, numbers out, in a class that keeps nothing else, and no
integer, which may be a handle, nor room for bytes, in which anything may be.

No memory passes through them, so that those of a header are lowered where they are called, and not
wherever their class is named: vectors, matrices and colours have hundreds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clang.cindex import Cursor, TranslationUnit

from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    TypeKind,
    address,
    library,
    parts_of,
    related,
)
from cudalint.frontends.cuda.lowering.positions import Positions
from cudalint.frontends.cuda.lowering.records import Method, RecordParts
from cudalint.frontends.cuda.prefilter import mentions_cuda

_PLAIN = frozenset({*TypeKind.FLOATS, TypeKind.BOOL, TypeKind.ENUM})
_NUMBERS = frozenset({*_PLAIN, *TypeKind.INTEGERS, TypeKind.VOID})
_REFERENCES = frozenset({TypeKind.LVALUE_REFERENCE, TypeKind.RVALUE_REFERENCE})


class Computing:
    """Tells such methods."""

    def __init__(self, unit: TranslationUnit, positions: Positions) -> None:
        self._library = library()
        self._unit = unit
        self._positions = positions
        self._keeping: dict[int, bool] = {}
        """By the address of a class, whether its objects keep numbers alone."""

    def others(self, parts: RecordParts) -> Iterator[Method]:
        """The methods of a class that may do more."""
        computes = self._keeps_numbers(parts.instance or parts.cursor) and all(
            map(self._is_kept_number, parts.variables)
        )
        for method in parts.methods:
            if not (computes and self._only_computes(method)):
                yield method

    def _only_computes(self, method: Method) -> bool:
        declaration = method.declaration
        if declaration._kind_id not in (Kind.METHOD, Kind.CONVERSION) or method.body is None:
            return False
        written = self._library.type(declaration)
        count = self._library.argument_types(written)
        types = [self._library.argument_type(written, number) for number in range(count)]
        return all(
            self._is_number(type_) for type_ in (*types, self._library.result_type(declaration))
        ) and not mentions_cuda(
            # Behind the marks of device code:
            self._positions.text(method.body).partition("{")[2].encode("utf-8", "surrogatepass")
        )

    def _keeps_numbers(self, declaration: Cursor) -> bool:
        definition = related("definition", declaration)
        if definition is None:
            return False
        identity = address(definition)
        if identity not in self._keeping:
            self._keeping[identity] = False  # one that leads to itself
            functions = self._library
            self._keeping[identity] = (
                not any(map(functions.is_virtual, parts_of(definition, functions.visit_methods)))
                and all(map(self._is_kept_number, parts_of(definition, functions.visit_bases)))
                and all(map(self._is_kept_number, parts_of(definition, functions.visit_fields)))
            )
        return self._keeping[identity]

    def _is_kept_number(self, declaration: Cursor) -> bool:
        """Whether a member or a base has room for nothing that stands for memory."""
        type_ = self._library.canonical_type(self._library.type(declaration))
        while type_._kind_id == TypeKind.CONSTANT_ARRAY:
            type_ = self._library.canonical_type(self._library.element_type(type_))
        return type_._kind_id in _PLAIN or self._is_class_of_numbers(type_)

    def _is_number(self, written: Any) -> bool:
        """Whether a parameter or a result has room for numbers alone."""
        type_ = self._library.canonical_type(written)
        if type_._kind_id in _REFERENCES:
            type_ = self._library.canonical_type(self._library.pointee(type_))
        return type_._kind_id in _NUMBERS or self._is_class_of_numbers(type_)

    def _is_class_of_numbers(self, type_: Any) -> bool:
        if type_._kind_id != TypeKind.RECORD:
            return False
        declaration: Cursor = self._library.type_declaration(type_)
        declaration._tu = self._unit
        return self._keeps_numbers(declaration)
