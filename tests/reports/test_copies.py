"""One finding for one text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.findings.finding import Confidence, Finding, Known, Severity, Step
from cudalint.reports.copies import copies_told_once
from cudalint.reports.report import Report
from cudalint.source import Source, Span

TEXT = "void f() {\n    int* p = 0;\n    cudaMalloc(&p, 4);\n}\n"
COMMENTED = (
    "// kept\n\nvoid f()\n{ /* as it was */\n    int *p = 0;\n    cudaMalloc(&p, 4); // !\n}\n"
)
TEXTS = {"f.cu": TEXT, "f_old.cu": COMMENTED, "other.cu": TEXT.replace("4", "8")}


def lost(name: str, row: int, within: Span | None) -> Finding:
    return Finding(
        code="GPU101",
        name="unpaired-allocation",
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message="`p` is never released",
        filename=name,
        span=Span(row, 5, row, 22),
        function="f",
        subject="p",
        within=within,
    )


FIRST = lost("f.cu", 3, Span(1, 1, 4, 2))
COPY = lost("f_old.cu", 6, Span(3, 1, 7, 2))
OTHER = replace(FIRST, filename="other.cu")


def once(*findings: Finding) -> tuple[Finding, ...]:
    sources = {name: Source(name, text) for name, text in TEXTS.items()}
    return copies_told_once(Report(findings=findings, sources=sources)).findings


def test_a_copy_is_told_with_the_original() -> None:
    for findings in ((FIRST, COPY), (COPY, FIRST)):
        (told,) = once(*findings)
        assert told == replace(
            FIRST,
            message="`p` is never released; the same code stands in `f_old.cu` (line 6)",
            steps=(Step("f_old.cu", COPY.span, "the same code", aside=True),),
            parts=(COPY,),
        )


def test_many_copies_are_counted() -> None:
    names = ["f.cu", *(f"v{number}/f.cu" for number in range(5))]
    sources = {name: Source(name, TEXT) for name in names}
    findings = tuple(replace(FIRST, filename=name) for name in names)
    (told,) = copies_told_once(Report(findings=findings, sources=sources)).findings
    where = "`v0/f.cu` (line 3), `v1/f.cu` (line 3) and 3 more places"
    assert told.message.endswith(f"; the same code stands in {where}")
    assert len(told.parts) == len(told.steps) == 5


@pytest.mark.parametrize(
    "other",
    [
        OTHER,
        replace(COPY, code="GPU102"),
        replace(COPY, subject="q"),
        replace(COPY, span=Span(5, 5, 5, 9)),
        replace(COPY, severity=Severity.INFO),
        replace(COPY, confidence=Confidence.LOW),
        replace(COPY, known=Known.BASELINE),
        replace(COPY, suppressed="cudalint: ignore"),
        replace(COPY, within=None),
        replace(COPY, filename="unread.h"),
    ],
)
def test_what_differs_stays_apart(other: Finding) -> None:
    assert once(FIRST, other) == (FIRST, other)


def test_members_of_a_class_are_told_once_of_copied_files() -> None:
    first = replace(FIRST, within=None, rests_on="Pool")
    sources = {"a.cuh": TEXT, "b.cuh": "// b\n" + TEXT, "c.cuh": TEXT + "void g();"}
    findings = (
        replace(first, filename="a.cuh"),
        replace(first, filename="b.cuh", span=Span(4, 5, 4, 22)),
        replace(first, filename="c.cuh"),
    )
    report = Report(
        findings=findings, sources={name: Source(name, text) for name, text in sources.items()}
    )
    told = copies_told_once(report).findings
    assert [(one.filename, len(one.parts)) for one in told] == [("a.cuh", 1), ("c.cuh", 0)]


def test_the_command_tells_copies_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("backup").mkdir()
    python = (
        "def reserve(size):\n    # {}\n    err, block = cudart.cudaMalloc(size)\n    return err\n"
    )
    for name in ("a", "backup/a"):
        Path(f"{name}.cu").write_text("#include <cuda_runtime.h>\n" + TEXT)
        Path(f"{name}.py").write_text(
            "from cuda.bindings import runtime as cudart\n" + python.format(name)
        )
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["check", "--isolated", "--no-cache", "--output-format", "json", "."]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [(one["code"], one["filename"]) for one in report["findings"]] == [
        ("GPU101", "a.cu"),
        ("GPU506", "a.cu"),
        ("GPU101", "a.py"),
    ]
    assert report["summary"]["by_code"] == {"GPU101": 2, "GPU506": 1}
    parts = [[part["filename"] for part in one["parts"]] for one in report["findings"]]
    assert parts == [["backup/a.cu"], ["backup/a.cu"], ["backup/a.py"]]
