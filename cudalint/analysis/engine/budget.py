"""What following paths may cost. It is counted, so that every machine finds the same."""

from __future__ import annotations

from collections.abc import Callable

from cudalint.program import Function
from cudalint.source import Span

MOST_WORK = 24_000_000
"""For all functions of a file alone: about as many microseconds as that."""
WORK_OF_LINKED_FILE = 1_000_000
MOST_WORK_TOGETHER = 100_000_000
LEAST_WORK = 50_000
"""Most functions need less: these are followed to their end, however much others have cost."""
_SHARE = 4
_SHARE_OF_TWIN = 8
"""How much less an instantiation of a template may cost if another one was cut: it has the same
paths."""


class Budget:
    """What is left for the functions of files that are linked together; ``is_full`` tells whether
    the memory is, in which case there is nothing."""

    def __init__(self, files: int, is_full: Callable[[], bool]) -> None:
        self._left = min(MOST_WORK + WORK_OF_LINKED_FILE * (files - 1), MOST_WORK_TOGETHER)
        self._asks = is_full
        self._full = False
        self._cut: dict[tuple[str, Span], str] = {}
        """By file and lines, the key of the first function that was."""

    def is_full(self) -> bool:
        """Whether the memory is full, or was."""
        self._full = self._full or self._asks()
        return self._full

    def share(self, most: int, function: Function) -> int:
        """What one more function may cost: less where little is left for the others."""
        if self._cut.get((function.filename, function.span), function.key) != function.key:
            most = max(most // _SHARE_OF_TWIN, LEAST_WORK)
        return 0 if self.is_full() else min(most, max(self._left // _SHARE, LEAST_WORK))

    def spend(self, work: int, function: Function, *, cut: bool) -> None:
        """A function has cost so much; ``cut``: and would have cost more."""
        self._left -= work
        if cut:
            self._cut.setdefault((function.filename, function.span), function.key)
