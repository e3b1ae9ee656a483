"""Which findings comments silence, and which comments are reported as unused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cudalint.findings.comments import comments_of
from cudalint.findings.finding import Confidence, Finding, Severity, Step, Way
from cudalint.findings.suppressions import (
    FileSuppressions,
    UnusedSuppression,
    parse_suppressions,
    suppress,
    unused_suppressions,
)
from cudalint.project.reading import Language
from cudalint.source import Source, Span

KNOWN = {
    "GPU001": "unused-suppression",
    "GPU101": "unpaired-allocation",
    "GPU102": "early-exit-leak",
    "GPU106": "handle-leak",
}


def finding(
    row: int, code: str = "GPU101", *, end_row: int | None = None, steps: tuple[int, ...] = ()
) -> Finding:
    return Finding(
        code=code,
        name=KNOWN[code],
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message="leak",
        filename="file",
        span=Span(row, 1, end_row or row, 9),
        steps=tuple(Step("file", Span(step, 1, step, 9), "step") for step in steps),
    )


def parsed(text: str, language: Language) -> FileSuppressions:
    return parse_suppressions(Source("file", text), language)


def silenced(text: str, language: Language, found: Finding) -> bool:
    return suppress([found], {"file": parsed(text, language)})[0].suppressed is not None


def unused(
    text: str, language: Language, *found: Finding, **options: object
) -> list[UnusedSuppression]:
    file = parsed(text, language)
    suppress(found, {"file": file})
    return list(unused_suppressions(file, known=KNOWN, ran=set(KNOWN), **options))  # type: ignore[arg-type]


CPP_LEAK = [
    "cudaMalloc(&p, n); // cudalint: ignore[GPU101] kept for ever",
    "cudaMalloc(&p, n); /* cudalint: ignore[GPU101] */",
    "cudaMalloc(&p, n); // cudalint:ignore[gpu101]",
    "cudaMalloc(&p, n); // cudalint: ignore[GPU102, GPU101]",
    "cudaMalloc(&p, n); // cudalint: ignore[unpaired-allocation]",
    "cudaMalloc(&p, n); // see above. cudalint: ignore[GPU101]",
    "cudaMalloc(&p, n); // NOLINT(cudalint-unpaired-allocation)",
    "cudaMalloc(&p, n); // NOLINT(bugprone-x, cudalint-GPU101)",
    "cudaMalloc(&p, n); // NOLINT(cudalint-*)",
    "cudaMalloc(&p, n); // NOLINT",
    "cudaMalloc(&p, n); // NOLINT(*)",
    "cudaMalloc(&p, n); // noqa: GPU101",
    "// cudalint: file-ignore[GPU101] generated\ncudaMalloc(&p, n);",
]


@pytest.mark.parametrize("text", CPP_LEAK)
def test_cpp_forms_silence(text: str) -> None:
    row = text.count("\n") + 1
    assert silenced(text, "cuda", finding(row))


@pytest.mark.parametrize(
    "text",
    [
        "cudaMalloc(&p, n); // cudalint: ignore[GPU102]",
        "cudaMalloc(&p, n); // cudalint: ignore",
        "// cudalint: file-ignore\ncudaMalloc(&p, n);",
        "cudaMalloc(&p, n); // NOLINT(bugprone-unused)",
        "cudaMalloc(&p, n); // NOLINTNEXTLINE(cudalint-GPU101)",
        'cudaMalloc(&p, "// cudalint: ignore[GPU101]");',
        'cudaMalloc(&p, R"x(\n)" // cudalint: ignore[GPU101]\n)x");',
        "cudaMalloc(&p, n); // noqa: E501",
        "// cudalint: ignore[GPU101]\nint x;\ncudaMalloc(&p, n);",
    ],
)
def test_cpp_forms_that_do_not(text: str) -> None:
    row = next(i for i, line in enumerate(text.split("\n"), 1) if "cudaMalloc" in line)
    assert not silenced(text, "cuda", finding(row))
    if 'R"x' in text:
        assert not silenced(text, "cuda", finding(2))


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("// cudalint: ignore[GPU101] why\n\n// more\ncudaMalloc();", 4),
        ("/* cudalint: ignore[GPU101]\n   why */\ncudaMalloc();", 3),
        ("int x; // cudalint: ignore-next-line[GPU101]\ncudaMalloc();", 2),
        ("// NOLINTNEXTLINE(cudalint-GPU101)\ncudaMalloc();", 2),
        (
            "// NOLINTBEGIN(cudalint-GPU101)\nint x;\ncudaMalloc();\n// NOLINTEND(cudalint-GPU101)",
            3,
        ),
        ("// NOLINTBEGIN(cudalint-GPU101)\nint x;\ncudaMalloc();", 3),
        ("// a comment \\\n   cudalint: ignore[GPU101]\ncudaMalloc();", 3),
        ("auto n = 1'000'000; // cudalint: ignore[GPU101]", 1),
        ("#error don't\ncudaMalloc(); // cudalint: ignore[GPU101]", 2),
    ],
)
def test_where_a_cpp_comment_applies(text: str, row: int) -> None:
    assert silenced(text, "cuda", finding(row))
    assert not silenced(text, "cuda", finding(row + 5))


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("p = malloc(n)  # cudalint: ignore[GPU101] reason", 1),
        ("p = malloc(n)  # noqa: GPU101", 1),
        ("p = malloc(n)  # noqa", 1),
        ("p = malloc(n)  # noqa:GPU102,GPU101", 1),
        ("p = malloc(n)  # type: ignore  # noqa: E501, GPU101", 1),
        ("# cudalint: ignore[GPU101]\np = malloc(n)", 2),
        ("x = '''\n'''\n# cudalint: ignore[GPU101]\n\n# why\np = malloc(n)", 6),
        ("p = malloc(  # cudalint: ignore[GPU101]\n    n)", 1),
        # Code that the tokenizer gives up on:
        ("p = malloc(n  # cudalint: ignore[GPU101]\n", 1),
        ("x = '\np = malloc(n)  # cudalint: ignore[GPU101]\n  y\n x", 2),
    ],
)
def test_where_a_python_comment_applies(text: str, row: int) -> None:
    assert silenced(text, "python", finding(row))


@pytest.mark.parametrize(
    "text",
    [
        "p = malloc('# cudalint: ignore[GPU101]')",
        "p = malloc('''\n# cudalint: ignore[GPU101]\n''')",
        "p = malloc('# cudalint: ignore[GPU101]'",
        "p = malloc(n)  # noqatall",
    ],
)
def test_python_strings_do_not_silence(text: str) -> None:
    assert not silenced(text, "python", finding(1, end_row=3))


def test_any_line_of_the_call_and_any_step_work() -> None:
    text = (
        "cudaMalloc(&p,\n  n); // cudalint: ignore[GPU101]\n\nreturn; // cudalint: ignore[GPU102]"
    )
    assert silenced(text, "cuda", finding(1, end_row=2))
    assert silenced(text, "cuda", finding(1, "GPU102", steps=(1, 3, 4)))
    assert not silenced(text, "cuda", finding(1, "GPU106", steps=(1, 3, 4)))


def test_the_text_of_the_suppression_is_kept() -> None:
    text = "cudaMalloc(&p, n); // cudalint:  ignore[GPU101]  kept"
    result = suppress([finding(1)], {"file": parsed(text, "cuda")})
    assert result[0].suppressed == "cudalint: ignore[GPU101]"


def test_unused_is_said_once_per_comment_with_its_codes() -> None:
    (one,) = unused("f(); // cudalint: ignore[GPU101, GPU102] why", "cuda", finding(1))
    assert one.codes == ("GPU102",) and one.unknown == ()
    assert one.span == Span(1, 6, 1, 45)


def test_used_suppressions_are_not_reported() -> None:
    text = "f(); // cudalint: ignore[GPU101]\ng(); // NOLINT(cudalint-handle-leak)"
    assert unused(text, "cuda", finding(1), finding(2, "GPU106")) == []


def test_unknown_codes_come_with_the_nearest() -> None:
    (one,) = unused("f()  # cudalint: ignore[GPU1O1, handel-leak]", "python")
    assert one.unknown == ("GPU1O1", "handel-leak")
    assert one.suggestions == ("GPU101", "handle-leak")


@pytest.mark.parametrize(
    "text",
    [
        "f()  # noqa",
        "f()  # noqa: E501",
        "f()  # NOQA:E501,W291",
        "f()  # noqa: E501, W291 because",
        "f()  # type: ignore  # noqa: ANN001",
        "f()  # pylint: disable=unused-argument",
        "f()  # type: ignore[attr-defined]",
        "f()  # nosec B404",
        "# flake8: noqa\nf()",
        "# ruff: noqa\nf()",
        "# ruff: noqa: E501, F401\nf()",
        "# flake8: noqa: E501\nf()",
        "# isort: skip_file\nf()",
    ],
)
def test_foreign_and_blanket_noqa_are_never_reported(text: str) -> None:
    assert unused(text, "python") == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("f()  # noqa: E501, GPU101", ("GPU101",)),
        ("f()  # noqa: GPU101,GPU102", ("GPU101", "GPU102")),
        ("f()  # noqa: GPU1", ("GPU1",)),
        ("f()  # noqa: GPU", ("GPU",)),
        ("# ruff: noqa: E501, GPU101\nf()", ("GPU101",)),
        ("f()  # noqa: GPU999", ("GPU999",)),
    ],
)
def test_our_codes_in_noqa_are_judged(text: str, codes: tuple[str, ...]) -> None:
    assert [one.codes for one in unused(text, "python")] == [codes]


@pytest.mark.parametrize(
    "text",
    [
        "p = malloc(n)  # noqa: GPU1",
        "p = malloc(n)  # noqa: GPU",
        "p = malloc(n)  # noqa: gpu101",
        "p = malloc(n)  # NoQA:E501,GPU10",
        "p = malloc(n)\n# flake8: noqa",
        "p = malloc(n)\n# flake8: noqa: GPU101",
        "p = malloc(n)\n# ruff: noqa",
        "p = malloc(n)\n# ruff: noqa: E501, GPU101",
    ],
)
def test_noqa_in_all_its_forms(text: str) -> None:
    assert silenced(text, "python", finding(1))
    assert unused(text, "python", finding(1)) == []


@pytest.mark.parametrize(
    "text",
    [
        "p = malloc(n)  # noqa: GPU2",
        "p = malloc(n)  # noqa: E501, W291",
        "p = malloc(n)\n# ruff: noqa: E501",
        "p = malloc(n)\n# mypy: noqa",
        "p = malloc(n)\n# noqa",
    ],
)
def test_noqa_that_is_not_for_it(text: str) -> None:
    assert not silenced(text, "python", finding(1))


def test_foreign_and_blanket_nolint_are_never_reported() -> None:
    assert unused("f(); // NOLINT\ng(); // NOLINT(bugprone-x)", "cuda") == []


def test_a_suppression_without_a_code_is_reported() -> None:
    (one,) = unused("f()  # cudalint: ignore", "python", finding(1))
    assert one.codes == ()


def test_only_rules_that_ran_are_judged() -> None:
    file = parsed("f(); // cudalint: ignore[GPU101]", "cuda")
    assert list(unused_suppressions(file, known=KNOWN, ran={"GPU102"})) == []


def test_nothing_is_said_of_code_that_was_not_read() -> None:
    text = "f(); // cudalint: ignore[GPU101]"
    assert unused(text, "cuda", unread=[Span(1, 1, 3, 1)]) == []
    conditional = "#include <a>\n#ifdef DEBUG\n" + text + "\n#endif\n"
    assert unused(conditional, "cuda") == []
    guarded = "#ifndef A_H\n#define A_H\n" + text + "\n#endif\n"
    assert len(unused(guarded, "cuda")) == 1


def test_comments_of_a_long_line_are_found_quickly() -> None:
    text = "a(b);" * 200_000 + "// cudalint: ignore[GPU101]"
    found = comments_of(Source("file", text), "cuda").comments
    assert [comment.row for comment in found] == [1]


def two_ways() -> Finding:
    """A leak on rows 2 and 3; the second path goes by the condition on row 2."""
    ways = tuple(
        Way(
            Span(row, 1, row, 9),
            f"leaves at {row}",
            tuple(Step("file", Span(step, 1, step, 9), "step") for step in range(1, row + 1)),
        )
        for row in (2, 3)
    )
    return replace(finding(1, "GPU102"), ways=ways)


def test_each_way_needs_its_own_suppression() -> None:
    comment = "  // cudalint: ignore[GPU102]"
    for suppressed, left in ((2, "leaves at 3"), (3, "leaves at 2")):
        lines = [f"row {row}{comment if row == suppressed else ''}" for row in (1, 2, 3)]
        file = parsed("\n".join(lines), "cuda")
        (found,) = suppress([two_ways()], {"file": file})
        assert (found.suppressed, found.message) == (None, left)
        assert not list(unused_suppressions(file, known=KNOWN, ran=set(KNOWN)))
    for text in (f"a\nb{comment}\nc{comment}", f"a{comment}\nb\nc"):
        assert silenced(text, "cuda", two_ways())


@pytest.mark.parametrize(
    ("comment", "nearest"),
    [
        ("cudalint: disable[GPU101]", "ignore"),
        ("cudalint: ingore[GPU101] freed elsewhere", "ignore"),
        ("cudalint: ignore-nextline [GPU101]", "ignore-next-line"),
        ("cudalint: ignore-file[GPU101]", "file-ignore"),
        ("cudalint: disable", "ignore"),
    ],
)
def test_a_word_that_is_no_directive_is_reported(comment: str, nearest: str) -> None:
    (one,) = unused(f"f(); // {comment}", "cuda", finding(1))
    assert one.unknown_word == comment.removeprefix("cudalint: ").partition("[")[0].strip()
    assert one.suggestions == (nearest,)


@pytest.mark.parametrize(
    "comment", ["cudalint: see the page of GPU101", "run cudalint: it is quick", "cudalint: 0.1"]
)
def test_sentences_are_no_directives(comment: str) -> None:
    assert unused(f"f(); // {comment}", "cuda", finding(1)) == []


def test_what_is_there_instead_is_named() -> None:
    text = "f();\ng(); // cudalint: ignore[GPU102]"
    (one,) = unused(text, "cuda", found={1: {"GPU106"}, 2: {"GPU101"}})
    assert (one.codes, one.others) == (("GPU102",), ("GPU101",))


def test_another_number_is_no_suggestion() -> None:
    (one,) = unused("f(); // cudalint: ignore[GPU999]", "cuda")
    assert (one.unknown, one.suggestions) == (("GPU999",), ())
