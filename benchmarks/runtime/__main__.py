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
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.runtime.units import Unit, find_units, lint_units, load_findings, save_findings
from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Outcome

BASELINE = Path(__file__).parent / "baseline.json"
RULES = (
    "GPU101", "GPU102", "GPU103", "GPU104", "GPU105", "GPU106", "GPU201", "GPU202", "GPU203",
    "GPU204", "GPU205", "GPU301", "GPU302", "GPU303", "GPU304", "GPU305", "GPU405", "GPU406",
    "GPU407", "GPU501",
)  # fmt: skip
"""The rules of the goal; others are listed apart."""
SWEPT_RULES = ("GPU102", "GPU103")
"""Those whose every finding must be shown by the sweep and by nothing else."""
WITHOUT_FAULTS = "the run without faults"


@dataclass
class Row:
    """What came of one unit."""

    unit: str
    code: str
    language: str
    bad: bool
    outcome: str
    """Of a bad one the worst verdict on its rule's findings; of a good one ``silent`` or
    ``alarm``."""
    by_fault: bool = False
    """Whether a run without faults would have shown none of its findings."""
    ways: list[str] = field(default_factory=list)
    """What showed each of its findings: the call that failed, or ``the run without faults``."""
    hooked: bool = False
    """Whether only hooks in a Python framework saw it, which make few calls fail."""
    reasons: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    """What a run shows of a good one and its comments explain: ``// seen: GPU101: reason``."""
    seconds: float = 0.0
    witness: str = ""
    """What compute-sanitizer says (GPU only): of a bad one ``agrees``, or what it does not show; of
    a good one ``silent``, or what it reports."""


_WORST = (Outcome.NOT_RUNNABLE, Outcome.REFUTED, Outcome.NOT_REACHED, Outcome.CONFIRMED)


def judge_unit(unit: Unit, static: Sequence[Finding], device: str, seconds: float) -> Row:
    """Build, run and judge one unit."""
    from cudalint.runtime.confirm import ConfirmOptions, confirm
    from cudalint.runtime.sweep import Budget
    from cudalint.runtime.targets import targets_of

    row = Row(unit.name, unit.code, unit.language, unit.bad, Outcome.NOT_RUNNABLE.value)
    started = time.monotonic()
    targets = targets_of(unit.files)
    if not targets:
        row.reasons.append("no program")
        return row
    options = ConfirmOptions(
        _device(unit, device), Budget(seconds), seconds=20.0, limits=limits_of(unit)
    )
    result = confirm(static, targets, options)
    own = [f for f in result.findings if f.code == unit.code and f.runtime is not None]
    if not unit.bad:
        row.outcome = "silent"
        if result.failed:
            row.outcome = Outcome.NOT_RUNNABLE.value
            row.reasons += result.failed.values()
        confirmed = [f for f in own if f.runtime and f.runtime.outcome is Outcome.CONFIRMED]
        for finding in (*confirmed, *result.seen):
            if finding in result.seen and (reason := _known(finding)):
                row.known.append(f"line {finding.span.row}: {finding.code} {reason}")
                continue
            row.outcome = "alarm"
            row.reasons.append(_said(finding))
    elif not own and any(_at_todo(finding, unit) for finding in result.seen):
        row.outcome = Outcome.CONFIRMED.value
        row.ways.append(WITHOUT_FAULTS)
        row.reasons.append("only the run shows it")
    elif not own:
        row.reasons += result.failed.values() or ["no run can show findings of this rule"]
    else:
        verdicts = [finding.runtime for finding in own if finding.runtime]
        worst = min(verdicts, key=lambda verdict: _WORST.index(verdict.outcome))
        row.outcome = worst.outcome.value
        row.ways += [v.evidence[0].fault or WITHOUT_FAULTS for v in verdicts if v.evidence]
        row.by_fault = bool(row.ways) and WITHOUT_FAULTS not in row.ways
        row.reasons += [
            f"line {finding.span.row}: {verdict.outcome.value}: {verdict.reason}"
            for finding, verdict in zip(own, verdicts, strict=True)
            if verdict.outcome is not Outcome.CONFIRMED
        ]
    row.hooked = any(base.hooked for base in result.bases.values())
    for base in result.bases.values():
        if not base.ended and row.outcome != Outcome.CONFIRMED.value:
            row.reasons.append(f"the run without faults: {base.result.ending}")
    if device == "gpu" and unit.language == "cpp":
        row.witness = witness_of(unit, result, targets, options)
    row.seconds = round(time.monotonic() - started, 2)
    return row


def _known(finding: Finding) -> str:
    """Why what a run shows is as it should be, by the comment on its line."""
    _, mark, reason = _line_of(finding).partition(f"seen: {finding.code}:")
    return reason.strip() if mark else ""


def _line_of(finding: Finding) -> str:
    path = Path(finding.filename)
    lines = path.read_text("utf-8").split("\n") if path.is_file() else []
    return lines[finding.span.row - 1] if 0 < finding.span.row <= len(lines) else ""


