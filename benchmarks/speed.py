"""``python -m benchmarks.speed PATH...``: cudalint's time and memory beside clang-tidy's, and for
Python beside flake8's and a bare libcst parse.

Both read the same files with the same flags on the same number of processors, in one run: cudalint
all files at once, clang-tidy one process per file, as its own ``run-clang-tidy`` does. clang's
analyzer skips files with errors, so that the comparison counts only files that it reads without.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks import common
from cudalint.plan import Plan
from cudalint.project.files import discover
from cudalint.selection import ReadFile

_CHECKS = "-*,clang-analyzer-*"
_LONGEST = 600.0


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    seconds: float
    processor_seconds: float
    memory: int
    """Peak of its largest process, in bytes."""
    status: int
    output: str = ""

    def per_file(self, files: int) -> str:
        """Seconds per file, as a cell."""
        return f"{self.seconds / max(files, 1):.3f}"


_MEASURE = """
import json, os, sys, time
started = time.monotonic()
process = os.spawnvp(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(process, 0)
with open(sys.argv[1], "w") as file:
    json.dump([time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss,
               os.waitstatus_to_exitcode(status)], file)
"""
"""Run by a small process of its own: Linux counts the size of whoever starts a command as the
command's, and this one has the whole repository in memory."""


def run(
    command: Sequence[str], environment: dict[str, str] | None = None, place: Path | None = None
) -> Cost:
    """Run a command, in the folder ``place``, and measure it, its children included."""
    with tempfile.TemporaryDirectory(prefix="cudalint-speed-") as folder:
        figures = Path(folder) / "figures"
        measuring = [sys.executable, "-I", "-S", "-c", _MEASURE, str(figures), *command]
        done = subprocess.run(
            measuring,
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=place,
        )
        seconds, used, memory, status = json.loads(figures.read_text())
    # Linux counts kilobytes, macOS bytes:
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(seconds, used, memory * unit, status, done.stdout.decode("utf-8", "replace"))


# clang-tidy -------------------------------------------------------------------------------------


def find_clang_tidy() -> str | None:
    """The executable of the ``clang-tidy`` wheel beside this Python, or any on the path."""
    beside = Path(sys.executable).parent / "clang-tidy"
    return str(beside) if beside.exists() else shutil.which("clang-tidy")


def clang_arguments(program: ReadFile, plan: Plan) -> list[str]:
    """The flags with which cudalint reads a file, its precompiled header as a plain one."""
    from cudalint.frontends.cuda.flags import (
        all_system_folders,
        base_arguments,
        language_of,
        prefix_for,
        project_arguments,
    )
    from cudalint.frontends.cuda.includes import find_includes
    from cudalint.frontends.cuda.options import ParseOptions
    from cudalint.frontends.cuda.precompiled import including, prefix_headers
    from cudalint.frontends.cuda.toolchain import find_toolchain
    from cudalint.jobs import decode_options
    from cudalint.lowering import Preparer

    order = Preparer(plan, None).prepare(program.file, program.data, program.source).job
    options: ParseOptions = decode_options(order.parse, ParseOptions)
    toolchain = find_toolchain()
    language = language_of(order.filename, order.text)
    known = (*options.include_folders, *options.system_folders)
    system = all_system_folders(toolchain)
    includes = find_includes(order.filename, order.text, known, system, options.root)
    arguments = base_arguments(language, options.standard, toolchain)
    arguments += including(prefix_headers(prefix_for(language, order.text, includes.names)))
    arguments += project_arguments(options)
    for folder in includes.folders:
        arguments += ["-idirafter", folder]
    return arguments


def run_clang_tidy(
    executable: str, programs: Sequence[ReadFile], plan: Plan, workers: int
) -> list[Cost]:
    """One process per file, ``workers`` at a time."""
    counter = common.Counter("clang-tidy", len(programs))

    def one(program: ReadFile) -> Cost:
        command = [executable, "--quiet", f"--checks={_CHECKS}", str(program.file.path), "--"]
        cost = run([*command, *clang_arguments(program, plan)])
        counter.step()
        return cost

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, programs))


def has_errors(cost: Cost) -> bool:
    """Whether clang could not compile the file, and so did not analyse it."""
    return ": error: " in cost.output or cost.status != 0


# cudalint ---------------------------------------------------------------------------------------


