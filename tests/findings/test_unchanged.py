"""Which findings a change touches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cudalint.findings.finding import Confidence, Finding, Known, Severity, Step, Way
from cudalint.findings.unchanged import set_aside
from cudalint.project.changes import ChangedLines, Changes
from cudalint.source import Span

TOP = Path("/repository")
NAME = str(TOP / "a.cu")


def finding(*rows: int, filename: str = NAME) -> Finding:
    steps = tuple(Step(filename, Span(row, 1, row, 9), "") for row in rows)
    return Finding(
        code="GPU102",
        name="early-exit-leak",
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message="",
        filename=filename,
        span=Span(rows[0], 1, rows[0], 9),
        steps=steps,
    )


def is_told(one: Finding, lines: ChangedLines, *whole: str) -> bool:
    changes = Changes(TOP, frozenset({"a.cu", "b.cu"}), {"a.cu": lines})
    (found,) = set_aside([one], changes, whole)
    assert found.known in (None, Known.UNCHANGED)
    return found.known is None


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (ChangedLines(), False),
        (ChangedLines([range(1, 5)]), False),
        (ChangedLines([range(5, 6)]), True),
        (ChangedLines([range(1, 7)]), True),
        (ChangedLines([range(6, 9)]), False),
        (ChangedLines([range(9, 10)]), True),
        # Lines that are gone, beside a step or between two:
        (ChangedLines(removed=[3]), False),
        (ChangedLines(removed=[4]), True),
        (ChangedLines(removed=[7]), True),
        (ChangedLines(removed=[9]), True),
        (ChangedLines(removed=[10]), False),
    ],
)
def test_a_path_from_line_5_to_line_9(lines: ChangedLines, told: bool) -> None:
    assert is_told(finding(5, 9), lines) is told


def test_a_way_out_and_another_file_count() -> None:
    one = finding(5)
    way = Way(Span(20, 1, 20, 2), "", (Step(NAME, Span(20, 1, 20, 2), ""),))
    assert not is_told(one, ChangedLines([range(20, 21)]))
    assert is_told(replace(one, ways=(way,)), ChangedLines([range(20, 21)]))
    elsewhere = finding(5, filename=str(TOP / "b.cu"))
    assert not is_told(elsewhere, ChangedLines([range(5, 6)]))
    step = Step(NAME, Span(5, 1, 5, 2), "")
    assert is_told(replace(elsewhere, steps=(step,)), ChangedLines([range(5, 6)]))


def test_files_that_git_does_not_know_are_new_and_notebooks_count_as_a_whole() -> None:
    assert is_told(finding(5, filename="/elsewhere/a.cu"), ChangedLines())
    assert is_told(finding(5, filename=str(TOP / "new.cu")), ChangedLines())
    assert is_told(finding(5), ChangedLines([range(99, 100)]), NAME)
    assert not is_told(finding(5), ChangedLines(), NAME)


def test_what_is_in_the_baseline_stays_there() -> None:
    changes = Changes(TOP, frozenset({"a.cu"}), {})
    (one,) = set_aside([replace(finding(5), known=Known.BASELINE)], changes)
    assert one.known is Known.BASELINE
