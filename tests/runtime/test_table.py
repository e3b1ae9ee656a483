"""The confirmation table of the fixtures, on a few that need no nvcc."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.runtime.__main__ import BASELINE
from benchmarks.runtime.judging import MISSED, WITHOUT_FAULTS, Row, judge_unit
from benchmarks.runtime.tables import RULES, not_by_sweep, sweep_lines, table, worse
from benchmarks.runtime.units import (
    FIXTURES,
    LintError,
    find_units,
    lint_units,
    load_findings,
    save_findings,
)

ROOT = Path(__file__).parent.parent.parent
FEW = [
    "GPU102-early-exit-leak/bad_three_on_error_paths.cpp",
    "GPU102-early-exit-leak/good_three_on_error_paths.cpp",
    "GPU102-early-exit-leak/bad_second_allocation_fails.py",
    "GPU102-early-exit-leak/good_second_allocation_fails.py",
]


def row(unit: str, outcome: str) -> Row:
    return Row(unit, "GPU102", "cpp", "bad_" in unit, outcome, ran=True)


def test_worse_is_told() -> None:
    baseline = {
        "bad_a": "confirmed",
        "bad_b": "not-reached",
        "good_c": "silent",
        "bad_d": "confirmed",
    }
    rows = [row("bad_a", "refuted"), row("bad_b", "refuted"), row("good_c", "alarm")]
    rows += [row("bad_d", "not-runnable"), row("bad_new", "not-reached")]
    rows += [row("bad_foreign", "not-runnable"), row("bad_shown", "confirmed")]
    told = [line.partition(":")[0] for line in worse(rows, baseline)]
    assert told == ["bad_a", "good_c", "bad_d", "bad_new"]


def test_the_baseline_holds_the_goal() -> None:
    """Of the bad fixtures in C++ that build, 95 % are confirmed, and all exist."""
    outcomes = json.loads(BASELINE.read_text())["sim"]
    units = {unit.name: unit for unit in find_units([])}
    assert outcomes.keys() <= units.keys()
    wanted = [
        outcome
        for name, outcome in outcomes.items()
        if units[name].bad and units[name].language == "cpp" and units[name].code in RULES
        if outcome != "not-runnable"
    ]
    assert wanted.count("confirmed") >= 0.95 * len(wanted)


def test_the_table_counts() -> None:
    rows = [row("bad_a", "confirmed"), row("bad_b", "not-runnable"), row("good_c", "silent")]
    text = table(rows, "cpp")
    assert "1/2 = 50.0% of all, 100.0% of those that could be built and run here" in text


def test_what_the_sweep_alone_must_show() -> None:
    rows = [row("bad_a", "confirmed"), row("bad_b", "confirmed"), row("good_c", "silent")]
    rows += [row("bad_d", "not-reached"), row("bad_e", "not-runnable"), row("bad_f", "confirmed")]
    rows[0].ways, rows[0].by_fault = ["cudaMemcpy at a.cu:7", "cudaMalloc at a.cu:9"], True
    rows[1].ways = [WITHOUT_FAULTS]
    rows[5].ways = ["cudaMemcpy at f.cu:7", WITHOUT_FAULTS]
    other = Row("bad_g", "GPU101", "cpp", bad=True, outcome="confirmed", ways=[WITHOUT_FAULTS])
    rows.append(row("bad_h", "not-reached"))
    rows[-1].hooked = True
    rows.append(row("bad_i", "not-reached"))
    rows[-1].ran = False  # a harness alone
    (line,) = sweep_lines([*rows, other])
    assert line.startswith("GPU102: 1 of 4 by the sweep alone, 3 could not be swept here (")
    assert "cudaMemcpy 2, the run without faults 2, cudaMalloc 1" in line
    told = not_by_sweep([*rows, other])
    assert [one.partition(":")[0] for one in told] == ["bad_b", "bad_d", "bad_f"]


def test_silence_of_a_bad_fixture_is_told(compiler: Path) -> None:
    (unit,) = find_units([FIXTURES / FEW[0]])
    missed = judge_unit(unit, (), "sim", 60)
    assert missed.outcome == MISSED
    assert worse([missed], {unit.name: "confirmed"})


def test_what_is_not_linted_is_no_silence(tmp_path: Path) -> None:
    path = tmp_path / "GPU101-unpaired-allocation" / "bad_a.cu"
    path.parent.mkdir()
    path.write_bytes(b"// cudaMalloc\0\0")
    (unit,) = find_units([path])
    with pytest.raises(LintError, match=r"bad_a\.cu was not linted"):
        lint_units([unit], 1)


def test_findings_go_to_another_machine(tmp_path: Path) -> None:
    units = find_units([FIXTURES / name for name in FEW])
    findings = lint_units(units, 1)
    save_findings(findings, tmp_path / "findings.json")
    again = load_findings(tmp_path / "findings.json")
    assert sorted(again) == sorted(unit.name for unit in units)
    for name, found in again.items():
        assert [(f.code, f.filename, f.span, f.message) for f in found] == [
            (f.code, f.filename, f.span, f.message) for f in findings[name]
        ]


def test_the_baseline_reaches_the_goal() -> None:
    """At least 95 in 100 of the bad C++ fixtures that are programs, and no alarm on a good one."""
    outcomes = json.loads(BASELINE.read_text())["sim"]
    units = {unit.name: unit for unit in find_units([]) if unit.language == "cpp"}
    bad = [
        outcomes[name]
        for name, u in units.items()
        if outcomes.get(name, "not-runnable") != "not-runnable" and u.bad and u.code in RULES
    ]
    assert len(bad) > 150
    assert bad.count("confirmed") >= 0.95 * len(bad)
    assert "alarm" not in [outcome for name, outcome in outcomes.items() if name in units]


def test_the_command(compiler: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.runtime", "--jobs", "1", "--json"]
    done = subprocess.run(
        [*command, *(str(FIXTURES / name) for name in FEW)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = {one["unit"]: one for one in json.loads(done.stdout)}
    assert {name: rows[name]["outcome"] for name in FEW} == {
        name: "confirmed" if "bad_" in name else "silent" for name in FEW
    }
    assert all(rows[name]["by_fault"] for name in FEW if "bad_" in name)


@pytest.mark.parametrize("option", ["--device=moon", "--language=cobol"])
def test_bad_options(option: str) -> None:
    command = [sys.executable, "-m", "benchmarks.runtime", option]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=60)
    assert done.returncode == 2
