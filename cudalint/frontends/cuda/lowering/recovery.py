"""Reads statements from their text, where clang dropped them because of an unknown name.

``return UNKNOWN;`` is such a statement: without it, the flow of the function would be another.
"""

from __future__ import annotations

import re

from cudalint.frontends.cuda.lowering.brackets import STRING, Beyond, balanced
from cudalint.frontends.cuda.lowering.conditions import branch_on
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.graph import Node
from cudalint.frontends.cuda.lowering.reader import Reader
from cudalint.frontends.cuda.lowering.text import lost, recover
from cudalint.frontends.cuda.lowering.variables import mentioned, named
from cudalint.program import Expression, Return, Throw, Unknown
from cudalint.source import Span

_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.M)

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)

_LABEL = re.compile(r"(?:case\b([^:?;{}]*)|default\s*):(?!:)")

_KEYWORD = re.compile(
    r"(if|for|while|do|else|return|throw|break|continue|goto|switch|try)\b\s*(?:constexpr\b)?\s*"
)


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
        string = STRING.match(text, place)
        place = string.end() if string else place + 1
    return text, ""


def recover_statement(context: Context, text: str, span: Span) -> None:
    """Lower a statement that clang dropped, from its text."""
    bare = _DIRECTIVE.sub(" ", _COMMENT.sub(" ", text)).strip()
    try:
        recover_statements(context, bare, span)
    except Beyond:
        lost(context, bare, span)


def recover_statements(context: Context, text: str, span: Span) -> None:
    """Lower the statements of a text, one after the other."""
    rest = text.strip()
    for _ in range(1000):
        if not rest:
            return
        label = _LABEL.match(rest)
        if label is not None:
            _case(context, label.group(1) or "", span)
            rest = rest[label.end() :].strip()
            continue
        first, rest = split_statement(rest)
        _one(context, first.strip(), span)
        rest = rest.strip()


def _case(context: Context, text: str, span: Span) -> None:
    context.jumps.case((named(context, text.strip()),) if text else (), span)


def _one(context: Context, text: str, span: Span) -> None:
    if text.startswith("{"):
        context.scopes.open()
        recover_statements(context, text[1:-1], span)
        context.scopes.close(span)
        return
    found = _KEYWORD.match(text)
    if found is not None:
        _keyword(context, found.group(1), text[found.end() :], text, span)
        return
    bare = text.rstrip(";").strip()
    if not bare:
        return
    try:
        reader = Reader(context, bare, span)
        reader.statement()
    except (Beyond, IndexError):
        lost(context, bare, span)
    else:
        reader.flush()


def _keyword(context: Context, word: str, rest: str, text: str, span: Span) -> None:
    bare = rest.rstrip(";").strip()
    if word == "return":
        value = recover(context, bare, span, wanted=True) if bare else None
        if context.graph.is_open:
            context.graph.finish(Return(value, span))
        context.graph.current = context.graph.block()
    elif word == "throw":
        context.graph.finish(Throw(Unknown(bare, mentioned(context, bare)), span, rethrow=not bare))
        context.graph.current = context.graph.block()
    elif word == "goto":
        context.jumps.goto(bare, span)
    elif word in ("break", "continue"):
        context.jumps.leave(word, span)
    elif word in ("if", "for", "while") and rest.startswith("("):
        end = balanced(rest, 0)
        head, body = rest[1 : end - 1], rest[end:].strip()
        if word == "if":
            _if_text(context, head, body, span)
        else:
            _loop_text(context, word, head, body, span)
    else:
        lost(context, text, span)


def _condition_text(context: Context, text: str, then: Node, otherwise: Node, span: Span) -> None:
    if ";" in text:
        initial, _, text = text.partition(";")
        recover_statements(context, initial, span)
    branch_on(context, recover(context, text.strip(), span, wanted=True), then, otherwise, span)


def _if_text(context: Context, head: str, body: str, span: Span) -> None:
    then, otherwise, after = (context.graph.block() for _ in range(3))
    _condition_text(context, head, then, otherwise, span)
    first, rest = split_statement(body)
    context.graph.current = then
    recover_statements(context, first, span)
    context.graph.jump(after)
    context.graph.current = otherwise
    rest = rest.strip()
    if re.match(r"else\b", rest):
        recover_statements(context, rest[4:], span)
    context.graph.enter(after)


def _loop_text(context: Context, word: str, head: str, body: str, span: Span) -> None:
    parts = head.split(";")
    context.scopes.open()
    condition, step = head, ""
    if word == "for" and len(parts) == 3:
        initial, condition, step = (part.strip() for part in parts)
        if initial:
            recover_statements(context, f"{initial};", span)
    header = context.graph.block(loop=True)
    inside, after = context.graph.block(), context.graph.block()
    context.graph.enter(header)
    if word == "for" and len(parts) != 3:
        value: Expression = Unknown(condition, mentioned(context, condition))
    else:
        value = recover(context, condition, span, wanted=True) if condition else Unknown("")
    branch_on(context, value, inside, after, span)
    context.graph.current = inside
    with context.jumps.loop(after, header):
        context.scopes.open()
        recover_statements(context, f"{body}; {step};" if step else body, span)
        context.scopes.close(span)
    context.graph.jump(header)
    context.graph.current = after
    context.scopes.close(span)
