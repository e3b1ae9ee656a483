"""What one run gathers, and how its jobs come to workers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from cudalint.executor import Executor, Handler, Outcome, run_here, took_longer
from cudalint.plan import Plan
from cudalint.project.cache import Cache, digest
from cudalint.project.files import FileError, SourceFile
from cudalint.project.spool import Spool, Spooled
from cudalint.selection import PassedOver, Selection, select
from cudalint.source import Span

# What workers do is imported when there is work: most runs of a hook have none.
if TYPE_CHECKING:
    from cudalint.analysis.facts.capacity import Footprint
    from cudalint.analysis.facts.wrappers import Wrapper
    from cudalint.cluster import Cluster
    from cudalint.grouping.groups import Links
    from cudalint.jobs import Lowered, Reading

_Kept = TypeVar("_Kept")
READING = "reading code"
FOLLOWING = "following paths"
Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done, and of how much."""


@dataclass(frozen=True)
class LoweredFile:
    """What is known here of a file that was lowered; workers alone look into its program."""

    program: Spooled
    links: Links
    includes: list[str]
    has_main: bool
    callable: list[str]


@dataclass
class Run:
    """What one run gathers."""

    plan: Plan
    progress: Progress
    supervised: bool
    errors: list[FileError] = field(default_factory=list)
    notes: list[FileError] = field(default_factory=list)
    unread: dict[str, list[Span]] = field(default_factory=dict)
    blank: set[str] = field(default_factory=set)
    """Files of which nothing could be read."""
    contents: dict[Path, bytes] = field(default_factory=dict)
    passed_over: list[PassedOver] = field(default_factory=list)
    cache: Cache | None = None
    analysts: Executor | None = None
    readings: dict[str, Reading] = field(default_factory=dict)
    """By file: after what it was read last."""
    guesses: bool = False
    """Whether it may be taken to be the same again, while that is found out."""
    programs: Spool = field(default_factory=Spool)
    read_anew: set[str] = field(default_factory=set)
    analysed_anew: set[str] = field(default_factory=set)
    interrupted: bool = False
    footprint: bool = False
    footprints: list[Footprint] = field(default_factory=list)
    wants_wrappers: bool = False
    wrappers: list[Wrapper] = field(default_factory=list)

    def execute(
        self, stage: str, handler: Handler, payloads: Sequence[bytes], seconds: Sequence[float] = ()
    ) -> Generator[tuple[int, Outcome]]:
        """The outcomes of some jobs, in workers (or here: for tests and debuggers)."""
        if not payloads or self.interrupted:
            return
        if not self.supervised:
            yield from run_here(handler, payloads)
            return
        workers = min(self.plan.jobs, len(payloads))
        done = 0

        def pulse() -> None:
            self.progress(stage, done, len(payloads))

        # Of several parts each has to be with whoever remembers it.
        lasting = self.analysts if stage == FOLLOWING and len(payloads) == 1 else None
        if lasting is not None:
            lasting.pulse = pulse
        try:
            with (
                contextlib.nullcontext(lasting)
                if lasting is not None
                else self._workers(handler, workers, pulse)
            ) as executor:
                for outcome in executor.run(payloads, seconds):
                    pulse()
                    done += 1
                    yield outcome
        except KeyboardInterrupt:
            self.interrupted = True

    def _workers(
        self, handler: Handler, workers: int, pulse: Callable[[], None]
    ) -> Executor | Cluster:
        bounds = self.plan.bounds
        if self.plan.scheduler is None:
            return Executor(handler, workers=workers, bounds=bounds, pulse=pulse)
        from cudalint.cluster import dask_cluster

        return dask_cluster(self.plan.scheduler, handler, bounds=bounds, pulse=pulse)

    def spooled(self, lowered: Lowered) -> LoweredFile:
        """What is known of a lowered file, its program put by."""
        program = self.programs.put(lowered.program)
        rest = (lowered.links, lowered.includes, lowered.has_main, lowered.callable)
        return LoweredFile(program, *rest)

    def select(self, files: Sequence[SourceFile], contents: Mapping[Path, bytes]) -> Selection:
        """What is read of some files."""
        found = select(sorted(files), self.plan, contents, self.progress)
        self.errors += found.errors
        self.notes += found.notes
        self.passed_over += found.passed_over
        self.contents |= contents
        return found

    def timed_out(self, key: str, seconds: float) -> str:
        """What is said of a job that has come to this limit or a higher one before; else empty."""
        limit = self.kept(digest("timed out", key), float) or 0
        return f"{took_longer(limit)}, when it was last tried" if limit >= seconds else ""

    def remember(self, key: str, seconds: float, dependencies: Sequence[str]) -> None:
        """That a job came to its limit: the next run need not wait for it."""
        if self.cache:
            payload = msgspec.msgpack.encode(seconds)
            self.cache.store(digest("timed out", key), payload, dependencies)

    def kept(self, key: str, kind: type[_Kept]) -> _Kept | None:
        """What the cache holds under a key."""
        data = self.cache.load(key) if self.cache else None
        try:
            return None if data is None else msgspec.msgpack.decode(data, type=kind)
        except msgspec.DecodeError:
            return None
