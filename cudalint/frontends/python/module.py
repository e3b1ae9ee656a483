"""One file before anything in it is looked up: its text, its tree and what is known of APIs."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from cudalint.apis.loader import ApiModels
from cudalint.frontends.python.names import ModuleName, own_name
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
    own_names: dict[str, str] = field(default_factory=dict)
    """The names of modules that the file imports by other ones."""

    def imports(self, dotted: str) -> None:
        """Note the module of the project that an imported name comes from."""
        if self.dotted.is_project(dotted):
            found = own_name(dotted, self.source.filename)
            if found is not None and found[0] != found[1]:
                self.own_names[found[0]] = found[1]

    def key(self, dotted: str) -> str:
        """An absolute name as the file that defines it has it."""
        names = dotted.split(".") if self.own_names else []
        for parts in range(len(names), 0, -1):
            known = self.own_names.get(".".join(names[:parts]))
            if known is not None:
                return ".".join([known, *names[parts:]])
        return dotted

    def span(self, node: cst.CSTNode) -> Span:
        """The rows and columns of a node."""
        return self.positions.span(node)

    def text(self, node: cst.CSTNode) -> str:
        """The source text of a node."""
        return self.positions.text(node)
