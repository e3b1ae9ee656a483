"""The shape of Python as far as fixes need it: statements and calls with their places."""

from __future__ import annotations

import ast
import functools
import io
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cudalint.findings.fix import Edit
from cudalint.fixes.text import GiveUp, Text, demand
from cudalint.source import UNPARSABLE, Span


@dataclass(frozen=True)
class Suite:
    """Statements that follow each other, and the position of one of them."""

    statements: list[ast.stmt]
    position: int
    of_function: bool
    """They are the whole body of a function."""

    @property
    def is_last(self) -> bool:
        """Whether it is the last of them."""
        return self.position == len(self.statements) - 1


class PythonText(Text):
    """A Python file's text."""

    @functools.cached_property
    def tree(self) -> ast.Module:
        """Its syntax, as this Python reads it."""
        try:
            return ast.parse(self.text.replace("\r\n", "\n"))
        except UNPARSABLE:
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

    def of(self, node: ast.expr | None) -> str:
        """What is written for an expression."""
        demand(node is not None)
        assert node is not None
        return self.text[self.start(node) : self.end(node)]

    def function_at(self, offset: int) -> ast.AST:
        """The innermost function around an offset, else the module."""
        found: ast.AST = self.tree
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found = node if self.start(node) <= offset < self.end(node) else found
        return found

    def call(self, span: Span) -> ast.Call:
        """The call that stands at a span."""
        bounds = self.bounds(span)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and (self.start(node), self.end(node)) == bounds:
                return node
        raise GiveUp

    def suite_at(self, offset: int) -> Suite:
        """The innermost suite with a statement around an offset."""
        found: Suite | None = None
        for statements, of_function in self._suites:
            for position, statement in enumerate(statements):
                if self.start(statement) <= offset < self.end(statement):
                    # Inner suites come after those around them.
                    found = Suite(statements, position, of_function)
        if found is None:
            raise GiveUp
        return found

    @functools.cached_property
    def _suites(self) -> list[tuple[list[ast.stmt], bool]]:
        return list(_suites_of(self.tree))

    @functools.cached_property
    def string_rows(self) -> set[int]:
        """The rows that begin in a string."""
        rows: set[int] = set()
        starts: list[int] = []
        reader = io.StringIO(self.text.replace("\r\n", "\n")).readline
        try:
            for token in tokenize.generate_tokens(reader):
                kind = tokenize.tok_name[token.type]
                if kind == "STRING":
                    rows.update(range(token.start[0] + 1, token.end[0] + 1))
                elif kind.endswith("STRING_START"):
                    starts.append(token.start[0])
                elif kind.endswith("STRING_END"):
                    rows.update(range(starts.pop() + 1, token.end[0] + 1))
        except (tokenize.TokenError, SyntaxError):
            raise GiveUp from None
        return rows

    def under(self, head: str, first: int, last: int) -> Edit:
        """The lines of whole statements under the head of a block."""
        start, end = self.offset(first, 1), self.line_end(self.offset(last, 1))
        indentation = self.indentation(start)
        demand(self.source.cell_at(first) == self.source.cell_at(last))
        lines = self.indented(range(first, last + 1))
        return self.edit(start, end, "\n".join((f"{indentation}{head}", *lines)))

    def indented(self, rows: Iterable[int]) -> Iterator[str]:
        """Lines, one step further in; but for what stands in strings."""
        for row in rows:
            line = self.source.line(row)
            stays = row in self.string_rows or not line.strip()
            yield line if stays else f"{self.step}{line}"

    @functools.cached_property
    def step(self) -> str:
        """By what its blocks are indented."""
        for statements, of_function in self._suites:
            if of_function and self.leads(self.start(statements[0])):
                indentation = self.indentation(self.start(statements[0]))
                if statements[0].col_offset and indentation.strip("\t") == "":
                    return "\t"
        widths = {
            statements[0].col_offset
            for statements, _ in self._suites
            if statements[0].col_offset and self.leads(self.start(statements[0]))
        }
        return " " * min(widths, default=4)


def _suites_of(node: ast.AST) -> Iterator[tuple[list[ast.stmt], bool]]:
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(node, name, None)
        if isinstance(statements, list) and statements and isinstance(statements[0], ast.stmt):
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield statements, is_function and name == "body"
    for child in ast.iter_child_nodes(node):
        yield from _suites_of(child)
