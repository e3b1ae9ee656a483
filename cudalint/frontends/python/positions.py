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

_LARGEST_GAP = 500

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

    ``text`` is what was parsed: as long as the original, but for the ``shift`` characters before
    it (a byte order mark).
    The module must outlive this object: nodes are known by identity.
    """

    def __init__(self, module: libcst.Module, source: Source, text: str, shift: int) -> None:
        recorder = _Recorder(module.default_indent, module.default_newline)
        module._codegen(recorder)
        self._ranges = recorder.spans
        tokens = recorder.tokens
        if "".join(tokens) == text:
            self._starts = list(accumulate(map(len, tokens), initial=shift))
            self._ends = self._starts[1:]
        else:
            self._starts, self._ends = _align(tokens, text, shift)
        self._source = source
        self._module = module

    def offsets(self, node: CSTNode) -> tuple[int, int]:
        """The offsets of a node's first character and of the one behind its last."""
        first, last = self._ranges.get(id(node), (0, 0))
        start = self._starts[min(first, len(self._starts) - 1)]
        if last <= first:
            return start, start
        return start, self._ends[min(last, len(self._ends)) - 1]

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


def _align(tokens: list[str], text: str, shift: int) -> tuple[list[int], list[int]]:
    """Where each token stands, where the generated code is not quite the text: libcst loses form
    feeds, and white space and continuation lines in a few places."""
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for token in tokens:
        if not text.startswith(token, position):
            found = -1 if token.isspace() else text.find(token, position, position + _LARGEST_GAP)
            if found < 0:
                starts.append(position + shift)
                ends.append(position + shift)
                continue
            position = found
        starts.append(position + shift)
        position += len(token)
        ends.append(position + shift)
    starts.append(position + shift)
    return starts, ends
