"""``python -m benchmarks.scale.change``: one file of many has changed. What is read and analysed
again, and what the hook takes that is told its name.

The repository holds copies of the fixtures in their folders. Processor time is told, of all
processes together, so that other work on the machine does not count. ``--write`` puts the figures
into ``docs/cache.md``.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.common import plan_for, table
from benchmarks.documents import markdown, write_section
from benchmarks.speed import Cost, run
from cudalint import jobs
from cudalint.loading import load
from cudalint.lowering import Preparer, header_folder
from cudalint.project.files import SourceFile, discover

_PAGE = Path("docs/cache.md")
_MARK = "one file of many"
_ANEW = re.compile(r"not in the cache: (\d+ files?) read, (\d+ files?) analysed")
_MOST = 1.5
"""Times the start-up and the parse of what changed: the hook is to take less."""


def main() -> int:
    """Measure; the exit status is 1 where the hook takes too long."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.change", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, default=[Path("fixtures")])
    parser.add_argument("--files", type=int, default=700)
    parser.add_argument("--runs", type=int, default=5, help="of each the median is told")
    parser.add_argument("--write", action="store_true", help=f"the figures, into {_PAGE}")
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        top = Path(name).resolve()
        files = list(_written(given.paths, top, given.files))
        rows, share = _measured(top, files, given.runs)
    said = (
        f"The hook takes {share:.2f} times its start-up and the parse of that file "
        f"(asked: less than {_MOST})."
    )
    print(*table(rows), "", said, sep="\n")
    if given.write:
        write_section(_PAGE, _MARK, f"{markdown(rows)}\n\n{said}")
    return int(share >= _MOST)


def _written(paths: Sequence[Path], top: Path, count: int) -> Iterator[Path]:
    plan = plan_for(paths, None)
    found = [file for file in discover(paths, plan.settings, plan.root).files if file.is_cuda]
    for number in range(count):
        one = found[number % len(found)]
        path = top / f"copy{number // len(found)}" / Path(one.filename)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(one.path, path)
        yield path


def _measured(top: Path, files: Sequence[Path], runs: int) -> tuple[list[Sequence[str]], float]:
    """A row for each run of cudalint, and the share that decides."""
    subprocess.run(["git", "init", "--quiet", str(top)], check=True)
    (top / "idle.py").write_text("print('nothing')\n", encoding="utf-8")
    changed = files[len(files) // 2]
    text = changed.read_bytes()
    edits = iter(range(1_000_000))

    def edited(*arguments: str) -> Callable[[], Cost]:
        def once() -> Cost:
            changed.write_bytes(text + b"\nint edit_%d() { return 0; }\n" % next(edits))
            return _lint(top, *arguments)

        return once

    whole = _lint(top, ".")
    start = _median(runs, lambda: _lint(top, "idle.py"))
    parse = statistics.median(_parse(changed, top) for _ in range(runs))
    again = _median(runs, lambda: _lint(top, "."))
    one = _median(runs, edited("."))
    hook = _median(runs, edited("--force-exclude", str(changed)))
    rows: list[Sequence[str]] = [
        (f"of {len(files)} files", "CPU seconds", "read anew", "analysed anew"),
        _row("all, for the first time", whole),
        _row("all, nothing has changed", again),
        _row("all, one has changed", one),
        _row("the hook, for that one", hook),
        _row("start-up: a file without CUDA", start),
        ("the parse of what changed, in a new process", f"{parse:.2f}", "", ""),
    ]
    return rows, hook.processor_seconds / (start.processor_seconds + parse)


def _row(what: str, cost: Cost) -> Sequence[str]:
    found = _ANEW.search(cost.output)
    assert found is not None, cost.output
    return what, f"{cost.processor_seconds:.2f}", *(part.split()[0] for part in found.groups())


def _lint(top: Path, *arguments: str) -> Cost:
    command = [sys.executable, "-m", "cudalint", "check", "-v", "--isolated", "--jobs", "2"]
    return run([*command, "--cache-dir", str(top / ".cache"), *arguments], place=top)


def _median(runs: int, once: Callable[[], Cost]) -> Cost:
    """The run in the middle, by processor time."""
    return sorted((once() for _ in range(runs)), key=lambda cost: cost.processor_seconds)[runs // 2]


def _parse(path: Path, top: Path) -> float:
    """Processor seconds of a process that has read no C++ before, for reading this file."""
    code = (
        f"from benchmarks.scale.change import parse_here; parse_here({str(path)!r}, {str(top)!r})"
    )
    cost = run([sys.executable, "-c", code])
    return float(cost.output)


def parse_here(name: str, top: str) -> None:
    """Say what reading a file takes, everything that reading needs included."""
    plan = plan_for([Path(top)], Path(top) / ".cache")
    file = SourceFile(name, Path(name), "cuda")
    loaded = load(file, file.path.read_bytes(), plan.max_file_size)
    assert loaded is not None
    with header_folder(plan) as headers:
        lowering = Preparer(plan, headers).prepare(file, loaded.data, loaded.source)
        started = time.process_time()
        jobs.preload({"cuda"})
        jobs.lower(msgspec.msgpack.encode(lowering.job))
    print(time.process_time() - started)


if __name__ == "__main__":
    sys.exit(main())