def witness_of(unit: Unit, result: Any, targets: Sequence[Any], options: Any) -> str:
    """What compute-sanitizer says of a unit: the same as the ledger, or where it differs."""
    from cudalint.runtime.sanitizer import LEAK, TOOL, SanitizerError

    if unit.bad:
        missing: list[str] = []
        agreed = 0
        for finding in result.findings:
            verdict = finding.runtime
            if verdict is None or verdict.outcome is not Outcome.CONFIRMED:
                continue
            if any(evidence.witness == TOOL for evidence in verdict.evidence):
                agreed += 1
            else:
                missing.append(f"line {finding.span.row}: {verdict.evidence[0].message}")
        return "; ".join(missing) if missing else "agrees" if agreed else ""
    from cudalint.runtime.confirm import TargetError, prepared
    from cudalint.runtime.second_witness import SecondWitness

    leaks: list[str] = []
    for target in targets:
        try:
            with prepared(target, options) as ready:
                records = SecondWitness(ready, options.device).records(None)
        except (SanitizerError, TargetError) as error:
            return str(error)
        leaks += [record.message for record in records if record.kind == LEAK]
    return "; ".join(leaks) if leaks else "silent"


def _at_todo(finding: Finding, unit: Unit) -> bool:
    """Whether a run found what the static rules are known to miss."""
    return f"todo: {unit.code}" in _line_of(finding)


def _said(finding: Finding) -> str:
    return f"line {finding.span.row}: {finding.code} {finding.message}"


def _device(unit: Unit, kind: str):  # type: ignore[no-untyped-def]
    from cudalint.apis.devices import parse_bytes
    from cudalint.cli import check
    from cudalint.runtime.devices import Gpu, Simulated

    if kind == "gpu":
        return Gpu.find()
    given = check.make_context("check", list(unit.options)).params
    memory = given["device_memory"]
    target = (given["target"] or ["sm_90"])[0]
    return Simulated(target, parse_bytes(memory) if memory else None)


def limits_of(unit: Unit) -> Any:
    """What the options of a fixture call too much."""
    from cudalint.apis.devices import limits_for
    from cudalint.cli import check
    from cudalint.runtime.frameworks.measures import Limits

    given = check.make_context("check", list(unit.options)).params
    limits = limits_for(
        given["target"] or (),
        given["device_memory"],
        given["max_transfer"],
        given["large_allocation"],
    )
    return Limits(limits.max_transfer, limits.device_memory)


def table(rows: Sequence[Row], language: str) -> str:
    """The table of one language."""
    lines = [
        f"{'rule':8} {'bad':>4} {'confirmed':>10} {'by a fault':>11} {'not run':>8}"
        f" {'good':>5} {'alarms':>7} {'not run':>8}"
    ]
    totals = [0] * 7
    for code in sorted({row.code for row in rows if row.language == language}):
        own = [row for row in rows if row.code == code and row.language == language]
        bad, good = [r for r in own if r.bad], [r for r in own if not r.bad]
        missing = Outcome.NOT_RUNNABLE.value
        counts = [
            len(bad),
            sum(row.outcome == Outcome.CONFIRMED.value for row in bad),
            sum(row.by_fault for row in bad),
            sum(row.outcome == missing for row in bad),
            len(good),
            sum(row.outcome == "alarm" for row in good),
            sum(row.outcome == missing for row in good),
        ]
        if code in RULES:
            totals = [a + b for a, b in zip(totals, counts, strict=True)]
        lines.append(_line(code if code in RULES else f"({code})", counts))
    lines.append(_line("goal", totals))
    runnable = totals[0] - totals[3]
    if totals[0]:
        share = f"{totals[1]}/{totals[0]} = {totals[1] / totals[0]:.1%} of all"
        if runnable:
            share += f", {totals[1] / runnable:.1%} of those that could be built and run here"
        lines.append(f"bad fixtures of the goal's rules confirmed: {share}")
    return "\n".join(lines)


def witness_table(rows: Sequence[Row]) -> str:
    """How often compute-sanitizer says the same, by rule, and each time that it does not."""
    lines = [
        f"{'rule':8} {'confirmed':>9} {'agrees':>7} {'shows none':>11} {'good':>5} {'silent':>7}"
    ]
    for code in sorted({row.code for row in rows if row.witness}):
        own = [row for row in rows if row.code == code and row.witness]
        bad, good = [r for r in own if r.bad], [r for r in own if not r.bad]
        agrees = sum(row.witness == "agrees" for row in bad)
        silent = sum(row.witness == "silent" for row in good)
        lines.append(
            f"{code:8} {len(bad):>9} {agrees:>7} {len(bad) - agrees:>11} {len(good):>5} {silent:>7}"
        )
    lines += [
        f"{row.unit}: {row.witness}"
        for row in rows
        if row.witness not in ("", "agrees", "silent") and row.code in RULES
    ]
    return "\n".join(lines)


