"""What can be reached from where."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from typing import TypeVar

from cudalint.analysis.shape.operations import successors
from cudalint.program import Block

Node = TypeVar("Node", bound=Hashable)


def closure(start: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """All that can be reached from some nodes, these included."""
    found = set(start)
    pending = list(found)
    while pending:
        for node in following(pending.pop()):
            if node not in found:
                found.add(node)
                pending.append(node)
    return found


def ways(blocks: Sequence[Block], within: Container[int]) -> Callable[[int], list[int]]:
    """The ways from a block to others, for ``closure``: to some only."""
    return lambda number: [n for n in successors(blocks[number]) if n in within]
