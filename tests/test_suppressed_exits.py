"""Comments that silence: what they leave, and what is said of those that silence nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.cli import main

_EXITS = """#include <cuda_runtime.h>
void y(size_t n)
{
    float* p;
    if (cudaMalloc(&p, n) != cudaSuccess) return;
    if (n > 10) return;FIRST
    if (n > 5) return;SECOND
    cudaFree(p);
}
"""
_COMMENT = "  // cudalint: ignore[GPU102]"


def said(path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    path.write_text(text)
    main([str(path), "--isolated", "--no-cache", "--output", "concise"])
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("", "", "when `n > 10` is true (returns at line 6), nor on the way out at line 7"),
        (_COMMENT, "", "when `n > 5` is true (returns at line 7)"),
        ("", _COMMENT, "when `n > 10` is true (returns at line 6)"),
        (_COMMENT, _COMMENT, None),
    ],
)
def test_a_comment_at_one_exit_hides_that_one(
    first: str, second: str, told: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = _EXITS.replace("FIRST", first).replace("SECOND", second)
    out = said(tmp_path / "a.cu", text, capsys)
    if told is None:
        assert "GPU" not in out
    else:
        assert f"`p` (cudaMalloc) is not released {told}; line 8 releases it otherwise" in out
        assert out.count("[GPU") == 1


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ("disable[GPU101]", "`disable` is no directive (did you mean `ignore`?)"),
        ("ingore[GPU101]", "`ingore` is no directive (did you mean `ignore`?)"),
        ("ignore[GPU999]", "GPU999 is no rule [GPU001]"),
        ("ignore[GPU102]", "there is no GPU102 here to suppress (GPU101 and GPU506 are)"),
    ],
)
def test_a_comment_that_silences_nothing_says_why(
    comment: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = f"void f() {{\n    int* p;\n    cudaMalloc(&p, 4);  // cudalint: {comment}\n}}\n"
    out = said(tmp_path / "a.cu", f"#include <cuda_runtime.h>\n{lines}", capsys)
    assert told in out
    assert "[GPU101]\n" in out
