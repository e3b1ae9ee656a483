"""The order of streams on one path: what may still be under way, and what comes after it.

Everything here is immutable: disjuncts share it. Where two paths meet, only what is under way on
both stays; what the host may have waited for is not held against anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal, NamedTuple

from cudalint.analysis.values.values import Value
from cudalint.source import Span

PendingKind = Literal["download", "upload", "work", "allocation"]
MOST_PENDING = 48
"""Operations that are kept in mind on one path; the oldest are forgotten."""


class Pending(NamedTuple):
    """An operation that the host has not waited for, and one buffer that it reads or writes."""

    kind: PendingKind
    buffer: Hashable
    """Which memory (``buffers.root``)."""
    start: Value | None
    """The pointer that was given; ``None`` where it is the buffer as a whole."""
    name: str
    stream: Value
    stream_name: str
    api: str
    span: Span
    after: frozenset[Value]
    """The streams whose later work comes after it."""
    space: str | None = None
    """Where the buffer lives: ``pinned``, ``host``; ``None`` unknown."""

    @property
    def identity(self) -> tuple[Span, Hashable]:
        """The same for the same operation on every path."""
        return (self.span, self.buffer)


Covered = frozenset[tuple[Span, Hashable]]


class Order(NamedTuple):
    """All operations under way, and what the events stand for."""

    pending: tuple[Pending, ...] = ()
    events: tuple[tuple[Value, Covered], ...] = ()

    def add(self, pending: Pending) -> Order:
        """One more operation; on the same buffer at the same place it replaces the earlier one."""
        others = tuple(p for p in self.pending if p.identity != pending.identity)
        return self._replace(pending=(*others, pending)[-MOST_PENDING:])

    def drop(self, finished: Callable[[Pending], bool]) -> Order:
        """Without the operations that are finished."""
        kept = tuple(p for p in self.pending if not finished(p))
        return self if len(kept) == len(self.pending) else self._replace(pending=kept)

    def follow(self, stream: Value, precedes: Callable[[Pending], bool]) -> Order:
        """What a stream puts to work from now on comes after some operations."""
        if not any(stream not in p.after and precedes(p) for p in self.pending):
            return self
        changed = tuple(
            p._replace(after=p.after | {stream}) if precedes(p) else p for p in self.pending
        )
        return self._replace(pending=changed)

    def record(self, event: Value, covers: Callable[[Pending], bool]) -> Order:
        """The event stands for some operations from now on."""
        covered = frozenset(p.identity for p in self.pending if covers(p))
        others = tuple(pair for pair in self.events if pair[0] != event)
        return self._replace(events=(*others, (event, covered))[-MOST_PENDING:])

    def covered(self, event: Value) -> Covered | None:
        """What an event stands for; ``None`` where its record was not seen."""
        return dict(self.events).get(event)

    def join(self, other: Order) -> Order:
        """What is under way on both of two paths."""
        if self == other:
            return self
        theirs = {p.identity: p for p in other.pending}
        pending = tuple(
            p._replace(after=p.after | theirs[p.identity].after)
            for p in self.pending
            if p.identity in theirs
        )
        events = dict(other.events)
        both = {event for event, _ in self.events} & events.keys()
        return Order(
            pending,
            tuple(
                (event, covered | events[event]) for event, covered in self.events if event in both
            ),
        )


NOTHING = Order()
