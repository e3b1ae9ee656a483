"""What a file costs, measured: in workers for reading and analysis, and in the one main process."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from benchmarks.common import plan_for
from cudalint import jobs
from cudalint.linter import lint
from cudalint.project.files import discover


@dataclass
class Costs:
    """Seconds and bytes of each job, and what the main process did meanwhile for each file."""

    reading: list[tuple[float, int]] = field(default_factory=list)
    """CPU seconds of a worker; bytes that go to it and back."""
    analysis: list[tuple[float, int]] = field(default_factory=list)
    main_seconds: float = 0.0
    """Of the main process, for each file."""
    files: int = 0


def measure(paths: list[Path]) -> Costs:
    """Lint some paths in this process, and time what workers would do. The headers are compiled
    before, as each worker does it once."""
    with TemporaryDirectory() as folder:
        # The cache of results stays empty; that of headers is warm the second time.
        plan = plan_for(paths, Path(folder))
        files = discover(paths, plan.settings, plan.root).files
        lint(files[:40], plan, supervised=False)
        fresh = dataclasses.replace(plan, version="measured", lowering_version="measured")
        costs = Costs()
        reading, analysis = _timed(jobs.lower, costs.reading), _timed(jobs.analyze, costs.analysis)
        with mock.patch.multiple(jobs, lower=reading, analyze=analysis):
            started = time.process_time()
            costs.files = lint(files, fresh, supervised=False).files
            whole = time.process_time() - started
    worked = sum(seconds for seconds, _ in (*costs.reading, *costs.analysis))
    costs.main_seconds = max(whole - worked, 0.0) / max(costs.files, 1)
    return costs


def _timed(
    handler: Callable[[bytes], bytes], told: list[tuple[float, int]]
) -> Callable[[bytes], bytes]:
    def run(job: bytes) -> bytes:
        started = time.process_time()
        result = handler(job)
        told.append((time.process_time() - started, len(job) + len(result)))
        return result

    return run
