"""``python -m benchmarks.scale.whole CHECKOUT...``: whole repositories, each linted by one worker.

For each: processor seconds a file, the slowest file to read and the slowest part to analyse, and
the most memory that a worker and the main process took. ``--write`` puts the table into
``docs/cluster.md``.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import msgspec

from benchmarks.common import plan_for, table
from benchmarks.documents import markdown, write_section
from cudalint import jobs
from cudalint.executor import Handler
from cudalint.linter import lint
from cudalint.project.files import discover

_PAGE = Path("docs/cluster.md")
_MARK = "whole repositories"
_LIMIT = 600.0
_HEAD = (
    "repository", "files", "CPU s a file", "slowest to read, s", "to analyse, s a file",
    "worker MiB", "main MiB", "not linted",
)  # fmt: skip

_FORKING = threading.Lock()
"""Else a child would hold the other end of another's pipe."""


@dataclass(frozen=True)
class Job:
    """What one job of a worker took."""

    seconds: float
    files: int
    peak: int
    """Of its process, in KiB."""

    @property
    def each(self) -> float:
        """Seconds for each of its files."""
        return self.seconds / self.files


def main() -> int:
    """Measure; the exit status is 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.whole", description=__doc__)
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help=f"the table, into {_PAGE}")
    parser.add_argument("--at-once", type=int, default=1, help="repositories beside each other")
    given = parser.parse_args()
    rows: list[Sequence[str]] = [_HEAD]
    with ThreadPoolExecutor(given.at_once) as pool:
        for row in pool.map(_alone, given.checkouts):
            rows.append(row)
            print(*table([_HEAD, row]), sep="\n", flush=True)
            if given.write:  # each as it comes: all of them may take an hour
                write_section(_PAGE, _MARK, markdown(rows))
    return 0


def _alone(checkout: Path) -> Sequence[str]:
    """In a process of its own, as peaks of memory never fall."""
    with _FORKING:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, "\t".join(_measured(checkout)).encode())
            os._exit(0)
        os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return text.split("\t")


def _measured(checkout: Path) -> Sequence[str]:
    with TemporaryDirectory() as folder:
        plan = plan_for([checkout], Path(folder) / "cache", 1)
        # The limit is of time that passes: other work on the machine would decide who meets it.
        plan = dataclasses.replace(plan, bounds=dataclasses.replace(plan.bounds, seconds=_LIMIT))
        files = discover([checkout], plan.settings, plan.root).files
        told = {name: Path(folder) / name for name in ("lower", "analyze")}
        jobs.lower = _telling(jobs.lower, told["lower"], lambda job: 1)
        jobs.analyze = _telling(jobs.analyze, told["analyze"], _files_of)
        report = lint(files, plan)
        used = os.times()
        reading, analysis = (list(_told(path)) for path in told.values())
    whole = used.user + used.system + used.children_user + used.children_system
    return (
        checkout.name.replace("+", "/"),
        str(report.files),
        f"{whole / max(report.files, 1):.2f}",
        f"{max((job.seconds for job in reading), default=0):.1f}",
        f"{max((job.each for job in analysis), default=0):.1f}",
        f"{max((job.peak for job in (*reading, *analysis)), default=0) / 1024:.0f}",
        f"{_peak() / 1024:.0f}",
        str(len(report.errors)),
    )


def _files_of(job: bytes) -> int:
    return len(msgspec.msgpack.decode(job, type=jobs.AnalysisJob).programs.programs)


class _Telling(Protocol):
    """What stands in for a function of ``jobs``: its parameter has the same name."""

    def __call__(self, job: bytes) -> bytes: ...


def _telling(handler: Handler, path: Path, files: Callable[[bytes], int]) -> _Telling:
    """The handler, with a line for each job in a file: workers have no other way to tell."""

    def run(job: bytes) -> bytes:
        started = time.process_time()
        try:
            return handler(job)
        finally:
            seconds = time.process_time() - started
            with path.open("a", encoding="ascii") as file:
                file.write(f"{seconds} {files(job)} {_peak()}\n")

    return run


def _told(path: Path) -> Iterator[Job]:
    if path.exists():
        for line in path.read_text(encoding="ascii").splitlines():
            seconds, files, peak = line.split()
            yield Job(float(seconds), int(files), int(peak))


def _peak() -> int:
    """The most memory that this process has had, in KiB. A forked one begins with its parent's."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.exit(main())
