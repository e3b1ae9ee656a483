"""Lowers one function, method, constructor, destructor or lambda."""

from __future__ import annotations

from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lower_base import is_value
from cudalint.frontends.cuda.lower_cursors import (
    Kind,
    children,
    evaluate,
    library,
    name_of,
    referenced,
    related,
    usr,
)
from cudalint.frontends.cuda.lower_graph import Symbols
from cudalint.frontends.cuda.lower_names import RECORDS
from cudalint.frontends.cuda.lower_statements import Statements
from cudalint.frontends.cuda.lower_types import as_parameter
from cudalint.frontends.cuda.lower_unit import Unit
from cudalint.program import (
    THIS,
    Assign,
    Constant,
    Expression,
    Function,
    FunctionReference,
    Member,
    Parameter,
    Type,
    Variable,
)
from cudalint.source import Span

_NO_THROW = (1, 4, 5, 9)
_KINDS: dict[int, Any] = {
    Kind.METHOD: "method",
    Kind.CONVERSION: "method",
    Kind.CONSTRUCTOR: "constructor",
    Kind.DESTRUCTOR: "destructor",
}
_BODIES = (Kind.COMPOUND, Kind.TRY)


class FunctionLowering(Statements):
    """The lowering of one function, complete."""

    record: str | None = None

    def lambda_(self, cursor: Cursor) -> Expression:
        """Lower a lambda into a function of its own."""
        self.lambdas += 1
        key = f"{self.key}@lambda{self.lambdas}"
        declaration = self.library.type_declaration(self.library.type(cursor))
        self.unit.lambdas[declaration.data[0] or 0] = key
        parts = children(cursor)
        for part in parts:
            if part._kind_id == Kind.VARIABLE_NAME:
                self._capture(part)
            elif is_value(part) and part._kind_id not in _BODIES and part._kind_id < 200:
                self.item(part)  # Captured by copy.
        inner = FunctionLowering(self.unit, key, f"{self.name}::<lambda>", self.symbols)
        inner.by_name = dict(self.by_name)
        inner.record = self.record
        bodies = [part for part in parts if part._kind_id in _BODIES]
        parameters = [part for part in parts if part._kind_id == Kind.PARAMETER]
        span = self.positions.span(cursor)
        function = inner.lower(
            span,
            self.positions.filename_of(cursor),
            parameters,
            bodies[-1:],
            kind="lambda",
            parent=self.key,
            record=self.record,
            in_macro=self.positions.from_macro(cursor),
        )
        self.unit.functions[key] = function
        return FunctionReference("<lambda>", key)

    def _capture(self, name: Cursor) -> None:
        """``[copy = value]`` declares a variable; other captures are the parent's variables."""
        declaration = referenced(name)
        if declaration is None or declaration._kind_id != Kind.VARIABLE:
            return
        if (declaration.data[0] or 0) in self.symbols.places:
            return
        initial = related("initializer", declaration)
        parent = related("parent", declaration)
        if initial is None or (parent is not None and parent._kind_id == Kind.NAMESPACE):
            return
        if self.library.storage(declaration) in (2, 3):
            return
        variable = self.declare(declaration, name_of(name), self.types.of(declaration))
        self.initialize(variable, initial, self.positions.span(name), declares=True)

    def lower(
        self,
        span: Span,
        filename: str,
        parameters: list[Cursor],
        bodies: list[Cursor],
        members: list[Cursor] | None = None,
        **facts: Any,
    ) -> Function:
        """The function with its parameters and body; ``members``: a constructor's own part."""
        lowered = tuple(self._parameter(parameter) for parameter in parameters)
        if members is not None:
            self._member_initializers(members)
        for body in bodies:
            if body._kind_id == Kind.COMPOUND:
                self.body(body)
            else:
                self.statement(body)
        self.finish(self.end_span(bodies[-1]) if bodies else span)
        return Function(
            self.key,
            self.name,
            filename,
            span,
            lowered,
            self.graph.finished(),
            self.variables,
            **facts,
        )

    def _parameter(self, cursor: Cursor) -> Parameter:
        name, type_ = name_of(cursor), as_parameter(self.types.of(cursor))
        variable = self.declare(cursor, name, type_, "parameter")
        by: Any = type_.kind if type_.kind in ("reference", "pointer") else "value"
        default = None
        initial = related("initializer", cursor)
        if initial is not None:
            value = evaluate(initial)
            default = Constant(value) if value is not None else None
        return Parameter(name, variable.symbol, type_, by, default)

    # Constructors.

    def _member_initializers(self, parts: list[Cursor]) -> None:
        """Members get their values: by the list, else by their default initialiser."""
        given: dict[str, tuple[Cursor, Cursor | None]] = {}
        bases: list[Cursor] = []
        number = 0
        while number < len(parts):
            part = parts[number]
            following = parts[number + 1] if number + 1 < len(parts) else None
            value = following if following is not None and is_value(following) else None
            if part._kind_id == Kind.MEMBER_NAME:
                given[name_of(part)] = (part, value)
            elif value is not None and value._kind_id == Kind.CALL:
                bases.append(value)
            number += 1
        delegates = False
        for base in bases:
            if self._is_construction(base):
                self.construct(base, THIS)
                function = referenced(base)
                parent = related("parent", function) if function is not None else None
                delegates = delegates or (
                    parent is not None and self.types.record_key(parent) == self.record
                )
        if not delegates:
            self._fields(given)
        for name, (part, value) in given.items():
            self._initialize_member(name, part, value)

    def _fields(self, given: dict[str, tuple[Cursor, Cursor | None]]) -> None:
        """Members that no initialiser names keep their default."""
        for name, value, place in self.unit.defaults_of(self.record or ""):
            if name not in given:
                self.initialize(Member(THIS, name), value, place, declares=False)

    def _initialize_member(self, name: str, part: Cursor, value: Cursor | None) -> None:
        place = Member(THIS, name)
        span = self.positions.span(part)
        if value is not None:
            self.initialize(place, value, span, declares=False)
            return
        declaration = referenced(part)
        type_ = self.types.of(declaration) if declaration is not None else Type("")
        zero: Expression = Constant(None if type_.kind == "pointer" else 0)
        if type_.kind in ("pointer", "integer", "float", "bool", "enumeration"):
            self.graph.emit(Assign(place, zero, span))