def differences(rows: Sequence[Row], others: Mapping[str, str]) -> list[str]:
    """The units whose outcome is another one on another device."""
    return [
        f"{row.unit}: {row.outcome}, there {others[row.unit]}: {'; '.join(row.reasons)}"
        for row in rows
        if others.get(row.unit, row.outcome) != row.outcome
    ]


def _line(name: str, counts: Sequence[int]) -> str:
    widths = (4, 10, 11, 8, 5, 7, 8)
    return f"{name:8} " + " ".join(f"{c:>{w}}" for c, w in zip(counts, widths, strict=True))


def exceptions(rows: Sequence[Row]) -> list[str]:
    """Each unit that is not as it should be, with the reason."""
    return [
        f"{row.unit}: {row.outcome}: {'; '.join(row.reasons)}"
        for row in rows
        if row.outcome != (Outcome.CONFIRMED.value if row.bad else "silent")
    ]


def worse(rows: Sequence[Row], baseline: Mapping[str, str]) -> list[str]:
    """What was better in the baseline. What cannot be built here says nothing."""
    good = {Outcome.CONFIRMED.value, "silent"}
    return [
        f"{row.unit}: was {baseline[row.unit]}, is {row.outcome}: {'; '.join(row.reasons)}"
        for row in rows
        if baseline.get(row.unit) in good
        and row.outcome not in good
        and row.outcome != Outcome.NOT_RUNNABLE.value
    ]


def sweep_lines(rows: Sequence[Row]) -> list[str]:
    """Of each rule that the sweep alone must show: how many it did, and by which calls failing."""
    lines = []
    for code in SWEPT_RULES:
        bad = [row for row in rows if row.code == code and row.bad]
        ran = [row for row in bad if _could_be_swept(row)]
        if not bad:
            continue
        alone = sum(_by_sweep_alone(row) for row in ran)
        calls = Counter(way.partition(" at ")[0] for row in ran for way in row.ways)
        line = f"{code}: {alone} of {len(ran)} by the sweep alone"
        if len(bad) > len(ran):
            line += f", {len(bad) - len(ran)} could not be swept here"
        if calls:
            told = ", ".join(f"{name} {count}" for name, count in calls.most_common())
            line += f" (findings by what showed them: {told})"
        lines.append(line)
    return lines


def not_by_sweep(rows: Sequence[Row]) -> list[str]:
    """The units that the sweep alone must show, and did not. What cannot be swept here says
    nothing."""
    return [
        f"{row.unit}: {row.outcome}, not by the sweep alone: {'; '.join(row.ways or row.reasons)}"
        for row in rows
        if row.bad and row.code in SWEPT_RULES and _could_be_swept(row) and not _by_sweep_alone(row)
    ]


def _could_be_swept(row: Row) -> bool:
    confirmed = row.outcome == Outcome.CONFIRMED.value
    return row.outcome != Outcome.NOT_RUNNABLE.value and (confirmed or not row.hooked)


def _by_sweep_alone(row: Row) -> bool:
    return row.outcome == Outcome.CONFIRMED.value and row.by_fault


def main() -> int:
    """Print the table; 1 when it is worse than the baseline, or a finding that the sweep alone must
    show was not shown so."""
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
        "--within", type=float, metavar="SECONDS",
        help="only as many fixtures, in an order that is always the same, as this time allows",
    )  # fmt: skip
    parser.add_argument("--keep", type=Path, help="also write all rows, as JSON, to this file")
    parser.add_argument("--update", action="store_true", help="make this the baseline")
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
    ]
    started = time.monotonic()
    if arguments.within:
        units.sort(key=lambda unit: hashlib.sha256(unit.name.encode()).digest())
    if arguments.findings:
        static = load_findings(arguments.findings)
    else:
        static = {} if arguments.within else lint_units(units, arguments.jobs)
    if arguments.save_findings:
        save_findings(static, arguments.save_findings)
        return 0
    linted = time.monotonic() - started

    def one(unit: Unit) -> Row | None:
        if arguments.within:
            if time.monotonic() - started > arguments.within:
                return None
            if unit.name not in static:
                static.update(lint_units([unit], 1))
        return judge_unit(unit, static.get(unit.name, ()), arguments.device, arguments.seconds)

    rows: list[Row] = []
    # Programs share a GPU well: most of their time is the making of a context.
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(one, units):
            if row is not None:
                rows.append(row)
            if sys.stderr.isatty():
                print(f"\r{len(rows)}/{len(units)}", end="", file=sys.stderr)
    known = json.loads(BASELINE.read_text()) if BASELINE.is_file() else {}
    baseline = known.get(arguments.device, {})
    lost = [f"worse: {line}" for line in worse(rows, baseline)] + not_by_sweep(rows)
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


if __name__ == "__main__":
    sys.exit(main())
