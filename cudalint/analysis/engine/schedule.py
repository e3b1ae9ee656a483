"""Which disjuncts wait at which blocks, and which block is next.

Disjuncts that meet may be joined, so a block waits for all that may still come. What follows a loop
waits for all of its iterations, and an iteration for the one before: were the next one to start as
soon as one path is back at the header, a loop over many cases (``getopt`` and its ``switch``) would
be followed once per case.
"""

from __future__ import annotations

import heapq

from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.flow import Flow

Turn = tuple[int, ...]
"""When a block is visited: the rank of each loop around it, outermost first, each with the
iteration, then the rank of the block."""


class Pending(dict[object, State]):
    """The disjuncts that wait for one turn, by their keys."""

    apart = False
    """Whether no two of those that filled it may go on as one."""


class Schedule:
    """The disjuncts that wait, by their turn."""

    def __init__(self, flow: Flow) -> None:
        rank = flow.order
        self._rank = rank
        self._blocks = {position: number for number, position in rank.items()}
        self._around = {
            number: tuple(
                (rank[header], header) for header in sorted(headers, key=rank.__getitem__)
            )
            for number, headers in flow.enclosing.items()
        }
        self._waiting: dict[Turn, Pending] = {}
        self._queue: list[Turn] = []

    def at(self, block: int, state: State) -> Pending:
        """The disjuncts that wait where a state arrives."""
        turn: list[int] = []
        for rank, header in self._around[block]:
            turn += (rank, state.visits.get(header, 0))
        key = (*turn, self._rank[block])
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = Pending()
            heapq.heappush(self._queue, key)
        return waiting

    def next(self) -> tuple[int, Pending] | None:
        """The next block and the disjuncts that waited for it; ``None`` at the end."""
        if not self._queue:
            return None
        turn = heapq.heappop(self._queue)
        return self._blocks[turn[-1]], self._waiting.pop(turn)
