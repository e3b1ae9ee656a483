"""``python -m benchmarks.scale PATH...``: costs of files, growth with their number, a cluster.

``--write`` puts the table of the cluster into ``docs/cluster.md``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import plan_for, table
from benchmarks.documents import markdown, write_section
from benchmarks.scale.costs import Costs, measure
from benchmarks.scale.simulate import bottleneck, simulate
from cudalint.linter import lint
from cudalint.project.files import SourceFile, discover

_PAGE = Path("docs/cluster.md")
_MARK = "the simulated cluster"
_WORKERS = (1, 8, 50, 200, 400, 1000)


def main() -> int:
    """Measure, and print what was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, default=[Path("fixtures")])
    parser.add_argument("--files", type=int, default=100_000, help="of the simulated repository")
    parser.add_argument("--growth", type=int, nargs="*", default=[], help="100 200 400 ... 3200")
    parser.add_argument("--write", action="store_true", help=f"the table, into {_PAGE}")
    given = parser.parse_args()
    if given.growth:
        print("\n".join(table(list(_growth(given.paths, given.growth)))), "\n")
    costs = measure(given.paths)
    rows = list(_cluster(costs, given.files))
    print(_said(costs), *table(rows), sep="\n")
    if given.write:
        write_section(_PAGE, _MARK, f"{_said(costs)}\n\n{markdown(rows)}")
    return 0


def _said(costs: Costs) -> str:
    reading = sum(seconds for seconds, _ in costs.reading) / max(costs.files, 1)
    analysis = sum(seconds for seconds, _ in costs.analysis) / max(costs.files, 1)
    return (
        f"Measured on {costs.files} files, CPU milliseconds for each: {1000 * reading:.0f} to "
        f"read, {1000 * analysis:.0f} to analyse, {1000 * costs.main_seconds:.1f} in the main "
        "process."
    )


def _cluster(costs: Costs, files: int) -> Iterator[Sequence[str]]:
    yield ("workers", "reading", "analysis", "together", "waits for, reading", "analysis")
    for workers in _WORKERS:
        reading, analysis = simulate(costs, files, workers)
        yield (
            str(workers),
            _minutes(reading.seconds),
            _minutes(analysis.seconds),
            _minutes(reading.seconds + analysis.seconds),
            bottleneck(reading),
            bottleneck(analysis),
        )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} min"


def _growth(paths: Sequence[Path], counts: Sequence[int]) -> Iterator[Sequence[str]]:
    """Copies of the files, in as many folders as that takes: time, and the largest processes. Then
    one file changes."""
    yield ("files", "seconds", "ms a file", "main MiB", "worker MiB", "warm s", "one changed: anew")
    with TemporaryDirectory() as name:
        for count in counts:
            yield _alone(list(_copies(paths, Path(name) / str(count), count)), Path(name) / "c")


def _alone(files: list[SourceFile], cache: Path) -> Sequence[str]:
    """One measurement in a process of its own, as peaks of memory never fall."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, "\t".join(_measured(files, cache)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return text.split("\t")


def _measured(files: list[SourceFile], cache: Path) -> Sequence[str]:
    import resource

    shutil.rmtree(cache, ignore_errors=True)
    top = files[0].path.parents[1]
    plan = plan_for([top], cache)
    started = time.monotonic()
    lint(files, plan)
    cold = time.monotonic() - started
    peaks = [
        f"{resource.getrusage(who).ru_maxrss / 1024:.0f}"
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    started = time.monotonic()
    lint(files, plan)
    warm = time.monotonic() - started
    files[0].path.write_bytes(b"\n" + files[0].path.read_bytes())
    report = lint(files, plan)
    anew = f"{report.read_anew} read, {report.analysed_anew} analysed"
    each = f"{1000 * cold / len(files):.0f}"
    return str(len(files)), f"{cold:.1f}", each, *peaks, f"{warm:.2f}", anew


def _copies(paths: Sequence[Path], top: Path, count: int) -> Iterator[SourceFile]:
    plan = plan_for(paths, None)
    found = [file for file in discover(paths, plan.settings, plan.root).files if file.is_cuda]
    for number in range(count):
        one = found[number % len(found)]
        folder = top / f"copy{number // len(found)}_{number % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{number}_{one.path.name}"
        shutil.copy(one.path, path)
        yield SourceFile(str(path), path, one.language)


if __name__ == "__main__":
    sys.exit(main())
