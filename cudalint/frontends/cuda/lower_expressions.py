"""Lowers expressions: literals, names, operators, casts."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from clang.cindex import Cursor

from cudalint.frontends.cuda.lower_base import IDENTIFIER, is_place, is_value
from cudalint.frontends.cuda.lower_conditions import CASTS, Conditions
from cudalint.frontends.cuda.lower_conversions import convert, wrap
from cudalint.frontends.cuda.lower_cursors import (
    Kind,
    binary_operator,
    children,
    evaluate,
    name_of,
    referenced,
    unary_operator,
)
from cudalint.frontends.cuda.lower_names import FUNCTIONS
from cudalint.program import (
    THIS,
    AddressOf,
    Assign,
    Binary,
    Conditional,
    Constant,
    Dereference,
    Expression,
    FunctionReference,
    Index,
    Member,
    Tuple,
    Type,
    Unary,
    Unknown,
)

MEMBER_NAME = re.compile(
    r"(->|\.)\s*(?:template\s+)?(~?[A-Za-z_]\w*|operator\W+)\s*(?:<.*>)?\s*\Z", re.S
)
_OBJECT_MACRO = re.compile(r"[A-Za-z_]\w*(?!\w|\s*\()")
_BOOL = Type("bool", "bool", 1, False)


class Expressions(Conditions):
    """The part of the lowering that reads expressions."""

    def expression(self, cursor: Cursor) -> Expression:
        """Lower an expression: its calls become operations, the rest is returned."""
        kind: int = cursor._kind_id
        if kind in CASTS:
            return self._cast(cursor)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            return handler(self, cursor)
        return self._other(cursor)

    # Leaves.

    def _integer(self, cursor: Cursor) -> Expression:
        value = evaluate(cursor)
        if value is None:
            return Unknown(self.positions.text(cursor))
        return Constant(value, self._constant_name(cursor))

    def _constant_name(self, cursor: Cursor) -> str:
        """The object-like macro that stands for a literal."""
        if not self.positions.from_macro(cursor):
            return ""
        name, start, _ = self.positions.offsets(cursor)
        found = _OBJECT_MACRO.match(self.positions.text_of(name, start, start + 120))
        return found.group() if found else ""

    def _string(self, cursor: Cursor) -> Expression:
        spelled = name_of(cursor)
        quote = spelled.find('"')
        if quote < 0:
            return Constant(spelled)
        try:
            return Constant(str(ast.literal_eval(spelled[quote:])))
        except (SyntaxError, ValueError):
            return Constant(spelled[quote:].strip('"'))

    def _boolean(self, cursor: Cursor) -> Expression:
        return Constant(bool(evaluate(cursor)))

    def _null(self, cursor: Cursor) -> Expression:
        return Constant(None, "NULL" if cursor._kind_id == Kind.GNU_NULL else "nullptr")

    def _this(self, cursor: Cursor) -> Expression:
        return THIS

    def _only(self, cursor: Cursor) -> Expression:
        operands = [child for child in children(cursor) if is_value(child)]
        return self.expression(operands[0]) if len(operands) == 1 else self._other(cursor)

    def _sizeof(self, cursor: Cursor) -> Expression:
        value = evaluate(cursor)
        text = self.positions.own_text(cursor)
        if value is None:
            return Unknown(text or "sizeof")
        return Constant(value, text)

    # Names.

    def _name(self, cursor: Cursor) -> Expression:
        declaration = referenced(cursor)
        if declaration is None:
            text = self.positions.text(cursor)
            return self.named(text) if IDENTIFIER.match(text) else Unknown(text)
        kind: int = declaration._kind_id
        if kind == Kind.ENUMERATOR:
            return Constant(int(self.library.enumerator(declaration)), name_of(declaration))
        if kind in FUNCTIONS:
            facts = self.names.function(declaration)
            return FunctionReference(facts.name, facts.key)
        if kind == Kind.OVERLOADED:
            candidates = self.names.overloads(declaration)
            if not candidates:
                return FunctionReference(name_of(declaration))
            facts = self.names.function(candidates[0])
            return FunctionReference(facts.name, facts.key if len(candidates) == 1 else None)
        name = name_of(declaration)
        if kind == Kind.FIELD:
            return Member(THIS, name)
        if kind in (
            Kind.VARIABLE,
            Kind.PARAMETER,
            Kind.UNEXPOSED_DECL,
            Kind.VALUE_PARAMETER,
        ):
            return self.place_of(declaration, name)
        return Unknown(name)

    def _member(self, cursor: Cursor) -> Expression:
        declaration = referenced(cursor)
        if declaration is not None:
            kind: int = declaration._kind_id
            if kind == Kind.VARIABLE:
                return self.place_of(declaration, name_of(declaration))
            if kind == Kind.ENUMERATOR:
                return Constant(int(self.library.enumerator(declaration)), name_of(declaration))
            if kind in FUNCTIONS:
                facts = self.names.function(declaration)
                return FunctionReference(facts.name, facts.key)
        base = self.member_base(cursor)
        name = name_of(cursor)
        if not name:
            if declaration is not None:
                return base  # A member of an unnamed union or struct.
            found = MEMBER_NAME.search(self.positions.text(cursor))
            if found is None:
                return Unknown(self.positions.text(cursor), (base,))
            name = found.group(2)
        return Member(base, name)

    def member_base(self, cursor: Cursor) -> Expression:
        """The object of a member expression: ``*p`` for ``p->m``."""
        bases = [child for child in children(cursor) if is_value(child)]
        if not bases or bases[0]._kind_id == Kind.OVERLOADED:
            return THIS
        base = self.expression(bases[0])
        if base == THIS:
            return THIS
        kind = self.types.of(bases[0]).kind
        arrow = kind == "pointer"
        if kind in ("other", "record"):
            # A type that depends on a template, or a smart pointer.
            found = MEMBER_NAME.search(self.positions.text(cursor))
            arrow = found is not None and found.group(1) == "->"
        if not arrow:
            return base
        return base.place if isinstance(base, AddressOf) else Dereference(base)

    def _subscript(self, cursor: Cursor) -> Expression:
        base, index = self._two(cursor)
        return Index(self.expression(base), self.expression(index))

    # Operators.

    def _unary(self, cursor: Cursor) -> Expression:
        operator = unary_operator(cursor)
        operands = children(cursor)
        if not operands:
            return self._other(cursor)
        if operator in ("x++", "x--", "++x", "--x"):
            return self.step(cursor, operator, wanted=True)
        if operator == "!":
            return self._not(self.expression(self._bare(operands[0])))
        value = self.expression(operands[0])
        if operator == "&":
            if isinstance(value, Constant):
                value = self._unfolded(operands[0], value)
            return self._address(value)
        if operator == "*":
            if isinstance(value, AddressOf):
                return value.place
            if value == THIS or isinstance(value, FunctionReference):
                return value
            return Dereference(value)
        if operator in ("-", "~"):
            if isinstance(value, Constant) and isinstance(value.value, int | float):
                if operator == "-":
                    return Constant(-value.value)
                if isinstance(value.value, int):
                    return Constant(wrap(~value.value, self.types.of(cursor)))
            return Unary(operator, value)
        return value

    def _unfolded(self, cursor: Cursor, value: Expression) -> Expression:
        """The variable behind a folded constant: its address is taken."""
        inner = cursor
        while inner._kind_id in (Kind.PARENTHESES, Kind.UNEXPOSED):
            inner = children(inner)[0]
        declaration = referenced(inner) if inner._kind_id == Kind.NAME else None
        if declaration is None or declaration._kind_id != Kind.VARIABLE:
            return value
        return self.variable_of(declaration, name_of(declaration))

    def _not(self, value: Expression) -> Expression:
        if isinstance(value, Constant) and not isinstance(value.value, str):
            return Constant(not value.value)
        return Unary("!", value)

    def _address(self, value: Expression) -> Expression:
        if isinstance(value, Dereference):
            return value.pointer
        if value == THIS or isinstance(value, FunctionReference):
            return value
        if is_place(value):
            return AddressOf(value)
        if isinstance(value, Constant | Unknown):
            return Unknown("&", (value,))
        return AddressOf(value)

    def step(self, cursor: Cursor, operator: str, wanted: bool) -> Expression:
        """Lower an increment or decrement."""
        place = self.expression(children(cursor)[0])
        type_ = self.types.of(cursor)
        span = self.positions.span(cursor)
        value: Expression = place
        if wanted and operator.startswith("x"):
            value = self.temporary(type_)
            self.graph.emit(Assign(value, place, span))
        stepped = Binary(
            operator.replace("x", "")[0],
            place,
            Constant(1),
            type_ if type_.kind == "integer" else None,
        )
        self.graph.emit(Assign(place, stepped, span, augmented=True))
        return value

    def _binary(self, cursor: Cursor) -> Expression:
        operator = binary_operator(cursor)
        left, right = self._two(cursor)
        if operator == "=":
            return self.assign(left, right, cursor)
        if operator == ",":
            self.discard(left)
            return self.expression(right)
        if operator in ("&&", "||"):
            return self._both(operator, left, right, cursor)
        type_ = self.types.of(cursor)
        first = self.expression(left)
        second = self.expression(right)
        if operator in (".*", "->*", ""):
            return Unknown(self.positions.text(cursor), (first, second))
        return Binary(operator, first, second, type_ if type_.kind == "integer" else None)

    def _both(self, operator: str, left: Cursor, right: Cursor, cursor: Cursor) -> Expression:
        """``&&`` and ``||`` as values: branches only where the right side does something."""
        first = self.expression(self._bare(left))
        before, node = self.graph.current, self.graph.block()
        self.graph.current = node
        second = self.expression(self._bare(right))
        if self.graph.current is node and not node.operations and self.graph.is_open:
            self.graph.current = before
            return Binary(operator, first, second)
        result, span = self.temporary(_BOOL), self.positions.span(cursor)
        self.graph.emit(Assign(result, second, span))
        short, after = self.graph.block(), self.graph.block()
        self.graph.jump(after)
        self.graph.current = before
        ways = (node, short) if operator == "&&" else (short, node)
        self.branch_on(first, *ways, span)
        self.graph.current = short
        self.graph.emit(Assign(result, Constant(operator == "||"), span))
        self.graph.enter(after)
        return result

    def _conditional(self, cursor: Cursor) -> Expression:
        parts = [child for child in children(cursor) if is_value(child)]
        if len(parts) != 3:
            return self._other(cursor)
        test = self.expression(self._bare(parts[0]))
        if isinstance(test, Constant) and not isinstance(test.value, str):
            return self.expression(parts[1] if test.value else parts[2])
        before = self.graph.current
        arms = []
        for part in parts[1:]:
            start = self.graph.current = self.graph.block()
            arms.append((start, self.expression(part), self.graph.current))
        if all(start is end and not start.operations for start, _, end in arms) and not any(
            start.terminator for start, _, _ in arms
        ):
            self.graph.current = before
            return Conditional(test, arms[0][1], arms[1][1])
        result, span = self.temporary(self.types.of(cursor)), self.positions.span(cursor)
        after = self.graph.block()
        for _, value, end in arms:
            self.graph.current = end
            if self.graph.is_open:
                self.graph.emit(Assign(result, value, span))
                self.graph.jump(after)
        self.graph.current = before
        self.branch_on(test, arms[0][0], arms[1][0], span)
        self.graph.current = after
        return result

    def assign(self, left: Cursor, right: Cursor, cursor: Cursor) -> Expression:
        """Lower ``left = right``."""
        value = self.expression(right)
        place = self.expression(left)
        self.graph.emit(Assign(place, value, self.positions.span(cursor)))
        return place

    def _compound_assignment(self, cursor: Cursor) -> Expression:
        left, right = self._two(cursor)
        value = self.expression(right)
        place = self.expression(left)
        type_ = self.types.of(cursor)
        result = Binary(
            binary_operator(cursor), place, value, type_ if type_.kind == "integer" else None
        )
        self.graph.emit(Assign(place, result, self.positions.span(cursor), augmented=True))
        return place

    # Conversions.

    def _cast(self, cursor: Cursor) -> Expression:
        operands = [child for child in children(cursor) if is_value(child)]
        if not operands:
            constant = evaluate(cursor)
            return Constant(constant) if constant is not None else self.unknown(cursor)
        value = self.expression(operands[-1])
        return convert(value, self.types.of(operands[-1]), self.types.of(cursor), explicit=True)

    def _unexposed(self, cursor: Cursor) -> Expression:
        operands = [child for child in children(cursor) if is_value(child)]
        if len(operands) == 1 and not self._is_recovery(cursor, operands):
            inner = operands[0]
            if inner._kind_id == Kind.CALL:
                value = self.call(inner)
            else:
                value = self.expression(inner)
            source, target = self.library.type(inner), self.library.type(cursor)
            if source.data[0] == target.data[0]:
                return value
            return convert(value, self.types.lower(source), self.types.lower(target), False)
        recovered = self.recovered(cursor, wanted=True)
        if recovered is not None:
            return recovered
        if not operands:
            return self._leaf(cursor)
        return self._other(cursor)

    def _leaf(self, cursor: Cursor) -> Expression:
        """An expression without children: a default argument, a default value, a lost name."""
        value = evaluate(cursor)
        type_ = self.types.of(cursor)
        if value is not None and type_.kind in ("integer", "float", "enumeration", "bool"):
            return Constant(bool(value) if type_.kind == "bool" else value)
        text = self.positions.text(cursor)
        if not text:
            return Constant(None) if type_.kind == "pointer" else Unknown("")
        if IDENTIFIER.match(text):
            return self.named(text)
        if not self.positions.own_text(cursor):
            # Part of a macro's body: the text is the macro's use, calls in it are lowered already.
            return Unknown(text[:200])
        return self.recover(text, self.positions.span(cursor), wanted=True)

    def recovered(self, cursor: Cursor, wanted: bool) -> Expression | None:
        """A call that clang could not resolve, from what it kept of it and from its text."""
        operands = [child for child in children(cursor) if is_value(child)]
        text = self.positions.own_text(cursor)
        if operands and self._is_callee(operands[0], text):
            return self.unresolved_call(cursor, operands, wanted, text)
        if text and (not operands or len(operands) > 1 or self._is_recovery(cursor, operands)):
            if not operands and (self.types.of(cursor).kind != "other" or IDENTIFIER.match(text)):
                return None
            return self.recover(text, self.positions.span(cursor), wanted)
        return None

    def _is_callee(self, cursor: Cursor, text: str) -> bool:
        """Whether the first part of an unresolved expression is what it calls."""
        if cursor._kind_id not in (Kind.NAME, Kind.MEMBER):
            return False
        if not text:
            # From a macro: only a call leaves a name without a declaration.
            declaration = referenced(cursor)
            return declaration is not None and declaration._kind_id == Kind.OVERLOADED
        name, _, end = self.positions.offsets(cursor)
        following = self.positions.text_of(name, end, end + 40).lstrip()
        return following.startswith(("(", "<"))

    def unresolved_call(
        self, cursor: Cursor, operands: list[Cursor], wanted: bool, text: str
    ) -> Expression:
        """Lower a call that clang could not resolve."""
        raise NotImplementedError

    # Aggregates and the rest.

    def _initializers(self, cursor: Cursor) -> Expression:
        type_ = self.types.of(cursor)
        values = [child for child in children(cursor) if is_value(child)]
        if type_.kind in ("integer", "float", "pointer", "bool", "enumeration"):
            if not values:
                return Constant(None if type_.kind == "pointer" else 0)
            return self.expression(values[0])
        items = tuple(self.item(value) for value in values)
        return Tuple(items, "dim3" if type_.text == "dim3" else "initializer")

    def _new(self, cursor: Cursor) -> Expression:
        return self.new(cursor)

    def _delete(self, cursor: Cursor) -> Expression:
        self.delete(cursor)
        return Unknown("delete")

    def _throw(self, cursor: Cursor) -> Expression:
        self.throw(cursor)
        return Unknown("throw")

    def _lambda(self, cursor: Cursor) -> Expression:
        return self.lambda_(cursor)

    def _call(self, cursor: Cursor) -> Expression:
        return self.call(cursor)

    def _statements(self, cursor: Cursor) -> Expression:
        return self.statement_expression(cursor, wanted=True)

    def _other(self, cursor: Cursor) -> Expression:
        """Anything else: constant, or unknown with what it reads."""
        value = evaluate(cursor)
        if value is not None:
            return Constant(value)
        reads = [
            self.expression(child)
            for child in children(cursor)
            if is_value(child) and Kind.UNEXPOSED <= child._kind_id < 200
        ]
        text = self.positions.text(cursor)
        return Unknown(text[:200], tuple(reads) or self.reads(text))


_HANDLERS: dict[int, Callable[[Expressions, Cursor], Expression]] = {
    Kind.UNEXPOSED: Expressions._unexposed,
    Kind.NAME: Expressions._name,
    Kind.MEMBER: Expressions._member,
    Kind.CALL: Expressions._call,
    Kind.INTEGER: Expressions._integer,
    Kind.FLOATING: Expressions._integer,
    Kind.CHARACTER: Expressions._integer,
    Kind.STRING: Expressions._string,
    Kind.BOOLEAN: Expressions._boolean,
    Kind.NULLPTR: Expressions._null,
    Kind.GNU_NULL: Expressions._null,
    Kind.THIS: Expressions._this,
    Kind.PARENTHESES: Expressions._only,
    Kind.PACK_EXPANSION: Expressions._only,
    Kind.COMPOUND_LITERAL: Expressions._only,
    Kind.UNARY: Expressions._unary,
    Kind.SUBSCRIPT: Expressions._subscript,
    Kind.BINARY: Expressions._binary,
    Kind.COMPOUND_ASSIGNMENT: Expressions._compound_assignment,
    Kind.CONDITIONAL: Expressions._conditional,
    Kind.INITIALIZERS: Expressions._initializers,
    Kind.PARENTHESIZED_LIST: Expressions._initializers,
    Kind.STATEMENT_EXPRESSION: Expressions._statements,
    Kind.SIZEOF: Expressions._sizeof,
    Kind.SIZEOF_PACK: Expressions._sizeof,
    Kind.LAMBDA: Expressions._lambda,
    Kind.NEW: Expressions._new,
    Kind.DELETE: Expressions._delete,
    Kind.THROW: Expressions._throw,
}
