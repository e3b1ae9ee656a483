"""Workers that crash, hang, hoard or fail cost their own job only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cudalint import executor
from cudalint.executor import Bounds, Executor, JobError, Outcome

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills itself with signals")


_kept: list[bytearray] = []


def work(job: bytes) -> bytes:
    match job.split():
        case [b"echo", text]:
            return text
        case [b"large", count]:
            return b"x" * int(count)
        case [b"crash"]:
            os.kill(os.getpid(), signal.SIGSEGV)
        case [b"exit"]:
            os._exit(3)
        case [b"keep", count]:
            _kept.append(bytearray(b"x") * int(count))
            return b"%d" % os.getpid()
        case [b"fill", count]:
            _kept.append(bytearray(b"x") * int(count))
            return b"full" if executor.is_full() else b"room"
        case [b"hang"]:
            time.sleep(60)
        case [b"sleep", seconds]:
            time.sleep(float(seconds))
            return b"slept"
        case [b"until", b"told"]:
            while True:
                executor.stop_if_asked()
                time.sleep(0.01)
        case [b"spin"]:
            while True:
                pass
        case [b"compute", seconds]:
            until = time.process_time() + float(seconds)
            while time.process_time() < until:
                pass
            return b"%d" % os.getpid()
        case [b"stop"]:
            os.kill(os.getpid(), signal.SIGSTOP)
        case [b"hoard"]:
            return b"".join(bytes([1]) * 2**28 for _ in range(64))
        case [b"fail"]:
            raise JobError("is odd")
        case [b"bug"]:
            raise ValueError("oops")
        case [b"deep"]:
            return deep(0)
    return b""


def deep(level: int) -> bytes:
    return deep(level + 1)


def outcomes(
    *jobs: bytes, workers: int = 2, seconds: float = 20, memory: int = 2**31
) -> list[Outcome]:
    with Executor(work, workers=workers, bounds=Bounds(seconds, memory)) as executor:
        found = dict(executor.run(jobs))
    return [found[number] for number in range(len(jobs))]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_job_is_done_once(workers: int) -> None:
    jobs = [b"echo %d" % number for number in range(20)]
    assert [outcome.result for outcome in outcomes(*jobs, workers=workers)] == [
        b"%d" % number for number in range(20)
    ]


def test_large_results_pass() -> None:
    (outcome,) = outcomes(b"large 30000000")
    assert outcome.result is not None and len(outcome.result) == 30_000_000


def test_a_crash_is_reported_and_the_rest_goes_on() -> None:
    found = outcomes(b"echo a", b"crash", b"exit", b"echo b", workers=1)
    assert [outcome.result for outcome in found] == [b"a", None, None, b"b"]
    assert "SIGSEGV" in found[1].failure
    assert "exit status 3" in found[2].failure


def test_a_job_that_spins_is_killed_after_its_cpu_seconds() -> None:
    found = outcomes(b"spin", b"echo a", b"echo b", seconds=0.3, workers=1)
    assert [outcome.result for outcome in found] == [None, b"a", b"b"]
    assert found[0].failure == "it took longer than 0.3 s of CPU time (`--time-limit`)"
    assert [outcome.timed_out for outcome in found] == [True, False, False]


def test_time_in_which_a_job_waits_does_not_count() -> None:
    found = outcomes(b"sleep 1", b"echo a", seconds=0.4, workers=1)
    assert [outcome.result for outcome in found] == [b"slept", b"a"]


def test_the_cpu_seconds_of_each_job_are_counted_anew() -> None:
    jobs = [b"compute 0.15"] * 5
    found = outcomes(*jobs, seconds=0.5, workers=1)
    assert len({outcome.result for outcome in found}) == 1  # one process did all


def test_a_job_that_sleeps_for_ever_is_killed_by_the_wall_limit() -> None:
    before = time.monotonic()
    found = outcomes(b"hang", b"echo a", seconds=0.2, workers=1)
    assert [outcome.result for outcome in found] == [None, b"a"]
    what = "it lasted longer than 2 s, 10 times the CPU time that it may take (`--time-limit`)"
    assert found[0].failure == what
    # With another load it might have come to its end: nothing that is worth remembering.
    assert not found[0].timed_out
    assert 2 <= time.monotonic() - before < 30


def test_a_stopped_worker_is_killed_by_the_wall_limit() -> None:
    (stopped,) = outcomes(b"stop", seconds=0.2, workers=1)
    assert stopped.failure.startswith("it lasted longer than 2 s")


def test_where_nobody_counts_cpu_seconds_wall_time_is_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executor, "_COUNTS_CPU", False)
    monkeypatch.setattr(executor, "_PATIENCE", 1)
    (found,) = outcomes(b"hang", seconds=0.3, workers=1)
    assert found == Outcome(None, "it took longer than 0.3 s (`--time-limit`)", timed_out=True)


def test_failures_and_bugs_are_told_apart() -> None:
    found = outcomes(b"fail", b"bug", b"deep", b"echo a")
    assert [outcome.failure for outcome in found] == [
        "is odd",
        "internal error: ValueError: oops",
        "it is nested too deeply",
        "",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is exact on Linux only")
def test_memory_is_bounded() -> None:
    found = outcomes(b"hoard", b"echo a", memory=2**30)
    assert found[0].failure == "it needs more than 1 GiB of memory"
    assert found[1].result == b"a"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no system that tells of memory")
def test_a_worker_that_holds_much_memory_is_replaced() -> None:
    found = outcomes(b"keep 10", b"keep 1000", b"keep 450000000", b"keep 10", workers=1)
    first, second, large, after = (outcome.result for outcome in found)
    assert first == second == large != after is not None


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no system that tells of memory")
def test_a_worker_knows_when_it_should_not_grow_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "_ENOUGH", 2**28)
    found = outcomes(b"fill 1000", b"fill 300000000", b"fill 1000", workers=1)
    assert [one.result for one in found] == [b"room", b"full", b"room"]
    assert not executor.is_full()


def test_workers_are_gone_afterwards() -> None:
    with Executor(work, workers=2, bounds=Bounds()) as executor:
        list(executor.run([b"echo a", b"echo b"]))
        processes = [worker.process for worker in executor._workers]
    assert processes and not any(process.is_alive() for process in processes)


def test_an_idle_worker_that_died_is_replaced() -> None:
    with Executor(work, workers=1, bounds=Bounds()) as executor:
        assert [outcome.result for _, outcome in executor.run([b"echo a"])] == [b"a"]
        os.kill(executor._workers[0].process.pid or 0, signal.SIGKILL)
        assert [outcome.result for _, outcome in executor.run([b"echo b"])] == [b"b"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_busy_workers_do_not_outlive_their_parent(end: signal.Signals) -> None:
    script = (
        "import os, time\n"
        "import cudalint.executor as executor\n"
        "def compute(job):\n"
        "    with open('workers', 'a') as file: file.write(f'{os.getpid()} ')\n"
        "    while True: pass\n"
        "with executor.Executor(compute, workers=2, bounds=executor.Bounds(60)) as pool:\n"
        "    list(pool.run([b'', b'']))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        parent = subprocess.Popen([sys.executable, "-c", script], cwd=folder)
        note = Path(folder, "workers")
        assert eventually(lambda: note.exists() and len(note.read_text().split()) == 2)
        parent.send_signal(end)
        parent.wait()
        workers = [int(word) for word in note.read_text().split()]
        assert eventually(lambda: not any(map(is_alive, workers)), seconds=3)


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def is_alive(process: int) -> bool:
    status = Path(f"/proc/{process}/status")
    try:
        return "zombie" not in status.read_text()
    except OSError:
        return False


def test_what_the_pulse_raises_ends_the_run() -> None:
    class EnoughError(Exception):
        pass

    started = time.monotonic()

    def pulse() -> None:
        if time.monotonic() - started > 0.3:
            raise EnoughError

    with (
        Executor(work, workers=1, bounds=Bounds(), pulse=pulse) as executor,
        pytest.raises(EnoughError),
    ):
        list(executor.run([b"hang"]))
    assert time.monotonic() - started < 10


def test_lasting_workers_outlive_a_run_that_ends_early() -> None:
    class EnoughError(Exception):
        pass

    started = time.monotonic()

    def pulse() -> None:
        if time.monotonic() - started > 0.5:
            raise EnoughError

    with Executor(work, workers=1, bounds=Bounds(), lasting=True) as lasting:
        ((_, first),) = lasting.run([b"keep 1"])
        for job in (b"until told", b"compute 0.2"):
            lasting.pulse = pulse
            with pytest.raises(EnoughError):
                list(lasting.run([job]))
            lasting.pulse = None
            # What nobody waited for is not taken for an answer.
            assert list(lasting.run([b"keep 2"])) == [(0, first)]
