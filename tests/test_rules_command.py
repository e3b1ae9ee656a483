"""``cudalint rules``: one screen, and nothing on it that no fixture shows."""

from __future__ import annotations

import json

import pytest

from benchmarks.covered import DATA, covered_by_fixtures, render
from cudalint.cli import main
from cudalint.commands.rules import table
from cudalint.registry import all_rules
from cudalint.reports.style import Style


def test_what_rules_speak_is_what_their_fixtures_are_written_in() -> None:
    found = covered_by_fixtures()
    text = render(found)
    assert DATA.read_text(encoding="utf-8") == text, "python -m benchmarks.covered --write"
    assert found["GPU101"].languages == ("C++", "Python")
    assert "cuBLAS" in found["GPU106"].libraries
    assert found["GPU605"].languages == ("Python",)


def test_a_line_for_each_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert " ".join(head.split()) == "code name severity confidence fix languages libraries"
    assert [line.split()[:2] for line in lines] == [
        [code, rule.name] for code, rule in all_rules().items()
    ]
    (row,) = (line for line in lines if line.startswith("GPU201"))
    expected = "GPU201 double-free error high fixable C++, Python CUDA runtime, cuda-python, PyCUDA"
    assert " ".join(row.split()) == expected
    assert any("(preview)" in line for line in lines)


def test_a_rule_whose_page_says_how_it_is_mended_is_fixable() -> None:
    class Mended(all_rules()["GPU605"]):  # type: ignore[misc]
        """Mended.

        ## Fix

        `map_location` is added.
        """

    _, row = table([Mended], Style())
    assert " high        fixable  Python " in row


@pytest.mark.parametrize("columns", [100, 120, 20])
def test_it_fits_a_terminal(columns: int) -> None:
    lines = table(list(all_rules().values()), Style(), columns)
    widest = max(map(len, lines))
    assert widest <= max(columns, 95) and any(line.endswith("…") for line in lines)


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--output-format", "json"]) == 0
    rules = json.loads(capsys.readouterr().out)
    assert [rule["code"] for rule in rules] == list(all_rules())
    by_code = {rule["code"]: rule for rule in rules}
    assert by_code["GPU306"]["preview"] and by_code["GPU306"]["summary"]
    assert by_code["GPU504"]["languages"] == ["Python"]
