"""The shape of Python as far as fixes need it: statements and calls with their places."""

from __future__ import annotations

import ast
import functools

from cudalint.fixes.text import GiveUp, Text, demand
from cudalint.source import Span


class PythonText(Text):
    """A Python file's text."""

    @functools.cached_property
    def tree(self) -> ast.Module:
        """Its syntax, as this Python reads it."""
        try:
            return ast.parse(self.text.replace("\r\n", "\n"))
        except (SyntaxError, ValueError, RecursionError):
            raise GiveUp from None

    def place(self, row: int, column: int) -> int:
        """The offset of a place of ``ast``, which counts the bytes of a line."""
        line = self.source.line(row).encode()
        return self.offset(row, len(line[:column].decode(errors="replace")) + 1)

    def start(self, node: ast.stmt | ast.expr) -> int:
        """Where a node begins."""
        return self.place(node.lineno, node.col_offset)

    def end(self, node: ast.stmt | ast.expr) -> int:
        """Where a node ends."""
        demand(node.end_lineno is not None and node.end_col_offset is not None)
        return self.place(node.end_lineno or 0, node.end_col_offset or 0)

    def call(self, span: Span) -> ast.Call:
        """The call that stands at a span."""
        bounds = self.bounds(span)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and (self.start(node), self.end(node)) == bounds:
                return node
        raise GiveUp
