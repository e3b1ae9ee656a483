"""Methods that only compute: numbers in, numbers out, in a class that keeps nothing else.

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

_NUMBERS = frozenset(
    {*TypeKind.INTEGERS, *TypeKind.FLOATS, TypeKind.BOOL, TypeKind.ENUM, TypeKind.VOID}
)
_HANDLES = frozenset({TypeKind.INT, TypeKind.UNSIGNED_LONG_LONG})
"""The numbers that stand for what is acquired (``cufftHandle``, ``CUdeviceptr``): a member may."""
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
        """The methods of a class that have a body and may do more."""
        computes = self._keeps_numbers(parts.instance or parts.cursor) and all(
            self._is_kept_number(variable) for variable in parts.variables
        )
        for method in parts.methods:
            if method.body is not None and not (computes and self._only_computes(method)):
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
        """Whether a member or a base has room for numbers alone, and for none that is a handle."""
        type_ = self._library.canonical_type(self._library.type(declaration))
        while type_._kind_id == TypeKind.CONSTANT_ARRAY:
            type_ = self._library.canonical_type(self._library.element_type(type_))
        return type_._kind_id not in _HANDLES | _REFERENCES and self._is_number(type_)

    def _is_number(self, written: Any) -> bool:
        """Whether a type has room for numbers alone."""
        type_ = self._library.canonical_type(written)
        if type_._kind_id in _REFERENCES:
            type_ = self._library.canonical_type(self._library.pointee(type_))
        if type_._kind_id == TypeKind.RECORD:
            declaration: Cursor = self._library.type_declaration(type_)
            declaration._tu = self._unit
            return self._keeps_numbers(declaration)
        return type_._kind_id in _NUMBERS
