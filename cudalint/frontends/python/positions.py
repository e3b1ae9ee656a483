"""Positions of syntax nodes: one pass of code generation, which only counts tokens.

libcst's own PositionProvider computes rows and columns token by token and takes longer than the
parse. Here every node that libcst records a position for keeps two token numbers; offsets are sums
over token lengths, and rows and columns are computed only for spans that are asked for.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from libcst._nodes.internal import CodegenState

from cudalint.source import Source, Span

if TYPE_CHECKING:
    import libcst
    from libcst import CSTNode


class _Range:
    """Records the tokens that are generated inside a ``with`` block as those of one node."""

    __slots__ = ("end_node", "node", "spans", "start", "tokens")

    def __init__(
        self,
        tokens: list[str],
        spans: dict[int, tuple[int, int]],
        node: CSTNode,
        end_node: CSTNode | None,
    ) -> None:
        self.tokens = tokens
        self.spans = spans
        self.node = node
        self.end_node = end_node

    def __enter__(self) -> None:
        self.start = len(self.tokens)

    def __exit__(self, *exception: object) -> None:
        end = len(self.tokens)
        if self.end_node is not None:
            end = self.spans.get(id(self.end_node), (0, end))[1]
        self.spans[id(self.node)] = (self.start, end)


class _Recorder(CodegenState):
    """A code generation state that keeps the token range of every node by its identity."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent, default_newline)
        self.spans: dict[int, tuple[int, int]] = {}

    def record_syntactic_position(  # type: ignore[override]
        self,
        node: CSTNode,
        *,
        start_node: CSTNode | None = None,
        end_node: CSTNode | None = None,
    ) -> _Range:
        return _Range(self.tokens, self.spans, node, end_node)


class Positions:
    """Where each node of a parsed module stands in the original text.

    ``shift`` is the number of characters before the text that was parsed (a byte order mark).
    The module must outlive this object: nodes are known by identity.
    """

    def __init__(self, module: libcst.Module, source: Source, shift: int = 0) -> None:
        recorder = _Recorder(module.default_indent, module.default_newline)
        module._codegen(recorder)
        self._ranges = recorder.spans
        self._offsets = list(accumulate(map(len, recorder.tokens), initial=shift))
        self._source = source
        self._module = module

    @property
    def length(self) -> int:
        """Characters that the generated code has, with the shift: the text's own length."""
        return self._offsets[-1]

    def offsets(self, node: CSTNode) -> tuple[int, int]:
        """The offsets of a node's first character and of the one behind its last."""
        first, last = self._ranges.get(id(node), (0, 0))
        offsets = self._offsets
        end = len(offsets) - 1
        return offsets[min(first, end)], offsets[min(last, end)]

    def span(self, node: CSTNode) -> Span:
        """The rows and columns of a node."""
        return self._source.span(*self.offsets(node))

    def span_between(self, first: CSTNode, last: CSTNode) -> Span:
        """From the start of one node to the end of another."""
        return self._source.span(self.offsets(first)[0], self.offsets(last)[1])

    def span_after(self, node: CSTNode) -> Span:
        """The empty span at the end of a node."""
        end = self.offsets(node)[1]
        return self._source.span(end, end)

    def text(self, node: CSTNode) -> str:
        """The source text of a node."""
        start, end = self.offsets(node)
        return self._source.text[start:end]
