"""Suppressions that are written: they silence, and nothing but comments changes."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.ignoring import ignoring
from cudalint.findings.suppressions import parse_suppressions, suppress
from cudalint.project.reading import Language
from cudalint.project.writing import apply_edits
from cudalint.source import Source, Span
from tests.findings.test_comments import LANGUAGES, TEXTS

COMMENT = "  // cudalint: ignore[GPU101] why"


def finding(row: int, column: int = 1, code: str = "GPU101", end_row: int = 0) -> Finding:
    return Finding(
        code=code,
        name="unpaired-allocation",
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message="leak",
        filename="file",
        span=Span(row, column, end_row or row, column + 1),
    )


def written(
    text: str, language: Language, *found: Finding, reason: str = ""
) -> tuple[str, list[Finding]]:
    edits, left = ignoring(found, Source("file", text), language, reason)
    after = apply_edits(text, edits)
    return after, left


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(x);", "f(x);" + COMMENT),
        ("f(x);  \r\ng();", "f(x);  // cudalint: ignore[GPU101] why  \r\ng();"),
        ("f(x); // old", "f(x); // old  // cudalint: ignore[GPU101] why"),
        ("f(x); /* old */", "f(x); /* old */  // cudalint: ignore[GPU101] why"),
        ("f(x); // cudalint: ignore[GPU102] a", "f(x); // cudalint: ignore[GPU102, GPU101] a"),
        ("f(x); // cudalint: ignore[ ]", "f(x); // cudalint: ignore[ ]" + COMMENT),
        ("f(x); // NOLINT(x)", "f(x); // NOLINT(x)  // cudalint: ignore[GPU101] why"),
        ("f(x) \\\n  g()", "f(x)  /* cudalint: ignore[GPU101] why */ \\\n  g()"),
        ("f(x)\\\r\n  g()", "f(x)  /* cudalint: ignore[GPU101] why */ \\\r\n  g()"),
        ("f(x, // a \\\n  b);", "f(x, // a  /* cudalint: ignore[GPU101] why */ \\\n  b);"),
        ('f(R"(\n)");', '/* cudalint: ignore[GPU101] why */ f(R"(\n)");'),
        ('f("a\\\nb");', '/* cudalint: ignore[GPU101] why */ f("a\\\nb");'),
        ("f(x); /* a\n b */", "f(x); /* a  // cudalint: ignore[GPU101] why\n b */"),
    ],
)  # fmt: skip
def test_in_cpp(before: str, after: str) -> None:
    assert written(before, "cuda", finding(1), reason="why") == (after, [])


def test_the_comment_above_takes_the_code_too() -> None:
    before = "// cudalint: ignore-next-line[GPU102] a\nf(x);\n"
    after = "// cudalint: ignore-next-line[GPU102, GPU101] a\nf(x);\n"
    assert written(before, "cuda", finding(2)) == (after, [])
    before = "# cudalint: ignore[GPU102]\nf(x)\n"
    after = "# cudalint: ignore[GPU102, GPU101]\nf(x)\n"
    assert written(before, "python", finding(2)) == (after, [])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(x)", "f(x)  # cudalint: ignore[GPU101] why"),
        ("f(x)  # noqa: E501", "f(x)  # noqa: E501  # cudalint: ignore[GPU101] why"),
        ("f(x)  # cudalint: ignore[GPU102]", "f(x)  # cudalint: ignore[GPU102, GPU101]"),
        ("f('''\n''')", "f('''\n''')  # cudalint: ignore[GPU101] why"),
        ("f('''\n''', '''\n''')\n", "f('''\n''', '''\n''')  # cudalint: ignore[GPU101] why\n"),
        (
            "  f = a \\\r\n    + b\r\n",
            "  # cudalint: ignore[GPU101] why\r\n  f = a \\\r\n    + b\r\n",
        ),
        (
            "f('''\n// cudalint: ignore[GPU2]\n''')",
            "f('''\n// cudalint: ignore[GPU2]\n''')  # cudalint: ignore[GPU101] why",
        ),
    ],
)  # fmt: skip
def test_in_python(before: str, after: str) -> None:
    assert written(before, "python", finding(1), reason="why") == (after, [])


def test_code_in_a_string_is_left_as_it_is() -> None:
    before = 'k = RawKernel(r"""\n__global__ void k() {\n  f(x);\n}\n""", "k")\n'
    after = before[:-1] + "  # cudalint: ignore[GPU101]\n"
    assert written(before, "python", finding(3, 3)) == (after, [])


def test_codes_of_one_line_share_a_comment() -> None:
    text = "f(x); g(y);\n"
    found = [finding(1), finding(1, 7, "GPU506"), finding(1, 3)]
    assert written(text, "cuda", *found)[0] == "f(x); g(y);  // cudalint: ignore[GPU101, GPU506]\n"


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("two\nlines\t here", "two lines here"),
        ("ends in \\", "ends in"),
        ("\\ \\\\ ", ""),
        ("bell\a \u202eodd", "bell odd"),
        ("a */ b", "a */ b"),
    ],
)
def test_reasons_stay_in_their_comment(reason: str, shown: str) -> None:
    after, _ = written("f(x);\ng();\n", "cuda", finding(1), reason=reason)
    assert after == f"f(x);  // cudalint: ignore[GPU101] {shown}".rstrip() + "\ng();\n"
    after, _ = written("f(x) \\\ng();\n", "cuda", finding(1), reason=reason)
    assert after.count("*/") == 1 and after.endswith("*/ \\\ng();\n")


def test_what_cannot_be_suppressed_is_told() -> None:
    # No comment may stand before, in or after the line:
    text = "x = 1 + \\\n  f(y) + \\\n  2\n"
    after, left = written(text, "python", finding(2, 3))
    assert (after, left) == (text, [finding(2, 3)])
    unused = finding(1, code="GPU001")
    assert written("f(x);", "cuda", unused) == ("f(x);", [unused])


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(LANGUAGES), st.data())
def test_any_text_keeps_its_code(text: str, language: Language, data: st.DataObject) -> None:
    source = Source("file", text)
    rows = st.integers(1, len(source.line_starts))
    told = [finding(row) for row in data.draw(st.lists(rows, max_size=3))]
    told = suppress(told, {"file": parse_suppressions(source, language)})
    found = [one for one in told if one.suppressed is None]
    edits, left = ignoring(found, source, language)
    after = apply_edits(text, edits)
    assert len(edits) + len({one.span.row for one in left}) == len({one.span.row for one in found})
    if language == "python":
        assert _tree(after) == _tree(text)
    if not any(edit.text.endswith("\n") for edit in edits):
        again = [one for one in found if one not in left]
        file = parse_suppressions(Source("file", after), language)
        assert all(one.suppressed for one in suppress(again, {"file": file}))


def _tree(text: str) -> str | None:
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return None


def test_a_finding_of_several_lines_may_be_silenced_on_any() -> None:
    text = "f(a, \\\n  b)\n"
    one = replace(finding(1), span=Span(1, 1, 2, 5))
    after, left = written(text, "python", one)
    assert after == "f(a, \\\n  b)  # cudalint: ignore[GPU101]\n" and left == []
