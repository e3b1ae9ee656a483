"""Every fixture gives exactly the findings that its comments expect, and no other.

`// expect: GPU102 warning` (Python: `# expect: ...`) at the end of the line of the finding,
always with the severity; several are separated by commas. The first line may give options:
`// options: --device-memory 3GiB`. A sub-folder is one project: its files are linted together.

`// todo: GPU103` marks a known gap: the finding should be there and is not. When the gap closes,
the test fails until the comment says `expect`. `// false: GPU102` marks a known false alarm: the
program is right, and the finding is there all the same. When it is gone, the test fails until the
mark is taken away. The correct programs of ``benchmarks/programs`` are marked the same way.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common import previewed
from cudalint.cli import check, configuration_of
from cudalint.frontends.cuda import parse
from cudalint.linter import lint
from cudalint.plan import make_plan
from cudalint.project.files import discover
from cudalint.registry import all_rules
from cudalint.reports import text
from cudalint.reports.report import Report

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
PROGRAMS = ROOT / "benchmarks" / "programs"


def _marker(word: str) -> re.Pattern[str]:
    """A comment at the end of a line; another one may follow."""
    codes = r"GPU\d{3}(?: \w+)?(?:\s*,\s*GPU\d{3}(?: \w+)?)*"
    return re.compile(rf"(?://|#)\s*{word}:\s*({codes})\s*(?:\*/)?(?=$|//|#)")


_EXPECTED, _TODO, _FALSE = _marker("expect"), _marker("todo"), _marker("false")
_OPTIONS = re.compile(r"\s*(?://|#)\s*options:\s*(.+)$")
_SUFFIXES = (".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hip", ".hpp", ".ipynb", ".py")


def units() -> list[Path]:
    """Files, and sub-folders that are one project."""
    return sorted(
        entry
        for rule in (*FIXTURES.iterdir(), PROGRAMS)
        if rule.is_dir()
        for entry in rule.iterdir()
        if entry.name != "__pycache__" and (entry.is_dir() or entry.suffix in _SUFFIXES)
    )


def files_of(unit: Path) -> list[Path]:
    if unit.is_file():
        return [unit]
    return sorted(path for path in unit.rglob("*") if path.suffix in _SUFFIXES)


def lines_of(file: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file, each with its place: ``12``, in a notebook ``3:12`` (cell and row)."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".ipynb":
        yield from ((str(row), line) for row, line in enumerate(text.split("\n"), start=1))
        return
    for number, cell in enumerate(json.loads(text)["cells"], start=1):
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        for row, line in enumerate(source.split("\n"), start=1):
            yield f"{number}:{row}", line


def expected_of(unit: Path, marker: re.Pattern[str] = _EXPECTED) -> Counter[str]:
    found: Counter[str] = Counter()
    for file in files_of(unit):
        for place, line in lines_of(file):
            if match := marker.search(line):
                for entry in match[1].split(","):
                    found[f"{file.name}:{place} {entry.strip()}"] += 1
    return found


def options_of(unit: Path) -> list[str]:
    options = ["--extend-select", previewed()]
    for file in files_of(unit):
        _, first = next(lines_of(file))
        if match := _OPTIONS.match(first):
            options += shlex.split(match[1])
    return options


def report_of(paths: Sequence[Path], *options: str, supervised: bool = True) -> Report:
    """What the tool says of files and projects."""
    names = [str(path) for path in paths]
    context = check.make_context("check", ["--isolated", *options, *names])
    plan = make_plan(configuration_of(tuple(names), dict(context.params)))
    found = discover(paths, plan.settings, plan.root)
    assert found.files
    report = lint(found.files, plan, supervised=supervised)
    assert report.errors == ()
    return report


@pytest.fixture(scope="session")
def header_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared by parallel test processes: precompiled headers are made once. `CUDALINT_TEST_CACHE`
    names one that lasts: then only what changed is lowered again."""
    if lasting := os.environ.get("CUDALINT_TEST_CACHE"):
        return Path(lasting)
    return tmp_path_factory.getbasetemp().parent / "cudalint_fixtures"


