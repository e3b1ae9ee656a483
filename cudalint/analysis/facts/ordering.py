"""Stream ordering: what runs while it must not, and who does not look."""

from __future__ import annotations

from dataclasses import dataclass

from cudalint.analysis.facts.resources import Resource
from cudalint.findings.finding import Step
from cudalint.source import Span


@dataclass(frozen=True)
class StreamHazard:
    """Memory is freed, or used, on a stream that nothing orders with other work on it."""

    name: str
    api: str
    span: Span
    freed: bool
    """It is freed here; else it is used here and was allocated in the order of the other stream."""
    stream: str
    """The stream of this call, as the code names it."""
    other_stream: str
    other_api: str
    other_span: Span
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class EarlyRead:
    """The host reads what an asynchronous copy may not have written yet."""

    name: str
    """The buffer."""
    text: str
    """What reads it: an expression, or a function."""
    span: Span
    copy_api: str
    copy_span: Span
    stream: str
    """The stream of the copy, as the code names it; empty for the default (or current) one."""
    space: str | None
    """``pinned``, ``host`` (pageable), or ``None``."""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class PageableCopy:
    """An asynchronous copy on a stream, from or to host memory that is not page-locked."""

    name: str
    api: str
    span: Span
    stream: str
    to_device: bool
    made: str
    """What made the memory: ``malloc``, ``std::vector<float>``, ``an array``."""
    made_span: Span | None
    in_loop: bool
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class OrderingFacts:
    """What is known of the order of one function's work."""

    hazards: tuple[StreamHazard, ...] = ()
    early_reads: tuple[EarlyRead, ...] = ()
    pageable: tuple[PageableCopy, ...] = ()
    unchecked_launches: tuple[tuple[str, Span], ...] = ()
    """Kernel and place of the launches that nobody in the run checks for errors."""
    streams: int = 0
    """How many different streams the function puts copies on."""


@dataclass(frozen=True)
class HostAccess:
    """The host reads or writes through a device pointer."""

    resource: Resource
    text: str
    """The access as the code has it (``d_sum[0]``), or the function that makes it."""
    span: Span
    writes: bool
    through: str = ""
    """The function that dereferences the pointer that it is passed."""
    steps: tuple[Step, ...] = ()