def run_cudalint(paths: Sequence[Path], cache: Path, workers: int) -> Cost:
    """The command line, on all paths in one run."""
    command = [sys.executable, "-m", "cudalint", "check", "--isolated", "--quiet"]
    command += ["--cache-dir", str(cache), "--jobs", str(workers), *map(str, paths)]
    cost = run(command, {**os.environ, "CI": "1"})
    if cost.status not in (0, 1, 2) or "internal error" in cost.output:
        errors = [line for line in cost.output.splitlines() if line.startswith("cudalint:")]
        raise RuntimeError("\n".join([f"cudalint ended with {cost.status}", *errors]))
    return cost


def cold_and_warm(paths: Sequence[Path], workers: int) -> Iterator[tuple[str, Cost]]:
    """With nothing cached, with only the precompiled headers there, and with everything cached."""
    with tempfile.TemporaryDirectory(prefix="cudalint-speed-") as folder:
        cache = Path(folder)
        yield "cold, headers made", run_cudalint(paths, cache, workers)
        yield "warm", run_cudalint(paths, cache, workers)
        for entry in cache.iterdir():
            if entry.name != "headers":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        yield "cold, headers ready", run_cudalint(paths, cache, workers)


# Python -----------------------------------------------------------------------------------------

_PARSE = """
import sys, libcst
for name in sys.stdin.read().splitlines():
    with open(name, "rb") as file:
        try:
            libcst.parse_module(file.read())
        except Exception:
            pass
"""

_FLAKE8 = """
from cudalint.flake8_plugin import Plugin
Plugin.run = lambda self: iter(())
from flake8.main.cli import main
main()
"""
"""Without cudalint's own plugin."""


def run_libcst(paths: Sequence[Path]) -> Cost:
    """The parser that cudalint uses, and nothing else, in one process."""
    with tempfile.TemporaryDirectory(prefix="cudalint-speed-") as folder:
        names = Path(folder) / "names"
        names.write_text("\n".join(map(str, paths)))
        script = _PARSE.replace("sys.stdin", f"open({str(names)!r})")
        return run([sys.executable, "-c", script])


def run_flake8(paths: Sequence[Path], workers: int) -> Cost | None:
    """flake8 with its own checks only; ``None`` where it is not installed."""
    if importlib.util.find_spec("flake8") is None:
        return None
    command = [sys.executable, "-c", _FLAKE8, "--isolated", "-qq", f"-j{workers}"]
    return run([*command, *map(str, paths)])


def compare_python(paths: Sequence[Path], workers: int, alone: bool) -> Iterator[list[str]]:
    """The rows of Python files."""
    parse = None if alone else run_libcst(paths)
    if parse is not None:
        yield _row("libcst, parse only (1 process)", parse, len(paths))
    flake8 = None if alone else run_flake8(paths, workers)
    if flake8 is not None:
        yield _row("flake8", flake8, len(paths))
    for name, cost in cold_and_warm(paths, workers):
        if "ready" not in name:
            label = name.partition(",")[0]
            yield _row(f"cudalint, Python, {label}", cost, len(paths), flake8 or parse)


def scan(paths: Sequence[Path], plan: Plan) -> list[str]:
    """The byte scan alone, over files that are in the system's cache."""
    from cudalint.frontends.python.prefilter import mentions_cuda

    found = [file for file in discover(paths, plan.settings, plan.root).files if not file.is_cuda]
    contents = [file.path.read_bytes() for file in found if file.language == "python"]
    started, used = time.monotonic(), time.process_time()
    for data in contents:
        mentions_cuda(data)
    cost = Cost(time.monotonic() - started, time.process_time() - used, 0, 0)
    row = _row("byte scan, Python files", cost, len(contents))
    row[3] = f"{1e6 * cost.processor_seconds / max(len(contents), 1):.0f} us"
    return row


# Output -----------------------------------------------------------------------------------------


def _row(name: str, cost: Cost, files: int, other: Cost | None = None) -> list[str]:
    faster = f"{other.seconds / cost.seconds:.1f} x" if other else ""
    less_work = f"{other.processor_seconds / cost.processor_seconds:.1f} x" if other else ""
    return [
        name,
        str(files),
        f"{cost.seconds:.2f}",
        cost.per_file(files),
        f"{cost.processor_seconds:.2f}",
        f"{cost.memory / 1024**2:.0f}",
        faster,
        less_work,
    ]


_HEAD = ["", "files", "seconds", "per file", "CPU s", "peak MiB", "faster", "less CPU"]


