"""Runs jobs in supervised child processes: a crash, a hang or a memory hog costs one job only.

Jobs and results are bytes (MessagePack by convention); nothing is pickled on the way. On Linux the
children are forked, so that what the parent has imported is there at once; elsewhere they are
spawned. What ``multiprocessing.set_start_method`` says wins: a process with threads cannot fork.

The time limit counts what a job computes (CPU seconds), so that a busy machine loses nothing that
an idle one reads: the system ends the worker (``ITIMER_PROF``). A wall limit stands behind it, for
jobs that wait for ever; where the system cannot count, as on Windows, the limit is wall time.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import math
import multiprocessing
import os
import signal
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

Handler = Callable[[bytes], bytes]

_DONE, _SPENT, _FAILED, _BROKEN = b"d", b"s", b"f", b"b"
_LIMIT = struct.Struct("<d")
_COUNTS_CPU = hasattr(signal, "setitimer")
_STOP = getattr(signal, "SIGUSR1", None)
_PATIENCE = 10 if _COUNTS_CPU else 1
"""So many times its limit a job may last, however little it computes."""
_GRACE_SECONDS = 5.0
_PR_SET_PDEATHSIG = 1
_STACK_BYTES = 256 * 1024**2
_MOST_JOBS = 500
"""A worker is replaced after so many jobs: native memory that leaked goes with it."""
_MOST_HELD = 192 * 1024**2
"""And where it holds so much more memory than at its start: what large jobs fragmented stays."""
_ENOUGH = 448 * 1024**2
"""So much more than at its start it may hold before a job should end with what it has."""
_enough: float = math.inf
"""What this process may hold, where it is a worker."""
_PULSE_SECONDS = 0.03
_NONE, _UNWANTED = -1, -2
"""A worker without a job, and one whose job nobody waits for any more."""
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Paths are many small objects that live for long: Python's 700 take a tenth of the time."""


class JobError(Exception):
    """Raised by a handler: the job cannot be done, and the message says why."""


@dataclass(frozen=True)
class Outcome:
    """What became of one job."""

    result: bytes | None
    failure: str = ""
    timed_out: bool = False
    """It came to its limit, as it would again."""


@dataclass(frozen=True)
class Bounds:
    """What one job may take."""

    seconds: float = 30.0
    """CPU seconds."""
    memory: int = 4 * 1024**3


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    job: int = _NONE
    seconds: float = 0.0
    deadline: float = 0.0
    finished: int = 0


