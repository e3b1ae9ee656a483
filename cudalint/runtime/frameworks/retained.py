"""Verdicts on graphs that a backward pass is told to retain: what they keep after it, exactly, with
and without ``retain_graph=True``."""

from __future__ import annotations

import dataclasses
import statistics
from dataclasses import dataclass

from cudalint.runtime.frameworks.watches import RELEASED, Kind, Watch
from cudalint.runtime.sweep import Laboratory

CHANGE = "`retain_graph=False`"


@dataclass(frozen=True)
class Retained:
    """What a line leaves in the graphs of its passes."""

    passes: int
    bytes: int
    """That go with the change, at a pass."""
    needed: str = ""
    """Why the program cannot do without; empty: it can, or only an earlier pass needs it."""
    carried: bool = False
    """Whether the next pass fails with the change, because it goes through what this one left."""


def retained(laboratory: Laboratory, watch: Watch) -> Retained:
    """Compares the run as it is with one in which the line lets its graph go."""
    kept = dataclasses.replace(watch, kind=Kind.KEPT)
    plain = laboratory.measure([kept])
    mended = laboratory.measure([dataclasses.replace(kept, change=RELEASED)])
    pairs = list(
        zip(plain.passes.get(watch.number, ()), mended.passes.get(watch.number, ()), strict=False)
    )
    gone = [before.saved - after.saved for before, after in pairs]
    amount = int(statistics.median(gone or [0]))
    anew = mended.refused.get(watch.number)
    if anew is not None:
        # What comes back with nothing of its own goes through one graph several times.
        needed = "" if anew else "the same graph is gone through again in each pass"
        return Retained(len(pairs), amount, needed, carried=True)
    needed = ""
    if mended.exit_text and not plain.exit_text:
        needed = f"another line goes through the graph again ({mended.exit_text})"
    return Retained(len(pairs), amount, needed)
