"""Parses one file with libcst, as much of it as can be parsed."""

from __future__ import annotations

import libcst as cst

from cudalint.frontends.python.positions import Positions
from cudalint.program.functions import Dropped
from cudalint.source import Source, Span


class Parsed:
    """A tree with its positions, and what was left out of it."""

    def __init__(self, tree: cst.Module, positions: Positions, dropped: list[Dropped]) -> None:
        self.tree = tree
        self.positions = positions
        self.dropped = dropped


def parse(source: Source) -> Parsed | list[Dropped]:
    """Parse a file; statements that cannot be parsed are left out. Only the reasons are returned
    where nothing of it can be."""
    text, shift = source.text, 0
    if text.startswith("\ufeff"):
        text, shift = text[1:], 1
    try:
        tree = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        span = Span(error.raw_line, error.raw_column + 1, error.raw_line, error.raw_column + 2)
        return [Dropped(span, "module", str(error.message))]
    return Parsed(tree, Positions(tree, source, shift), [])