class Executor:
    """A pool of supervised workers for one handler (a module-level function).

    ``pulse`` is called all the while that workers are busy; what it raises ends the run.
    ``method`` is how processes are started, where it matters: one with threads cannot fork.
    ``lasting`` workers remember something from one run to the next: those of a run that ends early
    are told to stop, not killed.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        workers: int,
        bounds: Bounds,
        pulse: Callable[[], None] | None = None,
        method: str | None = None,
        lasting: bool = False,
    ) -> None:
        self._handler = handler
        self.pulse = pulse
        self._lasting = lasting
        self._limit = max(workers, 1)
        self._bounds = bounds
        self._workers: list[_Worker] = []
        self._seconds: Sequence[float] = ()
        method = method or multiprocessing.get_start_method(allow_none=True)
        method = method or ("fork" if sys.platform == "linux" else "spawn")
        self._forked = method == "fork"
        self._context: Any = multiprocessing.get_context(method)

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            self._stop(worker)
        self._workers.clear()

    def run(
        self, jobs: Sequence[bytes], seconds: Sequence[float] = ()
    ) -> Iterator[tuple[int, Outcome]]:
        """The outcome of each job with its position, in the order in which they are done.

        ``seconds`` gives each job its own time limit, in CPU seconds.
        """
        self._seconds = seconds or [self._bounds.seconds] * len(jobs)
        pending = deque(range(len(jobs)))
        tried: set[int] = set()
        try:
            while pending or any(worker.job >= 0 for worker in self._workers):
                self._assign(jobs, pending)
                for worker in self._ready():
                    job = worker.job
                    outcome, again = self._collect(worker)
                    if job == _UNWANTED:
                        continue
                    # A crash may be the echo of an earlier file in the same process: once more,
                    # alone.
                    if again and job not in tried:
                        tried.add(job)
                        pending.appendleft(job)
                    else:
                        yield job, outcome
        finally:
            self._dismiss()

    def _dismiss(self) -> None:
        """Tell workers to stop whose jobs nobody waits for any more."""
        for worker in self._workers if self._lasting else ():
            if worker.job >= 0:
                worker.job = _UNWANTED
                if _STOP is not None and worker.process.pid is not None:
                    with contextlib.suppress(OSError):
                        os.kill(worker.process.pid, _STOP)

    def _assign(self, jobs: Sequence[bytes], pending: deque[int]) -> None:
        while pending:
            worker = self._idle()
            if worker is None:
                return
            worker.job = pending[0]
            worker.seconds = self._seconds[worker.job]
            worker.deadline = time.monotonic() + _PATIENCE * worker.seconds
            # A worker that died meanwhile is noticed when its answer is awaited:
            with contextlib.suppress(OSError):
                limit = _LIMIT.pack(worker.seconds)
                worker.connection.send_bytes(limit + jobs[worker.job])
            pending.popleft()

    def _idle(self) -> _Worker | None:
        for worker in list(self._workers):
            if worker.job == _NONE:
                if worker.finished < _MOST_JOBS:
                    return worker
                self._replace(worker)
        return self._start() if len(self._workers) < self._limit else None

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        inherited = [worker.connection for worker in self._workers]
        process = self._context.Process(
            target=_serve,
            # A forked child must not hold the parent's ends, or it would outlive the parent.
            args=(
                self._handler,
                theirs,
                self._bounds,
                [ours, *inherited] if self._forked else [],
                # A fork server is the parent of its workers, and ends with this process itself.
                None if self._context.get_start_method() == "forkserver" else os.getpid(),
            ),
            daemon=True,
        )
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _ready(self) -> list[_Worker]:
        """The busy workers that have answered, died, or run out of time."""
        busy = [worker for worker in self._workers if worker.job != _NONE]
        remaining = min(worker.deadline for worker in busy) - time.monotonic()
        if self.pulse is not None:
            self.pulse()
            remaining = min(remaining, _PULSE_SECONDS)
        signalled = wait([worker.connection for worker in busy], max(remaining, 0))
        now = time.monotonic()
        return [
            worker for worker in busy if worker.connection in signalled or worker.deadline <= now
        ]

    def _collect(self, worker: _Worker) -> tuple[Outcome, bool]:
        """The outcome of a worker's job, and whether another try could end differently."""
        try:
            if not worker.connection.poll():
                self._replace(worker)
                return _waited(worker.seconds), False
            message = worker.connection.recv_bytes()
        except (EOFError, OSError):
            outcome = self._death(worker)
            self._replace(worker)
            return outcome, not outcome.timed_out
        worker.job = _NONE
        worker.finished += 1
        kind, payload = message[:1], message[1:]
        if kind in (_SPENT, _BROKEN):
            self._replace(worker)
        if kind in (_DONE, _SPENT):
            return Outcome(payload), False
        return Outcome(None, payload.decode("utf-8", "replace")), kind == _BROKEN

    def _death(self, worker: _Worker) -> Outcome:
        worker.process.join(1)
        code = worker.process.exitcode
        if code is not None and code < 0:
            if _COUNTS_CPU and -code == signal.SIGPROF:
                return Outcome(None, took_longer(worker.seconds), timed_out=True)
            with contextlib.suppress(ValueError):
                return Outcome(None, f"the worker crashed ({signal.Signals(-code).name})")
        return Outcome(None, f"the worker died (exit status {code})")

    def _replace(self, worker: _Worker) -> None:
        self._stop(worker)
        self._workers.remove(worker)

    def _stop(self, worker: _Worker) -> None:
        worker.connection.close()
        worker.process.kill()
        worker.process.join(5)


def took_longer(seconds: float) -> str:
    """What is said of a job that came to its time limit."""
    what = " of CPU time" if _COUNTS_CPU else ""
    return f"it took longer than {seconds:g} s{what} (`--time-limit`)"


