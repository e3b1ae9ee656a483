"""Which line an allocation is for: where one line allocates for many callers (a ``scratch()``, an
allocator class), those of its callers.

A line is such a wrapper's where it is reached from several lines, where what it acquires outlives
the call that acquires it, and where its function has no more than two lines that acquire: one with
many builds something of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

from cudalint.runtime.events import Event, EventKind, Frame
from cudalint.runtime.frames import user_frames

_Line = tuple[str, int]
_MOST_LINES = 2
_FEWEST_CALLERS = 2


class Sites:
    """The sites of one run's allocations."""

    def __init__(self, events: Iterable[Event], sources: Sequence[Path] = ()) -> None:
        """``sources`` are the target's own, where they are known; stacks must be resolved."""
        self._sources = sources
        self._own: dict[int, tuple[tuple[Frame, ...], tuple[int, ...]]] = {}
        self._callers: dict[_Line, set[_Line]] = {}
        self._lines: dict[tuple[str, str], set[int]] = {}
        self._outlives: set[_Line] = set()
        self._read(events)

    def frame(self, stack: tuple[Frame, ...]) -> Frame | None:
        """The frame whose line is the site; ``None`` where no frame is the target's own."""
        number = self.number(stack)
        return None if number is None else stack[number]

    def number(self, stack: tuple[Frame, ...]) -> int | None:
        """Which frame of the stack that is."""
        own = self._frames(stack)
        if not own:
            return None
        at = 0
        while at + 1 < len(own) and self._is_wrapper(stack[own[at]]):
            at += 1
        return own[at]

    def _is_wrapper(self, frame: Frame) -> bool:
        line = _line(frame)
        return (
            line in self._outlives
            and len(self._callers.get(line, ())) >= _FEWEST_CALLERS
            and len(self._lines[frame.filename, frame.function]) <= _MOST_LINES
        )

    def _frames(self, stack: tuple[Frame, ...]) -> tuple[int, ...]:
        # By identity, because to hash a stack is slow; the stack is kept, so that it stays its.
        known = self._own.get(id(stack))
        if known is None:
            known = self._own[id(stack)] = (stack, tuple(user_frames(stack, self._sources)))
        return known[1]

    def _read(self, events: Iterable[Event]) -> None:
        live: dict[tuple[str, int], tuple[Frame, ...]] = {}
        told: set[int] = set()
        ended: set[tuple[int, int]] = set()
        for event in events:
            key = (event.family, event.address)
            if event.kind is EventKind.ACQUIRE:
                live[key] = event.stack
                if id(event.stack) not in told:
                    told.add(id(event.stack))
                    self._acquired(event.stack)
            elif event.kind in (EventKind.RELEASE, EventKind.KEPT) and key in live:
                made = live.pop(key)
                pair = (id(made), id(event.stack))
                if pair not in ended:
                    ended.add(pair)
                    self._ended(made, event.stack)

    def _acquired(self, stack: tuple[Frame, ...]) -> None:
        own = self._frames(stack)
        for inner, outer in itertools.pairwise(own):
            self._callers.setdefault(_line(stack[inner]), set()).add(_line(stack[outer]))
        for number in own:
            frame = stack[number]
            self._lines.setdefault((frame.filename, frame.function), set()).add(frame.line)

    def _ended(self, made: tuple[Frame, ...], released: tuple[Frame, ...]) -> None:
        for number in self._frames(made):
            if not same_call(made, number, released):
                self._outlives.add(_line(made[number]))


def same_call(stack: Sequence[Frame], index: int, other: Sequence[Frame]) -> bool:
    """Whether another stack goes through the very call of a function that frame ``index`` is in."""
    outer = [(frame.module, frame.offset, frame.line) for frame in stack[index + 1 :]]
    at = len(other) - len(outer) - 1
    if at < 0 or other[at].function != stack[index].function:
        return False
    return [(frame.module, frame.offset, frame.line) for frame in other[at + 1 :]] == outer


def _line(frame: Frame) -> _Line:
    return frame.filename, frame.line
