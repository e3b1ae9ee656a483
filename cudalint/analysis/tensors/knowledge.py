"""What is kept of each function with tensors, and asked of others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from cudalint.analysis.tensors.lattice import Recording
from cudalint.analysis.tensors.solver import Solution
from cudalint.program import Call, Function, Program

RETURNED = 0
"""In place of a backward call: the caller computes the gradient of what is returned."""


@dataclass
class Evidence:
    """What later operations say of earlier ones."""

    attached: dict[int, frozenset[int]] = field(default_factory=dict)
    """Operation to the backward calls that its result flows into."""
    direct: dict[int, frozenset[int]] = field(default_factory=dict)
    """As ``attached``, where the backward call is on the result itself."""
    parameters: dict[int, frozenset[int]] = field(default_factory=dict)
    """The same for parameters, by position."""
    moved: frozenset[int] = frozenset()
    """Operations whose result was on the device."""


@dataclass
class CallSite:
    """A call of a function of the run."""

    caller: Function
    call: Call
    origin: int
    block: int


@dataclass
class Known:
    """All that is kept of one function."""

    function: Function
    program: Program
    solution: Solution | None = None
    evidence: Evidence = field(default_factory=Evidence)
    entry: Recording = Recording.NOTHING
    callers: list[CallSite] = field(default_factory=list)
    referenced: bool = False
    """Its name is used as a value: others may call it."""
    summary: object = None
    """What callers see of it; where that changes they are solved again."""
    returns_attached: frozenset[str] = frozenset()
    """The parts of what it returns whose gradient a caller computes; empty text: the whole."""


class Callees(Protocol):
    """Who knows the functions of the run."""

    def known(self, function: Function) -> Known:
        """What is kept of a function."""
        ...

    def callee(
        self, caller: Function, call: Call, records: frozenset[str] = frozenset()
    ) -> Function | None:
        """The function of the run that a call means."""
        ...
