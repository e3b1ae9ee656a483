"""Reports that every format is shown with: an ordinary one, a hostile one, one of a notebook."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from cudalint.findings.finding import Confidence, Defect, Finding, Severity, Step
from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.rule import Rule
from cudalint.findings.verdict import Evidence, Outcome, Verdict
from cudalint.project.files import FileError
from cudalint.reports.defects import told_once
from cudalint.reports.report import Checkout, Report
from cudalint.source import Cell, Source, Span

HOSTILE_NAMES = [
    "</script><script>window.hacked=1</script>.cu",
    "<img src=x onerror=window.hacked=1>.cu",
    "<!--<script>.cu",
    "\"'`${window.hacked=1}.cu",
    "new\nline\r.cu",
    "::error::injected,line=1:2%0A##[error]x.cu",
    "\u202egpj.uc\u2028.cu",
    "日本語 ünïcode 🚀.cu",
    "a|b]]> & c\x1b[31m\x00\ufffe.cu",
    "[x](javascript:window.hacked=1) @@scripts@@ 100%.cu",
    "a:b.cu",
]


class ExampleRule(Rule):
    """Released on some ways out, but not on this one.

    ## What it does

    Follows `every` path.

    ```cuda
    if (a < b && c) return;
    ```

    - first
    - second
    """

    code: ClassVar[str] = "GPU990"
    name: ClassVar[str] = "example-leak"

    def check(self, facts: Any) -> Iterator[Finding]:
        yield from ()


def at(source: Source, row: int, part: str) -> Span:
    column = source.line(row).index(part) + 1
    return Span(row, column, row, column + len(part))


def step(source: Source, row: int, part: str, message: str, aside: bool = False) -> Step:
    return Step(source.filename, at(source, row, part), message, aside)


BLUR = Source(
    "src/blur.cu",
    """#include <cuda_runtime.h>

