"""The shape of C++ as far as fixes need it: tokens, brackets, statements and blocks.

Preprocessor lines are no part of it: what stands in a macro is never edited.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cudalint.findings.comments import CPP_TOKEN
from cudalint.fixes.text import Text, demand
from cudalint.source import Span

_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\\\n]|\\(?:\r?\n|.))*", re.MULTILINE)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?P<word>if|elif|else|endif)", re.MULTILINE)
_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
_CONDITIONED = {"if", "while", "for", "switch", "constexpr"}


class Token(NamedTuple):
    """A word, a literal or one sign of punctuation."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Block:
    """The inside of a pair of braces, by offsets: just behind the one, right before the other."""

    start: int
    end: int

    def holds(self, offset: int) -> bool:
        """Whether an offset is inside."""
        return self.start <= offset <= self.end


class CppText(Text):
    """A C++ file's text."""

    @functools.cached_property
    def tokens(self) -> list[Token]:
        """All of them that are code."""
        directives = [match.span() for match in _DIRECTIVE.finditer(self.text)]
        starts = [start for start, _ in directives]

        def in_directive(offset: int) -> bool:
            position = bisect_right(starts, offset) - 1
            return position >= 0 and offset < directives[position][1]

        return [token for token in self._scanned() if not in_directive(token.start)]

    def _scanned(self) -> Iterator[Token]:
        for match in CPP_TOKEN.finditer(self.text):
            kind = match.lastgroup
            if kind in ("line", "block") or match[0].isspace():
                continue
            if kind == "code":
                for position, sign in enumerate(match[0], match.start()):
                    yield Token(sign, position, position + 1)
            else:
                yield Token(match[0], match.start(), match.end())

    @functools.cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    def compiled_with(self, one: Span, offset: int) -> bool:
        """Whether an offset is compiled only where a span is: no ``#if`` around the latter leaves
        it out, no ``#else`` parts the two."""
        around = self._conditions(self.bounds(one)[0])
        return self._conditions(offset)[: len(around)] == around

    def _conditions(self, offset: int) -> list[int]:
        """Where the branches of ``#if`` that an offset is in begin."""
        found: list[int] = []
        for match in _CONDITION.finditer(self.text, 0, offset):
            if match["word"].startswith("if"):
                found.append(match.start())
            elif found and match["word"] == "endif":
                found.pop()
            elif found:
                found[-1] = match.start()
        return found

    @functools.cached_property
    def pairs(self) -> dict[int, int]:
        """The numbers of brackets' tokens, each to that of its other; none where they do not
        match (``#if`` may have cut a block in two)."""
        found: dict[int, int] = {}
        pending: list[int] = []
        for number, token in enumerate(self.tokens):
            if token.text in _OPEN:
                pending.append(number)
            elif token.text in _CLOSE:
                if not pending or _OPEN[self.tokens[pending[-1]].text] != token.text:
                    return {}
                opening = pending.pop()
                found[opening], found[number] = number, opening
        return {} if pending else found

    def number(self, offset: int) -> int:
        """The number of the token that begins at an offset."""
        position = bisect_left(self._starts, offset)
        demand(position < len(self.tokens) and self.tokens[position].start == offset)
        return position

    def word(self, number: int) -> str:
        """The text of a token; empty behind the last."""
        return self.tokens[number].text if number < len(self.tokens) else ""

    def before(self, number: int) -> Token:
        """The token before one."""
        demand(number > 0)
        return self.tokens[number - 1]

    def between(self, start: int, end: int) -> list[Token]:
        """The tokens from an offset to another."""
        return self.tokens[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def other(self, number: int) -> int:
        """The bracket that belongs to one."""
        demand(number in self.pairs)
        return self.pairs[number]

    def block(self, offset: int) -> Block:
        """The innermost block around an offset."""
        number = bisect_left(self._starts, offset) - 1
        while number >= 0:
            text = self.tokens[number].text
            if text in _CLOSE:
                number = self.other(number) - 1
                continue
            if text == "{":
                closing = self.tokens[self.other(number)]
                return Block(self.tokens[number].end, closing.start)
            number -= 1
        return Block(0, len(self.text))

    def callee_end(self, number: int) -> int:
        """The number of the opening parenthesis of a call whose callee begins with a token."""
        while (word := self.word(number)) != "(":
            demand(word.isidentifier() or word in (":", ".", "-", ">"))
            number += 1
        return number

    def statement_end(self, number: int) -> int:
        """The number of the ``;`` that ends the simple statement with a token."""
        while self.tokens[number].text != ";":
            text = self.tokens[number].text
            demand(text not in _CLOSE)
            number = self.other(number) + 1 if text in _OPEN else number + 1
            demand(number < len(self.tokens))
        return number

    def statement_start(self, number: int) -> int:
        """The number of the first token of the statement that a token is in: at its block's
        level, behind the end of the one before."""
        while number > 0:
            text = self.tokens[number - 1].text
            if text in (";", "{", "}"):
                return number
            if text in (")", "]"):
                number = self.other(number - 1)
            elif text in ("(", "["):
                number -= 1  # out of the brackets that it is in
            else:
                number -= 1
        return number

    def in_branch(self, number: int) -> bool:
        """Whether a statement is alone the branch of an ``if``, ``else`` or loop, without braces;
        gives up where it cannot be told."""
        before = self.before(number).text
        if before in (";", "{", "}", ":"):
            return False
        if before in ("else", "do"):
            return True
        demand(before == ")")
        opening = self.other(number - 1)
        demand(opening > 0 and self.tokens[opening - 1].text in _CONDITIONED)
        return True

    def declared_around(self, name: str, function: Span, offset: int) -> bool:
        """Whether a variable of a function, if it is one, is declared before an offset and in sight
        there. Its first mention is its declaration."""
        start, end = self.bounds(function)
        first = next((token for token in self.between(start, end) if token.text == name), None)
        if first is None:
            return True  # of the class or of the file
        return first.start < offset and (
            self.block(first.start).start <= start or self.block(first.start).holds(offset)
        )

    def starts_empty(self, name: str, function: Span) -> bool:
        """Whether a variable of a function is declared with null in it."""
        tokens = [token.text for token in self.between(*self.bounds(function))]
        if name not in tokens:
            return False
        following = tokens[tokens.index(name) + 1 :][:2]
        return following in (["=", "nullptr"], ["=", "NULL"], ["=", "0"], ["{", "}"])

    def step_in(self, offset: int) -> str:
        """By what the lines of the block around an offset are indented more than what is around."""
        block = self.block(offset)
        # The brace that opens it may stand behind parameters on lines of their own.
        outer = self.indentation(block.end if self.leads(block.end) else max(block.start - 1, 0))
        for token in self.between(block.start, block.end):
            inner = self.indentation(token.start)
            if self.leads(token.start) and inner.startswith(outer) and inner != outer:
                return inner[len(outer) :]
        return "\t" if outer.startswith("\t") else "    "
