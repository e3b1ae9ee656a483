"""The fixtures as units that are linted and run together, with their static findings."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.common import previewed
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.plan import Plan
from cudalint.source import Span

FIXTURES = (Path(__file__).parent.parent.parent / "fixtures").resolve()
CPP = (".cu", ".cpp", ".cc", ".cxx", ".c")
_FEW = 8
_OPTIONS = re.compile(r"\s*(?://|#)\s*options:\s*(.+)$")
_ARGUMENTS = re.compile(r"^(?://|#) arguments: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Unit:
    """A fixture: a file, or a folder that is one project."""

    path: Path
    name: str
    """``GPU102-early-exit-leak/bad_two_files``."""
    code: str
    bad: bool
    language: str
    """``cpp`` or ``python``, by what it is run as."""
    files: tuple[Path, ...]
    options: tuple[str, ...]
    arguments: tuple[str, ...]
    """What its program is started with."""


def find_units(paths: Sequence[Path]) -> list[Unit]:
    """The units at or below some paths."""
    found: dict[Path, Unit] = {}
    for path in paths or [FIXTURES]:
        for entry in _entries(path.resolve()):
            unit = _unit(entry)
            if unit is not None:
                found[entry] = unit
    return [found[path] for path in sorted(found)]


def _entries(path: Path) -> list[Path]:
    if path.name.startswith(("bad_", "good_")):
        return [path]
    if not path.is_dir():
        return []
    return [entry for below in path.iterdir() for entry in _entries(below)]


def _unit(path: Path) -> Unit | None:
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    sources = [file for file in files if file.suffix in CPP]
    scripts = [file for file in files if file.suffix == ".py"]
    code = path.parent.name.partition("-")[0]
    if not (sources or scripts) or not re.fullmatch(r"GPU\d{3}", code):
        return None
    kept = tuple(file for file in files if file.suffix in (*CPP, ".cuh", ".h", ".hpp", ".py"))
    options: list[str] = []
    arguments: list[str] = []
    for file in kept:
        text = file.read_text("utf-8")
        match = _OPTIONS.match(text.partition("\n")[0])
        if match:
            options += shlex.split(match[1])
        for given in _ARGUMENTS.findall(text):
            arguments += shlex.split(given)
    language = "python" if scripts else "cpp"
    name = f"{path.parent.name}/{path.name}"
    bad = path.name.startswith("bad_")
    return Unit(path, name, code, bad, language, kept, tuple(options), tuple(arguments))


class LintError(RuntimeError):
    """A fixture could not be linted; says which, and why."""


# Static findings --------------------------------------------------------------------------------


def lint_units(units: Sequence[Unit], jobs: int) -> dict[str, list[Finding]]:
    """The static findings of each unit. ``LintError`` where one could not be linted: nothing may be
    taken for silence."""
    if len(units) < _FEW:
        return dict(map(_lint, units))
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        return dict(pool.imap_unordered(_lint, units, chunksize=4))


def _lint(unit: Unit) -> tuple[str, list[Finding]]:
    from cudalint.linter import lint
    from cudalint.project.files import discover

    plan = plan_of(unit)
    files = discover([unit.path], plan.settings, plan.root).files
    report = lint(files, plan, supervised=False)
    if report.errors:
        said = "; ".join(f"{error.filename}: {error.message}" for error in report.errors)
        raise LintError(f"{unit.name} was not linted: {said}")
    return unit.name, [_absolute(finding) for finding in report.active]


def plan_of(unit: Unit) -> Plan:
    """How a unit is linted: by its options and nothing else."""
    from cudalint.cli import check, configuration_of
    from cudalint.plan import make_plan

    arguments = ["--extend-select", previewed(), *unit.options, "--isolated", str(unit.path)]
    context = check.make_context("check", arguments)
    return make_plan(configuration_of((str(unit.path),), dict(context.params)))


def _absolute(finding: Finding) -> Finding:
    steps = tuple(
        dataclasses.replace(step, filename=str(Path(step.filename).absolute()))
        for step in finding.steps
    )
    return dataclasses.replace(
        finding, filename=str(Path(finding.filename).absolute()), steps=steps
    )


def save_findings(findings: Mapping[str, Sequence[Finding]], file: Path) -> None:
    """Keep static findings, for a machine that cannot lint."""
    data = {name: [_plain(finding) for finding in found] for name, found in findings.items()}
    file.write_text(json.dumps(data, indent=1) + "\n")


def load_findings(file: Path) -> dict[str, list[Finding]]:
    """What ``save_findings`` kept."""
    data: dict[str, list[dict[str, Any]]] = json.loads(file.read_text())
    return {name: [_finding(one) for one in found] for name, found in data.items()}


def _plain(finding: Finding) -> dict[str, Any]:
    def relative(name: str) -> str:
        return Path(name).relative_to(FIXTURES).as_posix()

    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "filename": relative(finding.filename),
        "span": msgspec.structs.astuple(finding.span),
        "function": finding.function,
        "subject": finding.subject,
        "steps": [
            [relative(step.filename), msgspec.structs.astuple(step.span), step.message]
            for step in finding.steps
        ],
    }


def _finding(data: dict[str, Any]) -> Finding:
    return Finding(
        data["code"],
        data["name"],
        Severity(data["severity"]),
        Confidence.HIGH,
        data["message"],
        str(FIXTURES / data["filename"]),
        Span(*data["span"]),
        data["function"],
        data["subject"],
        tuple(Step(str(FIXTURES / name), Span(*span), text) for name, span, text in data["steps"]),
    )
