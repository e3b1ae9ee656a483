"""Lowers the declarations of locals, and what initialises an object."""

from __future__ import annotations

import re

from clang.cindex import Cursor

from cudalint.frontends.cuda.lower_base import is_place, is_value
from cudalint.frontends.cuda.lower_cursors import (
    Kind,
    TypeKind,
    children,
    name_of,
    referenced,
    related,
)
from cudalint.frontends.cuda.lower_graph import can_own
from cudalint.frontends.cuda.lower_names import RECORDS
from cudalint.frontends.cuda.lower_reader import APIS
from cudalint.frontends.cuda.lower_recovery import StatementRecovery
from cudalint.program import (
    Argument,
    Assign,
    Branch,
    Call,
    Constant,
    Expression,
    Index,
    Member,
    Tuple,
    Type,
    Unknown,
    Variable,
    VariableInfo,
)
from cudalint.source import Span

_STATIC, _EXTERN = 3, 2
_WRAPPERS = (
    Kind.UNEXPOSED,
    Kind.PARENTHESES,
    Kind.FUNCTIONAL_CAST,
    Kind.C_CAST,
    Kind.STATIC_CAST,
)
_KNOWN_TYPE = re.compile(r"\b(?:int|auto|signed|long|short|decltype|enum)\b|_t\b.*\bint\b")


