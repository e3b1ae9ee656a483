"""``python -m benchmarks.goldens``: findings and summaries as text, to compare two states of the
engine, and the same run under several hash seeds.

``dump OUT PATH...``
    writes ``OUT/findings.jsonl`` and ``OUT/summaries.txt``: every finding, and the summary of every
    function, of the programs below the paths.
``compare BEFORE AFTER``
    lists what differs between two such folders; the exit status is 1 where anything does.
``seeds PATH... [--seeds 0,1,2,3,4]``
    dumps in fresh processes under several values of ``PYTHONHASHSEED``, with other numbers of
    workers and orders of files, cold and from the cache; the exit status is 1 where two differ.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import enum
import hashlib
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import common
from cudalint import jobs
from cudalint.apis.loader import ApiModels, load
from cudalint.grouping.parts import parts_of
from cudalint.linter import lint
from cudalint.lowering import Preparer, header_folder
from cudalint.plan import Plan
from cudalint.program import Program
from cudalint.project.cache import Cache
from cudalint.project.files import discover

FINDINGS, SUMMARIES = "findings.jsonl", "summaries.txt"
SEEDS = (0, 1, 2, 3, 4)
_MOST_LINES = 400


def stable(value: Any) -> str:
    """A value as text that does not depend on the order of sets."""
    if isinstance(value, frozenset | set):
        return "{" + ", ".join(sorted(stable(item) for item in value)) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{stable(k)}: {stable(v)}" for k, v in value.items()) + "}"
    if isinstance(value, enum.Enum):
        return value.name
    names: Sequence[str] = ()
    if isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
    elif dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        names = value._fields
    elif isinstance(value, tuple | list):
        return "(" + ", ".join(map(stable, value)) + ")"
    if not names:
        return repr(value)
    parts = (f"{name}={stable(getattr(value, name))}" for name in names)
    return f"{type(value).__name__}({', '.join(parts)})"


# Dumping ----------------------------------------------------------------------------------------


def dump(out: Path, paths: Sequence[Path], workers: int, cache: Path, backwards: bool) -> None:
    """Write the findings and the summaries of what is below some paths."""
    out.mkdir(parents=True, exist_ok=True)
    plan = common.plan_for(paths, cache, workers)
    plan = dataclasses.replace(plan, settings=msgspec.structs.replace(plan.settings, preview=True))
    files = discover(paths, plan.settings, plan.root).files
    report = lint(files[::-1] if backwards else files, plan)
    with (out / FINDINGS).open("wb") as stream:
        for error in (*report.errors, *report.notes):
            stream.write(msgspec.json.encode(error) + b"\n")
        for finding in report.findings:
            stream.write(msgspec.json.encode(finding) + b"\n")
    with (out / SUMMARIES).open("w", encoding="utf-8") as text:
        for line in _summaries(paths, plan):
            text.write(line + "\n")


def _summaries(paths: Sequence[Path], plan: Plan) -> Iterator[str]:
    lowered = _lowered(paths, plan)
    for part in parts_of({name: lowered[name].links for name in sorted(lowered)}):
        decoded = [
            msgspec.msgpack.decode(lowered[name].program, type=Program)
            for name in (*part.files, *part.context)
        ]
        yield from _of_programs([one for whole in decoded for one in (whole, *whole.embedded)])


def _lowered(paths: Sequence[Path], plan: Plan) -> dict[str, jobs.Lowered]:
    """What the linter has left in its cache."""
    assert plan.cache_folder is not None
    cache = Cache(plan.cache_folder)
    found: dict[str, jobs.Lowered] = {}
    programs = common.read_programs(paths, plan)
    with header_folder(plan) as headers:
        preparer = Preparer(plan, headers)
        for one in programs:
            kept = cache.load(preparer.prepare(one.file, one.data, one.source).key)
            if kept is not None:
                found[one.file.filename] = msgspec.msgpack.decode(kept, type=jobs.Lowered)
    return found


def _of_programs(programs: Sequence[Program]) -> Iterator[str]:
    from cudalint.analysis.summaries import Linker

    models: dict[str, ApiModels] = {one.language: load(one.language) for one in programs}
    linker = Linker(programs, models)
    for function, program in linker.functions():
        linker.run_of(function, program)
    for function, _ in linker.functions():
        summary, _ = linker.summary(function.key, function.filename)
        yield f"== {function.filename}:{function.span.row} {function.name}"
        if summary is None:
            yield "no summary"
            continue
        for field in dataclasses.fields(summary):
            value = getattr(summary, field.name)
            if field.name == "outcomes":
                yield from (f"  {stable(outcome)}" for outcome in value)
            else:
                yield f"{field.name}: {stable(value)}"


# Comparing --------------------------------------------------------------------------------------


def compare(before: Path, after: Path) -> list[str]:
    """What differs between two dumps, as a unified difference without context."""
    lines: list[str] = []
    for name in (FINDINGS, SUMMARIES):
        texts = [(folder / name).read_text(encoding="utf-8") for folder in (before, after)]
        if texts[0] != texts[1]:
            first, second = (text.splitlines() for text in texts)
            lines += difflib.unified_diff(first, second, f"a/{name}", f"b/{name}", "", "", 0, "")
    return lines


def seeds(paths: Sequence[Path], values: Sequence[int], workers: int) -> list[str]:
    """Dump under each seed in a process of its own, other workers, orders and caches in turn."""
    with tempfile.TemporaryDirectory(prefix="cudalint-seeds-") as scratch:
        digests: dict[str, str] = {}
        first = Path(scratch) / "0"
        for number, (seed, backwards) in enumerate(
            zip(values, itertools.cycle((False, True)), strict=False)
        ):
            out = Path(scratch) / str(number)
            # The second starts cold as the first does; every other one reads what that before it
            # has left in the cache.
            cache = Path(scratch) / f"cache{(number + 1) // 2}"
            jobs_used = 1 + number % workers
            command = [sys.executable, "-m", "benchmarks.goldens", "dump", str(out)]
            command += ["--jobs", str(jobs_used), "--cache", str(cache)]
            command += ["--backwards"] if backwards else []
            command += map(str, paths)
            subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": str(seed)})
            text = b"".join((out / name).read_bytes() for name in (FINDINGS, SUMMARIES))
            digests[f"seed {seed}, {jobs_used} workers"] = hashlib.sha256(text).hexdigest()[:16]
        for what, digest in digests.items():
            print(f"{digest}  {what}")
        last = len(digests) - 1
        return [line for n in range(1, last + 1) for line in compare(first, Path(scratch) / str(n))]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see above."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    dumping = commands.add_parser("dump")
    dumping.add_argument("out", type=Path)
    dumping.add_argument("--cache", type=Path, default=Path(".cudalint_cache/goldens"))
    dumping.add_argument("--backwards", action="store_true", help="files in reverse order")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    seeding = commands.add_parser("seeds")
    seeding.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    for command in (dumping, seeding):
        command.add_argument("paths", type=Path, nargs="+")
        command.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    lines: list[str] = []
    if options.command == "dump":
        dump(options.out, options.paths, options.jobs, options.cache, options.backwards)
    elif options.command == "compare":
        lines = compare(options.before, options.after)
    else:
        values = [int(value) for value in options.seeds.split(",")]
        lines = seeds(options.paths, values, options.jobs)
    for line in lines[:_MOST_LINES]:
        print(line[:2000])
    if len(lines) > _MOST_LINES:
        print(f"and {len(lines) - _MOST_LINES} lines more")
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
