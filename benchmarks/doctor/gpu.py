"""The planted causes, the overheads and the probe on a real GPU: ``python -m benchmarks.doctor
--gpu --out FOLDER``.

It needs an NVIDIA GPU that nobody else uses, torch and cuda-python, takes some minutes, and leaves
a few small files: ``results.json``, ``table.txt``, a record (`doctor --record`) of the machine and
of each planted cause. A step that fails says so in the table and costs no other."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.doctor.planted import PLANTED, PROGRAMS, Planted

SECONDS = 560.0
_STEP = 75.0
_LEAST = 9
_HOLE = 1984 << 20
"""What ``fragmentation.py`` leaves between its blocks."""


class Bench:
    """One run of all steps."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.rows: list[tuple[str, str, str]] = []
        self.results: dict[str, Any] = {}
        self._end = time.monotonic() + SECONDS

    def step(self, name: str, work: Callable[[], tuple[bool, str]]) -> None:
        """Do one step, whatever happens in it."""
        if time.monotonic() > self._end:
            self.rows.append((name, "SKIPPED", "no time was left"))
            return
        begin = time.monotonic()
        try:
            good, says = work()
            state = "ok" if good else "MISSED"
        except Exception as error:
            state, says = "FAILED", f"{type(error).__name__}: {error}"
            (self.out / "errors.txt").open("a").write(f"{name}\n{traceback.format_exc()}\n")
        row = (name, state, " ".join(f"{says} [{time.monotonic() - begin:.0f} s]".split()))
        self.rows.append(row)
        print(" | ".join(row), flush=True)
        self.write()

    def write(self) -> None:
        """Leave what there is."""
        lines = [f"| {name} | {state} | {says[:300]} |" for name, state, says in self.rows]
        table = "\n".join(["| step | | |", "|---|---|---|", *lines])
        (self.out / "table.txt").write_text(table + "\n")
        text = json.dumps({"rows": self.rows, "results": self.results}, indent=1)
        (self.out / "results.json").write_text(text)

    def left(self) -> float:
        """Seconds for the next process."""
        return max(min(_STEP, self._end - time.monotonic()), 10.0)

    def doctor(self, *arguments: str, record: str = "") -> dict[str, Any]:
        """A report of ``cudalint doctor``; its text goes to a file beside the record."""
        command = [sys.executable, "-m", "cudalint", "doctor", "--isolated", "--output-format=json"]
        if record:
            command += ["--record", str(self.out / f"{record}.json")]
        done = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, timeout=self.left(), check=False
        )
        if not done.stdout.lstrip().startswith("{"):
            raise RuntimeError(f"status {done.returncode}: {done.stderr[-600:]}")
        report: dict[str, Any] = json.loads(done.stdout)
        if record:
            self.render(record)
        self.results.setdefault("stderr", {})[record or " ".join(arguments)] = done.stderr[-1500:]
        return report

    def render(self, record: str) -> None:
        """The same report as text, beside the record."""
        path = self.out / f"{record}.json"
        text = subprocess.run(
            [sys.executable, "-m", "cudalint", "doctor", "--isolated", "--machine", str(path)],
            capture_output=True, text=True, timeout=30, check=False,
        ).stdout  # fmt: skip
        path.with_suffix(".txt").write_text(text)

    @contextlib.contextmanager
    def holding(self, program: str, *arguments: str) -> Iterator[tuple[int, int]]:
        """A process that holds memory: its number, and how much it says."""
        process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / program), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            words = process.stdout.readline().split()
            if words[:1] != ["ready"]:
                raise RuntimeError(f"{program} could not hold memory: {words}")
            yield process.pid, int(words[1])
        finally:
            process.kill()
            process.wait()
            time.sleep(0.5)


def run_all(out: Path) -> int:
    """Every step; 1 where one did not show what it must."""
    out.mkdir(parents=True, exist_ok=True)
    bench = Bench(out)
    bench.step("machine", lambda: _machine(bench))
    bench.step("overheads beside nvidia-smi", lambda: _overheads(bench))
    bench.step("a second process is named", lambda: _second(bench))
    bench.step("largest block of a scattered device", lambda: _largest(bench))
    bench.step("largest hole of a fragmented cache", lambda: _hole(bench))
    first = 0
    for one in PLANTED:
        if one.gpu:
            bench.step(f"planted: {one.name}", lambda one=one: _planted(bench, one))  # type: ignore[misc]
        else:
            bench.step(f"planted: {one.name}", lambda one=one: _simulated(one, out))  # type: ignore[misc]
        first += bench.rows[-1][1] == "ok"
    bench.rows.append(("ranked first", "ok" if first >= _LEAST else "MISSED", f"{first} of 10"))
    bench.write()
    print("\n" + (out / "table.txt").read_text())
    return 0 if all(state == "ok" for _, state, _ in bench.rows[:5]) and first >= _LEAST else 1


