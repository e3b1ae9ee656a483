"""Kernel launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from cudalint.findings.finding import Step
from cudalint.program import Kernel
from cudalint.source import Span


@dataclass(frozen=True)
class StagedMemory:
    """The least shared memory that a Triton launch needs for the tiles that it loads ahead."""

    bytes: int
    stages: int
    assumed: bool
    """The size of an element is not known of some tile; 2 bytes are assumed."""


@final
@dataclass(frozen=True)
class LaunchSite:
    """A kernel launch with what is known of its configuration."""

    kernel_name: str
    span: Span
    grid: tuple[int | None, int | None, int | None]
    block: tuple[int | None, int | None, int | None]
    shared_bytes: int | None
    """Dynamic shared memory; ``None`` unknown, 0 when not given."""
    shared_named: bool = False
    """It is a constant that has a name."""
    kernel: Kernel | None = None
    opted_in: int | None = None
    """Bytes of a ``cudaFuncSetAttribute`` for this kernel anywhere in the run; -1: unknown amount,
    or the kernel of either side cannot be told; ``None``: there is none."""
    settled: bool = True
    """Each variable of its grid and block is given one value, in the function; or a 0 is written
    there."""
    steps: tuple[Step, ...] = ()
    argument_count: int | None = None
    """How many arguments the launch passes, all of them by position; ``None`` where that is not
    known or not comparable with ``kernel.parameters`` (unpacking, keywords, Triton)."""
    warps: int | None = None
    """Triton's ``num_warps``."""
    staged: StagedMemory | None = None
    given: str = ""
    """The parameter that is the dynamic shared memory, of a function that launches whatever kernel
    it is given."""
    divided: str = ""
    """The block, where it is an amount divided by the grid, a constant, and rounded up."""
    argument_spaces: tuple[str | None, ...] = ()
    """Where the arrays among the arguments live, in order; ``None``: unknown, or no array."""


@final
@dataclass(frozen=True)
class UncalledGuard:
    """A test of a function instead of its answer, which is always true."""

    function: str
    span: Span
    chosen: str
    """The variable whose value it chooses, by its symbol."""
    kernel: str
    launch: Span
    """The launch that the value is for."""


@final
@dataclass(frozen=True)
class RoundedGrid:
    """A launch of as many blocks as whole ones fit into an amount."""

    kernel: str
    span: Span
    quotient: str
    amount: str


@final
@dataclass(frozen=True)
class TallGrid:
    """A launch of as many blocks along the second axis as some data has rows."""

    kernel: str
    span: Span
    rows: str
