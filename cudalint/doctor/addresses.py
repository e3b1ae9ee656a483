"""Where blocks lie: the holes between them, and which of them stand in the way."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

GRANULE = 512
"""What the simulated device rounds up to."""
_FAR = 256 * 1024**2
"""Real addresses farther apart than this are of different mappings: what is between is no hole."""


class Block(NamedTuple):
    """A live allocation."""

    start: int
    bytes: int

    @property
    def end(self) -> int:
        """With what it is rounded up to."""
        return self.start + max(1, -(-self.bytes // GRANULE)) * GRANULE


class Hole(NamedTuple):
    """A free range below a block."""

    bytes: int
    above: Block


def holes_of(blocks: Sequence[Block], exact: bool) -> list[Hole]:
    """The holes between blocks in the order of their addresses. ``exact``: the address space is the
    memory, as on a simulated device; else gaps of the size of a mapping do not count."""
    found: list[Hole] = []
    for below, above in itertools.pairwise(blocks):
        gap = above.start - below.end
        if gap > 0 and (exact or gap < _FAR):
            found.append(Hole(gap, above))
    return found


def window(blocks: Sequence[Block], asked: int, memory: int) -> tuple[Block, ...]:
    """The blocks to release, of the fewest bytes, so that ``asked`` bytes lie in one range; empty
    where none would do. The memory begins at the lowest block: it is handed out first-fit."""
    if not blocks or asked > memory:
        return ()
    base = blocks[0].start
    edges = [(base, base), *((block.start, block.end) for block in blocks), (base + memory,) * 2]
    best: tuple[int, int, int] | None = None
    first = 0
    cost = 0
    for last in range(1, len(edges)):
        # Between the end of edge `first` and the start of edge `last`, all blocks are released.
        while first + 1 < last and edges[last][0] - edges[first + 1][1] >= asked:
            first += 1
            cost -= blocks[first - 1].bytes
        if edges[last][0] - edges[first][1] >= asked and (best is None or cost < best[0]):
            best = cost, first, last
        if last <= len(blocks):
            cost += blocks[last - 1].bytes
    return () if best is None else tuple(blocks[best[1] : best[2] - 1])
