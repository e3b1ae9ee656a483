"""The statement that holds a call in C++ source text, found by brackets and punctuation."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
      (?P<skip>//(?:\\\n|[^\n])*|/\*.*?\*/|(?m:^[ \t]*\#(?:\\\r?\n|[^\n])*))
    | (?P<raw>[uUL8]*R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)")
    | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<word>[A-Za-z_]\w*)
    | (?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
    | (?P<sign>::|->|<<=|>>=|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s])
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING = {")": "(", "]": "[", "}": "{"}
_HEADERS = {"if", "while", "for", "switch", "catch"}
_ASSIGNING = {"=", "+=", "-=", "|=", "&=", "^="}
_TYPE_WORDS = {"decltype", "alignas", "__attribute__", "__declspec", "typeof", "sizeof", "noexcept"}
_RETURNING = {"return", "co_return", "co_yield", "throw", "goto", "case"}


@dataclass(frozen=True)
class Token:
    """One token; ``kind``: raw, text, word, number, sign."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Statement:
    """A statement by its character offsets.

    ``whole``: the call (perhaps in a check around it) is all that it does. ``single``: it is the
    body of an ``if``, ``else`` or loop without braces.
    """

    start: int
    end: int
    whole: bool
    single: bool


class CudaText:
    """The tokens of one file, with their brackets matched."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            Token(match.lastgroup or "", *_extent(match))
            for match in _TOKEN.finditer(text)
            if match["skip"] is None
        ]
        self.starts = [token.start for token in self.tokens]
        self.partner: dict[int, int] = {}
        self.enclosing: list[int | None] = []
        self._match()

    def _match(self) -> None:
        stack: list[int] = []
        for number, token in enumerate(self.tokens):
            if token.text in _OPENING and token.kind == "sign":
                while stack and self.tokens[stack[-1]].text != _OPENING[token.text]:
                    stack.pop()
                if stack:
                    opening = stack.pop()
                    self.partner[opening], self.partner[number] = number, opening
            self.enclosing.append(stack[-1] if stack else None)
            if token.kind == "sign" and token.text in "([{":
                stack.append(number)

    def statement(self, start: int, end: int) -> Statement | None:
        """The statement that holds the call between two offsets; ``None`` if it is unclear."""
        first = bisect_left(self.starts, start)
        last = bisect_left(self.starts, end) - 1
        if first >= len(self.tokens) or last < first:
            return None
        header = False
        # Out of the parentheses that hold the call, to the block:
        while (opening := self.enclosing[first]) is not None and self.tokens[opening].text != "{":
            closing = self.partner.get(opening)
            if closing is None:
                return None
            if opening and self.tokens[opening - 1].text in _HEADERS:
                header = True
                first = opening - 1
            else:
                first = opening
            last = max(last, closing)
        if opening is None:
            return None
        begin, single = self._begin(first, opening)
        if begin is None:
            return None
        finish = self._finish(last, opening, header)
        if header and single:
            return None
        whole = not header and self._is_whole(begin, first)
        return Statement(self.tokens[begin].start, finish, whole, single)

    def _begin(self, first: int, block: int) -> tuple[int | None, bool]:
        """The statement's first token, and whether it is the body of a control statement."""
        number = first - 1
        conditional = 0
        while number > block:
            token = self.tokens[number]
            if token.kind == "sign":
                if token.text in ";{}":
                    # The brace of an initialiser or lambda belongs to the statement:
                    if token.text == "}" and self._is_value(number):
                        number = self.partner[number] - 1
                        continue
                    break
                if token.text == ")" and number in self.partner:
                    opening = self.partner[number]
                    before = self.tokens[opening - 1].text if opening else ""
                    if before == "constexpr" and opening > 1:
                        before = self.tokens[opening - 2].text
                    if before in _HEADERS:
                        return number + 1, True
                    if self._ends_macro(number):
                        return number + 1, False
                    number = opening - 1
                    continue
                if token.text == "]" and number in self.partner:
                    number = self.partner[number] - 1
                    continue
                if token.text == "?":
                    conditional -= 1
                if token.text == ":":
                    if not self._has_question(number, block):
                        break
                    conditional += 1
            elif token.text in ("else", "do"):
                return number + 1, True
            number -= 1
        return number + 1, False

    def _ends_macro(self, closing: int) -> bool:
        """Whether a parenthesis ends the use of a macro that needs no semicolon: what follows it
        is another word."""
        opening = self.partner.get(closing)
        if not opening or closing + 1 >= len(self.tokens):
            return False
        before, after = self.tokens[opening - 1], self.tokens[closing + 1]
        return (
            before.kind == "word"
            and before.text not in _HEADERS | _TYPE_WORDS
            and after.kind == "word"
            and after.text not in ("const", "noexcept", "and", "or", "override", "mutable")
        )

    def _is_value(self, brace: int) -> bool:
        """Whether the block that a brace closes is part of an expression."""
        opening = self.partner.get(brace)
        if opening is None or opening == 0:
            return False
        after = self.tokens[brace + 1].text if brace + 1 < len(self.tokens) else ""
        return after in {",", ".", "(", ")", "->"}

    def _has_question(self, colon: int, block: int) -> bool:
        number = colon - 1
        while number > block:
            text = self.tokens[number].text
            if text in (";", "{", "}"):
                return False
            if text == "?":
                return True
            if text in (")", "]") and number in self.partner:
                number = self.partner[number]
            number -= 1
        return False

    def _finish(self, last: int, block: int, header: bool) -> int:
        if header:
            return self.tokens[last].end
        number = last
        closing = self.partner.get(block, len(self.tokens))
        while number < closing:
            text = self.tokens[number].text
            if text == ";":
                return self.tokens[number].end
            if text in ("(", "[", "{") and number in self.partner:
                number = self.partner[number]
            if number >= last and self._ends_macro(number):
                return self.tokens[number].end
            number += 1
        return self.tokens[last].end  # a macro that needs no semicolon

    def _is_whole(self, begin: int, first: int) -> bool:
        if self.tokens[begin].text in _RETURNING:
            return False
        words = 0
        for number in range(begin, first):
            token = self.tokens[number]
            if token.kind == "sign" and token.text in _ASSIGNING:
                return False
            # Two words in a row: a declaration.
            words = words + 1 if token.kind == "word" else 0
            if words > 1:
                return False
        return True


def _extent(match: re.Match[str]) -> tuple[str, int, int]:
    return match.group(), match.start(), match.end()
