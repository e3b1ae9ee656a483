"""One finding for one defect."""

from __future__ import annotations

from dataclasses import replace

from cudalint.findings.finding import Confidence, Defect, Finding, Severity, Step
from cudalint.findings.fingerprint import fingerprinted
from cudalint.findings.verdict import Evidence, Outcome, Verdict
from cudalint.reports.defects import told_once
from cudalint.reports.report import Report
from cudalint.source import Span

HERE = Span(1, 1, 30, 1)
OVERLOAD = Span(40, 1, 60, 1)


def lost(name: str, row: int, way: int = 0, within: Span = HERE) -> Finding:
    return Finding(
        code="GPU102",
        name="early-exit-leak",
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message=f"`{name}` (cudaMalloc) is not released when `launch` fails",
        filename="a.cu",
        span=Span(row, 5, row, 20),
        function="render",
        subject=name,
        steps=(Step("a.cu", Span(20, 1, 20, 9), "`launch` fails"),),
        defect=Defect(f"render: way out {way}", within, name),
    )


def once(*findings: Finding) -> tuple[Finding, ...]:
    return told_once(Report(findings=findings)).findings


def test_parts_of_one_defect_are_told_once() -> None:
    a, b, c = lost("a", 3), lost("b", 4), lost("c", 9)
    (told,) = once(a, b, c)
    assert told.message == (
        "`a` (cudaMalloc) is not released when `launch` fails; likewise `b` and `c` (lines 4-9)"
    )
    assert told.parts == (b, c)
    assert [(step.span.row, step.message) for step in told.steps] == [
        (4, "likewise `b`"),
        (9, "likewise `c`"),
        (20, "`launch` fails"),
    ]


def test_one_other_and_many_others() -> None:
    assert once(lost("a", 3), lost("b", 4))[0].message.endswith("; likewise `b` (line 4)")
    (told,) = once(*(lost(name, row) for row, name in enumerate("abcdefgh")))
    assert told.message.endswith("; likewise `b`, `c`, `d` and 4 more (lines 1-7)")


def test_one_whose_last_value_alone_is_meant_says_so() -> None:
    renewed = replace(lost("b", 4), defect=Defect("render: way out 0", HERE, "b", is_last=True))
    assert once(lost("a", 3), renewed)[0].message.endswith("; likewise the last `b` (line 4)")


def test_another_of_the_same_name_says_so() -> None:
    (told,) = once(lost("a", 3), lost("a", 9), lost("b", 12))
    assert told.message.endswith("; likewise another `a` and `b` (lines 9-12)")


def test_what_differs_stays_apart() -> None:
    first = lost("a", 3)
    others = [
        lost("b", 4, way=1),
        lost("b", 4, within=OVERLOAD),
        replace(lost("b", 4), code="GPU106"),
        replace(lost("b", 4), severity=Severity.INFO),
        replace(lost("b", 4), confidence=Confidence.LOW),
        replace(lost("b", 4), filename="b.cu"),
        replace(lost("b", 4), suppressed="noqa"),
        replace(lost("b", 4), runtime=Verdict(Outcome.REFUTED, "simulated")),
        replace(lost("b", 4), defect=None),
    ]
    for other in others:
        assert once(first, other) == (first, other)


def test_what_running_showed_of_each_part_is_kept() -> None:
    shown = [
        replace(
            lost(name, row),
            runtime=Verdict(Outcome.CONFIRMED, "simulated", (Evidence(f"{name} is lost"),)),
        )
        for row, name in enumerate("ab")
    ]
    (told,) = once(*shown)
    assert told.runtime is not None
    assert [one.message for one in told.runtime.evidence] == ["a is lost", "b is lost"]


def test_the_fingerprint_stays_when_one_part_is_mended() -> None:
    before = fingerprinted([lost("a", 3), lost("b", 4), lost("c", 5, way=1)])
    assert before[0].fingerprint == before[1].fingerprint != before[2].fingerprint
    (after,) = fingerprinted([lost("b", 3)])
    assert after.fingerprint == before[0].fingerprint


def test_functions_of_one_name_have_different_fingerprints() -> None:
    found = fingerprinted([lost("a", 3), lost("b", 44, within=OVERLOAD), lost("c", 5)])
    assert found[0].fingerprint == found[2].fingerprint != found[1].fingerprint