_EXCERPTS = re.compile(
    r"bad_undeclared_names|_constants_out_of_sight|_handle_cast_to_unknown_type|_success_in_a_macro"
    r"|_block_of_a_missing_guard|_registered_and_asked|_registration_failed|_misspelled_statement"
    r"|_undeclared_accessor|_an_older_call|_before_the_end|_kept_for_the_end|_check_out_of_sight|_argument_out_of_sight|\.py$"
)
"""They use what is declared nowhere, or where a macro says so, which is what they are about; in
strings of Python, where the program puts it in."""


def refuse_what_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on a file that lacks no header fails where the parser does not accept it, or only
    with declarations that are made up: no finding would say so. It fails before anything is cached,
    so that it fails again."""
    read = parse.parse

    def strict(*given: Any) -> parse.ParsedUnit:
        parsed = read(*given)
        if not parsed.missing_headers:
            assert all(one.crowded for one in parsed.errors)  # those are headers read beforehand
            assert not parsed.reading.declarations
        return parsed

    monkeypatch.setattr(parse, "parse", strict)


@pytest.mark.parametrize("unit", units(), ids=lambda unit: f"{unit.parent.name}/{unit.name}")
def test_fixture(unit: Path, header_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, known = expected_of(unit), expected_of(unit, _FALSE)
    codes = {entry.split()[1] for entry in expected + known + expected_of(unit, _TODO)}
    assert codes <= set(all_rules())
    monkeypatch.chdir(FIXTURES)
    if not _EXCERPTS.search(unit.name):
        refuse_what_does_not_compile(monkeypatch)
    options = (*options_of(unit), "--cache-dir", str(header_cache))
    report = report_of([unit], *options, supervised=False)
    actual: Counter[str] = Counter()
    for finding in report.active:
        cell, row = report.sources[finding.filename].place(finding.span.row)
        shown = row if cell is None else f"{cell}:{row}"
        place = f"{Path(finding.filename).name}:{shown} {finding.code}"
        pinned = f"{place} {finding.severity.value}"
        actual[place if place in known else pinned] += 1
    if unit.name.startswith(("bad_", "good_")):
        assert unit.name.startswith("bad_") == bool(expected or expected_of(unit, _TODO))
    wrong = [f"missing: {entry}" for entry in (expected - actual).elements()]
    wrong += [f"unexpected: {entry}" for entry in (actual - expected - known).elements()]
    wrong += [f"no false alarm any more: {entry}" for entry in (known - actual).elements()]
    if wrong:
        pytest.fail("\n".join([*wrong, "", text.render(report)]), pytrace=False)


def good_by_options() -> dict[tuple[str, ...], list[Path]]:
    """The units in which nothing is wrong, by the options that they name."""
    found: dict[tuple[str, ...], list[Path]] = {}
    for unit in units():
        if unit.name.startswith("good_") and not expected_of(unit, _FALSE):
            found.setdefault(tuple(options_of(unit)), []).append(unit)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="workers are no copies of this process")
@pytest.mark.parametrize("options", good_by_options(), ids=lambda options: " ".join(options[2:]))
def test_what_is_not_followed_accuses_nobody(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where memory is full: of each function one path at most is followed to its end."""
    monkeypatch.chdir(FIXTURES)
    monkeypatch.setattr("cudalint.jobs.is_full", lambda: True)
    report = report_of(good_by_options()[options], *options, "--no-cache", "--jobs=2")
    assert any("not all paths" in one.message for one in report.active) or len(options) > 2
    wrong = [one for one in report.active if one.code not in ("GPU001", "GPU002")]
    assert [f"{one.filename}:{one.span.row} {one.code} {one.message}" for one in wrong] == []


def test_expectations_are_read() -> None:
    assert len(units()) > 50
    assert _EXPECTED.search("f(); // expect: GPU101, GPU102 info")[1] == "GPU101, GPU102 info"  # type: ignore[index]
    assert _EXPECTED.search("f()  # noqa: GPU1  # expect: GPU101")[1] == "GPU101"  # type: ignore[index]
    line = "f(); // todo: GPU102 // false: GPU101, GPU104 warning"
    assert _EXPECTED.search(line) is None
    assert _TODO.search(line)[1] == "GPU102"  # type: ignore[index]
    assert _FALSE.search(line)[1] == "GPU101, GPU104 warning"  # type: ignore[index]
