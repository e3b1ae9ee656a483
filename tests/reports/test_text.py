"""How findings look."""

from __future__ import annotations

import dataclasses
import io
import json as standard_json
import re
from types import ModuleType

import pytest
from syrupy.assertion import SnapshotAssertion

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.project.files import FileError
from cudalint.reports import concise, json, statistics, text
from cudalint.reports.report import Report
from cudalint.reports.style import Style, escaped, use_color
from cudalint.source import Source, Span
from tests.reports.samples import HELPER, at, step

BLUR = Source(
    "src/blur.cu",
    """#include <cuda_runtime.h>

int blur(const float* image, float* result, int n) {
    float *d_in = nullptr, *d_out = nullptr;
\tif (cudaMalloc(&d_in, n * sizeof(float)) != cudaSuccess) return -1;
    if (cudaMalloc(&d_out, n * sizeof(float)) != cudaSuccess) {
        return -1;
    }
    const char* 画像 = "漢字"; cudaFree(d_out);
    run(d_in);

    cudaFree(d_in);
    return 0;
}
""",
)

LEAK = Finding(
    code="GPU102",
    name="early-exit-leak",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    message="`d_in` (cudaMalloc) is not released when cudaMalloc fails (returns at line 7)",
    filename=BLUR.filename,
    span=at(BLUR, 5, "cudaMalloc(&d_in, n * sizeof(float))"),
    function="blur",
    subject="d_in",
    steps=(
        step(BLUR, 5, "cudaMalloc(&d_in, n * sizeof(float))", "`d_in` is acquired"),
        step(BLUR, 6, "cudaMalloc(&d_out, n * sizeof(float))", "cudaMalloc fails"),
        step(BLUR, 7, "return -1;", "`d_in` is lost here"),
        step(BLUR, 12, "cudaFree(d_in)", "other paths release `d_in` here"),
    ),
    fingerprint="0123",
)
DOUBLE = Finding(
    code="GPU201",
    name="double-free",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    message="`d_in` is released twice",
    filename=BLUR.filename,
    span=at(BLUR, 12, "cudaFree(d_in)"),
    function="blur",
    subject="d_in",
    steps=(
        step(BLUR, 10, "run(d_in)", "`run` is called"),
        step(HELPER, 2, "cudaFree(p)", "`p` is released here first"),
        step(BLUR, 12, "cudaFree(d_in)", "and here again"),
    ),
)
WIDE = Finding(
    code="GPU506",
    name="unchecked-allocation",
    severity=Severity.INFO,
    confidence=Confidence.HIGH,
    message="wide characters before the mark",
    filename=BLUR.filename,
    span=at(BLUR, 9, "cudaFree(d_out)"),
)
SOURCES = {BLUR.filename: BLUR, HELPER.filename: HELPER}
PAGES = "https://docs.example.org/cudalint"
REPORT = Report((LEAK, WIDE, DOUBLE), files=2, sources=SOURCES)


def test_full(snapshot: SnapshotAssertion) -> None:
    assert text.render(REPORT) + "\n" + text.summary(REPORT) == snapshot


def test_full_in_colour(snapshot: SnapshotAssertion) -> None:
    painted = text.render(
        Report((LEAK,), files=1, sources=SOURCES, documentation=PAGES), Style(True, links=True)
    )
    assert painted.replace("\x1b", "<ESC>") == snapshot


def test_colours_change_nothing_but_colours() -> None:
    painted = text.render(REPORT, Style(enabled=True, links=True))
    plain = re.sub(r"\x1b\[[0-9;]*m|\x1b]8;;.*?\x1b\\", "", painted)
    assert plain == text.render(REPORT)


def test_concise(snapshot: SnapshotAssertion) -> None:
    assert concise.render(REPORT) == snapshot


def test_json(snapshot: SnapshotAssertion) -> None:
    report = Report(
        (LEAK,), (FileError("bad.cu", "is empty"),), files=1, sources=SOURCES, documentation=PAGES
    )
    assert json.render(report) == snapshot


def test_statistics(snapshot: SnapshotAssertion) -> None:
    report = Report((LEAK, WIDE, WIDE, DOUBLE), files=2)
    assert statistics.render(report) + statistics.render_json(report) == snapshot


