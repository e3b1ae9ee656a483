"""Lowers calls, constructions, copies, launches, ``new`` and ``delete``."""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lower_base import is_place, is_value
from cudalint.frontends.cuda.lower_cursors import (
    Kind,
    children,
    name_of,
    referenced,
)
from cudalint.frontends.cuda.lower_expressions import MEMBER_NAME
from cudalint.frontends.cuda.lower_names import FUNCTIONS, FunctionFacts
from cudalint.frontends.cuda.lower_objects import Objects, without_cast
from cudalint.program import (
    THIS,
    AddressOf,
    Argument,
    Assign,
    Binary,
    Call,
    Dereference,
    Expression,
    FunctionReference,
    Index,
    Launch,
    Member,
    Unary,
    Unknown,
    Unreachable,
    Variable,
    render,
)

_CONFIGURATION = "__cudaPushCallConfiguration"
_TRANSPARENT = frozenset(
    (
        "std::move", "std::forward", "std::as_const", "std::launder", "cuda::std::move",
        "cuda::std::forward", "__builtin_expect",
    )
)  # fmt: skip
_ADDRESS = frozenset(("std::addressof", "std::__addressof", "__builtin_addressof"))
_CALLED_NAME = re.compile(r"\s*((?:::)?[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*)")


_BINARY_OPERATORS = frozenset(
    ["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]
)


class Calls(Objects):
    """The part of the lowering that reads calls."""

    def call(self, cursor: Cursor, wanted: bool = True) -> Expression:
        """Lower a call, construction or launch."""
        operands = [child for child in children(cursor) if is_value(child)]
        function = referenced(cursor)
        kind = function._kind_id if function is not None else 0
        if function is not None and kind == Kind.CONSTRUCTOR:
            return self.construct(cursor, None)
        if not operands and not (function is None and self._is_dependent_construction(cursor)):
            return self._other(cursor)
        if operands and self._is_configuration(operands):
            return self._launch(cursor, operands)
        if function is not None and kind in FUNCTIONS:
            facts = self.names.function(function)
            if facts.name.rpartition("::")[2].startswith("operator") and kind != Kind.CONVERSION:
                return self._operator(cursor, operands, function, facts, wanted)
            return self._named_call(cursor, operands, function, facts, wanted)
        if function is None and self._is_dependent_construction(cursor):
            return self._dependent_construction(cursor, operands)
        if function is None or kind == Kind.OVERLOADED:
            return self.unresolved_call(cursor, operands, wanted, "")
        return self._indirect(cursor, operands, wanted)

    # Ordinary calls.

    def _named_call(
        self,
        cursor: Cursor,
        operands: list[Cursor],
        function: Cursor,
        facts: FunctionFacts,
        wanted: bool,
    ) -> Expression:
        name = facts.name
        if name in _TRANSPARENT and len(operands) > 1:
            return self.expression(operands[1])
        if name in _ADDRESS and len(operands) > 1:
            return self._address(self.expression(operands[1]))
        receiver: Expression | None = None
        callee = self._unwrapped(operands[0])
        if facts.record is not None and not facts.is_static:
            receiver = self.member_base(callee) if callee._kind_id == Kind.MEMBER else THIS
        elif callee._kind_id == Kind.MEMBER:
            for base in children(callee):
                if is_value(base):
                    self.discard(base)
        if (
            facts.kind == Kind.CONVERSION
            and receiver is not None
            and (facts.is_system or isinstance(receiver, FunctionReference))
        ):
            # A smart pointer tested, a lambda as a function pointer, an iterator's reference.
            return receiver
        arguments = self.arguments(operands[1:])
        kind: Any = "function"
        if facts.kind == Kind.DESTRUCTOR:
            kind = "destructor"
        elif facts.record is not None:
            kind = "method"
        return self._emit(cursor, facts, function, arguments, kind, receiver, wanted)

    def _emit(
        self,
        cursor: Cursor,
        facts: FunctionFacts,
        function: Cursor,
        arguments: tuple[Argument, ...],
        kind: Any,
        receiver: Expression | None,
        wanted: bool,
        name: str | None = None,
    ) -> Expression:
        span = self.positions.span(cursor)
        result = self.types.of(cursor)
        target = None
        if wanted and result.kind != "void" and not facts.noreturn:
            target = self.temporary(result)
        record = None
        if facts.record is not None:
            record = self.types.record_key(facts.record)
        self.graph.emit(
            Call(
                name or facts.name,
                arguments,
                span,
                target,
                facts.key,
                receiver,
                None,
                kind,
                facts.may_throw,
                facts.noreturn,
                record,
                self._template_bytes(function),
                self.positions.macro(cursor),
            )
        )
        if facts.noreturn:
            self.graph.finish(Unreachable(span))
        return target if target is not None else Unknown("void")

    def _template_bytes(self, function: Cursor) -> int | None:
        if function._kind_id != Kind.FUNCTION or self.library.template_arguments(function) < 1:
            return None
        size = self.library.size(self.library.template_argument(function, 0))
        return int(size) if size > 0 else None

    def _indirect(self, cursor: Cursor, operands: list[Cursor], wanted: bool) -> Expression:
        callee = self.expression(operands[0])
        while isinstance(callee, Dereference):
            callee = callee.pointer
        arguments = self.arguments(operands[1:])
        return self.emit_indirect(cursor, callee, arguments, wanted)

    def emit_indirect(
        self, cursor: Cursor, callee: Expression, arguments: tuple[Argument, ...], wanted: bool
    ) -> Expression:
        """A call of a function pointer, a lambda or a callable object."""
        span, result = self.positions.span(cursor), self.types.of(cursor)
        target = self.temporary(result) if wanted and result.kind != "void" else None
        direct = callee if isinstance(callee, FunctionReference) else None
        self.graph.emit(
            Call(
                direct.name if direct else self._callee_name(callee),
                arguments,
                span,
                target,
                direct.key if direct else self.unit.lambda_key(callee),
                None,
                None if direct and not direct.name.startswith("<") else callee,
                "function" if direct and not direct.name.startswith("<") else "indirect",
                expansion=self.positions.macro(cursor),
            )
        )
        return target if target is not None else Unknown("void")

    @staticmethod
    def _callee_name(callee: Expression) -> str:
        return render(callee)

    # Operators of classes.

    def _operator(
        self,
        cursor: Cursor,
        operands: list[Cursor],
        function: Cursor,
        facts: FunctionFacts,
        wanted: bool,
    ) -> Expression:
        symbol = facts.name.rpartition("::")[2].removeprefix("operator").strip()
        callee = self._unwrapped(operands[0])
        if callee._kind_id == Kind.MEMBER and referenced(callee) == function:
            receiver: Expression = self.member_base(callee)
            rest = operands[1:]
        else:
            rest = self._without_callee(operands, function)
            if not rest:
                return self._other(cursor)
            if symbol in ("=",) and self._is_dim3(facts):
                value = self.expression(rest[1]) if len(rest) > 1 else Unknown("dim3")
                place = self.expression(rest[0])
                self.graph.emit(Assign(place, self.as_dim3(value), self.positions.span(cursor)))
                return place
            receiver = self.expression(rest[0])
            rest = rest[1:]
        if symbol == "()":
            return self._called_object(cursor, function, facts, receiver, rest, wanted)
        if symbol == "=" and facts.record is not None:
            return self._assigned_object(cursor, function, facts, receiver, rest)
        if facts.is_system:
            simple = self._simple_operator(cursor, symbol, receiver, rest)
            if simple is not None:
                return simple
        arguments = self.arguments(rest)
        if facts.record is None:
            arguments = (Argument(receiver), *arguments)
            return self._emit(cursor, facts, function, arguments, "operator", None, wanted)
        return self._emit(cursor, facts, function, arguments, "operator", receiver, wanted)

    def _without_callee(self, operands: list[Cursor], function: Cursor) -> list[Cursor]:
        """The operands of an operator's call: all children but the operator's own name."""
        rest, found = [], False
        for operand in operands:
            if not found:
                inner = self._unwrapped(operand)
                if inner._kind_id == Kind.NAME:
                    declaration = referenced(inner)
                    if declaration is not None and declaration.data[0] == function.data[0]:
                        found = True
                        continue
            rest.append(operand)
        return rest

    def _simple_operator(
        self, cursor: Cursor, symbol: str, receiver: Expression, rest: list[Cursor]
    ) -> Expression | None:
        """Operators of the standard library's containers, iterators and smart pointers."""
        if symbol == "[]" and len(rest) == 1:
            return Index(receiver, self.expression(rest[0]))
        if symbol == "->":
            return receiver
        if symbol == "*" and not rest:
            return receiver.place if isinstance(receiver, AddressOf) else Dereference(receiver)
        if symbol in ("==", "!=") and len(rest) == 1 and is_place(receiver):
            return Binary(symbol, receiver, self.expression(rest[0]))
        if symbol == "!" and not rest:
            return Unary("!", receiver)
        return None

    def _called_object(
        self,
        cursor: Cursor,
        function: Cursor,
        facts: FunctionFacts,
        receiver: Expression,
        rest: list[Cursor],
        wanted: bool,
    ) -> Expression:
        arguments = self.arguments(rest)
        key = self.unit.lambda_of(function)
        if key is not None or facts.is_system or isinstance(receiver, FunctionReference):
            if key is not None and not isinstance(receiver, FunctionReference):
                self.unit.note_lambda(receiver, key)
            return self.emit_indirect(cursor, receiver, arguments, wanted)
        return self._emit(cursor, facts, function, arguments, "method", receiver, wanted)

    def _assigned_object(
        self,
        cursor: Cursor,
        function: Cursor,
        facts: FunctionFacts,
        receiver: Expression,
        rest: list[Cursor],
    ) -> Expression:
        arguments = self.arguments(rest)
        if self.library.is_copy_assignment(facts.declaration):
            if self._is_plain(function, facts) and arguments:
                span = self.positions.span(cursor)
                self.graph.emit(Assign(receiver, arguments[0].value, span))
            else:
                self._emit(cursor, facts, function, arguments, "copy", receiver, wanted=False)
        elif self._is_plain(function, facts) and arguments:
            self.graph.emit(Assign(receiver, arguments[0].value, self.positions.span(cursor)))
        else:
            self._emit(cursor, facts, function, arguments, "operator", receiver, wanted=False)
        return receiver

    # Launches.

    def _is_configuration(self, operands: list[Cursor]) -> bool:
        return (
            len(operands) > 1
            and operands[1]._kind_id == Kind.CALL
            and name_of(operands[1]) == _CONFIGURATION
        )

    def _launch(self, cursor: Cursor, operands: list[Cursor]) -> Expression:
        parts = [child for child in children(operands[1]) if is_value(child)][1:]
        kernel = self.expression(operands[0])
        name, key = self._callee_name(kernel), None
        if isinstance(kernel, FunctionReference):
            name, key = kernel.name, kernel.key
        values: list[Expression | None] = []
        for number, part in enumerate(parts):
            if number >= 2 and self._is_default(part):
                values.append(None)
                continue
            value = without_cast(self.expression(part)) if number == 2 else self.expression(part)
            values.append(self.as_dim3(value) if number < 2 else value)
        values += [None] * (4 - len(values))
        grid, block, shared, stream = values[:4]
        arguments = self.arguments(operands[2:])
        self.graph.emit(
            Launch(
                name,
                grid if grid is not None else Unknown("grid"),
                block if block is not None else Unknown("block"),
                arguments,
                self.positions.span(cursor),
                shared,
                stream,
                key,
            )
        )
        return Unknown("void")

    # What clang could not resolve.

    def unresolved_call(
        self, cursor: Cursor, operands: list[Cursor], wanted: bool, text: str
    ) -> Expression:
        """Lower a call that clang could not resolve: in a template, or of an unknown name."""
        if self._is_configuration(operands):
            return self._launch(cursor, operands)
        simple = self._dependent_operator(cursor, operands)
        if simple is not None:
            return simple
        callee = self._unwrapped(operands[0])
        if callee._kind_id == Kind.MEMBER:
            return self._unresolved_member(cursor, callee, operands, wanted)
        declaration = referenced(callee) if callee._kind_id == Kind.NAME else None
        if declaration is None or declaration._kind_id not in (Kind.OVERLOADED, *FUNCTIONS):
            value = self.expression(operands[0])
            scoped = isinstance(value, Variable) and "::" in value.name
            if scoped or (isinstance(value, Unknown) and not value.reads):
                found = _CALLED_NAME.match(self.positions.text(callee))
                name = found.group(1) if found else render(value)
                return self._emit_unresolved(cursor, name, None, operands[1:], wanted)
            recovered = self.recover_arguments(text, operands[1:]) if text else None
            if recovered is None:
                recovered = self.arguments(operands[1:])
            if isinstance(value, Member) and callee._kind_id != Kind.MEMBER:
                # A method of a class that clang does not know.
                return self._emit_method(cursor, value.base, value.field, recovered, wanted)
            return self.emit_indirect(cursor, value, recovered, wanted)
        if declaration._kind_id != Kind.OVERLOADED:
            facts = self.names.function(declaration)
            return self._emit_unresolved(cursor, facts.name, facts, operands[1:], wanted, text)
        candidates = self.names.overloads(declaration)
        if not candidates:
            return self._emit_unresolved(
                cursor, name_of(declaration), None, operands[1:], wanted, text
            )
        facts = self._best(candidates, len(operands) - 1)
        return self._emit_unresolved(
            cursor, facts.name, facts, operands[1:], wanted, text, len(candidates) == 1
        )

    def _dependent_operator(self, cursor: Cursor, operands: list[Cursor]) -> Expression | None:
        """``a != b`` on types that depend on a template: a call whose second part is the name of
        the operator."""
        if len(operands) != 3 or operands[1]._kind_id != Kind.NAME:
            return None
        declaration = referenced(operands[1])
        name = name_of(declaration) if declaration is not None else ""
        symbol = name.removeprefix("operator").strip()
        if symbol == name or symbol not in _BINARY_OPERATORS:
            return None
        left = self.expression(operands[0])
        return Binary(symbol, left, self.expression(operands[2]))

    def _is_dependent_construction(self, cursor: Cursor) -> bool:
        """``T(x)`` where ``T`` depends on a template."""
        parts = children(cursor)
        return bool(parts) and parts[0]._kind_id in (Kind.TYPE_REFERENCE, Kind.TEMPLATE_REFERENCE)

    def _dependent_construction(self, cursor: Cursor, operands: list[Cursor]) -> Expression:
        type_ = self.types.of(cursor)
        if type_.kind != "record":
            if len(operands) == 1:
                return self.expression(operands[0])
            reads = tuple(self.expression(operand) for operand in operands)
            return Unknown(self.positions.text(cursor), reads)
        place = self.temporary(type_)
        self.construct_dependent(
            place, type_, self.arguments(operands), self.positions.span(cursor)
        )
        return place

    def _best(self, candidates: list[Cursor], count: int) -> FunctionFacts:
        for candidate in candidates:
            if self.library.argument_count(candidate) == count:
                return self.names.function(candidate)
        return self.names.function(candidates[0])

    def _emit_unresolved(
        self,
        cursor: Cursor,
        name: str,
        facts: FunctionFacts | None,
        operands: list[Cursor],
        wanted: bool,
        text: str = "",
        resolved: bool = True,
    ) -> Expression:
        if text and (
            facts is None or self.library.argument_count(facts.declaration) != len(operands)
        ):
            # Clang drops the arguments that it does not understand; the text has them all.
            recovered = self.recover_arguments(text, operands)
        else:
            recovered = None
        arguments = recovered if recovered is not None else self.arguments(operands)
        span = self.positions.span(cursor)
        target = self.temporary(self.types.of(cursor)) if wanted else None
        is_method = facts is not None and facts.record is not None and not facts.is_static
        kind: Any = "method" if is_method else "function"
        if facts is None and "::" not in name:
            kind = "macro"
        noreturn = facts is not None and facts.noreturn
        self.graph.emit(
            Call(
                name,
                arguments,
                span,
                target,
                facts.key if facts is not None and resolved else None,
                THIS if is_method else None,
                None,
                kind,
                facts.may_throw if facts is not None else None,
                noreturn,
                self.types.record_key(facts.record) if facts and facts.record else None,
                expansion=self.positions.macro(cursor),
            )
        )
        if noreturn:
            self.graph.finish(Unreachable(span))
        return target if target is not None else Unknown("void")

    def recover_arguments(self, text: str, operands: list[Cursor]) -> tuple[Argument, ...] | None:
        """The arguments from the text of a call; None where the text is beyond us."""
        raise NotImplementedError

    def _unresolved_member(
        self, cursor: Cursor, callee: Cursor, operands: list[Cursor], wanted: bool
    ) -> Expression:
        receiver = self.member_base(callee)
        found = MEMBER_NAME.search(self.positions.text(callee))
        name = found.group(2).strip() if found else name_of(callee)
        bases = [child for child in children(callee) if is_value(child)]
        record = None
        if receiver == THIS:
            record = self.unit.record_of_function(self)
        elif bases:
            type_ = self.types.of(bases[0])
            if type_.kind in ("pointer", "reference") and type_.pointee is not None:
                type_ = type_.pointee
            record = type_.record
        facts = self.unit.method_named(record, name) if record else None
        arguments = self.arguments(operands[1:])
        return self._emit_method(cursor, receiver, name, arguments, wanted, facts, record)

    def _emit_method(
        self,
        cursor: Cursor,
        receiver: Expression,
        name: str,
        arguments: tuple[Argument, ...],
        wanted: bool,
        facts: FunctionFacts | None = None,
        record: str | None = None,
    ) -> Expression:
        span = self.positions.span(cursor)
        target = self.temporary(self.types.of(cursor)) if wanted else None
        self.graph.emit(
            Call(
                facts.name if facts else f".{name}",
                arguments,
                span,
                target,
                facts.key if facts else None,
                receiver,
                None,
                "method",
                facts.may_throw if facts else None,
                record=record,
                expansion=self.positions.macro(cursor),
            )
        )
        return target if target is not None else Unknown("void")
