"""What a GPU measures of the fixtures of Python frameworks, as a Markdown table:
``python -m benchmarks.runtime.frameworks [--findings FILE] [FIXTURE]...``.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.runtime.judging import limits_of
from benchmarks.runtime.units import Unit, find_units, lint_units, load_findings
from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Outcome
from cudalint.runtime.confirm import ConfirmOptions, confirm, prepared
from cudalint.runtime.devices import Gpu, Simulated
from cudalint.runtime.frameworks.growth import device_fit, nodes_fit
from cudalint.runtime.frameworks.watches import GROWTH, Watch
from cudalint.runtime.sweep import Budget, Laboratory
from cudalint.runtime.targets import targets_of

RULES = ("GPU401", "GPU501", "GPU502", "GPU601", "GPU603", "GPU605", "GPU606")


@dataclass
class Row:
    unit: str
    bad: bool
    verdicts: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    ending: str = ""
    seconds: float = 0.0


def measure(unit: Unit, static: list[Finding], device: Gpu | Simulated, seconds: float) -> Row:
    started = time.monotonic()
    row = Row(unit.name, unit.bad)
    options = ConfirmOptions(device, Budget(seconds), seconds=seconds, limits=limits_of(unit))
    result = confirm(static, targets_of(unit.files), options)
    for finding in result.findings:
        verdict = finding.runtime
        if verdict is None:
            continue
        row.verdicts.append(f"{finding.code} line {finding.span.row}: {verdict.outcome.value}")
        if verdict.outcome is Outcome.CONFIRMED:
            row.said.append("; ".join(evidence.message for evidence in verdict.evidence))
        else:
            row.said.append(verdict.reason)
    row.verdicts += [f"{finding.code} seen" for finding in result.seen]
    row.said += [finding.message for finding in result.seen]
    row.said += result.failed.values()
    if isinstance(device, Gpu) and unit.bad:
        row.said += twin_of(unit, [f for f in static if f.code in GROWTH], device, seconds)
    row.ending = "; ".join(base.exit_text for base in result.bases.values())
    for base in result.bases.values():
        row.said += (f"note: {note}" for note in base.account.notes)
    row.seconds = round(time.monotonic() - started, 1)
    return row


def twin_of(
    unit: Unit, findings: list[Finding], device: Gpu | Simulated, seconds: float
) -> Iterator[str]:
    """How memory goes at the same lines of the good twin, which has the suggested change."""
    path = unit.path.with_name(unit.path.name.replace("bad_", "good_", 1))
    if not findings or not path.is_file():
        return
    before, after = unit.path.read_text("utf-8").split("\n"), path.read_text("utf-8").split("\n")
    rows: dict[int, int] = {}
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag in ("equal", "replace"):
            rows |= {a + n + 1: min(c + n, d - 1) + 1 for n in range(b - a)}
    watches = [
        Watch(number, str(path), rows[finding.span.row])
        for number, finding in enumerate(findings, 1)
        if finding.span.row in rows
    ]
    (target,) = targets_of([path])
    with prepared(target, ConfirmOptions(device, seconds=seconds)) as ready:
        seen = Laboratory(ready, device, Budget(seconds), history=False).measure(watches)
    for watch in watches:
        samples = seen.passes.get(watch.number, ())
        device_, nodes = device_fit(samples), nodes_fit(samples)
        if device_ is None:
            yield f"twin line {watch.row}: {len(samples)} passes {seen.exit_text}"
            continue
        grown = f"{device_.per_pass:,} bytes" if device_.grows else "no growth"
        kept = f", {nodes.per_pass:,} nodes" if nodes is not None and nodes.grows else ""
        yield f"twin line {watch.row}: {grown} in {device_.passes} passes{kept}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="fixtures [default: all]")
    parser.add_argument("--findings", type=Path, help="static findings from this file")
    parser.add_argument("--rules", default=",".join(RULES), help="codes, separated by commas")
    parser.add_argument("--good", action="store_true", help="good fixtures too")
    parser.add_argument("--sim", action="store_true", help="on a simulated device")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=100.0, help="limit of one fixture")
    parser.add_argument("--save", type=Path, help="keep all rows as JSON")
    arguments = parser.parse_args()
    units = [
        unit
        for unit in find_units(arguments.paths)
        if unit.language == "python"
        and unit.code in arguments.rules.split(",")
        and (unit.bad or arguments.good)
    ]
    static = (
        load_findings(arguments.findings)
        if arguments.findings
        else lint_units(units, arguments.jobs)
    )
    device = Simulated() if arguments.sim else Gpu.find()
    rows: list[Row] = []

    def one(unit: Unit) -> Row:
        return measure(unit, list(static.get(unit.name, ())), device, arguments.seconds)

    print(f"{device.name}\n\n| fixture | verdict | measured |\n|---|---|---|")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(one, units):
            rows.append(row)
            verdicts, said = "<br>".join(row.verdicts), "<br>".join(row.said)
            ending = f" ({row.ending})" if row.ending else ""
            print(f"| {row.unit} | {verdicts} | {said}{ending} |", flush=True)
            print(f"{row.unit}: {row.seconds} s", file=sys.stderr)
    if arguments.save:
        arguments.save.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
