"""Lowers conditions, and expressions whose value nobody wants: both may branch."""

from __future__ import annotations

from clang.cindex import Cursor

from cudalint.frontends.cuda.lower_base import Lowering, is_value
from cudalint.frontends.cuda.lower_cursors import (
    Kind,
    binary_operator,
    children,
    name_of,
    referenced,
    unary_operator,
)
from cudalint.frontends.cuda.lower_graph import Node
from cudalint.program import Constant, Expression, FunctionReference, Use, Variable

CASTS = frozenset(
    {
        Kind.C_CAST,
        Kind.STATIC_CAST,
        Kind.REINTERPRET_CAST,
        Kind.CONST_CAST,
        Kind.FUNCTIONAL_CAST,
        Kind.DYNAMIC_CAST,
    }
)


class Conditions(Lowering):
    """The part of the lowering that reads conditions."""

    def assign(self, left: Cursor, right: Cursor, cursor: Cursor) -> Expression:
        """Lower ``left = right``."""
        raise NotImplementedError

    def step(self, cursor: Cursor, operator: str, wanted: bool) -> Expression:
        """Lower an increment or decrement."""
        raise NotImplementedError

    def recovered(self, cursor: Cursor, wanted: bool) -> Expression | None:
        """A call that clang could not resolve, from what it kept of it and from its text."""
        raise NotImplementedError

    def discard(self, cursor: Cursor) -> None:
        """Lower an expression whose value nobody wants."""
        kind: int = cursor._kind_id
        if kind == Kind.CALL:
            self.call(cursor, wanted=False)
            return
        if kind in (Kind.PARENTHESES, Kind.UNEXPOSED) or kind in CASTS:
            operands = [child for child in children(cursor) if is_value(child)]
            if len(operands) == 1 and not self._is_recovery(cursor, operands):
                self.discard(operands[0])
                return
        elif kind == Kind.UNARY and unary_operator(cursor) in ("x++", "x--", "++x", "--x"):
            self.step(cursor, unary_operator(cursor), wanted=False)
            return
        elif kind == Kind.BINARY:
            if self._discard_binary(cursor):
                return
        elif kind == Kind.CONDITIONAL:
            self._discard_conditional(cursor)
            return
        elif kind == Kind.STATEMENT_EXPRESSION:
            self.statement_expression(cursor, wanted=False)
            return
        elif kind == Kind.COMPOUND_ASSIGNMENT:
            self.expression(cursor)
            return
        if kind == Kind.UNEXPOSED and self.recovered(cursor, wanted=False) is not None:
            return
        value = self.expression(cursor)
        if kind in (Kind.DELETE, Kind.THROW):
            return
        if not isinstance(value, Constant | FunctionReference) and not (
            isinstance(value, Variable) and value.symbol.startswith("%")
        ):
            self.graph.emit(Use(value, self.positions.span(cursor)))

    def _discard_binary(self, cursor: Cursor) -> bool:
        operator = binary_operator(cursor)
        left, right = self._two(cursor)
        if operator == ",":
            self.discard(left)
            self.discard(right)
        elif operator in ("&&", "||"):
            rest, after = self.graph.block(), self.graph.block()
            if operator == "&&":
                self.condition(left, rest, after)
            else:
                self.condition(left, after, rest)
            self.graph.current = rest
            self.discard(right)
            self.graph.enter(after)
        elif operator == "=":
            self.assign(left, right, cursor)
        else:
            return False
        return True

    def _discard_conditional(self, cursor: Cursor) -> None:
        test, first, second = children(cursor)[:3]
        then, otherwise, after = (self.graph.block() for _ in range(3))
        self.condition(test, then, otherwise)
        self.graph.current = then
        self.discard(first)
        self.graph.jump(after)
        self.graph.current = otherwise
        self.discard(second)
        self.graph.enter(after)

    # Conditions.

    def condition(self, cursor: Cursor, then: Node, otherwise: Node) -> None:
        """Branch on a condition, split at ``&&``, ``||``, ``!`` and ``?:``."""
        cursor = self._bare(cursor)
        kind: int = cursor._kind_id
        if kind == Kind.BINARY:
            operator = binary_operator(cursor)
            if operator in ("&&", "||", ","):
                left, right = self._two(cursor)
                if operator == ",":
                    self.discard(left)
                else:
                    middle = self.graph.block()
                    ways = (middle, otherwise) if operator == "&&" else (then, middle)
                    self.condition(left, *ways)
                    self.graph.current = middle
                self.condition(right, then, otherwise)
                return
        elif kind == Kind.UNARY and unary_operator(cursor) == "!":
            self.condition(children(cursor)[0], otherwise, then)
            return
        elif kind == Kind.CONDITIONAL:
            parts = children(cursor)
            if len(parts) == 3:
                first, second = self.graph.block(), self.graph.block()
                self.condition(parts[0], first, second)
                for node, part in ((first, parts[1]), (second, parts[2])):
                    self.graph.current = node
                    self.condition(part, then, otherwise)
                return
        span = self.positions.span(cursor)
        self.branch_on(self.expression(cursor), then, otherwise, span)

    def _bare(self, cursor: Cursor) -> Cursor:
        """The condition without parentheses, conversions to bool and ``__builtin_expect``."""
        while True:
            kind: int = cursor._kind_id
            if kind not in (Kind.PARENTHESES, Kind.UNEXPOSED, Kind.CALL) and kind not in CASTS:
                return cursor
            operands = [child for child in children(cursor) if is_value(child)]
            if kind == Kind.CALL:
                if len(operands) < 2 or name_of(cursor) != "__builtin_expect":
                    return cursor
                cursor = operands[1]
                continue
            if len(operands) != 1 or self._is_recovery(cursor, operands):
                return cursor
            if kind in CASTS and self.types.of(cursor).kind != "bool":
                return cursor
            if kind == Kind.UNEXPOSED and self.types.of(cursor).kind != "bool":
                inner = self.types.of(operands[0])
                if inner.kind in ("float", "pointer") and self.types.of(cursor).kind != inner.kind:
                    return cursor
            cursor = operands[0]

    def _two(self, cursor: Cursor) -> tuple[Cursor, Cursor]:
        operands = [child for child in children(cursor) if is_value(child)]
        if len(operands) < 2:
            raise ValueError("an operator without its operands")
        return operands[0], operands[1]

    def _is_recovery(self, cursor: Cursor, operands: list[Cursor]) -> bool:
        """Whether clang kept only the parts of an expression that it could not resolve."""
        if cursor._kind_id != Kind.UNEXPOSED:
            return False
        first = operands[0]
        outer, inner = self.library.extent(cursor), self.library.extent(first)
        if (
            outer.begin_int_data == inner.begin_int_data
            and outer.end_int_data == inner.end_int_data
        ):
            return False
        if first._kind_id == Kind.NAME:
            declaration = referenced(first)
            return declaration is not None and (
                declaration._kind_id == Kind.OVERLOADED or self._is_wider(cursor, first)
            )
        return (
            self.types.of(cursor).text == "<dependent type>"
            and len(operands) == 1
            and first._kind_id != Kind.PACK_EXPANSION
            and self.types.of(first).text != "<dependent type>"
            and self._is_wider(cursor, first)
        )

    def _is_wider(self, outer: Cursor, inner: Cursor) -> bool:
        name, start, end = self.positions.offsets(outer)
        _, inner_start, inner_end = self.positions.offsets(inner)
        if start < 0 or (start == inner_start and end == inner_end):
            return False
        around = self.positions.text_of(name, start, inner_start)
        around += self.positions.text_of(name, inner_end, end)
        return bool(around.strip(" \t\r\n()")) or "(" in self.positions.text_of(
            name, inner_end, end
        )