class Declarations(StatementRecovery):
    """The part of the lowering that reads declarations."""

    def declaration(self, cursor: Cursor) -> None:
        """Lower one declaration of a declaration statement."""
        kind: int = cursor._kind_id
        if kind == Kind.VARIABLE:
            self._variable(cursor)
        elif kind == Kind.UNEXPOSED_DECL:
            self._bindings(cursor)
        elif kind in RECORDS:
            self.unit.local_record(cursor)

    def _variable(self, cursor: Cursor) -> None:
        name = name_of(cursor)
        storage = self.library.storage(cursor)
        if storage == _EXTERN:
            place = self.unit.global_variable(cursor)
            self.symbols.places[cursor.data[0] or 0] = place
            self.by_name[name] = place
            return
        type_ = self._declared_type(cursor, name)
        if type_.kind == "other" and self._is_call_after_macro(cursor, name, type_):
            return
        initial = related("initializer", cursor)
        span = self.positions.span(cursor)
        if storage == _STATIC:
            self._static(cursor, name, type_, initial, span)
            return
        if type_.kind == "reference":
            self._reference(cursor, name, type_, initial, span)
            return
        variable = self.declare(cursor, name, type_)
        if can_own(type_):
            self.scopes.declare(variable.symbol)
        if initial is None and self._has_lost_value(cursor, name):
            self.graph.emit(Assign(variable, Unknown(f"value of {name}"), span, declares=True))
        elif initial is None:
            self._uninitialized(variable, type_, span)
        elif type_.kind == "other" and self._is_unknown_class(cursor, name, type_):
            self._unknown_object(variable, type_, cursor, name, initial)
        else:
            self.initialize(variable, initial, span, declares=True)

    def _has_lost_value(self, cursor: Cursor, name: str) -> bool:
        """Whether a value is written there that clang could not make sense of."""
        if not self.unit.has_errors or self.positions.from_macro(cursor):
            return False
        file, start, stop = self.positions.offsets(cursor)
        # The declaration may end before the value that it has lost.
        text = self.positions.text_of(file, start, stop + 16) if start >= 0 else ""
        return re.search(rf"\b{re.escape(name)}\s*=[^=]", text) is not None

    def _declared_type(self, cursor: Cursor, name: str) -> Type:
        """The type; clang takes a type that it does not know for ``int``."""
        type_ = self.types.of(cursor)
        if (
            self.unit.has_errors
            and type_.text in ("int", "const int", "int *", "int **")
            and not self.positions.from_macro(cursor)
        ):
            whole = self.positions.text(cursor)
            written = whole.partition(name)[0].strip()
            if written and not _KNOWN_TYPE.search(written):
                pointer = type_.text.endswith("*")
                return Type(written, "pointer" if pointer else "other", 8 if pointer else None)
        return type_

    def _uninitialized(self, variable: Variable, type_: Type, span: Span) -> None:
        if type_.kind == "record" and type_.record is not None and type_.bytes is None:
            # A class that depends on a template's parameters: its default constructor runs.
            self.construct_dependent(variable, type_, (), span)
            return
        self.graph.emit(Assign(variable, Unknown("uninitialized"), span, declares=True))

    def _is_call_after_macro(self, cursor: Cursor, name: str, type_: Type) -> bool:
        """``UNKNOWN_MACRO release(p);`` reads as a declaration, but is a call."""
        if type_.text == self.types.of(cursor).text:
            return False
        if APIS.match(name) is None and self.unit.key_of_function(name) is None:
            return False
        text = self.positions.text(cursor).removeprefix(type_.text).strip()
        if not text.removeprefix(name).lstrip().startswith("("):
            return False
        self.recover_statement(text, self.positions.span(cursor))
        return True

    def _is_unknown_class(self, cursor: Cursor, name: str, type_: Type) -> bool:
        """Whether ``Type name(...)`` constructs an object of a class that clang does not know."""
        if type_.text == self.types.of(cursor).text:
            return False
        rest = self.positions.text(cursor).removeprefix(type_.text).strip().removeprefix(name)
        return rest.strip()[:1] in ("(", "{")

    def _unknown_object(
        self, variable: Variable, type_: Type, cursor: Cursor, name: str, initial: Cursor
    ) -> None:
        text = self.positions.text(cursor).removeprefix(type_.text).strip()
        arguments = self.recover_arguments(text.replace("{", "(").replace("}", ")"), [])
        if arguments is None:
            arguments = (Argument(self.expression(initial)),)
        span = self.positions.span(cursor)
        self.graph.emit(Call(type_.text, arguments, span, receiver=variable, kind="constructor"))

    def _static(
        self, cursor: Cursor, name: str, type_: Type, initial: Cursor | None, span: Span
    ) -> None:
        variable = self.unit.static_variable(cursor, self.name, name, type_)
        self.variables[variable.symbol] = VariableInfo(name, type_, "static", span)
        self.symbols.places[cursor.data[0] or 0] = variable
        self.by_name[name] = variable
        if initial is None or self.library.evaluate(initial) is not None:
            return
        # Initialised the first time only.
        before, first, after = self.graph.current, self.graph.block(), self.graph.block()
        self.graph.current = first
        self.initialize(variable, initial, span, declares=True)
        if (
            self.graph.current is first
            and len(first.operations) == 1
            and isinstance(first.operations[0], Assign)
        ):
            self.graph.current = before
            return  # A value that is not constant, but acquires nothing.
        made = Variable(f"first call of {self.name} made {name}", f"{variable.symbol}:made")
        self.graph.emit(Assign(made, Constant(True), span))
        self.graph.jump(after)
        self.graph.current = before
        self.graph.finish(Branch(made, after.number, first.number, span))
        self.graph.current = after

    def _reference(
        self, cursor: Cursor, name: str, type_: Type, initial: Cursor | None, span: Span
    ) -> None:
        """A reference is another name for what it is bound to."""
        value = self.expression(initial) if initial is not None else Unknown("uninitialized")
        if is_place(value) and not (isinstance(value, Variable) and value.symbol[0] == "%"):
            self.symbols.places[cursor.data[0] or 0] = value
            self.by_name[name] = value
            return
        variable = self.declare(cursor, name, type_)
        if type_.pointee is not None and can_own(type_.pointee):
            self.scopes.declare(variable.symbol)
        self.graph.emit(Assign(variable, value, span, declares=True))

    def initialize(self, place: Expression, value: Cursor, span: Span, declares: bool) -> None:
        """Give a new object its first value."""
        construction = self._construction(value)
        if construction is not None:
            self.construct(construction, place, declares)
            return
        if self._is_list(value):
            arguments = [child for child in children(value) if is_value(child)]
            type_ = self._type_of_place(place)
            if type_ is not None and type_.kind == "record":
                self.construct_dependent(place, type_, self.arguments(arguments), span)
                return
            if len(arguments) == 1:
                self.initialize(place, arguments[0], span, declares)
                return
        lowered = self.expression(value)
        if isinstance(lowered, Tuple) and lowered.kind == "dim3":
            lowered = self.as_dim3(lowered)
        self.graph.emit(Assign(place, lowered, span, declares=declares))

    def _type_of_place(self, place: Expression) -> Type | None:
        if isinstance(place, Variable):
            info = self.variables.get(place.symbol)
            return info.type if info is not None else None
        return None

    def _is_list(self, value: Cursor) -> bool:
        """``(a, b)`` that initialises something whose type depends on a template."""
        return bool(
            value._kind_id == Kind.UNEXPOSED
            and self.library.type(value)._kind_id == TypeKind.INVALID
        )

    def _construction(self, value: Cursor) -> Cursor | None:
        """The constructor's call that an initialiser consists of."""
        while value._kind_id in _WRAPPERS:
            parts = [child for child in children(value) if is_value(child)]
            if len(parts) != 1:
                return None
            value = parts[0]
        if value._kind_id != Kind.CALL:
            return None
        function = referenced(value)
        if function is not None and function._kind_id == Kind.CONSTRUCTOR:
            return value
        return None

    def _bindings(self, cursor: Cursor) -> None:
        """``auto [a, b] = value``: each name is a member or an element of the value."""
        parts = children(cursor)
        names = [part for part in parts if part._kind_id == Kind.UNEXPOSED_DECL]
        values = [part for part in parts if Kind.UNEXPOSED <= part._kind_id < 200]
        if not names:
            return
        span = self.positions.span(cursor)
        type_ = self.types.of(cursor)
        value: Expression = Unknown("uninitialized")
        if values:
            value = self._bound_value(values[0], type_, span)
        self.bind(names, value, type_)

    def _bound_value(self, initial: Cursor, type_: Type, span: Span) -> Expression:
        if type_.kind == "array":
            parts = children(initial)
            initial = parts[0] if parts and initial._kind_id == Kind.UNEXPOSED else initial
            return self.expression(initial)
        if type_.kind == "reference":
            return self.expression(initial)
        held = self.temporary(type_)
        self.initialize(held, initial, span, declares=True)
        return held

    def bind(self, names: list[Cursor], value: Expression, type_: Type) -> None:
        """Bind the names of a structured binding to the parts of a value."""
        if type_.kind == "reference" and type_.pointee is not None:
            type_ = type_.pointee
        fields = self.unit.fields_of(type_.record) if type_.record else []
        is_pair = "pair<" in type_.text
        for number, binding in enumerate(names):
            name = name_of(binding)
            if is_pair and number < 2:
                place: Expression = Member(value, ("first", "second")[number])
            elif number < len(fields):
                place = Member(value, fields[number])
            else:
                place = Index(value, Constant(number))
            self.symbols.places[binding.data[0] or 0] = place
            self.by_name[name] = place

    def declare_element(self, variable: Cursor, element: Expression, span: Span) -> None:
        """The variable of a range-for: a copy of the element, or another name for it."""
        name, type_ = name_of(variable), self.types.of(variable)
        if variable._kind_id == Kind.UNEXPOSED_DECL:
            names = [part for part in children(variable) if part._kind_id == Kind.UNEXPOSED_DECL]
            self.bind(names, element, type_)
            return
        if type_.kind == "reference":
            self.symbols.places[variable.data[0] or 0] = element
            self.by_name[name] = element
            return
        place = self.declare(variable, name, type_)
        if can_own(type_):
            self.scopes.declare(place.symbol)
        initial = related("initializer", variable)
        copy = self._construction(initial) if initial is not None else None
        function = referenced(copy) if copy is not None else None
        if function is not None and self.library.is_copy_constructor(function):
            facts = self.names.function(function)
            if not self._is_plain(function, facts):
                record = type_.record
                self.graph.emit(
                    Call(
                        facts.name.rpartition("::")[0],
                        (Argument(element),),
                        span,
                        key=facts.key,
                        receiver=place,
                        kind="copy",
                        may_throw=facts.may_throw,
                        record=record,
                    )
                )
                return
        self.graph.emit(Assign(place, element, span, declares=True))

    def declare_caught(self, variable: Cursor) -> None:
        """The variable of a handler."""
        place = self.declare(variable, name_of(variable), self.types.of(variable))
        self.graph.emit(
            Assign(place, Unknown("exception"), self.positions.span(variable), declares=True)
        )

    def returned(self, cursor: Cursor) -> Expression:
        """The value of a return statement, without the copies that are elided."""
        construction = self._construction(cursor)
        if construction is None:
            return self.expression(cursor)
        function = referenced(construction)
        parts = [child for child in children(construction) if is_value(child)]
        if function is None or len(parts) != 1:
            return self.construct(construction, None)
        if self.library.is_move_constructor(function):
            return self.expression(parts[0])
        if self.library.is_copy_constructor(function):
            inner = self._unwrapped(parts[0])
            declaration = referenced(inner) if inner._kind_id == Kind.NAME else None
            if declaration is not None and self._is_elided(declaration):
                return self.expression(parts[0])
        return self.construct(construction, None)

    def _is_elided(self, declaration: Cursor) -> bool:
        """Whether a returned variable is the function's own local: its copy is elided."""
        if declaration._kind_id != Kind.VARIABLE:
            return False
        if self.library.storage(declaration) in (_STATIC, _EXTERN):
            return False
        place = self.variable_of(declaration, name_of(declaration))
        return isinstance(place, Variable) and not place.symbol.startswith("::")
