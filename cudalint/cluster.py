"""Has the work done elsewhere, by any ``concurrent.futures.Executor``: a Dask cluster's is one.

Where a job lands, it runs in a supervised child process as it would here: a crash, a hang or a
memory hog has the same outcome on every machine. What a cluster loses is done here in the end, so
that the outcomes never depend on it. Payloads are the bytes that local workers get; the workers
need the same cudalint, and the same files under the same paths.
"""

from __future__ import annotations

import functools
import logging
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cudalint.executor import Bounds, Executor, Handler, Outcome
from cudalint.plan import code_version
from cudalint.project.config import ConfigurationError

_PULSE_SECONDS = 0.03
_CONNECT_SECONDS = 10
_LEAST_WAITING = 64
_WAITING_FOR_EACH = 4
"""Jobs that wait at the scheduler for each thread of the cluster: all would fill its memory."""


class UnfitWorkerError(Exception):
    """A worker of the cluster that cannot do what is asked; the message says why."""


@dataclass(frozen=True)
class Task:
    """A job with all that its worker must know."""

    handler: Handler
    payload: bytes
    seconds: float
    bounds: Bounds
    folder: str
    """Names of files are relative to it."""
    version: str


class Cluster:
    """Does the jobs of one handler through an executor, as the supervised pool here does.

    ``width`` says how many jobs the executor works on at a time: it may grow meanwhile.
    """

    def __init__(
        self,
        executor: futures.Executor,
        handler: Handler,
        *,
        width: Callable[[], int],
        bounds: Bounds,
        pulse: Callable[[], None] | None = None,
    ) -> None:
        self._executor = executor
        self._handler = handler
        self._width = width
        self._bounds = bounds
        self._pulse = pulse or (lambda: None)
        self._running: dict[futures.Future[Outcome], int] = {}

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._running:
            one.cancel()
        self._running.clear()

    def run(
        self, jobs: Sequence[bytes], seconds: Sequence[float] = ()
    ) -> Iterator[tuple[int, Outcome]]:
        """The outcome of each job with its position, in the order in which they are done."""
        limits = seconds or [self._bounds.seconds] * len(jobs)
        pending = iter(range(len(jobs)))
        lost: list[int] = []
        more = True
        while more or self._running:
            room = max(_LEAST_WAITING, _WAITING_FOR_EACH * self._width()) - len(self._running)
            while more and room > 0:
                number = next(pending, None)
                more, room = number is not None, room - 1
                if number is not None and not self._submit(number, jobs[number], limits[number]):
                    lost.append(number)
            self._pulse()
            done, _ = futures.wait(self._running, _PULSE_SECONDS, futures.FIRST_COMPLETED)
            for one in done:
                number = self._running.pop(one)
                outcome = _outcome(one)
                if outcome is None:
                    lost.append(number)
                else:
                    yield number, outcome
        yield from self._here(sorted(lost), jobs, limits)

    def _submit(self, number: int, payload: bytes, seconds: float) -> bool:
        """Whether the executor took a job: one that is shut down takes none."""
        folder = str(Path.cwd())
        task = Task(self._handler, payload, seconds, self._bounds, folder, code_version())
        try:
            self._running[self._executor.submit(work, task)] = number
        except Exception:  # whatever the executor of another library raises
            return False
        return True

    def _here(
        self, lost: Sequence[int], jobs: Sequence[bytes], limits: Sequence[float]
    ) -> Iterator[tuple[int, Outcome]]:
        if not lost:
            return
        payloads, seconds = [jobs[one] for one in lost], [limits[one] for one in lost]
        pulse = self._pulse
        with Executor(
            self._handler, workers=1, bounds=self._bounds, pulse=pulse, method="spawn"
        ) as executor:
            for position, outcome in executor.run(payloads, seconds):
                yield lost[position], outcome


def _outcome(done: futures.Future[Outcome]) -> Outcome | None:
    """The outcome of a job; ``None`` where the cluster lost it."""
    try:
        return done.result()
    except UnfitWorkerError as error:
        raise ConfigurationError(f"--executor: {error}") from None
    except (Exception, futures.CancelledError):  # a lost worker's is a class of the cluster's own
        return None


# On the worker ----------------------------------------------------------------------------------


class _Own(threading.local):
    """The child of one thread of a worker, for one kind of jobs."""

    kind: object = None
    pool: Executor | None = None


_own = _Own()


def work(task: Task) -> Outcome:
    """Do a job in a supervised child of this process."""
    host = os.uname().nodename if hasattr(os, "uname") else "a worker"
    if task.version != code_version():
        raise UnfitWorkerError(f"{host} has another cudalint, or reads with other libraries")
    if not Path(task.folder).is_dir():
        raise UnfitWorkerError(f"{host} has no folder {task.folder}: workers need the files")
    kind = (task.handler, task.bounds, task.folder)
    if _own.pool is None or _own.kind != kind:
        if _own.pool is not None:
            _own.pool.__exit__()
        # Dask's workers are daemons, which may have no children; these end with their parent.
        multiprocessing.current_process().daemon = False
        handler = functools.partial(_in_folder, task.folder, task.handler)
        # Not forked: the worker has threads.
        _own.pool = Executor(handler, workers=1, bounds=task.bounds, method="spawn")
        _own.kind = kind
    ((_, outcome),) = _own.pool.run([task.payload], [task.seconds])
    return outcome


def _in_folder(folder: str, handler: Handler, job: bytes) -> bytes:
    os.chdir(folder)
    return handler(job)


# Dask -------------------------------------------------------------------------------------------


def dask_cluster(
    address: str, handler: Handler, *, bounds: Bounds, pulse: Callable[[], None] | None = None
) -> Cluster:
    """The cluster of the Dask scheduler at an address."""
    client = _client(address)
    return Cluster(
        client.get_executor(pure=False),
        handler,
        width=lambda: sum(client.nthreads().values()),
        bounds=bounds,
        pulse=pulse,
    )


@functools.cache
def _client(address: str) -> Any:
    """One connection for a process."""
    try:
        from distributed import Client
    except ImportError:
        raise ConfigurationError(
            "--executor dask: needs Dask: pip install 'cudalint[cluster]'"
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        return Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:  # ImportError: a protocol that needs more
        reason = str(error).partition("\n")[0]
        raise ConfigurationError(f"--scheduler {address}: no answer: {reason}") from None