def lower_global_lambda(unit: Unit, variable: Variable, cursor: Cursor) -> None:
    """A lambda that a variable outside of functions holds."""
    around = FunctionLowering(unit, variable.symbol, variable.name, Symbols())
    around.lambda_(cursor)


def lower_implicit_constructor(unit: Unit, key: str, name: str, record: Cursor) -> Function:
    """The default constructor that the compiler writes for a class."""
    lowering = FunctionLowering(unit, key, name, Symbols())
    lowering.record = unit.types.record_key(record)
    return lowering.lower(
        unit.positions.span(record),
        unit.positions.filename_of(record),
        [],
        [],
        [],
        kind="constructor",
        record=lowering.record,
    )


def lower_function(unit: Unit, cursor: Cursor) -> Function:
    """Lower a function's definition."""
    functions = library()
    kind = cursor._kind_id
    if kind == Kind.FUNCTION_TEMPLATE:
        kind = functions.template_kind(cursor)
    key, name = usr(cursor), unit.names.qualified(cursor)
    lowering = FunctionLowering(unit, key, name, Symbols())
    parts = children(cursor)
    parameters = [part for part in parts if part._kind_id == Kind.PARAMETER]
    bodies = [part for part in parts if part._kind_id in _BODIES]
    parent = related("parent", cursor)
    if parent is not None and parent._kind_id in RECORDS:
        lowering.record = unit.types.record_key(parent)
        unit.note_record(parent)
    members = None
    if kind == Kind.CONSTRUCTOR:
        members = [part for part in parts if part._kind_id not in (Kind.PARAMETER, *_BODIES)]
    exceptions = functions.exceptions(cursor)
    returns = functions.result_type(cursor)
    return lowering.lower(
        unit.positions.span(cursor),
        unit.positions.filename_of(cursor),
        parameters,
        bodies[-1:],
        members,
        kind=_KINDS.get(kind, "function"),
        record=lowering.record,
        is_main=name == "main" and lowering.record is None,
        is_noexcept=exceptions in _NO_THROW or kind == Kind.DESTRUCTOR,
        is_static=kind == Kind.METHOD and bool(functions.is_static(cursor)),
        returns=unit.types.lower(returns) if returns._kind_id else None,
        in_macro=unit.positions.from_macro(cursor),
    )
