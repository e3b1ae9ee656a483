"""One file before anything in it is looked up: its text, its tree and what is known of APIs."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from cudalint.apis.loader import ApiModels
from cudalint.frontends.python.names import ModuleName
from cudalint.frontends.python.positions import Positions
from cudalint.program.expressions import Type
from cudalint.source import Source, Span

OBJECT = Type("object")


@dataclass(slots=True)
class Module:
    """One file."""

    source: Source
    tree: cst.Module
    positions: Positions
    dotted: ModuleName
    models: ApiModels
    star_imports: list[tuple[str, bool]] = field(default_factory=list)
    """What the file imports all of, and whether by a relative name."""

    def span(self, node: cst.CSTNode) -> Span:
        """The rows and columns of a node."""
        return self.positions.span(node)

    def text(self, node: cst.CSTNode) -> str:
        """The source text of a node."""
        return self.positions.text(node)
