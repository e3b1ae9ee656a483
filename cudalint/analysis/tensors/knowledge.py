"""What is kept of each function with tensors, and asked of others."""

from __future__ import annotations

from dataclasses import dataclass, field

from cudalint.analysis.shape.callgraph import Site
from cudalint.analysis.tensors.lattice import Recording
from cudalint.analysis.tensors.records import Evidence
from cudalint.analysis.tensors.solver import Solution
from cudalint.program import Function, Program


@dataclass
class Known:
    """All that is kept of one function."""

    function: Function
    program: Program
    solution: Solution | None = None
    evidence: Evidence = field(default_factory=Evidence)
    entry: Recording = Recording.NOTHING
    callers: list[Site] = field(default_factory=list)
    referenced: bool = False
    """Its name is used as a value: others may call it."""
    summary: object = None
    """What callers see of it; where that changes they are solved again."""
    returns_attached: frozenset[str] = frozenset()
    """The parts of what it returns whose gradient a caller computes; empty text: the whole."""
