"""What loops do with data that they need only once, or only a part of."""

from __future__ import annotations

from dataclasses import dataclass

from cudalint.source import Span


@dataclass(frozen=True)
class RepeatedTransfer:
    """The same host data go to the device in every iteration of a loop."""

    api: str
    span: Span
    names: tuple[str, ...]
    """The host arrays."""
    loop: Span
    implicit: bool = False
    """A kernel launch copies them, there and back, because they are host arrays."""


@dataclass(frozen=True)
class SlicedDataSet:
    """An array is moved to the device as a whole, and from then on only read by slices in loops."""

    name: str
    api: str
    span: Span
    bytes: int | None
    together: int | None
    """Bytes of all data sets that the same loops slice; ``None`` if one is of unknown size."""
    loop: Span
    slice: str
    """How the loop takes a part (``inputs[start:start + BATCH]``), or what hands them out."""


@dataclass(frozen=True)
class RoundTrip:
    """A device array is fetched for a function of the host, and what it makes goes back."""

    step: str
    """The function."""
    span: Span
    """The copy back."""
    fetch: Span


@dataclass(frozen=True)
class LoopFacts:
    """What the loops of one function do with data."""

    repeated: tuple[RepeatedTransfer, ...] = ()
    data_sets: tuple[SlicedDataSet, ...] = ()
    round_trips: tuple[RoundTrip, ...] = ()
