"""The statement that holds a call in Python source text."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from cudalint.source import Source, Span


@dataclass(frozen=True)
class Statement:
    """A statement by its character offsets.

    ``whole``: the call (perhaps in a check around it) is all that it does. ``alone``: nothing else
    stands on its lines. ``in_function``: a ``return`` may stand there.
    """

    start: int
    end: int
    row: int
    whole: bool
    alone: bool
    in_function: bool
    compound: bool
    chained: bool
    """An ``elif``: nothing can stand before it."""


class PythonText:
    """The statements of one file. ``SyntaxError`` if it has none."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = ast.parse(source.text)
        self._found: list[tuple[ast.stmt, bool, bool]] = []
        self._collect(self.tree, in_function=False)

    def _collect(self, node: ast.AST, in_function: bool) -> None:
        inside = in_function
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = True
        elif isinstance(node, ast.ClassDef):
            inside = False
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                chained = (
                    isinstance(node, ast.If)
                    and node.orelse == [child]
                    and isinstance(child, ast.If)
                    and self.source.text.startswith("elif", self._offsets(child)[0])
                )
                self._found.append((child, inside, chained))
            self._collect(child, inside)

    def _offsets(self, node: ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno, node.end_col_offset),
        )

    def _offset(self, row: int, column_bytes: int) -> int:
        line = self.source.line(row)
        column = len(line.encode()[:column_bytes].decode(errors="replace"))
        return self.source.line_starts[row - 1] + column

    def statement(self, span: Span) -> Statement | None:
        """The innermost statement around a call."""
        best: tuple[ast.stmt, bool, bool] | None = None
        for node, inside, chained in self._found:
            start, end = self._offsets(node)
            if start <= self.offset(span.row, span.column) < end:
                best = (node, inside, chained)  # parents come first
        if best is None:
            return None
        node, inside, chained = best
        start, end = self._offsets(node)
        first = self.source.line(node.lineno)
        last = self.source.line(node.end_lineno or node.lineno)
        before = first[: start - self.source.line_starts[node.lineno - 1]]
        after = last[end - self.source.line_starts[(node.end_lineno or node.lineno) - 1] :].strip()
        compound = isinstance(
            node,
            ast.If | ast.While | ast.For | ast.AsyncFor | ast.With | ast.AsyncWith | ast.Match
            | ast.FunctionDef | ast.AsyncFunctionDef | ast.Try | ast.ClassDef,
        )  # fmt: skip
        return Statement(
            start,
            end,
            node.lineno,
            whole=isinstance(node, ast.Expr),
            alone=not before.strip() and (not after or after.startswith("#")),
            in_function=inside,
            compound=compound,
            chained=chained,
        )

    def offset(self, row: int, column: int) -> int:
        """The character offset of a row and column."""
        return self.source.line_starts[row - 1] + column - 1

    def import_place(self) -> int | None:
        """Where ``; import os`` can stand: the end of the first import; ``None``: not needed or no
        such place."""
        imports = [node for node in self.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        for node in imports:
            if isinstance(node, ast.Import) and any(
                name.name == "os" and name.asname is None for name in node.names
            ):
                return None
        plain = [
            node
            for node in imports
            if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        ]
        return self._offsets(plain[0])[1] if plain else None
