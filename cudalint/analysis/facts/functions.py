"""All that is known of one function, and of one file."""

from __future__ import annotations

from dataclasses import dataclass, field

from cudalint.analysis.facts.capacity import Capacity
from cudalint.analysis.facts.launches import LaunchSite, RoundedGrid, TallGrid, UncalledGuard
from cudalint.analysis.facts.lifetimes import Lifetimes
from cudalint.analysis.facts.loops import LoopFacts
from cudalint.analysis.facts.ordering import HostAccess, OrderingFacts
from cudalint.analysis.facts.resources import (
    Cleanup,
    DanglingPointer,
    Leak,
    Misuse,
    OverwrittenMember,
    OwnerCopy,
)
from cudalint.analysis.facts.tensors import TensorFacts
from cudalint.analysis.facts.transfers import Allocation, Fill, NarrowSize, ScaledTwice, Transfer
from cudalint.findings.finding import Step
from cudalint.findings.suppressions import UnusedSuppression
from cudalint.program import Dropped, Kernel
from cudalint.source import Span


@dataclass(frozen=True)
class FunctionFacts:
    """Everything the analysis learned of one function."""

    function: str
    filename: str
    span: Span
    is_main: bool = False
    is_constructor: bool = False
    """One of C++, after which no destructor runs where it throws."""
    is_test: bool = False
    unhandled: bool = False
    """Nobody handles an exception that leaves it: the process ends, or a test fails."""
    runs_once: bool = False
    """All that calls it in the run is a `main` or a test, once."""
    runs_few_times: bool = False
    """All that calls it in the run is a `main` or a test, outside all loops."""
    is_step: bool = False
    """A step of one program, whose `main` runs it once, or what callers run once, by a flag."""
    runs_last: bool = False
    """A part of `main`: it takes nothing, runs once, and nothing works on the device after it."""
    fatal: bool = False
    """All that call it in the run end the process where it returns a failure."""
    uncalled: tuple[Step, ...] = ()
    """It and all that call it, with their short names, where nothing in the run calls any of them:
    nobody else could but in text that was not read."""
    language: str = "cuda"
    leaks: tuple[Leak, ...] = ()
    misuses: tuple[Misuse, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    fills: tuple[Fill, ...] = ()
    narrow: tuple[NarrowSize, ...] = ()
    scaled_twice: tuple[ScaledTwice, ...] = ()
    launches: tuple[LaunchSite, ...] = ()
    guards: tuple[UncalledGuard, ...] = ()
    grids: tuple[RoundedGrid, ...] = ()
    tall_grids: tuple[TallGrid, ...] = ()
    cleanups: tuple[Cleanup, ...] = ()
    copies: tuple[OwnerCopy, ...] = ()
    overwritten: tuple[OverwrittenMember, ...] = ()
    dangling: tuple[DanglingPointer, ...] = ()
    lifetimes: Lifetimes | None = None
    ordering: OrderingFacts | None = None
    host_accesses: tuple[HostAccess, ...] = ()
    """Reads and writes of the host through device pointers."""
    loops: LoopFacts = field(default_factory=LoopFacts)
    capacity: Capacity | None = None
    """``None`` where there is nothing to say of it."""
    tensors: TensorFacts | None = None
    """Of Python functions that have to do with tensors."""


@dataclass(frozen=True)
class Unfinished:
    """A function of which not all paths were followed."""

    function: str
    filename: str
    """The file's own name, or that of a header of which nothing else is told."""
    span: Span
    memory_full: bool = False
    """Whether it is not their number that ended it, but a worker that should not grow any more."""


@dataclass(frozen=True)
class FileFacts:
    """One file: its kernels and what could not be read."""

    filename: str
    language: str
    kernels: tuple[Kernel, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    functions_read: int = 0
    unfinished: tuple[Unfinished, ...] = ()
    unused_suppressions: tuple[UnusedSuppression, ...] = ()
    """Filled by the linter when the findings of all other rules are known."""
