"""The comment scanners on any text: no error, true places, nothing from inside strings."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.findings.comments import comments_of, conditional_rows
from cudalint.findings.suppressions import parse_suppressions
from cudalint.project.reading import Language
from cudalint.source import Source

_WORDS = '// /* */ # " \' """ \'\'\' R"x( )x" \\ a 1\'0 u8 noqa NOLINTBEGIN é 漢'
_PIECES = st.sampled_from(
    [*_WORDS.split(), "\n", "\r\n", " ", "#if 1", "#endif", "cudalint: ignore[GPU101]"]
)
TEXTS = st.lists(_PIECES, max_size=40).map("".join)
LANGUAGES: list[Language] = ["cuda", "python"]


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from(LANGUAGES))
def test_any_text_is_scanned_and_places_are_true(text: str, language: Language) -> None:
    source = Source("file", text)
    for comment in comments_of(source, language).comments:
        start = source.line_starts[comment.row - 1] + comment.column - 1
        mark = "#" if language == "python" else ("//", "/*")
        assert source.text.startswith("/" if comment.in_string else mark, start)
        end = source.line_starts[comment.end_row - 1] + comment.end_column - 1
        assert start < end <= len(text)
    parse_suppressions(source, language)
    conditional_rows(source)


@given(st.text(max_size=60))
@settings(deadline=None)
def test_a_string_literal_holds_no_comment(text: str) -> None:
    literal = text.replace("\\", "").replace('"', "").replace("\n", "").replace("\r", "")
    source = Source("file", f'f("{literal}"); // the only one\n')
    assert [comment.text for comment in comments_of(source, "cuda").comments] == [" the only one"]
