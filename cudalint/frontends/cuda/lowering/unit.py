"""What the lowering of one translation unit shares: globals, records, what is still to do."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.computing import Computing
from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    address,
    evaluate,
    initializer,
    is_lambda,
    library,
    name_of,
    parts_of,
    related,
    usr,
)
from cudalint.frontends.cuda.lowering.lost import LostStatements
from cudalint.frontends.cuda.lowering.names import FunctionFacts, Names
from cudalint.frontends.cuda.lowering.offloading import offloaded
from cudalint.frontends.cuda.lowering.positions import Positions
from cudalint.frontends.cuda.lowering.records import Method, RecordParts, lower_record
from cudalint.frontends.cuda.lowering.spaces import space_of
from cudalint.frontends.cuda.lowering.templates import Templates
from cudalint.frontends.cuda.lowering.types import Types
from cudalint.frontends.cuda.parse import ParsedUnit
from cudalint.program import (
    Constant,
    Dropped,
    Expression,
    Function,
    FunctionReference,
    Record,
    Type,
    Variable,
    VariableInfo,
)
from cudalint.source import Span

_MOST_ON_DEMAND = 1500
"""Functions of project headers that one file may pull in."""


@dataclass(frozen=True)
class Body:
    """A function to be lowered."""

    cursor: Cursor
    key: str
    record: str | None = None
    """Its class, where that is not the one around the cursor."""


class Unit:
    """One translation unit being lowered."""

    def __init__(self, parsed: ParsedUnit) -> None:
        self.parsed = parsed
        self.library = library()
        self.positions = Positions(parsed.unit, parsed.filename, parsed.text, parsed.unsaved)
        self.templates = Templates(self.positions)
        self.types = Types(parsed.unit, self.templates, self.use_record)
        self.names = Names(self.positions, self.templates, self.use_function)
        self.functions: dict[str, Function] = {}
        self.records: dict[str, Record] = {}
        self._computing = Computing(parsed.unit, self.positions)
        self.dropped: list[Dropped] = []
        self.constants: dict[int, Constant | None] = {}
        self.globals: dict[str, VariableInfo] = {}
        self.globals_by_name: dict[str, Expression] = {}
        self.starts: dict[str, Expression] = {}
        """What variables outside of functions start with, by symbol, where only this file can
        write them."""
        self.lambdas: dict[int, str] = {}
        """Keys of lambdas by the address of their class."""
        self.has_errors = bool(parsed.errors or parsed.missing_headers)
        self.lost = LostStatements(self.positions, parsed) if self.has_errors else None
        self.enumerators: dict[int, int | None] = {}
        """Values of enumerators in class templates, by the addresses of their declarations."""
        self._names_below: dict[str, set[str]] = {}
        self._offloaded: dict[str, frozenset[int]] = {}
        self._pending: list[Body] = []
        """Definitions in project headers, and instances of templates, that are still to be
        lowered."""
        self._from_headers: list[str] = []
        """Classes whose methods were not looked at yet, by key."""
        self.implicit: dict[str, tuple[str, Cursor]] = {}
        """Default constructors to be written out: name and class by key."""
        self.declared: list[Cursor] = []
        """Functions that this file or a header declares, or that a header defines."""
        self._wanted: set[str] = set()
        self._parts: dict[str, RecordParts] = {}
        self._lambda_places: dict[Expression, str] = {}
        self._global_places: dict[int, Variable] = {}
        self._symbols: dict[str, int] = {}
        self._defaults: dict[str, list[tuple[str, Cursor, Span]]] = {}
        self._function_names: dict[str, list[str]] = {}

    # Functions of headers, on demand.

    def use_function(self, declaration: Cursor) -> None:
        """A function that the code calls: lower it too, if a project header defines it, or if it
        is an instance of a template."""
        definition = related("definition", declaration)
        if definition is None or self.positions.is_system(definition):
            return
        is_instance = address(self.templates.pattern(definition)) != address(definition)
        if is_instance or not self.positions.in_main_file(definition):
            self._want(Body(definition, usr(definition)))

    def _want(self, body: Body) -> None:
        if body.key not in self._wanted and len(self._wanted) < _MOST_ON_DEMAND:
            self._wanted.add(body.key)
            self._pending.append(body)

    @contextmanager
    def meaning(self, body: Body) -> Iterator[None]:
        """While a pattern's text is lowered for an instance, its names are the instance's."""
        parts = self._parts.get(body.record or "")
        if parts is None or usr(body.cursor) == body.key:
            yield
            return
        self.templates.meant = parts.meant
        try:
            with self.types.afresh(), self.names.afresh():
                yield
        finally:
            self.templates.meant = {}

    def name_function(self, name: str, key: str) -> None:
        """A function of the file, for code that clang did not resolve."""
        self._function_names.setdefault(name, []).append(key)

    def key_of_function(self, name: str) -> str | None:
        """The key of the only function of that name."""
        keys = self._function_names.get(name, ())
        return keys[0] if len(keys) == 1 else None

    def use_implicit(self, facts: FunctionFacts) -> None:
        """A default constructor that the compiler writes: it gives members their defaults."""
        record = facts.record
        if record is None or facts.is_system or facts.key in self.implicit:
            return
        key = self.types.record_key(record)
        if self.defaults_of(key):
            self.implicit[facts.key] = (facts.name, record)

    # Records.

    def use_record(self, declaration: Cursor, key: str) -> None:
        """A class that the code names: its record, and what its header defines inline."""
        definition = related("definition", declaration)
        if definition is None or self.positions.is_system(definition):
            return
        if is_lambda(definition):
            return
        self._add_record(definition, key)

    def local_record(self, declaration: Cursor) -> None:
        """A class in a function: its methods are lowered as well."""
        key = self.types.record_key(declaration)
        if key in self._parts:
            self._want_methods(key, self._parts[key].methods)

    def _add_record(self, definition: Cursor, key: str) -> None:
        if key in self._parts:
            return
        pattern = self.templates.pattern(definition)
        is_instance = address(pattern) != address(definition)
        parts = RecordParts(pattern, definition) if is_instance else RecordParts(definition)
        self._parts[key] = parts
        self.records[key] = lower_record(
            parts, key, self.positions, self.types, self.names, self.templates
        )
        if not self.positions.in_main_file(definition):
            self._from_headers.append(key)
        elif is_instance:
            self._want_methods(key, parts.methods)

    def next_body(self) -> Body | None:
        """What is to be lowered next. Classes of headers come last: what they are made of is known
        by then."""
        while self._from_headers and not self._pending:
            key = self._from_headers.pop(0)
            self._want_methods(key, self._computing.others(self._parts[key]))
        return self._pending.pop(0) if self._pending else None

    def _want_methods(self, key: str, methods: Iterable[Method]) -> None:
        for method in methods:
            if method.body is not None:
                self._want(Body(method.body, method.key, key))

    def takers(self) -> dict[str, tuple[str, ...]]:
        """By class: the functions declared in sight that are given an object of it."""
        found: dict[str, dict[str, None]] = {}
        declared = list(self.declared)
        for key, parts in self._parts.items():
            for method in parts.methods:
                if method.body is None and not self._has_no_body(method.declaration):
                    declared.append(method.declaration)
                    if not self.library.is_static(method.declaration):
                        found.setdefault(key, {})[method.key] = None
        known: dict[str, tuple[str, ...]] = {}
        for function in declared if self.records else ():
            for given in self.types.classes_given(function):
                for key in self._classes_in(given, known):
                    if key in self.records:
                        found.setdefault(key, {})[usr(function)] = None
        return {key: tuple(functions) for key, functions in found.items() if functions}

    def _classes_in(
        self, declaration: Cursor, known: dict[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        """A class of the project, and those of its members."""
        key = usr(self.templates.chosen(declaration))
        if key not in known:
            known[key] = (key,)  # one that leads to itself
            fields = []
            if not self.positions.is_system(declaration):
                fields = parts_of(declaration, self.library.visit_fields)
            found = [self.types.class_meant(self.library.type(field)) for field in fields]
            inner = [
                key for one in found if one is not None for key in self._classes_in(one, known)
            ]
            known[key] = tuple(dict.fromkeys((key, *inner)))
        return known[key]

    def _has_no_body(self, method: Cursor) -> bool:
        """Whether no file has a body for a member function, or none that ends an object."""
        return bool(
            method._kind_id != Kind.METHOD
            or self.library.is_deleted(method)
            or self.library.is_defaulted(method)
            or self.library.is_pure_virtual(method)
        )

    def fields_of(self, key: str | None) -> list[str]:
        """The names of a record's data members, in order."""
        parts = self._parts.get(key or "")
        return parts.field_names if parts is not None else []

    def defaults_of(self, key: str) -> list[tuple[str, Cursor, Span]]:
        """A record's members with default initialisers."""
        if key not in self._defaults:
            parts = self._parts.get(key)
            self._defaults[key] = parts.defaults(self.positions) if parts is not None else []
        return self._defaults[key]

    def is_movable(self, key: str) -> bool:
        """Whether objects of a class of the project are moved, not copied, where nobody else has
        them: by a constructor for it, or by the compiler's where nothing forbids that."""
        parts = self._parts.get(key)
        if parts is None:
            return True
        declared = [method.declaration for method in parts.methods]
        if any(self.library.is_move_constructor(method) for method in declared):
            return True
        return not any(
            method._kind_id == Kind.DESTRUCTOR
            or self.library.is_copy_constructor(method)
            or self.library.is_copy_assignment(method)
            for method in declared
        )

    def is_plain(self, key: str) -> bool:
        """Whether a class of the project has no constructor, default or base: a C struct."""
        parts = self._parts.get(key)
        if parts is None or parts.bases or self.defaults_of(key):
            return False
        if self.has_constructors(key):
            return False
        for field in self.records[key].fields:
            type_ = field.type
            while type_.kind == "array" and type_.pointee is not None:
                type_ = type_.pointee
            if type_.kind == "other":
                return False
            if type_.kind == "record" and type_.record not in self.records:
                if "::" in type_.text:  # A class of a library.
                    return False
            elif type_.kind == "record" and not self.is_plain(type_.record or ""):
                return False
        return True

    def offloaded(self, filename: str) -> frozenset[int]:
        """The rows of a file on which statements begin that run on a device."""
        if filename not in self._offloaded:
            self._offloaded[filename] = offloaded(self.positions.text_of(filename, 0, sys.maxsize))
        return self._offloaded[filename]

    def has_field(self, key: str, name: str) -> bool:
        """Whether a class, or one that it derives from, has a data member of that name."""
        record = self.records.get(key)
        return record is not None and (
            any(field.name == name for field in record.fields) or name in self._inherited(key)
        )

    def _inherited(self, key: str) -> set[str]:
        """The names of the data members of all that a class derives from."""
        if key not in self._names_below:
            self._names_below[key] = set()  # `template <int N> struct A : A<N - 1>` is its own base
            record = self.records.get(key)
            for base in record.bases if record is not None else ():
                above = self.records.get(base) if base != key else None
                if above is not None:
                    names = {field.name for field in above.fields}
                    self._names_below[key] |= names | self._inherited(base)
        return self._names_below[key]

    def own_place(self, key: str | None, name: str) -> str:
        """How a class keeps a data member apart from the one of a base that it hides; empty where
        it hides none."""
        record = self.records.get(key or "")
        hides = record is not None and key is not None and name in self._inherited(key)
        return f"{record.name}::{name}" if record is not None and hides else ""

    def method_named(self, key: str, name: str) -> FunctionFacts | None:
        """The only method of that name."""
        parts = self._parts.get(key)
        if parts is None:
            return None
        methods = [method.declaration for method in parts.methods]
        found = [method for method in methods if name_of(method) == name]
        return self.names.function(found[0]) if len(found) == 1 else None

    def has_constructors(self, key: str) -> bool:
        """Whether a class of the project has constructors that somebody wrote."""
        parts = self._parts.get(key)
        return parts is not None and any(
            method.declaration._kind_id == Kind.CONSTRUCTOR for method in parts.methods
        )

    def constructor_with(self, key: str, count: int) -> FunctionFacts | None:
        """The only constructor with that many parameters."""
        parts = self._parts.get(key)
        if parts is None:
            return None
        found = [
            method
            for method in (method.declaration for method in parts.methods)
            if method._kind_id == Kind.CONSTRUCTOR
            and self.library.argument_count(method) == count
            and not self.library.is_copy_constructor(method)
            and not self.library.is_move_constructor(method)
        ]
        return self.names.function(found[0]) if len(found) == 1 else None

    # Lambdas.

    def lambda_of(self, method: Cursor) -> str | None:
        """The key of the lambda that a call operator belongs to."""
        parent = related("parent", method)
        return self.lambdas.get(address(parent)) if parent is not None else None

    def note_lambda(self, place: Expression, key: str) -> None:
        """A variable that holds a lambda."""
        self._lambda_places[place] = key

    def lambda_key(self, place: Expression) -> str | None:
        """The lambda that a variable holds."""
        if isinstance(place, FunctionReference):
            return place.key
        return self._lambda_places.pop(place, None)

    # Variables.

    def global_variable(self, declaration: Cursor) -> Variable:
        """A variable that lives outside of functions."""
        canonical = related("canonical", declaration) or declaration
        identity = address(canonical)
        known = self._global_places.get(identity)
        if known is None:
            name = name_of(declaration)
            symbol = self._symbol(f"::{self.names.qualified(declaration)}", identity)
            known = self._global_places[identity] = Variable(name, symbol)
            self._add_global(known, declaration, "global")
            self.globals_by_name.setdefault(name, known)
        return known

    def static_variable(
        self, declaration: Cursor, function: str, name: str, type_: Type
    ) -> Variable:
        """A ``static`` local."""
        identity = address(declaration)
        symbol = self._symbol(f"::{function}::{name}", identity)
        variable = Variable(name, symbol)
        self._add_global(variable, declaration, "static")
        return variable

    def _symbol(self, symbol: str, identity: int) -> str:
        number = 1
        unique = symbol
        while self._symbols.setdefault(unique, identity) != identity:
            number += 1
            unique = f"{symbol}#{number}"
        return unique

    def _add_global(self, variable: Variable, declaration: Cursor, storage: Any) -> None:
        type_ = self.types.of(declaration)
        constant: Expression | None = None
        if type_.constant and type_.kind in ("integer", "float", "bool", "enumeration"):
            initial = initializer(declaration)
            value = evaluate(initial) if initial is not None else None
            constant = Constant(value, variable.name) if value is not None else None
        if storage == "global" and self.positions.is_system(declaration):
            return
        self.globals[variable.symbol] = VariableInfo(
            variable.name,
            type_,
            storage,
            self.positions.span(declaration),
            constant,
            space_of(self.positions, declaration),
        )
