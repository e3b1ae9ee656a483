"""Which part lowers what: the one place that knows them all."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.lowering.branches import boolean, choice
from cudalint.frontends.python.lowering.calls import lower_call
from cudalint.frontends.python.lowering.context import Context
from cudalint.frontends.python.lowering.definitions import (
    class_definition,
    function_definition,
    lower_lambda,
)
from cudalint.frontends.python.lowering.exceptions import try_statement, with_statement
from cudalint.frontends.python.lowering.expressions import EXPRESSIONS
from cudalint.frontends.python.lowering.iteration import lower_comprehension
from cudalint.frontends.python.lowering.patterns import match_statement
from cudalint.frontends.python.lowering.statements import STATEMENTS
from cudalint.frontends.python.lowering.targets import walrus
from cudalint.program.expressions import Expression

_EXPRESSIONS = EXPRESSIONS | {
    cst.BooleanOperation: boolean,
    cst.Call: lower_call,
    cst.DictComp: lower_comprehension,
    cst.GeneratorExp: lower_comprehension,
    cst.IfExp: choice,
    cst.Lambda: lower_lambda,
    cst.ListComp: lower_comprehension,
    cst.NamedExpr: walrus,
    cst.SetComp: lower_comprehension,
}
_STATEMENTS = STATEMENTS | {
    cst.ClassDef: class_definition,
    cst.FunctionDef: function_definition,
    cst.Match: match_statement,
    cst.Try: try_statement,
    cst.TryStar: try_statement,
    cst.With: with_statement,
}


class AllParts:
    """Leads from one part of the lowering to another."""

    def expression(self, context: Context, node: cst.BaseExpression) -> Expression:
        """Lower an expression: its calls become operations, the rest is the result."""
        part = _EXPRESSIONS.get(type(node))
        return part(context, node) if part is not None else context.unknown(node)

    def call(
        self, context: Context, node: cst.Call, target: Expression | None, wanted: bool
    ) -> Expression:
        """Lower a call. The result is its target: the given one, or a temporary if wanted."""
        return lower_call(context, node, target, wanted)

    def statement(self, context: Context, node: cst.CSTNode) -> None:
        """Lower one statement, simple or compound."""
        if isinstance(node, cst.SimpleStatementLine | cst.SimpleStatementSuite):
            for small in node.body:
                self.statement(context, small)
            return
        part = _STATEMENTS.get(type(node))
        if part is not None:
            part(context, node)