def _smi(query: str) -> list[list[str]]:
    done = subprocess.run(
        ["nvidia-smi", query, "--format=csv,noheader,nounits"],
        capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    return [[word.strip() for word in line.split(",")] for line in done.stdout.splitlines() if line]


def _machine(bench: Bench) -> tuple[bool, str]:
    report = bench.doctor(record="machine")
    machine = report["machine"]
    one = machine["measured"][0]
    return not machine["missing"], (
        f"{one['name']}, driver {machine['driver']}: free {one['free']:,}, largest"
        f" {one['largest']:,}, context {one['context']}, causes"
        f" {[cause['name'] for cause in report['causes']]}"
    )


def _overheads(bench: Bench) -> tuple[bool, str]:
    query = "--query-gpu=memory.total,memory.reserved,memory.used,memory.free"
    total, reserved, used, free = (int(word) for word in _smi(query)[0])
    report = bench.doctor()
    gpu, one = report["machine"]["gpus"][0], report["machine"]["measured"][0]
    with bench.holding("holder.py", "0"):
        time.sleep(0.5)
        apps = _smi("--query-compute-apps=pid,used_memory")
        within = int(_smi(query)[0][2]) - used
    mib = 1 << 20
    ours = {"total": gpu["total"] // mib, "reserved": (gpu["reserved"] or 0) // mib,
            "used": gpu["used"] // mib, "free": gpu["free"] // mib,
            "context": (one["context"] or 0) // mib}  # fmt: skip
    smi = {"total": total, "reserved": reserved, "used": used, "free": free, "context": within,
           "compute apps": apps}  # fmt: skip
    bench.results["overheads in MiB"] = {"doctor": ours, "nvidia-smi": smi}
    names = ("total", "reserved", "used", "free")
    close = all(abs(ours[name] - int(str(smi[name]))) <= 16 for name in names)
    close &= one["context"] is not None and abs(ours["context"] - within) <= max(16, within // 20)
    return close, f"MiB: doctor {ours}, nvidia-smi {smi}"


def _second(bench: Bench) -> tuple[bool, str]:
    with bench.holding("holder.py", "0.6") as (pid, size):
        report = bench.doctor(record="second_process")
    holders = [one for gpu in report["machine"]["gpus"] for one in gpu["holders"]]
    found = next((one for one in holders if one["pid"] == pid), None)
    first = report["causes"][0]["name"] if report["causes"] else "nothing"
    named = found is not None and "holder.py" in found["name"] and first == "another-process"
    return named, f"pid {pid} holds {size:,}: first {first}; holders {holders}"


def _largest(bench: Bench) -> tuple[bool, str]:
    with bench.holding("scattered.py") as (_, freed):
        one = bench.doctor(record="scattered")["machine"]["measured"][0]
        done = subprocess.run(
            [sys.executable, str(PROGRAMS / "truth.py")],
            capture_output=True, text=True, timeout=bench.left(), check=True,
        )  # fmt: skip
    truth = int(done.stdout.split()[-1])
    away = abs(one["largest"] - truth) / truth
    return away <= 0.01, (
        f"every second block of 256 MiB freed, {freed:,} in all: doctor {one['largest']:,} of"
        f" {one['free']:,} free, another search {truth:,}: {away:.3%} away"
    )


def _hole(bench: Bench) -> tuple[bool, str]:
    snapshot = bench.out / "fragmented.pickle"
    subprocess.run(
        [sys.executable, str(PROGRAMS / "fragmentation.py"), str(snapshot)],
        capture_output=True, text=True, timeout=bench.left(), check=False,
    )  # fmt: skip
    report = bench.doctor("--snapshot", str(snapshot), record="snapshot")
    if snapshot.stat().st_size > 1 << 20:
        snapshot.unlink()
    largest = report["failure"]["largest"]
    away = abs(largest - _HOLE) / _HOLE
    first = report["causes"][0]["name"] if report["causes"] else "nothing"
    return away <= 0.01, f"planted {_HOLE:,}, doctor {largest:,}: {away:.3%} away; first {first}"


def _planted(bench: Bench, one: Planted) -> tuple[bool, str]:
    with contextlib.ExitStack() as stack:
        if one.name == "another process":
            stack.enter_context(bench.holding("holder.py", "0.6"))
        name = f"planted_{Path(one.gpu).stem}"
        report = bench.doctor(
            "--runtime=gpu", "--time-limit", str(max(int(bench.left()) - 15, 10)), "--",
            sys.executable, str(PROGRAMS / one.gpu), record=name,
        )  # fmt: skip
    return _judged(one, report)


def _simulated(one: Planted, out: Path) -> tuple[bool, str]:
    from benchmarks.doctor.__main__ import build_planted, doctor

    folder = out / f"build-{os.getpid()}"
    folder.mkdir()
    try:
        program = build_planted(one, folder)
        return _judged(one, doctor("--runtime=sim", *one.options, "--", str(program)))
    finally:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _judged(one: Planted, report: dict[str, Any]) -> tuple[bool, str]:
    causes = [(cause["name"], cause["weight"]) for cause in report["causes"]]
    failure = report["failure"] or {}
    told = {key: failure.get(key) for key in ("call", "asked", "live", "cached", "free", "others")}
    return bool(causes) and causes[0][0] in one.expected, f"{causes[:3]} {told}"
