"""Logical lines of Python text, found without a parser and in spite of errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

DEEPEST_BRACKETS = 100
LONGEST_CHAIN = 2_000
"""Tokens that may follow each other without a comma, summed over the open brackets: the parser
recurses for each operator, and takes quadratic time for long chains."""
LONGEST_LINE = 500_000
DEEPEST_BLOCKS = 90
LONGEST_ELIF = 1_000

_TOKEN = re.compile(
    r"""
    (?P<newline>\r\n|\n|\r)
  | (?P<skip>[ \t\f]+|\\\r?\n|\#[^\r\n]*)
  | (?P<string>[rbfutRBFUT]{0,3}(?:
        \"{3}(?:[^"\\]++|\\.|"(?!""))*+\"{3}
      | '{3}(?:[^'\\]++|\\.|'(?!''))*+'{3}
      | "(?:[^"\\\r\n]++|\\.)*+"
      | '(?:[^'\\\r\n]++|\\.)*+'
    ))
  | (?P<word>\w+)
  | (?P<open>[(\[{])
  | (?P<close>[)\]}])
  | (?P<comma>[,;])
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMPOUND = frozenset(
    ["def", "class", "if", "elif", "else", "for", "while", "with", "try", "except", "finally"]
)
_STARTS_STATEMENT = re.compile(
    r"(?:async[ \t]+)?(?:def|class)[ \t]+\w+|import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b|@\w"
    r"|(?:return|raise|with|while|try|except|finally|else)\b|if[ \t]+__name__"
)


@dataclass(slots=True)
class LogicalLine:
    """A statement's line with its continuations, from its first character to its newline."""

    start: int
    indent: int
    end: int = 0
    first: str = ""
    """The first word."""
    depth: int = 0
    """The most brackets open at once."""
    chain: int = 0
    opens_block: bool = False
    """Whether it ends with a colon, or should."""


def logical_lines(text: str, resilient: bool) -> Iterator[LogicalLine]:
    """The logical lines of a text, comments and empty lines left out.

    ``resilient``: an open bracket ends where a line that is no deeper starts like a statement.
    """
    line: LogicalLine | None = None
    line_start = 0
    open_chains: list[int] = []
    chain = 0
    last = ""
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "skip":
            continue
        if kind == "newline":
            line_start = token.end()
            if line is None:
                continue
            if open_chains and resilient:
                indent = _indent(text, line_start)
                begins = _STARTS_STATEMENT.match(text, line_start + indent)
                if begins and indent <= line.indent:
                    open_chains.clear()
            if not open_chains:
                line.end = token.start()
                line.opens_block = last == ":" or line.first in _COMPOUND
                yield line
                line, chain = None, 0
            continue
        if line is None:
            line = LogicalLine(token.start(), token.start() - line_start)
            line.first = token.group() if kind == "word" else token.group()[0]
        if kind == "string" and len(token.group()) > DEEPEST_BRACKETS:
            inner = _depth_in_string(token.group())
            line.depth = max(line.depth, len(open_chains) + inner)
        elif kind == "open":
            open_chains.append(chain)
            line.depth = max(line.depth, len(open_chains))
        elif kind == "close":
            if open_chains:
                chain = open_chains.pop()
        elif kind == "comma":
            chain = open_chains[-1] if open_chains else 0
        chain += 1
        if chain > line.chain:
            line.chain = chain
        last = token.group() if kind == "other" else ""
    if line is not None:
        line.end = len(text)
        line.opens_block = last == ":" or line.first in _COMPOUND
        yield line


def _depth_in_string(text: str) -> int:
    """How deep the brackets of a formatted string's expressions nest."""
    if "f" not in text[:3].lower() and "t" not in text[:3].lower():
        return 0
    deepest = depth = chain = longest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
            chain = 0
        elif character in "+-*/%.~&|^<>=":
            chain += 1
            longest = max(longest, chain)
    return deepest if longest <= LONGEST_CHAIN else DEEPEST_BRACKETS + 1


def _indent(text: str, start: int) -> int:
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return end - start


def beyond_bounds(line: LogicalLine) -> str | None:
    """Why a line is not given to the parser; ``None`` if it is."""
    if line.depth > DEEPEST_BRACKETS or line.chain > LONGEST_CHAIN:
        return "nested too deeply"
    if line.end - line.start > LONGEST_LINE:
        return f"one statement of more than {LONGEST_LINE} characters"
    return None
