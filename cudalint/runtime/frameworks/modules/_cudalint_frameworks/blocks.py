"""The blocks that allocators cut from what a device gives them at once."""

from __future__ import annotations


class Block:
    """A part of a segment, free or not, between its neighbours there."""

    __slots__ = ("address", "after", "before", "free", "pool", "requested", "size", "stream")

    def __init__(self, address: int, size: int, stream: int, pool: str = "") -> None:
        self.address, self.size, self.stream, self.pool = address, size, stream, pool
        self.requested = 0
        self.free = False
        self.before: Block | None = None
        self.after: Block | None = None

    @property
    def whole(self) -> bool:
        """Whether it is all of a segment."""
        return self.before is None and self.after is None

    def split(self, size: int) -> Block:
        """Keep so many bytes; the rest becomes a block of its own."""
        rest = Block(self.address + size, self.size - size, self.stream, self.pool)
        rest.before, rest.after = self, self.after
        if rest.after is not None:
            rest.after.before = rest
        self.after, self.size = rest, size
        return rest

    def joined(self, other: Block) -> Block:
        """One block in place of this and a neighbour: the first of them."""
        first, last = (other, self) if other.address < self.address else (self, other)
        first.size += last.size
        first.after = last.after
        if first.after is not None:
            first.after.before = first
        return first