def in_part(number: int, *headers: str, severity: Severity = Severity.INFO) -> Finding:
    """A file that was read only in part."""
    return Finding(
        "GPU002",
        "incomplete-parse",
        severity,
        Confidence.HIGH,
        f"{headers[0] if headers else 'Python 2 code'} was not read: why (3 functions read)",
        f"src/part_{number}.cu",
        Span(1, 1, 1, 9),
        missing=headers,
    )


MANY = tuple(
    in_part(number, "solver.pb.h", *(["boost/a.hpp"] if number % 2 else []), f"own_{number // 2}.h")
    for number in range(12)
)


@pytest.mark.parametrize("renderer", [text, concise])
def test_many_files_that_lack_headers_are_summed_up(
    renderer: ModuleType, snapshot: SnapshotAssertion
) -> None:
    report = Report((LEAK, *MANY, in_part(99)), files=20, sources=SOURCES)
    rendered = renderer.render(report) + "\n" + text.summary(report)
    assert rendered == snapshot
    assert "part_7" not in rendered and "part_99" in rendered  # that one's reason is its own


@pytest.mark.parametrize("renderer", [text, concise])
def test_a_report_of_nothing_but_files_in_part_is_not_empty(renderer: ModuleType) -> None:
    report = Report(MANY, files=12)
    assert renderer.render(report).startswith("GPU002 12 files were read only in part")
    assert text.summary(report) == "Found 12 info in 12 files, 12 of them checked only in part."


@pytest.mark.parametrize("renderer", [text, concise])
@pytest.mark.parametrize(
    "report",
    [
        Report(MANY[:5]),
        Report(MANY, named=frozenset({"GPU002"})),
        Report(tuple(dataclasses.replace(one, severity=Severity.ERROR) for one in MANY)),
        Report(tuple(in_part(number) for number in range(12))),
    ],
    ids=["few", "named", "errors", "each for its own reason"],
)
def test_files_in_part_that_are_listed(renderer: ModuleType, report: Report) -> None:
    rendered = renderer.render(report)
    assert all(finding.filename in rendered for finding in report.active)
    assert "files were read only in part" not in rendered


def test_suppressed_files_in_part_are_not_summed_up() -> None:
    report = Report(tuple(dataclasses.replace(one, suppressed="x") for one in MANY))
    assert concise.render(report) == text.render(report) == ""


def test_reports_for_machines_hold_every_file_in_part() -> None:
    data = standard_json.loads(json.render(Report(MANY, files=12)))
    assert [finding["filename"] for finding in data["findings"]] == [f.filename for f in MANY]
    assert data["summary"]["by_code"] == {"GPU002": 12}


def test_names_of_headers_cannot_control_the_terminal() -> None:
    report = Report(tuple(in_part(number, "a\x1b[2J.h") for number in range(9)))
    assert "\x1b" not in concise.render(report)


def suppressed(finding: Finding) -> Finding:
    return dataclasses.replace(finding, suppressed="cudalint: ignore[GPU102]")


def test_suppressed_findings_are_in_json_only() -> None:
    report = Report((suppressed(LEAK),), files=1, sources=SOURCES)
    assert text.render(report) == concise.render(report) == statistics.render(report) == ""
    data = standard_json.loads(json.render(report))
    assert data["findings"][0]["suppressed"] == "cudalint: ignore[GPU102]"
    assert data["summary"]["findings"] == 0 and data["summary"]["suppressed"] == 1
    assert text.summary(report) == "No CUDA memory misuse found in 1 file (1 suppressed)."
    assert not report.fails(Severity.INFO)


@pytest.mark.parametrize(
    ("findings", "files", "expected"),
    [
        ((), 0, "No file to analyse mentions CUDA."),
        ((), 3, "No CUDA memory misuse found in 3 files."),
        ((LEAK,), 1, "Found 1 warning in 1 file."),
        ((LEAK, LEAK, WIDE, DOUBLE), 2, "Found 1 error, 2 warnings and 1 info in 2 files."),
    ],
)
def test_summary(findings: tuple[Finding, ...], files: int, expected: str) -> None:
    assert text.summary(Report(findings, files=files)) == expected


