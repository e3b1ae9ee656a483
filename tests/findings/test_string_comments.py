"""Suppressions of what is found in CUDA sources that stand in Python strings."""

from __future__ import annotations

import pytest

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.suppressions import parse_suppressions, suppress, unused_suppressions
from cudalint.source import Source, Span

KERNEL = '''\
import cupy
{above}
kernel = cupy.RawKernel(r"""
extern "C" __global__ void blur(float* a) {{
    {before}
    __shared__ double tile[96][96];{inside}
}}
""", "blur"){behind}
'''


def suppressed(**comments: str) -> str | None:
    places = dict.fromkeys(("above", "before", "inside", "behind"), "")
    source = Source("script.py", KERNEL.format(**{**places, **comments}))
    finding = Finding(
        code="GPU301",
        name="oversize-static-shared",
        severity=Severity.ERROR,
        confidence=Confidence.HIGH,
        message="too much",
        filename="script.py",
        span=Span(6, 5, 6, 10),
    )
    file = parse_suppressions(source, "python")
    (judged,) = suppress([finding], {"script.py": file})
    known = {"GPU301": "oversize-static-shared"}
    unused = list(unused_suppressions(file, known=known, ran={"GPU301"}))
    assert not unused or judged.suppressed is None
    return judged.suppressed


@pytest.mark.parametrize(
    "comments",
    [
        {"inside": "  // cudalint: ignore[GPU301] only on new devices"},
        {"inside": "  /* cudalint: ignore[GPU301] */"},
        {"before": "// cudalint: ignore[GPU301]"},
        {"before": "// cudalint: ignore-next-line[GPU301]"},
        {"inside": "  // NOLINT(cudalint-oversize-static-shared)"},
        {"behind": "  # cudalint: ignore[GPU301]"},
        {"behind": "  # noqa: GPU301"},
        {"above": "# cudalint: ignore[GPU301]"},
        {"above": "# cudalint: ignore-next-line[GPU301]"},
        {"above": "# cudalint: file-ignore[GPU301]"},
    ],
)
def test_suppressed(comments: dict[str, str]) -> None:
    assert suppressed(**comments)


@pytest.mark.parametrize(
    "comments",
    [
        {},
        {"inside": "  // cudalint: ignore[GPU302]"},
        {"inside": "  // cudalint: file-ignore[GPU301]"},
        {"behind": "  # cudalint: ignore[GPU302]"},
    ],
)
def test_not_suppressed(comments: dict[str, str]) -> None:
    assert suppressed(**comments) is None


def test_quoted_comments_are_not_judged() -> None:
    text = 'HELP = """Write `// cudalint: ignore[GPU301]` behind the line."""\n'
    file = parse_suppressions(Source("help.py", text), "python")
    known = {"GPU301": "oversize-static-shared"}
    assert not list(unused_suppressions(file, known=known, ran={"GPU301"}))
