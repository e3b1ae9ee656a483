"""The table of fixes: ``python -m benchmarks.fixes [--compile N] [--run N] [FIXTURE]...``.

Of each rule's bad fixtures: how many findings there are, how many have a fix, how many of these are
safe, and how many of those that have one are gone once all fixes are made. 1 when a fix is wrong:
its finding stays, another comes of it, it is offered and taken back, a second time changes more.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import previewed, table
from benchmarks.documents import markdown, write_section
from benchmarks.fixes.mending import Mended, counted, faults, mend
from benchmarks.runtime.units import CPP, Unit, find_units
from cudalint.findings.fix import Applicability
from cudalint.findings.verdict import Outcome


@dataclass
class Row:
    """One rule's line of the table."""

    fixtures: int = 0
    findings: int = 0
    safe: int = 0
    unsafe: int = 0
    gone: int = 0

    def numbers(self) -> list[str]:
        """As the table shows them."""
        fixed = self.safe + self.unsafe
        return [str(one) for one in (self.fixtures, self.findings, fixed, self.safe, self.gone)]


def main() -> int:
    """Print the table; 1 when a fix is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fixes", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="fixtures [default: all bad ones]")
    parser.add_argument("--compile", type=int, default=0, metavar="N", help="compile every Nth")
    parser.add_argument("--run", type=int, default=0, metavar="N", help="run every Nth (simulated)")
    parser.add_argument("--cache", type=Path, help="a folder that keeps what was read")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the table, into this document")
    arguments = parser.parse_args()
    units = [unit for unit in find_units(arguments.paths) if unit.bad]
    rows: defaultdict[str, Row] = defaultdict(Row)
    wrong: list[str] = []
    changed: list[tuple[Unit, Mended]] = []
    with tempfile.TemporaryDirectory() as folder:
        for unit in units:
            options = ("--extend-select", previewed(), *unit.options)
            mended = mend(unit.path, options, arguments.cache or Path(folder))
            wrong += [f"{unit.name}: {fault}" for fault in faults(mended)]
            _count(mended, rows)
            if mended.fixed.contents:
                changed.append((unit, mended))
        print("\n".join(table(_table(rows))))
        for unit, mended in _every(arguments.compile, changed):
            wrong += [f"{unit.name}: {fault}" for fault in _compiled(mended, Path(folder))]
        for unit, mended in _every(arguments.run, changed):
            wrong += [f"{unit.name}: {fault}" for fault in _run(unit, mended, Path(folder))]
    if arguments.write:
        write_section(arguments.write, "fixes made", markdown(_table(rows, fixed_only=True)))
    for fault in wrong:
        print(f"wrong: {fault}")
    return 1 if wrong else 0


def _every(count: int, units: Sequence[tuple[Unit, Mended]]) -> list[tuple[Unit, Mended]]:
    native = [one for one in units if one[0].language == "cpp"]
    return native[::count] if count else []


def _count(mended: Mended, rows: defaultdict[str, Row]) -> None:
    before, left = counted(mended.before.active), counted(mended.after.active)
    offered = counted([finding for finding in mended.before.active if finding.fix is not None])
    for code in {finding.code for finding in mended.before.active}:
        own = [finding for finding in mended.before.active if finding.code == code]
        row = rows[code]
        row.fixtures += 1
        row.findings += len(own)
        fixes = [finding.fix.applicability for finding in own if finding.fix is not None]
        row.safe += fixes.count(Applicability.SAFE)
        row.unsafe += fixes.count(Applicability.UNSAFE)
        row.gone += sum(
            min(count, before[key] - left[key]) for key, count in offered.items() if key[0] == code
        )


def _table(rows: dict[str, Row], *, fixed_only: bool = False) -> list[list[str]]:
    """The head, a line of each rule (of which there is a fix), and the sums."""
    total = Row()
    lines = [["rule", "fixtures", "findings", "with a fix", "of these safe", "gone"]]
    for code, row in sorted(rows.items()):
        for name in ("fixtures", "findings", "safe", "unsafe", "gone"):
            setattr(total, name, getattr(total, name) + getattr(row, name))
        if row.safe + row.unsafe or not fixed_only:
            lines.append([code, *row.numbers()])
    return [*lines, ["all", *total.numbers()]]


def _written(unit: Path, mended: Mended, folder: Path) -> Path:
    """A copy of a unit with its fixes."""
    target = Path(tempfile.mkdtemp(dir=folder)) / unit.name
    if unit.is_dir():
        shutil.copytree(unit, target)
    else:
        shutil.copy(unit, target)
    for file in mended.files:
        if file.path in mended.fixed.contents:
            place = target / file.path.relative_to(unit) if unit.is_dir() else target
            place.write_bytes(mended.fixed.contents[file.path])
    return target


def _compiled(mended: Mended, folder: Path) -> list[str]:
    """What the compiler says against the files of a unit that have changed, and not before."""
    found = []
    for file in mended.files:
        if file.path in mended.fixed.contents and file.path.suffix in CPP:
            told = _errors(_written(file.path, mended, folder), file.path.parent)
            if told and not _errors(file.path, file.path.parent):
                found.append(f"does not compile: {told[:400]}")
    return found


def _errors(path: Path, beside: Path) -> str:
    told = subprocess.run(
        ["nvcc", "-std=c++17", "-I", str(beside), "-c", "-o", "/dev/null", path],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stderr.strip() if told.returncode else ""


def _run(unit: Unit, mended: Mended, folder: Path) -> list[str]:
    """What a run still confirms of what was mended."""
    copy = _written(unit.path, mended, folder)
    script = [sys.executable, "-m", "cudalint", "--isolated", "--runtime=sim", "--no-cache"]
    told = subprocess.run(
        [*script, "--output-format=json", *unit.options, str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode not in (0, 1):
        return [f"cannot be run: {told.stderr.strip()[:400]}"]
    left = {(finding.code, finding.function) for finding in mended.after.active}
    made = {(finding.code, finding.function) for finding in mended.fixed.made} - left
    return [
        f"{finding['code']} is confirmed: {finding['message']}"
        for finding in json.loads(told.stdout)["findings"]
        if (finding["code"], finding["function"] or "") in made
        and finding["runtime"]
        and finding["runtime"]["verdict"] == Outcome.CONFIRMED.value
    ]


if __name__ == "__main__":
    sys.exit(main())
