"""Parses one file with libcst, as much of it as can be parsed."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

import libcst as cst

from cudalint.frontends.python.positions import Positions
from cudalint.frontends.python.recovery import Mender
from cudalint.program.functions import Dropped
from cudalint.source import Source

LONGEST_TEXT = 3_000_000
"""Characters of one file; a larger one holds data, not code."""

_RECURSION = 20_000
"""Frames for trees as deep as ``lines`` lets through. They take no C stack."""

_REFUSALS = (cst.CSTValidationError, UnicodeError, ValueError, TypeError, RecursionError)
"""What else the parser raises."""
_NEXT_TO_WORD = "_safe_to_use_with_word_operator"

_SURROGATES = re.compile("[\ud800-\udfff]")
_TOKENIZER = re.compile(r"tokenizer error: (.*)", re.DOTALL)


@dataclass(frozen=True)
class Parsed:
    """A tree with its positions, if anything could be parsed, and what was left out of it."""

    tree: cst.Module | None
    positions: Positions | None
    dropped: tuple[Dropped, ...]


def parse(source: Source) -> Parsed:
    """Parse a file; statements that cannot be parsed are left out."""
    text, shift = source.text, 0
    whole = source.span(0, len(text))
    if len(text) > LONGEST_TEXT:
        reason = f"{len(text)} characters, more than {LONGEST_TEXT}"
        return Parsed(None, None, (Dropped(whole, "module", reason),))
    if text.startswith("\ufeff"):
        text, shift = text[1:], 1
    if not text.isascii():
        text = _SURROGATES.sub("?", text)
    if sys.getrecursionlimit() < _RECURSION:
        sys.setrecursionlimit(_RECURSION)
    mender = Mender(text, _refusal)
    mender.bound()
    tree = _tree(mender.text)
    if tree is None:
        mender.mend()
        tree = _tree(mender.text)
    dropped = [
        Dropped(source.span(loss.start + shift, loss.end + shift), loss.what, loss.reason)
        for loss in mender.losses
    ]
    if tree is None:
        return Parsed(None, None, (*dropped, Dropped(whole, "module", "cannot be parsed")))
    try:
        positions = Positions(tree, source, mender.text, shift)
    except RecursionError:
        return Parsed(None, None, (*dropped, Dropped(whole, "module", "nested too deeply")))
    return Parsed(tree, positions, tuple(dropped))


def _tree(text: str) -> cst.Module | None:
    try:
        return cst.parse_module(text)
    except (cst.ParserSyntaxError, *_REFUSALS):
        return None


def _refusal(text: str) -> str | None:
    """Why the parser does not take a text; ``None`` if it does."""
    try:
        cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        found = _TOKENIZER.search(str(error.message))
        return found[1].strip() if found else "invalid syntax"
    except _REFUSALS as error:
        return str(error) or "invalid syntax"
    return None


def _mind_parentheses(node: type[cst.BaseExpression]) -> None:
    """libcst asks for a space before them: ``return(a if b else c)``."""
    without = getattr(node, _NEXT_TO_WORD, None)
    if without is None:
        return  # this libcst may not ask

    def is_safe(self: cst.BaseExpression, position: object) -> bool:
        return bool(self.lpar) or bool(without(self, position))

    setattr(node, _NEXT_TO_WORD, is_safe)


for _node in (cst.IfExp, cst.Lambda):
    _mind_parentheses(_node)