def _waited(seconds: float) -> Outcome:
    """The outcome of a job that came to the wall limit: on a machine that lets it compute, it may
    end well."""
    if not _COUNTS_CPU:
        return Outcome(None, took_longer(seconds), timed_out=True)
    lasted = f"it lasted longer than {_PATIENCE * seconds:g} s"
    may = f"{_PATIENCE} times the CPU time that it may take (`--time-limit`)"
    return Outcome(None, f"{lasted}, {may}")


def run_here(handler: Handler, jobs: Sequence[bytes]) -> Iterator[tuple[int, Outcome]]:
    """The same without child processes and without limits: for tests and debuggers."""
    for number, job in enumerate(jobs):
        try:
            yield number, Outcome(handler(job))
        except JobError as error:
            yield number, Outcome(None, str(error))


def stop_if_asked() -> None:
    """Ends a job that nobody waits for any more, in a worker that goes on. For handlers."""
    if _told_to_stop.is_set():
        raise JobError("nobody waits for it any more")


_told_to_stop = threading.Event()


def _serve(
    handler: Handler,
    connection: Connection,
    bounds: Bounds,
    foreign: Sequence[Connection],
    parent: int | None,
) -> None:
    """The life of a worker."""
    global _enough
    for other in foreign:
        other.close()
    _die_with(parent)
    _isolate(bounds)
    if _STOP is not None:
        signal.signal(_STOP, lambda *_: _told_to_stop.set())
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    most, _enough = _held() + _MOST_HELD, _held() + _ENOUGH
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError):
            return
        _told_to_stop.clear()
        _limit_time(*_LIMIT.unpack_from(message))
        answer = _answer(handler, message[_LIMIT.size :], bounds, most)
        _limit_time(0)
        with contextlib.suppress(BrokenPipeError):
            connection.send_bytes(answer)


def _die_with(parent: int | None) -> None:
    """No worker computes on for a parent that was killed. Elsewhere than on Linux its time limit
    ends it, and what ends the parent by anything but SIGKILL lets it stop its workers."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if parent is not None and os.getppid() != parent:
            os._exit(1)


def _limit_time(seconds: float) -> None:
    """Ends a job that computes for so long; and one that hangs, even where the parent is no longer
    there to do so."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds and _PATIENCE * seconds + _GRACE_SECONDS)


def _answer(handler: Handler, job: bytes, bounds: Bounds, most: int) -> bytes:
    try:
        result = handler(job)
        return (_SPENT if _held() > most else _DONE) + result
    except JobError as error:
        return _FAILED + str(error).encode()
    except MemoryError:
        return _BROKEN + f"it needs more than {bounds.memory / 1024**3:g} GiB of memory".encode()
    except RecursionError:
        return _FAILED + b"it is nested too deeply"
    except Exception as error:
        if os.environ.get("CUDALINT_TRACEBACK"):
            import traceback

            return _FAILED + traceback.format_exc().encode("utf-8", "replace")
        text = f"internal error: {type(error).__name__}: {error}"
        return _FAILED + text.encode("utf-8", "replace")


def is_full() -> bool:
    """Whether this is a worker that should not grow any more."""
    if _held() < _enough:
        return False
    gc.collect()
    return _held() >= _enough


def _held() -> int:
    """The memory of this process in bytes; 0 where the system has no ``/proc`` to say so."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  (after each job: be quick)
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _isolate(bounds: Bounds) -> None:
    """Limits, and no voice: the parent alone speaks, and decides when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.disable()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        if descriptor != 2 or not os.environ.get("CUDALINT_TRACEBACK"):
            os.dup2(null, descriptor)
    sys.setrecursionlimit(5000)
    if sys.platform == "win32":
        return
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    import resource

    # What is writable and private counts; on other systems the nearest there is.
    data = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    for which, amount in (
        (data, bounds.memory),
        (resource.RLIMIT_STACK, _STACK_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            hard = resource.getrlimit(which)[1]
            wanted = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
            resource.setrlimit(which, (wanted, hard))
