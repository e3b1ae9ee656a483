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

CPP_TOKEN = re.compile(
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
_FOR_LINTERS = re.compile(r"(?://|/\*)[^\n]*(?:cudalint\s*:|NOLINT)", re.IGNORECASE)
_LAYOUT = (
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
_STRINGS = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1))
_Place = tuple[int, int]
_Piece = tuple[str | None, _Place, _Place, bool]
"""The text of a comment (``None`` for code), where it begins and ends, whether it is a string."""


@dataclass(frozen=True)
class Comment:
    """One comment: its text without the marks, and its place (the end is exclusive)."""

    text: str
    row: int
    column: int
    end_row: int
    end_column: int
    in_string: bool = False
    """It is one of the CUDA source in a Python string (or merely looks like it)."""


@dataclass(frozen=True)
class Comments:
    """The comments of a file, and the rows that hold code, in order."""

    comments: tuple[Comment, ...]
    code_rows: tuple[int, ...]
    strings: tuple[tuple[int, int], ...] = ()
    """The first and last rows of Python strings of several lines: no Python comment fits in."""

    def with_strings(self, rows: range) -> range:
        """The rows, and those of strings that begin or end there."""
        for first, last in (*self.strings, *reversed(self.strings)):
            if first in rows or last in rows:
                rows = range(min(rows.start, first), max(rows.stop, last + 1))
        return rows

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
    strings: list[tuple[int, int]] = []
    python = language == "python"
    for text, start, end, is_string in _python(source) if python else _cpp(source):
        if text is not None:
            comments.append(Comment(text, *start, *end))
            continue
        inner = _in_string(source, start, end) if is_string else []
        if is_string and end[0] > start[0]:
            strings.append((start[0], end[0]))
        if inner:
            # The rows of such a string are told apart: a comment may stand alone in it.
            rows.update((start[0], end[0]))
        else:
            rows.update(range(start[0], end[0] + 1))
        for comment, first, last, _ in inner:
            if comment is None:
                rows.update(range(first[0], last[0] + 1))
            else:
                comments.append(Comment(comment, *first, *last, in_string=True))
    return Comments(tuple(comments), tuple(sorted(rows)), tuple(strings))


def code_of(text: str, language: Language) -> str:
    """A text without its comments and blanks, to be compared with others."""
    token = _PYTHON_TOKEN if language == "python" else CPP_TOKEN
    return "".join(
        match[0]
        for match in token.finditer(text)
        if match.lastgroup not in ("line", "block") and not match[0].isspace()
    )


def _in_string(source: Source, start: _Place, end: _Place) -> list[_Piece]:
    """The tokens of C++ in a Python string, if it has a comment that may be meant for a linter."""
    first = source.line_starts[start[0] - 1] + start[1] - 1
    last = source.line_starts[end[0] - 1] + end[1] - 1
    text = source.text[first:last]
    if not _FOR_LINTERS.search(text):
        return []
    body = text.lstrip("rRbBfFuUtT")
    quotes = body[:3] if body[:3] in ('"' * 3, "'" * 3) else body[:1]
    if quotes[:1] not in ('"', "'"):
        quotes = ""  # the middle of an f-string, which is a token of its own
    first += len(text) - len(body) + len(quotes)
    inner = body[len(quotes) : len(body) - len(quotes)]
    return list(_cpp(source, inner, first))


def _cpp(source: Source, text: str | None = None, shift: int = 0) -> Iterator[_Piece]:
    """Each token: the text of a comment, ``None`` for code."""
    for match in CPP_TOKEN.finditer(source.text if text is None else text):
        if match[0].isspace():
            continue
        start = source.position(match.start() + shift)
        end = source.position(match.end() + shift)
        if match["line"]:
            yield match[0][2:], start, end, False
        elif match["block"]:
            yield match[0][2:].removesuffix("*/"), start, end, False
        else:
            yield None, start, end, False


def _python(source: Source) -> Iterator[_Piece]:
    """By Python's own tokenizer; by our scanner where it gives up."""
    pieces: list[_Piece] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type in _LAYOUT:
                continue
            text = token.string[1:] if token.type == tokenize.COMMENT else None
            (row, column), (end_row, end_column) = token.start, token.end
            place, end = (row, column + 1), (end_row, end_column + 1)
            pieces.append((text, place, end, token.type in _STRINGS))
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return _python_scanned(source)
    return iter(pieces)


def _python_scanned(source: Source) -> Iterator[_Piece]:
    for match in _PYTHON_TOKEN.finditer(source.text):
        start, end = source.position(match.start()), source.position(match.end())
        is_string = bool(match["triple"] or match["string"])
        yield match[0][1:] if match["line"] else None, start, end, is_string


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
