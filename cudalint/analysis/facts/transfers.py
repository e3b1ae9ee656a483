"""Allocations, copies and fills, with what is known of their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from cudalint.analysis.facts.resources import Resource, Site
from cudalint.apis.model import CopyEffect
from cudalint.findings.finding import Step
from cudalint.source import Span


@dataclass(frozen=True)
class Overflow:
    """A size computed in an integer type that cannot hold it."""

    text: str
    value: int
    """The mathematical value."""
    type: str
    span: Span | None = None
    """Where it is computed, if not in the call that uses it."""


@dataclass(frozen=True)
class NarrowSize:
    """A size made from a product whose integer type large values do not fit into."""

    text: str
    type: str
    unknown: str
    """The factors that are not known,"""
    wraps_from: int
    """and what they must come to."""
    api: str
    """The function that gets the size; empty where it is compared with something."""
    span: Span


@dataclass(frozen=True)
class ScaledTwice:
    """A call that gives a size in bytes for a number of elements."""

    function: str
    text: str
    parameter: str
    span: Span
    scaled: Site
    """Where the function multiplies it by the size of an element."""


@final
@dataclass(frozen=True)
class Allocation:
    """One acquisition call, reached on some path."""

    resource: Resource
    bytes: int | None
    bytes_text: str
    checked: bool
    """Its status is looked at on some path, or cannot be (it throws)."""
    span: Span
    overflow: Overflow | None = None
    element_count: bool = False
    """The size argument is a bare element count (no sizeof), while the pointee is larger than 1."""
    steps: tuple[Step, ...] = ()
    """Where the size comes from (calls with constant arguments)."""


@dataclass(frozen=True)
class Endpoint:
    """One side of a copy."""

    name: str
    space: str | None
    """host, pinned, device, managed, array; symbol, the host's shadow of a variable that lives on
    the device; ``None`` unknown."""
    bytes: int | None
    """Bytes from the pointer to the end of its allocation."""
    bytes_text: str = ""
    element_bytes: int | None = None
    allocation: Site | None = None
    size_ratio: int | None = None
    """Where sizes are symbolic: the allocation's size divided by the copy's, if an exact integer
    (``n * sizeof(float)`` over ``n`` is 4)."""
    overrun_ratio: int | None = None
    """The other way round: the copy's size divided by the allocation's (``n`` allocated,
    ``n * sizeof(float)`` copied: 4)."""
    overrun_bytes: int | None = None
    """By how many bytes the copy is larger, where sizes are symbolic (``(n + 1) * 4`` of ``n * 4``
    is 4)."""
    overrun_element: str = ""
    """As ``overrun_ratio``, where that is the size of a type not known yet: ``sizeof(T)``."""
    whole: bool = False
    """The copy is as large as the allocation."""
    times_unknown: bool = False
    """The allocation is the copy's size times something that is not known (``m * n`` over
    ``n``)."""
    counted: bool = False
    """The size of the copy is the number of elements of the container that it is in."""
    pointer_to: str = ""
    """Where it is the place of a pointer, while the other side has elements of the type that this
    one points to, or a fill is not of a pointer's size: that type."""


@final
@dataclass(frozen=True)
class Transfer:
    """A copy, a fill (``to`` only) or an implicit host-to-device copy."""

    api: str
    span: Span
    to: Endpoint
    source: Endpoint | None
    bytes: int | None
    bytes_text: str
    direction: str | None
    """``host-to-device``...; ``None`` unknown, ``default`` where the runtime infers it."""
    whole_data_set: bool = False
    overflow: Overflow | None = None
    steps: tuple[Step, ...] = ()
    """Where the size comes from (calls with constant arguments)."""
    element_count: bool = False
    """The function takes the size argument for a number of elements elsewhere."""
    to_itself: bool = False
    """Its target is its source, on all paths."""
    of_bytes: bool = False
    """What it copies to, what from and how many bytes are its first three arguments."""
    model: CopyEffect | None = None
    """``None`` for an implicit copy."""


@dataclass(frozen=True)
class Fill:
    """A memset: ``value`` is the constant passed (a float where the code passes one)."""

    api: str
    span: Span
    to: Endpoint
    value: int | float | None
    value_text: str
    bytes: int | None
    element_bytes: int
    bytes_text: str = ""
    element_count: bool = False
    """As ``Transfer.element_count``."""
