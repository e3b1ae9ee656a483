"""What the pretended device shows of the fixtures of a framework, and how well it knows peaks:
``python -m benchmarks.runtime.pretended [--framework torch|cupy] [--peaks] [FIXTURE]...``.

A fixture can run where its file is a program that comes to its end: it asks for no argument, file
or package that is not there. One that is confirmed ran, whatever ended it; one that is ended
by its own misuse and not confirmed is not counted, nor is one whose verdict needs what is not
simulated.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.runtime.judging import Row, judge_unit
from benchmarks.runtime.units import Unit, find_units, lint_units
from cudalint.findings.verdict import Outcome
from cudalint.runtime.devices import Simulated
from cudalint.runtime.execute import Run, execute
from cudalint.runtime.frameworks import programs
from cudalint.runtime.processes import ProcessLimits

RULES = (
    "GPU401", "GPU402", "GPU501", "GPU502", "GPU503", "GPU504", "GPU601", "GPU602", "GPU603",
    "GPU605", "GPU606", "GPU608",
)  # fmt: skip
PEAK = Path(__file__).parent.parent / "peak"
_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ALLOWED = 0.1


def uses(unit: Unit, framework: str) -> bool:
    imported = re.compile(rf"^\s*(?:import|from) {framework}\b", re.MULTILINE)
    return unit.language == "python" and any(
        imported.search(file.read_text("utf-8")) for file in unit.files
    )


def is_program(unit: Unit) -> bool:
    """Whether any of its files does more than to define something."""
    return any(
        not isinstance(one, (*_DEFINITIONS, ast.Assign, ast.AnnAssign))
        and not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for file in unit.files
        if file.suffix == ".py"
        for one in ast.parse(file.read_text("utf-8")).body
    )


def can_run(unit: Unit, row: Row) -> bool:
    """What is confirmed has run, however it ended: out of memory is an end."""
    ended = row.outcome != Outcome.NOT_RUNNABLE.value and not row.endings
    return is_program(unit) and (ended or row.outcome == Outcome.CONFIRMED.value)


def lines(units: Sequence[Unit], rows: Sequence[Row]) -> Iterator[str]:
    """The table, and every exception below it."""
    pairs = list(zip(units, rows, strict=True))
    yield "| rule | bad | can run | confirmed | good | can run | with an alarm |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    totals: Counter[str] = Counter()
    for code in sorted({unit.code for unit in units}):
        counts: Counter[str] = Counter()
        for unit, row in pairs:
            if unit.code == code:
                side = "bad" if unit.bad else "good"
                counts[side] += 1
                counts[side + " runs"] += can_run(unit, row)
                counts["confirmed"] += can_run(unit, row) and row.outcome == "confirmed"
                counts["alarm"] += row.outcome == "alarm"
        totals += counts
        yield _line(code, counts)
    yield _line("all", totals)
    if totals["bad runs"]:
        share = totals["confirmed"] / totals["bad runs"]
        yield f"\nOf the bad ones that can run, {share:.1%} are confirmed.\n"
    for unit, row in pairs:
        if row.outcome not in ("confirmed", "silent"):
            kind = "" if can_run(unit, row) else "cannot run: "
            said = "; ".join((*row.reasons, *row.endings))
            yield f"- `{row.unit}`: {kind}{row.outcome}: {said}"


def _line(name: str, counts: Counter[str]) -> str:
    keys = ("bad", "bad runs", "confirmed", "good", "good runs", "alarm")
    return f"| {name} | " + " | ".join(str(counts[key]) for key in keys) + " |"


def peak_of(program: Path) -> int:
    """The peak of a program of ``benchmarks/peak`` on the pretended device."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **programs.environment(),
            programs.TRACE: str(Path(folder) / "trace"),
            programs.HISTORY: "0",
        }
        command = programs.script_command(PEAK / "measure.py", [str(program)])
        limits = ProcessLimits(seconds=120.0)
        result = execute(Run(command, Simulated(), environment=environment, limits=limits))
    told = json.loads(result.stdout.strip().splitlines()[-1])
    if "bytes" not in told:
        raise RuntimeError(f"{program.name}: {told}")
    return int(told["bytes"])


def peaks(framework: str = "torch") -> Iterator[tuple[str, int, int]]:
    """Each program of ``benchmarks/peak``: pretended, and measured on an H200."""
    for one in json.loads((PEAK / "h200.json").read_text())["programs"]:
        if one["program"].startswith(f"{framework}_"):
            program = PEAK / "programs" / f"{one['program']}.py"
            yield one["program"], peak_of(program), int(one["measured"]["bytes"])


def main() -> int:
    """1 where a good fixture raises an alarm, or a peak is off by more than a tenth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="fixtures [default: all]")
    parser.add_argument("--framework", choices=["torch", "cupy"], default="torch")
    parser.add_argument("--rules", default=",".join(RULES), help="codes, separated by commas")
    parser.add_argument("--peaks", action="store_true", help="only the peaks")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=120.0, help="budget of one fixture")
    arguments = parser.parse_args()
    if arguments.peaks:
        print("| program | pretended | measured | difference |\n|---|--:|--:|--:|")
        worst = 0.0
        for name, here, there in peaks(arguments.framework):
            worst = max(worst, abs(here / there - 1))
            print(f"| {name} | {here:,} | {there:,} | {here / there - 1:+.2%} |")
        return int(worst > _ALLOWED)
    units = [
        unit
        for unit in find_units(arguments.paths)
        if unit.code in arguments.rules.split(",") and uses(unit, arguments.framework)
    ]
    static = lint_units(units, arguments.jobs)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(
            pool.map(
                lambda unit: judge_unit(unit, static.get(unit.name, ()), "sim", arguments.seconds),
                units,
            )
        )
    print("\n".join(lines(units, rows)))
    return int(any(row.outcome == "alarm" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
