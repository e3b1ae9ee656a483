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
    is_program: bool = field(init=False)
    """Whether it is there to be run: it asks whether it is, or is a notebook."""

    def __post_init__(self) -> None:
        ifs = (node for node in self.tree.body if isinstance(node, cst.If))
        self.is_program = self.source.filename.endswith(".ipynb") or any(
            is_main_guard(node.test) for node in ifs
        )

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


def is_main_guard(node: cst.BaseExpression) -> bool:
    """``__name__ == "__main__"``."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return False
    target = node.comparisons[0]
    sides = (node.left, target.comparator)
    names = [side.value for side in sides if isinstance(side, cst.Name)]
    texts = [side.value.strip("\"'") for side in sides if isinstance(side, cst.SimpleString)]
    return (
        isinstance(target.operator, cst.Equal) and names == ["__name__"] and texts == ["__main__"]
    )
