"""Which part lowers which kind of cursor."""

from __future__ import annotations

from collections.abc import Callable

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering import (
    allocation,
    blocks,
    branches,
    calls,
    casts,
    declarations,
    discards,
    exceptions,
    functions,
    literals,
    loops,
    objects,
    operators,
    references,
    statements,
    unknowns,
)
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.libclang import Kind, children
from cudalint.frontends.cuda.lowering.syntax import CASTS
from cudalint.program import Expression

_EXPRESSIONS: dict[int, Callable[[Context, Cursor], Expression]] = {
    **dict.fromkeys(CASTS, casts.cast),
    Kind.UNEXPOSED: casts.unexposed,
    Kind.NAME: references.name_reference,
    Kind.MEMBER: references.member,
    Kind.SUBSCRIPT: references.subscript,
    Kind.THIS: references.this,
    Kind.CALL: calls.call,
    Kind.INTEGER: literals.number,
    Kind.FLOATING: literals.number,
    Kind.CHARACTER: literals.number,
    Kind.STRING: literals.string_literal,
    Kind.BOOLEAN: literals.boolean,
    Kind.NULLPTR: literals.null,
    Kind.GNU_NULL: literals.null,
    Kind.SIZEOF: literals.sizeof,
    Kind.SIZEOF_PACK: literals.sizeof,
    Kind.PARENTHESES: unknowns.only,
    Kind.PACK_EXPANSION: unknowns.only,
    Kind.COMPOUND_LITERAL: unknowns.only,
    Kind.UNARY: operators.unary,
    Kind.BINARY: operators.binary,
    Kind.COMPOUND_ASSIGNMENT: operators.compound_assignment,
    Kind.CONDITIONAL: operators.conditional,
    Kind.INITIALIZERS: objects.initializers,
    Kind.PARENTHESIZED_LIST: objects.initializers,
    Kind.NEW: allocation.new,
    Kind.DELETE: allocation.delete,
    Kind.STATEMENT_EXPRESSION: blocks.statement_expression,
    Kind.LAMBDA: functions.lambda_,
    Kind.THROW: exceptions.throw,
}

_STATEMENTS: dict[int, Callable[[Context, Cursor], None]] = {
    Kind.COMPOUND: blocks.compound,
    Kind.IF: branches.if_,
    Kind.SWITCH: branches.switch,
    Kind.CASE: branches.case,
    Kind.DEFAULT: branches.case,
    Kind.WHILE: loops.while_,
    Kind.DO: loops.do,
    Kind.FOR: loops.for_,
    Kind.RANGE_FOR: loops.range_for,
    Kind.BREAK: statements.break_,
    Kind.CONTINUE: statements.continue_,
    Kind.RETURN: statements.return_,
    Kind.GOTO: statements.goto,
    Kind.INDIRECT_GOTO: statements.goto,
    Kind.LABEL: statements.label,
    Kind.TRY: exceptions.try_,
    Kind.NULL: statements.nothing,
    Kind.DECLARATION: statements.declarations,
    Kind.VARIABLE: declarations.declaration,
    Kind.ASSEMBLY: statements.assembly,
}


class AllParts:
    """Lowers expressions and statements of every kind."""

    def expression(self, context: Context, cursor: Cursor) -> Expression:
        """Lower an expression: its calls become operations, the rest is returned."""
        return _EXPRESSIONS.get(cursor._kind_id, unknowns.other)(context, cursor)

    def discard(self, context: Context, cursor: Cursor) -> None:
        """Lower an expression whose value nobody wants."""
        discards.discard(context, cursor)

    def statement(self, context: Context, cursor: Cursor) -> None:
        """Lower a statement."""
        kind: int = cursor._kind_id
        if statements.left_to_device(context, cursor):
            return
        handler = _STATEMENTS.get(kind)
        if handler is not None:
            handler(context, cursor)
        elif Kind.UNEXPOSED <= kind < 200:
            discards.discard(context, cursor)
        elif 200 <= kind < 350:
            # OpenMP directives, attributed statements and the like: what is below them runs.
            for child in children(cursor):
                self.statement(context, child)
