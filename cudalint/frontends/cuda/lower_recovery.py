"""Reads statements from their text, where clang dropped them because of an unknown name.

``return UNKNOWN;`` is such a statement: without it, the flow of the function would be another.
"""

from __future__ import annotations

import re

from cudalint.frontends.cuda.lower_graph import Node
from cudalint.frontends.cuda.lower_reader import Beyond, Reader
from cudalint.frontends.cuda.lower_text import TextRecovery
from cudalint.program import Expression, Return, Throw, Unknown
from cudalint.source import Span

_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.M)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_LABEL = re.compile(r"(?:case\b([^:?;{}]*)|default\s*):(?!:)")
_KEYWORD = re.compile(
    r"(if|for|while|do|else|return|throw|break|continue|goto|switch|try)\b\s*(?:constexpr\b)?\s*"
)
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'")


def balanced(text: str, start: int) -> int:
    """The offset after the bracket that closes the one at ``start``."""
    depth = 0
    place = start
    while place < len(text):
        character = text[place]
        if character in "\"'":
            found = _STRING.match(text, place)
            if found is not None:
                place = found.end()
                continue
        depth += (character in "([{") - (character in ")]}")
        place += 1
        if depth == 0:
            return place
    raise Beyond("unbalanced")


def split_statement(text: str) -> tuple[str, str]:
    """The first statement of a text, and the rest."""
    text = text.lstrip()
    if text.startswith("{"):
        end = balanced(text, 0)
        return text[:end], text[end:]
    found = _KEYWORD.match(text)
    word = found.group(1) if found else ""
    if (
        found
        and word in ("if", "for", "while", "switch")
        and text[found.end() : found.end() + 1] == "("
    ):
        head = balanced(text, found.end())
        _, rest = split_statement(text[head:])
        end = len(text) - len(rest)
        after = rest.lstrip()
        if word == "if" and re.match(r"else\b", after):
            _, rest = split_statement(after[4:])
            end = len(text) - len(rest)
        return text[:end], text[end:]
    place = 0
    while place < len(text):
        character = text[place]
        if character == ";":
            return text[: place + 1], text[place + 1 :]
        if character in "([{":
            place = balanced(text, place)
            continue
        string = _STRING.match(text, place)
        place = string.end() if string else place + 1
    return text, ""


class StatementRecovery(TextRecovery):
    """The part of the lowering that reads lost statements."""

    def lost_case(self, text: str, span: Span) -> None:
        """A ``case`` whose value clang does not know."""
        raise NotImplementedError

    def lost_jump(self, word: str, name: str, span: Span) -> None:
        """A ``break``, ``continue`` or ``goto`` in a lost statement."""
        raise NotImplementedError

    def lost_loop(self, header: Node, inside: Node, after: Node, body: str, span: Span) -> None:
        """A loop whose condition or body clang does not know."""
        raise NotImplementedError

    def recover_statement(self, text: str, span: Span) -> None:
        """Lower a statement that clang dropped, from its text."""
        bare = _DIRECTIVE.sub(" ", _COMMENT.sub(" ", text)).strip()
        try:
            self.recover_statements(bare, span)
        except Beyond:
            self.lost(bare, span)

    def recover_statements(self, text: str, span: Span) -> None:
        """Lower the statements of a text, one after the other."""
        rest = text.strip()
        for _ in range(1000):
            if not rest:
                return
            label = _LABEL.match(rest)
            if label is not None:
                self.lost_case(label.group(1) or "", span)
                rest = rest[label.end() :].strip()
                continue
            first, rest = split_statement(rest)
            self._one(first.strip(), span)
            rest = rest.strip()

    def _one(self, text: str, span: Span) -> None:
        if text.startswith("{"):
            self.scopes.open()
            self.recover_statements(text[1:-1], span)
            self.scopes.close(span)
            return
        found = _KEYWORD.match(text)
        if found is not None:
            self._keyword(found.group(1), text[found.end() :], text, span)
            return
        bare = text.rstrip(";").strip()
        if not bare:
            return
        try:
            reader = Reader(self, bare, span)
            reader.statement()
        except (Beyond, IndexError):
            self.lost(bare, span)
        else:
            reader.flush()

    def _keyword(self, word: str, rest: str, text: str, span: Span) -> None:
        bare = rest.rstrip(";").strip()
        if word == "return":
            value = self._value(bare, span) if bare else None
            if self.graph.is_open:
                self.graph.finish(Return(value, span))
            self.graph.current = self.graph.block()
        elif word == "throw":
            self.graph.finish(Throw(Unknown(bare, self.reads(bare)), span, rethrow=not bare))
            self.graph.current = self.graph.block()
        elif word in ("break", "continue", "goto"):
            self.lost_jump(word, bare, span)
        elif word in ("if", "for", "while") and rest.startswith("("):
            end = balanced(rest, 0)
            head, body = rest[1 : end - 1], rest[end:].strip()
            if word == "if":
                self._if_text(head, body, span)
            else:
                self._loop_text(word, head, body, span)
        else:
            self.lost(text, span)

    def _value(self, text: str, span: Span) -> Expression:
        return self.recover(text, span, wanted=True)

    def _condition_text(self, text: str, then: Node, otherwise: Node, span: Span) -> None:
        if ";" in text:
            initial, _, text = text.partition(";")
            self.recover_statements(initial, span)
        self.branch_on(self._value(text.strip(), span), then, otherwise, span)

    def _if_text(self, head: str, body: str, span: Span) -> None:
        then, otherwise, after = (self.graph.block() for _ in range(3))
        self._condition_text(head, then, otherwise, span)
        first, rest = split_statement(body)
        self.graph.current = then
        self.recover_statements(first, span)
        self.graph.jump(after)
        self.graph.current = otherwise
        rest = rest.strip()
        if re.match(r"else\b", rest):
            self.recover_statements(rest[4:], span)
        self.graph.enter(after)

    def _loop_text(self, word: str, head: str, body: str, span: Span) -> None:
        parts = head.split(";")
        self.scopes.open()
        condition, step = head, ""
        if word == "for" and len(parts) == 3:
            initial, condition, step = (part.strip() for part in parts)
            if initial:
                self.recover_statements(f"{initial};", span)
        header = self.graph.block(loop=True)
        inside, after = self.graph.block(), self.graph.block()
        self.graph.enter(header)
        if word == "for" and len(parts) != 3:
            value: Expression = Unknown(condition, self.reads(condition))
        else:
            value = self._value(condition, span) if condition else Unknown("")
        self.branch_on(value, inside, after, span)
        self.lost_loop(header, inside, after, f"{body}; {step};" if step else body, span)
        self.graph.current = after
        self.scopes.close(span)
