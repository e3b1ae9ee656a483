"""A run on a cluster, event by event: who waits for whom when there are many workers.

One main process prepares jobs and takes answers, one after another; the scheduler passes each job
on; workers take what it costs. Analysis begins when all is read, as only then links are known.
Costs of files are drawn from what was measured; those of a Dask scheduler and a network are
assumed.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.scale.costs import Costs

SCHEDULER_SECONDS = 0.001
"""Of a Dask scheduler for each task: about a millisecond, as its documentation says."""
BYTES_PER_SECOND = 125e6
"""A gigabit network at the main process."""


@dataclass(frozen=True)
class Phase:
    """How long a phase took, and which share of it each was busy."""

    seconds: float
    main: float
    scheduler: float
    workers: float


def simulate_phase(jobs: Sequence[tuple[float, int]], workers: int, main_seconds: float) -> Phase:
    """All jobs of a phase, the longest first, as the linter sends them."""
    free = [0.0] * workers
    answers: list[tuple[float, float]] = []
    main = scheduler = 0.0
    passing = 0.0
    for seconds, size in sorted(jobs, reverse=True):
        # Half of what the main process does for a job is before it, half after.
        cost = main_seconds / 2 + size / 2 / BYTES_PER_SECOND
        passing += cost
        main += cost
        scheduler = max(scheduler, passing) + SCHEDULER_SECONDS
        worker = heapq.heappop(free)
        done = max(worker, scheduler) + seconds
        heapq.heappush(free, done)
        heapq.heappush(answers, (done, cost))
    end = passing
    while answers:
        done, cost = heapq.heappop(answers)
        end = max(end, done) + cost
        main += cost
    work = sum(seconds for seconds, _ in jobs)
    busy = len(jobs) * SCHEDULER_SECONDS
    return Phase(end, main / end, busy / end, work / end / workers)


def simulate(costs: Costs, files: int, workers: int) -> tuple[Phase, Phase]:
    """Reading and analysis of a repository with so many files like those that were measured."""
    chance = random.Random(0)
    parts = max(1, round(files * len(costs.analysis) / max(costs.files, 1)))
    reading = chance.choices(costs.reading, k=files)
    analysis = chance.choices(costs.analysis, k=parts)
    # What the main process does is told for each file; each has two jobs at most.
    each = costs.main_seconds / 2
    return (
        simulate_phase(reading, workers, each),
        simulate_phase(analysis, workers, each * files / parts),
    )


def bottleneck(phase: Phase) -> str:
    """Who the others wait for."""
    shares = {
        "workers": phase.workers,
        "main process": phase.main,
        "scheduler": phase.scheduler,
    }
    name = max(shares, key=lambda one: shares[one])
    return name if shares[name] > 0.7 else "the longest job"
