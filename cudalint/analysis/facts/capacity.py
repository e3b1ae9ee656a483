"""What a function asks of the device's memory over time: its peak, churn, flushes and pools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cudalint.analysis.facts.resources import Site
from cudalint.findings.finding import Step
from cudalint.source import Span


@dataclass(frozen=True)
class CacheFlush:
    """A call that empties an allocator's cache each time that something is repeated."""

    api: str
    span: Span
    place: Literal["loop", "step"]
    """In a loop, or in a method that a framework calls for every batch."""
    repeated: Span
    """The loop's head or the method's definition."""
    through: str = ""
    """The helper of the project that flushes, if the API call is not in sight."""
    unsure: bool = False
    """What the loop goes over is called as devices or weights are, which are few."""


@dataclass(frozen=True)
class Churn:
    """Memory that is taken and given back again and again, in sizes that vary."""

    api: str
    name: str
    span: Span
    kind: Literal["loop", "calls", "flush"]
    """In one loop; in a function that is called with several sizes; of a caching allocator whose
    cache is emptied each time."""
    size: str = ""
    """The size as the code has it."""
    released: Site | None = None
    sizes: tuple[int, ...] = ()
    """Of ``calls``: what it is called with, in bytes or whatever unit the parameter has."""
    steps: tuple[Step, ...] = ()
    """Whether the size is known to change from one time to the next."""


@dataclass(frozen=True)
class HeldPool:
    """A large allocation from outside the stream-ordered pool, which may still hold what was
    given back to it."""

    api: str
    name: str
    span: Span
    bytes: int
    freed: Site
    reason: Literal["threshold", "unsynchronized", "synchronized"]
    """The pool was told to keep its memory; nothing waits for the free; or something does, and the
    pool gives back what it can."""
    threshold: Site | None = None


@dataclass(frozen=True)
class Holder:
    """One part of a peak: what is live there."""

    name: str
    """The variable, or how the code writes the temporary."""
    bytes: int
    span: Span
    temporary: bool = False
    filename: str = ""
    count: int = 1
    """How many arrays of one line it stands for (a list that a loop fills)."""


@dataclass(frozen=True)
class Peak:
    """The most device memory that a function holds at one time, as far as sizes are known."""

    bytes: int
    span: Span
    holders: tuple[Holder, ...] = ()
    """Largest first."""
    unknown: tuple[str, ...] = ()
    """What decides further sizes and is not known: then ``bytes`` is a lower bound."""
    hint: str = ""
    """How it could do without a piece of it."""
    filename: str = ""
    """Where ``span`` is, if in a function that this one calls."""
    steps: tuple[Step, ...] = ()
    """The calls on the way there."""
    function: str = ""
    """The function whose code is at ``span``; empty: this one."""
    inherited: bool = False
    """A function that it calls needs as much by itself."""


@dataclass(frozen=True)
class Footprint:
    """The peak of one function, for reports."""

    filename: str
    function: str
    span: Span
    peak: Peak


@dataclass(frozen=True)
class RecompiledKernel:
    """A kernel that a function compiles whenever it is called."""

    name: str
    span: Span
    """Its definition."""
    again: Site | None
    """Where a loop calls the function, or one that calls it; ``text`` is the caller. ``None``:
    nothing in sight does."""


@dataclass(frozen=True)
class Capacity:
    """All of it, for one function."""

    flushes: tuple[CacheFlush, ...] = ()
    churn: tuple[Churn, ...] = ()
    pools: tuple[HeldPool, ...] = ()
    recompiled: tuple[RecompiledKernel, ...] = ()
    peak: Peak | None = None
