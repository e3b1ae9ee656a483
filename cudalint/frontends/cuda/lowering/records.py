"""Lowers classes and structs."""

from __future__ import annotations

from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    children,
    is_value,
    library,
    name_of,
    referenced,
    usr,
)
from cudalint.frontends.cuda.lowering.names import Names
from cudalint.frontends.cuda.lowering.positions import Positions
from cudalint.frontends.cuda.lowering.types import Types
from cudalint.program import Field, Record
from cudalint.source import Span

METHODS = (
    Kind.METHOD,
    Kind.CONSTRUCTOR,
    Kind.DESTRUCTOR,
    Kind.CONVERSION,
    Kind.FUNCTION_TEMPLATE,
)


class RecordParts:
    """A class's definition, its children sorted by what they are."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.fields: list[Cursor] = []
        self.bases: list[Cursor] = []
        self.methods: list[Cursor] = []
        self.nested: list[Cursor] = []
        self.variables: list[Cursor] = []
        self.friends: list[Cursor] = []
        self._add(children(cursor))

    def _add(self, parts: list[Cursor]) -> None:
        functions = library()
        for part in parts:
            kind: int = part._kind_id
            if kind == Kind.FIELD:
                self.fields.append(part)
            elif kind == Kind.BASE:
                self.bases.append(part)
            elif kind in METHODS:
                self.methods.append(part)
            elif kind == Kind.VARIABLE:
                self.variables.append(part)
            elif kind == Kind.FRIEND:
                self.friends.append(part)
            elif kind in (Kind.STRUCT, Kind.UNION, Kind.CLASS, Kind.CLASS_TEMPLATE):
                if functions.is_anonymous(part) and not name_of(part).isidentifier():
                    # The members of an unnamed union are the class's own.
                    self._add(children(part))
                else:
                    self.nested.append(part)

    @property
    def field_names(self) -> list[str]:
        """The data members' names, in order."""
        return [name_of(field) for field in self.fields]

    def defaults(self, positions: Positions) -> list[tuple[str, Cursor, Span]]:
        """Members with a default initialiser: name, value, place."""
        found = []
        for field in self.fields:
            values = [part for part in children(field) if is_value(part)]
            if values and not _is_size(field, values[-1]):
                found.append((name_of(field), values[-1], positions.span(field)))
        return found


def _is_size(field: Cursor, value: Cursor) -> bool:
    """Whether a field's child is an array's size or a bit-field's width, not its value."""
    functions = library()
    if functions.is_bit_field(field):
        return True
    if value._kind_id == Kind.INITIALIZERS:
        return False
    kind = functions.canonical_type(functions.type(field))._kind_id
    if kind in (112, 114, 115, 116):
        return True
    extent, own = functions.extent(value), functions.extent(field)
    # A value stands at the end of its field, behind its name.
    name = functions.location(field).int_data
    return bool(own.end_int_data != extent.end_int_data or extent.begin_int_data <= name)


def lower_record(
    parts: RecordParts, key: str, positions: Positions, types: Types, names: Names
) -> Record:
    """The model's record for a class definition."""
    cursor = parts.cursor
    functions = library()
    destructor: Any = "none"
    constructor: Any = "implicit"
    assignment: Any = "implicit"
    moves = False
    for method in parts.methods:
        state = _state(method)
        if method._kind_id == Kind.DESTRUCTOR:
            destructor = _destructor(method)
        elif functions.is_copy_constructor(method):
            constructor = state
        elif functions.is_copy_assignment(method):
            assignment = state
        elif functions.is_move_constructor(method) or functions.is_move_assignment(method):
            moves = True
    if moves:
        # A declared move deletes the implicit copies.
        constructor = "deleted" if constructor == "implicit" else constructor
        assignment = "deleted" if assignment == "implicit" else assignment
    bases = []
    for base in parts.bases:
        declaration = referenced(base)
        type_ = types.of(base)
        if type_.record is not None:
            bases.append(type_.record)
        elif declaration is not None:
            bases.append(types.record_key(declaration))
    fields = tuple(
        Field(name_of(field), types.of(field), positions.span(field)) for field in parts.fields
    )
    is_template = cursor._kind_id in (Kind.CLASS_TEMPLATE, Kind.PARTIAL_SPECIALIZATION)
    kind = functions.template_kind(cursor) if is_template else cursor._kind_id
    return Record(
        key,
        names.qualified(cursor),
        positions.filename_of(cursor),
        positions.span(cursor),
        fields,
        tuple(bases),
        tuple(usr(method) for method in parts.methods),
        destructor,
        constructor,
        assignment,
        kind != Kind.CLASS,
        is_template,
    )


def _state(method: Cursor) -> str:
    functions = library()
    if functions.is_deleted(method):
        return "deleted"
    return "defaulted" if functions.is_defaulted(method) else "user"


def _destructor(method: Cursor) -> str:
    functions = library()
    if functions.is_defaulted(method):
        return "defaulted"
    definition = functions.definition(method)
    return "defined" if not 70 <= definition._kind_id <= 73 and definition._kind_id else "declared"
