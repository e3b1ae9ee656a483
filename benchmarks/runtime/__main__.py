"""The confirmation table: ``python -m benchmarks.runtime [--device sim|gpu] [FIXTURE]...``.

A bad fixture counts where every finding of its rule is confirmed; a good one must show nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from benchmarks.runtime.every_fault import try_every_fault
from benchmarks.runtime.judging import Row, judge_unit
from benchmarks.runtime.tables import (
    differences,
    exceptions,
    not_by_sweep,
    sweep_lines,
    table,
    witness_table,
    worse,
)
from benchmarks.runtime.units import Unit, find_units, lint_units, load_findings, save_findings

BASELINE = Path(__file__).parent / "baseline.json"


def main() -> int:
    """Print the table; 1 when it is worse than the baseline, where fewer fixtures ran than were
    asked for, or where the sweep alone must show a finding and did not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runtime", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="fixtures [default: all]")
    parser.add_argument("--device", choices=["sim", "gpu"], default="sim")
    parser.add_argument("--language", choices=["cpp", "python", "all"], default="all")
    parser.add_argument("--rules", help="codes, separated by commas [default: all with verdicts]")
    parser.add_argument("--findings", type=Path, help="static findings from this file")
    parser.add_argument("--save-findings", type=Path, help="keep the static findings, run nothing")
    parser.add_argument("--json", action="store_true", help="all rows as JSON")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=120.0, help="budget of one fixture")
    parser.add_argument(
        "--sample", type=int, metavar="COUNT",
        help="only so many fixtures, always the same ones",
    )  # fmt: skip
    parser.add_argument("--keep", type=Path, help="also write all rows, as JSON, to this file")
    parser.add_argument("--update", action="store_true", help="make this the baseline")
    parser.add_argument(
        "--every-fault", action="store_true",
        help="good fixtures only, with each of their calls failing: nothing may be lost or misused",
    )  # fmt: skip
    parser.add_argument("--bad", action="store_true", help="bad fixtures only")
    arguments = parser.parse_args()

    from cudalint.runtime.evidence import judged

    wanted = arguments.rules.split(",") if arguments.rules else None
    units = [
        unit
        for unit in find_units(arguments.paths)
        if (unit.code in wanted if wanted else judged(unit.code))
        and arguments.language in ("all", unit.language)
        and (unit.bad or not arguments.bad)
        and not (unit.bad and arguments.every_fault)
    ]
    started = time.monotonic()
    if arguments.sample:
        units.sort(key=lambda unit: hashlib.sha256(unit.name.encode()).digest())
        del units[arguments.sample :]
    if arguments.every_fault:
        return every_fault(units, arguments)
    if arguments.findings:
        static = load_findings(arguments.findings)
    else:
        static = lint_units(units, arguments.jobs)
    if arguments.save_findings:
        save_findings(static, arguments.save_findings)
        return 0
    linted = time.monotonic() - started

    def one(unit: Unit) -> Row:
        return judge_unit(unit, static.get(unit.name, ()), arguments.device, arguments.seconds)

    rows: list[Row] = []
    # Programs share a GPU well: most of their time is the making of a context.
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(one, units):
            rows.append(row)
            if sys.stderr.isatty():
                print(f"\r{len(rows)}/{len(units)}", end="", file=sys.stderr)
    known = json.loads(BASELINE.read_text()) if BASELINE.is_file() else {}
    baseline = known.get(arguments.device, {})
    lost = [f"worse: {line}" for line in worse(rows, baseline)] + not_by_sweep(rows)
    if len(rows) < (arguments.sample or 1):
        lost.append(f"{len(rows)} fixtures ran: too few")
    if arguments.keep:
        arguments.keep.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        for language in ("cpp", "python"):
            if any(row.language == language for row in rows):
                own = [row for row in rows if row.language == language]
                print("\n".join((language, table(rows, language), *sweep_lines(own), "")))
        for line in exceptions(rows):
            print(line)
        for row in rows:
            if row.known:
                print(f"{row.unit}: as it should be: {'; '.join(row.known)}")
        if any(row.witness for row in rows):
            print(f"compute-sanitizer\n{witness_table(rows)}\n")
        if arguments.device == "gpu" and "sim" in known:
            differing = differences(rows, known["sim"])
            print("\n".join((f"{len(differing)} differ from the simulated device", *differing)))
        seconds = time.monotonic() - started
        print(f"{len(rows)} fixtures in {seconds:.0f} s ({linted:.0f} s of it linting)")
    for line in lost:
        print(line, file=sys.stderr)
    if arguments.update:
        outcomes = {**baseline, **{row.unit: row.outcome for row in rows}}
        known[arguments.device] = dict(sorted(outcomes.items()))
        BASELINE.write_text(json.dumps(known, indent=1) + "\n")
        return 0
    return 1 if lost else 0


def every_fault(units: list[Unit], arguments: argparse.Namespace) -> int:
    """1 where a good fixture loses or misuses anything when one call fails."""
    started = time.monotonic()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(
            pool.map(lambda one: try_every_fault(one, arguments.device, arguments.seconds), units)
        )
    for row in rows:
        if row.not_run:
            print(f"{row.unit}: not run: {row.not_run}")
    for row in rows:
        for alarm in row.alarms:
            print(f"{row.unit}: {alarm}", file=sys.stderr)
    alarmed = sum(bool(row.alarms) for row in rows)
    print(
        f"{len(rows)} good fixtures, {sum(row.runs for row in rows)} runs with one call failing"
        f" ({sum(row.survived for row in rows)} came to their end),"
        f" {alarmed} fixtures with an alarm; {time.monotonic() - started:.0f} s"
    )
    return 1 if alarmed or not any(row.runs for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
