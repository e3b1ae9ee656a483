"""Lowers classes and structs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    address,
    children,
    library,
    name_of,
    overridden,
    parts_of,
    referenced,
    related,
    usr,
    values_of,
)
from cudalint.frontends.cuda.lowering.names import Names
from cudalint.frontends.cuda.lowering.positions import Positions
from cudalint.frontends.cuda.lowering.templates import Templates
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


@dataclass(frozen=True)
class Method:
    """A member function that a class declares."""

    key: str
    declaration: Cursor
    body: Cursor | None
    """What is lowered for it. Of an instance of a template clang defines only what is called: the
    pattern says what the others do."""


class RecordParts:
    """A class's definition, its children sorted by what they are."""

    def __init__(self, cursor: Cursor, instance: Cursor | None = None) -> None:
        """``cursor``: as it is written; ``instance``: of the template that it is."""
        self.cursor = cursor
        self.instance = instance
        self.fields: list[Cursor] = []
        self.bases: list[Cursor] = []
        self.methods: list[Method] = []
        self.nested: list[Cursor] = []
        self.variables: list[Cursor] = []
        self.friends: list[Cursor] = []
        self.values: dict[str, Cursor] = {}
        """Default initialisers of fields, by name."""
        self.meant: dict[str, Cursor] = {}
        """What the keys of the pattern and its methods mean in the text of an instance."""
        self._add(children(cursor))
        self._note_values()
        if instance is not None:
            self._instantiate(instance)
            self._note_values()

    def _add(self, parts: list[Cursor]) -> None:
        functions = library()
        for part in parts:
            kind: int = part._kind_id
            if kind == Kind.FIELD:
                self.fields.append(part)
            elif kind == Kind.BASE:
                self.bases.append(part)
            elif kind in METHODS:
                self.methods.append(Method(usr(part), part, related("definition", part)))
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

    def _instantiate(self, instance: Cursor) -> None:
        """The instance's own fields, bases and methods in place of the pattern's."""
        functions = library()
        fields = {name_of(field): field for field in parts_of(instance, functions.visit_fields)}
        self.fields = [fields.get(name_of(field), field) for field in self.fields]
        self.bases = parts_of(instance, functions.visit_bases)
        methods = {
            address(pattern): method
            for method in parts_of(instance, functions.visit_methods)
            if (pattern := related("template", method)) is not None
        }
        self.meant = {usr(self.cursor): instance}
        for number, method in enumerate(self.methods):
            own = methods.get(address(method.declaration))
            if own is not None:
                self.meant[method.key] = own
                body = related("definition", own) or method.body
                self.methods[number] = Method(usr(own), own, body)

    def _note_values(self) -> None:
        for field in self.fields:
            values = values_of(field)
            if values and not _is_size(field, values[-1]):
                self.values[name_of(field)] = values[-1]

    @property
    def field_names(self) -> list[str]:
        """The data members' names, in order."""
        return [name_of(field) for field in self.fields]

    def defaults(self, positions: Positions) -> list[tuple[str, Cursor, Span]]:
        """Members with a default initialiser: name, value, place."""
        return [
            (name, self.values[name], positions.span(field))
            for field in self.fields
            if (name := name_of(field)) in self.values
        ]


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
    parts: RecordParts,
    key: str,
    positions: Positions,
    types: Types,
    names: Names,
    templates: Templates,
) -> Record:
    """The model's record for a class definition."""
    cursor = parts.cursor
    functions = library()
    destructor: Any = "none"
    constructor: Any = "implicit"
    assignment: Any = "implicit"
    moves = False
    for method in parts.methods:
        declaration = method.declaration
        if declaration._kind_id == Kind.DESTRUCTOR:
            destructor = _destructor(method)
        elif functions.is_copy_constructor(declaration):
            constructor = _state(declaration)
        elif functions.is_copy_assignment(declaration):
            assignment = _state(declaration)
        elif functions.is_move_constructor(declaration) or functions.is_move_assignment(
            declaration
        ):
            moves = True
    if moves:
        # A declared move deletes the implicit copies.
        constructor = "deleted" if constructor == "implicit" else constructor
        assignment = "deleted" if assignment == "implicit" else assignment
    bases = []
    for base in parts.bases:
        type_, written = types.of(base), referenced(base)
        if type_.record is not None:
            bases.append(type_.record)
        elif written is not None:
            bases.append(types.record_key(written))
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
        tuple(method.key for method in parts.methods),
        {
            method.key: tuple(usr(templates.chosen(one)) for one in overridden(method.declaration))
            for method in parts.methods
            if functions.is_virtual(method.declaration)
        },
        destructor,
        constructor,
        assignment,
        kind != Kind.CLASS,
        kind == Kind.UNION,
        is_template and parts.instance is None,
        bool(functions.is_abstract(parts.instance or cursor)),
    )


def _state(method: Cursor) -> str:
    functions = library()
    if functions.is_deleted(method):
        return "deleted"
    return "defaulted" if functions.is_defaulted(method) else "user"


def _destructor(method: Method) -> str:
    if library().is_defaulted(method.declaration):
        return "defaulted"
    return "declared" if method.body is None else "defined"