int blur(const float* image, float* result, int n) {
    float *d_in = nullptr, *d_out = nullptr;
\tif (cudaMalloc(&d_in, n * sizeof(float)) != cudaSuccess) return -1;
    if (cudaMalloc(&d_out, n * sizeof(float)) != cudaSuccess) {
        return -1;
    }
    const char* 画像 = "漢字🚀"; cudaFree(d_out);
    run(d_in);

    cudaFree(d_in);
    return 0;
}
""",
)
HELPER = Source("src/helper.cu", "void run(float* p) {\n    cudaFree(p);\n}\n")
NOTEBOOK = Source(
    "train.ipynb",
    "import cupy\n\nblock = malloc(4)\nprint(block)\n\nx = malloc(8)\n",
    (Cell(1, 1, 2), Cell(3, 3, 3), Cell(4, 6, 1)),
)

LEAK = Finding(
    code="GPU990",
    name="example-leak",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    message="`d_in` (cudaMalloc) is not released when `cudaMalloc` fails (returns at line 7)",
    filename=BLUR.filename,
    span=at(BLUR, 5, "cudaMalloc(&d_in, n * sizeof(float))"),
    function="blur",
    subject="d_in",
    steps=(
        step(BLUR, 5, "cudaMalloc(&d_in, n * sizeof(float))", "`d_in` is acquired"),
        step(BLUR, 6, "cudaMalloc(&d_out, n * sizeof(float))", "cudaMalloc fails"),
        step(BLUR, 7, "return -1;", "`d_in` is lost here"),
        step(BLUR, 12, "cudaFree(d_in)", "other paths release `d_in` here", aside=True),
    ),
    fingerprint="0123",
    defect=Defect("blur: fails", Span(3, 1, 14, 2), "d_in"),
    fix=Fix(
        "Release `d_in` before the return",
        (Edit(BLUR.filename, Span(7, 9, 7, 9), "cudaFree(d_in);\n        "),),
        Applicability.SAFE,
    ),
)
LIKEWISE = dataclasses.replace(
    LEAK,
    message="`d_out` (cudaMalloc) is not released either",
    span=at(BLUR, 6, "cudaMalloc(&d_out, n * sizeof(float))"),
    subject="d_out",
    steps=(),
    fix=None,
    defect=Defect("blur: fails", Span(3, 1, 14, 2), "d_out"),
)
DOUBLE = Finding(
    code="GPU991",
    name="example-double",
    severity=Severity.ERROR,
    confidence=Confidence.MEDIUM,
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
    fingerprint="4567",
    runtime=Verdict(
        Outcome.CONFIRMED,
        "simulated sm_90",
        (
            Evidence(
                "64 bytes from cudaMalloc are released twice",
                "cudaMalloc at src/blur.cu:6 fails",
                "cudaMalloc at src/blur.cu:6",
                64,
                ("src/blur.cu:12 (blur)", "src/main.cu:3 (main)"),
            ),
        ),
    ),
)
WIDE = Finding(
    code="GPU992",
    name="example-advice",
    severity=Severity.INFO,
    confidence=Confidence.LOW,
    message="wide characters before the mark; `a[0](1)` is no link",
    filename=BLUR.filename,
    span=at(BLUR, 9, "cudaFree(d_out)"),
    fingerprint="89ab",
)
SUPPRESSED = dataclasses.replace(
    WIDE, fingerprint="cdef", suppressed="cudalint: ignore[GPU992]", severity=Severity.WARNING
)
SOURCES = {one.filename: one for one in (BLUR, HELPER, NOTEBOOK)}
CHECKOUT = Checkout(Path("/home/me/project"), Path("/home/me/project/sub"))

ORDINARY = told_once(
    Report(
        (LEAK, LIKEWISE, WIDE, SUPPRESSED, DOUBLE),
        (FileError("src/bad.cu", "is binary (it contains NUL bytes)"),),
        (FileError("src/old.cu", "is not UTF-8: read as Latin-1"),),
        files=3,
        sources=SOURCES,
        documentation="https://docs.example.org/cudalint",
        rules=(ExampleRule,),
        checkout=CHECKOUT,
    )
)


def _hostile(number: int, name: str) -> Finding:
    return dataclasses.replace(
        WIDE,
        severity=Severity.WARNING,
        filename=name,
        message=f"`{name}` is lost",
        function=name,
        span=Span(1, 3, 1, 5),
        steps=(Step(name, Span(1, 3, 1, 5), name), Step("gone.cu", Span(3, 1, 3, 2), name)),
        fingerprint=f"{number}",
        runtime=Verdict(Outcome.NOT_REACHED, name, (Evidence(name, name, name, None, (name,)),)),
    )


HOSTILE = Report(
    tuple(_hostile(number, name) for number, name in enumerate(HOSTILE_NAMES)),
    tuple(FileError(name, name) for name in HOSTILE_NAMES[:6]),
    files=len(HOSTILE_NAMES),
    sources={name: Source(name, f"{name.replace(chr(10), ' ')};\n") for name in HOSTILE_NAMES},
    rules=(ExampleRule,),
    checkout=CHECKOUT,
)
IN_CELLS = Report(
    (
        dataclasses.replace(
            LEAK,
            filename=NOTEBOOK.filename,
            span=at(NOTEBOOK, 3, "malloc(4)"),
            message="`block` (malloc) is never released",
            function="",
            steps=(
                step(NOTEBOOK, 3, "malloc(4)", "`block` is acquired"),
                step(NOTEBOOK, 6, "x", "and lost here"),
            ),
            defect=None,
            fix=Fix("Release it", (Edit(NOTEBOOK.filename, Span(4, 1, 4, 1), "free(block)\n"),)),
        ),
    ),
    files=1,
    sources=SOURCES,
    rules=(ExampleRule,),
    checkout=CHECKOUT,
)
SAMPLES = {"ordinary": ORDINARY, "hostile": HOSTILE, "notebook": IN_CELLS}
