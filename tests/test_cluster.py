"""A cluster's outcomes are a local run's, whatever becomes of its workers."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import pytest

from cudalint.cli import main
from cudalint.cluster import Cluster, Task, UnfitWorkerError, work
from cudalint.executor import Bounds
from cudalint.jobs import lower
from cudalint.plan import code_version

distributed = pytest.importorskip("distributed", reason="needs Dask: the extra `cluster`")
FIXTURES = Path(__file__).parents[1] / "fixtures"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills workers with signals")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    chosen = sorted(FIXTURES.glob("GPU1*/bad_*"))[:24]
    for number, path in enumerate(path for path in chosen if path.is_file()):
        shutil.copy(path, tmp_path / f"{number}_{path.name}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(name: str, *options: str) -> bytes:
    status = main(["--isolated", "--no-cache", "--output", f"json={name}", *options, "."])
    assert status == 1
    return Path(name).read_bytes()


def test_two_workers_say_what_a_local_run_says(cluster: Any, project: Path) -> None:
    here = report("here.json")
    assert here.count(b'"code"') > 10
    there = report("there.json", "--executor", "dask", "--scheduler", cluster.scheduler_address)
    assert there == here


def test_a_worker_that_is_killed_midway_changes_nothing(cluster: Any, project: Path) -> None:
    here = report("here.json")
    address = cluster.scheduler_address
    killed: list[int] = []

    def kill() -> None:
        with distributed.Client(address, set_as_default=False) as client:
            deadline = time.monotonic() + 60
            while not killed and time.monotonic() < deadline:
                busy = [name for name, tasks in client.processing().items() if tasks]
                if busy:
                    time.sleep(0.5)
                    victim = client.run(os.getpid, workers=busy[:1])[busy[0]]
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)
                time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    there = report("there.json", "--executor", "dask", "--scheduler", address)
    killer.join()
    assert killed
    assert there == here


class _Losing(futures.ThreadPoolExecutor):
    """Loses every second job, as a cluster does whose workers die."""

    count = 0

    def submit(self, *arguments: Any, **more: Any) -> Any:
        self.count += 1
        if self.count % 2:
            raise RuntimeError("shut down")
        failed: futures.Future[object] = futures.Future()
        failed.set_exception(OSError("the worker is gone"))
        return failed


def echo(job: bytes) -> bytes:
    return job


def test_what_the_cluster_loses_is_done_here() -> None:
    jobs = [b"%d" % number for number in range(7)]
    with Cluster(_Losing(), echo, width=lambda: 1, bounds=Bounds()) as pool:
        found = dict(pool.run(jobs))
    assert [found[number].result for number in range(7)] == jobs


def spin(job: bytes) -> bytes:
    while True:
        pass


def test_a_job_that_takes_too_long_has_the_outcome_that_it_has_here() -> None:
    with (
        futures.ThreadPoolExecutor(1) as threads,
        Cluster(threads, spin, width=lambda: 1, bounds=Bounds(2)) as pool,
    ):
        ((_, outcome),) = pool.run([b""])
    assert outcome.timed_out and outcome.failure.startswith("it took longer than 2 s of CPU time")


def test_workers_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    good = Task(lower, b"", 1, Bounds(), str(tmp_path), code_version())
    with pytest.raises(UnfitWorkerError, match="another cudalint"):
        work(Task(lower, b"", 1, Bounds(), str(tmp_path), "other"))
    with pytest.raises(UnfitWorkerError, match="has no folder"):
        work(Task(lower, b"", 1, Bounds(), str(tmp_path / "none"), good.version))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--executor", "dask"], "only together"),
        (["--scheduler", "tcp://127.0.0.1:1"], "only together"),
    ],
)
def test_wrong_usage_is_said(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--isolated", *options, "."]) == 2
    assert said in capsys.readouterr().err


def test_a_scheduler_that_is_not_there_is_said(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cudalint.cluster._CONNECT_SECONDS", 0.5)
    options = ["--executor", "dask", "--scheduler", "tcp://127.0.0.1:1"]
    assert main(["--isolated", "--no-cache", *options, "."]) == 2
    assert "--scheduler tcp://127.0.0.1:1: no answer" in capsys.readouterr().err
