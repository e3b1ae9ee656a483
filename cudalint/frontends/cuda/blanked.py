"""C++ text without its comments and literals."""

from __future__ import annotations

import re

_BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def blanked(text: str) -> str:
    """The text with blanks where comments, strings and characters are; lines and offsets stay."""
    return _BLANKED.sub(_blank, text)


def uncommented(text: str) -> str:
    """The text with blanks where comments are."""
    return _BLANKED.sub(lambda match: _blank(match) if match[0][0] == "/" else match[0], text)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\r\n]", " ", match[0])