def compare(
    programs: Sequence[ReadFile], plan: Plan, executable: str, workers: int
) -> tuple[list[list[str]], float | None, str]:
    """The rows of CUDA files, how many times faster cudalint is cold, and what was left out."""
    costs = run_clang_tidy(executable, programs, plan, workers)
    kept = [number for number, cost in enumerate(costs) if not has_errors(cost)]
    note = f"clang-tidy reads {len(kept)} of {len(programs)} files without errors; only they count"
    if not kept:
        return [], None, note
    tidy = Cost(
        sum(costs[number].seconds for number in kept) / min(workers, len(kept)),
        sum(costs[number].processor_seconds for number in kept),
        max(costs[number].memory for number in kept),
        0,
    )
    rows = [_row("clang-tidy", tidy, len(kept))]
    ratio = None
    for name, cost in cold_and_warm([programs[number].file.path for number in kept], workers):
        rows.append(_row(f"cudalint, {name}", cost, len(kept), tidy))
        ratio = ratio or tidy.seconds / cost.seconds
    return rows, ratio, note


def one_by_one(
    programs: Sequence[ReadFile], plan: Plan, executable: str | None
) -> Iterator[list[str]]:
    """Each file in a run of its own, with the precompiled headers there."""
    yield ["file", "cudalint s", "MiB", "clang-tidy s", "MiB"]
    with tempfile.TemporaryDirectory(prefix="cudalint-speed-") as folder:
        run_cudalint([program.file.path for program in programs], Path(folder), 1)
        for program in programs:
            for entry in Path(folder).iterdir():
                if entry.name != "headers":
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            own = run_cudalint([program.file.path], Path(folder), 1)
            row = [program.file.filename, f"{own.seconds:.2f}", f"{own.memory / 1024**2:.0f}"]
            if executable is not None and program.file.language == "cuda":
                (cost,) = run_clang_tidy(executable, [program], plan, 1)
                row += [f"{cost.seconds:.2f}", f"{cost.memory / 1024**2:.0f}"]
                row[-1] += " (errors)" if has_errors(cost) else ""
            yield row + [""] * (5 - len(row))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.speed", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time, for both")
    parser.add_argument("--clang-tidy", metavar="FILE", help="its executable (PyPI: clang-tidy)")
    parser.add_argument("--without-cuda", type=Path, metavar="PATH", help="a tree with no CUDA")
    parser.add_argument("--sample", type=int, metavar="N", help="only N of the Python files")
    parser.add_argument("--alone", action="store_true", help="Python: no flake8, no bare libcst")
    parser.add_argument("--each", action="store_true", help="each file alone as well")
    parser.add_argument("--fail-under", type=float, metavar="TIMES", help="least ratio, cold")
    options = parser.parse_args(arguments)
    plan = common.plan_for(options.paths, None, options.workers)
    programs = common.read_programs(options.paths, plan)
    if not programs:
        parser.error("no CUDA there")
    cuda = [program for program in programs if program.file.language == "cuda"]
    python = [program for program in programs if program.file.language == "python"]
    executable = options.clang_tidy or find_clang_tidy()
    with tempfile.TemporaryDirectory(prefix="cudalint-speed-") as folder:
        # What breaks should break before clang-tidy has taken its time:
        first = [program.file.path for program in programs if program.file.language == "cuda"]
        run_cudalint(first or [programs[0].file.path], Path(folder), options.workers)
    rows, ratio, note = [_HEAD], None, "no clang-tidy: `pip install clang-tidy`"
    if cuda and executable:
        found, ratio, note = compare(cuda, plan, executable, options.workers)
        rows += found
    elif cuda:
        paths = [program.file.path for program in cuda]
        rows += [_row(f"CUDA, {n}", c, len(cuda)) for n, c in cold_and_warm(paths, options.workers)]
    if python:
        chosen = sorted(program.file.path for program in python)
        if options.sample and options.sample < len(chosen):
            chosen = sorted(random.Random(0).sample(chosen, options.sample))
        rows += compare_python(chosen, options.workers, options.alone)
    rows.append(scan(options.paths, plan))
    other = options.without_cuda or Path(sysconfig.get_path("stdlib"))
    with tempfile.TemporaryDirectory(prefix="cudalint-speed-") as folder:
        cost = run_cudalint([other], Path(folder), options.workers)
    count = len(discover([other], plan.settings, other).files)
    rows.append(_row("a tree without CUDA", cost, count))
    print("\n".join(common.table(rows)))
    if cuda:
        print(f"\n{note}")
    if options.each:
        print()
        print("\n".join(common.table(list(one_by_one(programs, plan, executable)))))
    if options.fail_under is not None and (ratio is None or ratio < options.fail_under):
        print(f"cold is not {options.fail_under:g} times faster", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
