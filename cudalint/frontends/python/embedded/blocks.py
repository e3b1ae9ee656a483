"""Which of a name's bindings holds where the name is used."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from cudalint.frontends.python.bindings import Binding, children
from cudalint.frontends.python.module import Module


class Blocks:
    """The blocks of a file, by the offsets of their first and last characters."""

    def __init__(self, module: Module) -> None:
        self._positions = module.positions
        self._ranges: list[tuple[int, int]] = []
        pending: list[cst.CSTNode] = [module.tree]
        while pending:
            node = pending.pop()
            if isinstance(node, cst.BaseSuite):
                self._ranges.append(self._positions.offsets(node))
            if not isinstance(node, cst.BaseExpression):
                pending.extend(children(node))

    def reaching(self, bindings: Sequence[Binding], use: int) -> Binding | None:
        """The last binding before a use; ``None`` where a branch or a loop leaves it open."""
        before = [
            binding
            for binding in bindings
            if self._positions.offsets(binding.value or binding.node)[1] <= use
        ]
        if not before:
            return None
        last = before[-1]
        place = self._positions.offsets(last.node)[0]
        around = [(start, end) for start, end in self._ranges if start <= place < end]
        return last if all(start <= use < end for start, end in around) else None
