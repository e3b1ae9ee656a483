"""What functions ask of the device's memory over time, as facts for the rules on capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import Capacity, FunctionFacts, Peak


def with_capacity(
    runs: Sequence[FunctionRun], facts: Sequence[FunctionFacts], peaks: Mapping[int, Peak]
) -> tuple[FunctionFacts, ...]:
    """The facts of functions (in the order of their runs) with their ``capacity``; ``peaks`` by
    the identity of a run."""
    from cudalint.analysis.queries.capacity.churn import churn
    from cudalint.analysis.queries.capacity.flushes import flushes
    from cudalint.analysis.queries.capacity.pools import held_pools
    from cudalint.analysis.queries.capacity.recompiled import recompiled

    found = []
    flushed = {id(run): tuple(flushes(run)) for run in runs}
    churned = churn(runs, flushed)
    for run, one in zip(runs, facts, strict=True):
        capacity = Capacity(
            flushes=flushed[id(run)],
            churn=churned.get(id(run), ()),
            pools=tuple(held_pools(run)),
            recompiled=tuple(recompiled(run)),
            peak=peaks.get(id(run), one.capacity.peak if one.capacity is not None else None),
        )
        found.append(one if capacity == Capacity() else replace(one, capacity=capacity))
    return tuple(found)