def marked(line: str, span: Span) -> tuple[str, str]:
    """The shown line and its mark, without the gutter."""
    source = Source("a.cu", line)
    finding = Finding("GPU1", "n", Severity.ERROR, Confidence.HIGH, "m", "a.cu", span)
    lines = text.render(Report((finding,), sources={"a.cu": source})).split("\n")
    return lines[2][4:], lines[3][4:]


@pytest.mark.parametrize(
    ("line", "part", "before"),
    [
        ("f(x);", "x", 2),
        ("\tf(x);", "x", 6),
        (" \tf(x);", "x", 6),
        ("漢字 x", "x", 5),
        ("e\u0301 x", "x", 2),
        ("a\x1b[31m x", "x", 7),
        ("a\u202e x", "x", 3),
    ],
)
def test_marks_stand_below_what_they_mark(line: str, part: str, before: int) -> None:
    column = line.index(part) + 1
    shown, mark = marked(line, Span(1, column, 1, column + 1))
    assert mark == " " * before + "^"
    assert "\x1b" not in shown and "\u202e" not in shown and "\t" not in shown


def test_long_lines_are_cut_around_the_mark() -> None:
    line = "x" * 100_000 + "HERE" + "y" * 100_000
    shown, mark = marked(line, Span(1, 100_001, 1, 100_005))
    assert len(shown) < 200
    assert shown[mark.index("^") : mark.rindex("^") + 1] == "HERE"
    assert shown.startswith("…") and shown.endswith("…")


def test_spans_of_several_lines_mark_the_first() -> None:
    source = Source("a.cu", "f(a,\n  b);\n")
    finding = Finding("GPU1", "n", Severity.ERROR, Confidence.HIGH, "m", "a.cu", Span(1, 1, 2, 5))
    assert "\n  | ^^^^\n" in text.render(Report((finding,), sources={"a.cu": source}))


def test_places_without_text_are_named() -> None:
    rendered = text.render(Report((DOUBLE,), sources={BLUR.filename: BLUR}))
    assert "  src/helper.cu:2:5: 2: `p` is released here first" in rendered
    assert "  src/blur.cu:12:5: " in text.render(Report((DOUBLE,)))


def test_many_steps_are_cut() -> None:
    steps = tuple(step(BLUR, 7, "return -1;", f"step {number}") for number in range(40))
    rendered = text.render(Report((dataclasses.replace(LEAK, steps=steps),), sources=SOURCES))
    assert "step 10" in rendered and "step 39" in rendered and "step 20" not in rendered
    assert "and 28 more like these" in rendered


def test_names_and_messages_cannot_control_the_terminal() -> None:
    evil = Finding(
        "GPU1", "n", Severity.ERROR, Confidence.HIGH, "a\x1b[2J\nb", "x\ny\x9b.cu", Span(1, 1, 1, 2)
    )
    for rendered in (text.render(Report((evil,))), concise.render(Report((evil,)))):
        assert "\x1b" not in rendered and "\x9b" not in rendered
        assert rendered.startswith("x\\ny\\x9b.cu:1:1: error: a\\x1b[2J\\nb [GPU1]\n")
    assert escaped("ü漢\t\udce9") == "ü漢\\t\\udce9"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "environment", "terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_when_to_paint(
    choice: str, environment: dict[str, str], terminal: bool, expected: bool
) -> None:
    stream = Terminal() if terminal else io.StringIO()
    assert use_color(stream, choice, environment) is expected  # type: ignore[arg-type]


def test_what_a_run_refuted_is_shown_and_fails_nothing() -> None:
    refuted = Verdict(Outcome.REFUTED, "simulated sm_90", reason="all was released")
    report = dataclasses.replace(
        REPORT, findings=tuple(dataclasses.replace(one, runtime=refuted) for one in REPORT.active)
    )
    assert not report.fails(Severity.INFO)
    assert concise.render(report).count("[refuted]") == len(report.active)
    said = text.summary(report)
    assert said.startswith("No CUDA memory misuse found")
    assert f": {len(report.active)} refuted" in said
