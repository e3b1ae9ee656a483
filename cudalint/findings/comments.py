"""Finds the comments of a file: never inside strings, also in code that does not parse."""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from cudalint.project.reading import Language
from cudalint.source import Source

_CPP_TOKEN = re.compile(
    r"""
    (?P<line>//(?:[^\\\n]+|\\(?:\r?\n|.)?)*)
  | (?P<block>/\*.*?(?:\*/|\Z))
  | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z))
  | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]+|\\(?:\r?\n|.)?)*"?)
  | (?P<character>(?:u8|[uUL])?'(?:[^'\\\n]|\\.){1,16}')
  | (?P<number>\.?\d(?:'?[\w.])*)
  | (?P<word>[^\W\d]\w*)
  | (?P<code>[^\s\w"'/]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_PYTHON_TOKEN = re.compile(
    r"""
    (?P<line>\#[^\n]*)
  | (?P<triple>(?P<quotes>'{3}|"{3})(?:[^\\]|\\.)*?(?:(?P=quotes)|\Z))
  | (?P<string>"(?:[^"\\\n]+|\\(?:\r?\n|.))*"?|'(?:[^'\\\n]+|\\(?:\r?\n|.))*'?)
  | (?P<code>[^\s"'\#]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|endif)\b")
_LAYOUT = (
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
_Place = tuple[int, int]


@dataclass(frozen=True)
class Comment:
    """One comment: its text without the marks, and its place (the end is exclusive)."""

    text: str
    row: int
    column: int
    end_row: int
    end_column: int


@dataclass(frozen=True)
class Comments:
    """The comments of a file, and the rows that hold code, in order."""

    comments: tuple[Comment, ...]
    code_rows: tuple[int, ...]

    def alone(self, comment: Comment) -> bool:
        """Whether no code stands on the comment's lines."""
        position = bisect_right(self.code_rows, comment.row - 1)
        return position == len(self.code_rows) or self.code_rows[position] > comment.end_row

    def next_code_row(self, row: int) -> int | None:
        """The first row after ``row`` that holds code."""
        position = bisect_right(self.code_rows, row)
        return self.code_rows[position] if position < len(self.code_rows) else None


def comments_of(source: Source, language: Language) -> Comments:
    """All comments of a file."""
    comments: list[Comment] = []
    rows: set[int] = set()
    for text, start, end in _python(source) if language == "python" else _cpp(source):
        if text is None:
            rows.update(range(start[0], end[0] + 1))
        else:
            comments.append(Comment(text, *start, *end))
    return Comments(tuple(comments), tuple(sorted(rows)))


def _cpp(source: Source) -> Iterator[tuple[str | None, _Place, _Place]]:
    """Each token: the text of a comment, ``None`` for code."""
    for match in _CPP_TOKEN.finditer(source.text):
        if match[0].isspace():
            continue
        start, end = source.position(match.start()), source.position(match.end())
        if match["line"]:
            yield match[0][2:], start, end
        elif match["block"]:
            yield match[0][2:].removesuffix("*/"), start, end
        else:
            yield None, start, end


def _python(source: Source) -> Iterator[tuple[str | None, _Place, _Place]]:
    """By Python's own tokenizer; by our scanner where it gives up."""
    pieces: list[tuple[str | None, _Place, _Place]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type in _LAYOUT:
                continue
            text = token.string[1:] if token.type == tokenize.COMMENT else None
            (row, column), (end_row, end_column) = token.start, token.end
            pieces.append((text, (row, column + 1), (end_row, end_column + 1)))
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return _python_scanned(source)
    return iter(pieces)


def _python_scanned(source: Source) -> Iterator[tuple[str | None, _Place, _Place]]:
    for match in _PYTHON_TOKEN.finditer(source.text):
        start, end = source.position(match.start()), source.position(match.end())
        yield match[0][1:] if match["line"] else None, start, end


def conditional_rows(source: Source) -> frozenset[int]:
    """Rows of C++ between ``#if`` and ``#endif``, which may not be compiled at all. An include
    guard does not count."""
    rows: set[int] = set()
    guards: list[bool] = []
    seen_code = False
    for row, line in enumerate(source.lines, start=1):
        if match := _DIRECTIVE.match(line):
            if match[1] == "endif":
                if guards:
                    guards.pop()
            else:
                guards.append(match[1] == "ifndef" and not guards and not seen_code)
        text = line.strip()
        seen_code = seen_code or bool(text and not text.startswith(("//", "/*", "*")))
        if not all(guards):
            rows.add(row)
    return frozenset(rows)
