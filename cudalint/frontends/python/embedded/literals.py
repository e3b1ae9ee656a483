"""Reads Python's string literals, with the place of every character."""

from __future__ import annotations

import re
import unicodedata

from cudalint.frontends.python.embedded.texts import Text, copied, joined, standing_for

_LITERAL = re.compile(r"([a-zA-Z]*)('''|\"\"\"|'|\")", re.ASCII)
_SPECIAL = re.compile(r"\\|\r\n?")
_DOUBLED = re.compile(r"\\|\r\n?|\{\{|\}\}")
_ESCAPE = re.compile(
    r"\\(?:(?P<line>\r\n|\r|\n)|(?P<octal>[0-7]{1,3})|x(?P<byte>[0-9a-fA-F]{2})"
    r"|(?P<wide>u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})|N\{(?P<name>[^}]+)\})"
    r"|(?P<simple>[\\'\"abfnrtv]))"
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def prefix_of(opening: str) -> str:
    """The letters before a literal's quotes, in lower case: ``rb`` of ``rb'''``."""
    match = _LITERAL.match(opening)
    return match[1].lower() if match else ""


def literal_text(token: str, start: int) -> Text | None:
    """The value of a literal that stands at an offset; ``None`` if it cannot be told."""
    match = _LITERAL.match(token)
    if match is None:
        return None
    quotes = match[2]
    if len(quotes) == 3 and len(token) < match.end() + 3:
        quotes = quotes[0]  # an empty string: what looks like three quotes is two
    first = len(match[1]) + len(quotes)
    if not token.endswith(quotes) or len(token) < first + len(quotes):
        return None
    return body_text(token[first : len(token) - len(quotes)], start + first, match[1].lower())


def body_text(body: str, start: int, prefix: str, formatted: bool = False) -> Text | None:
    """The value of what stands between quotes. ``formatted``: in an f-string, braces double."""
    pieces: list[Text] = []
    position = 0
    special = _DOUBLED if formatted else _SPECIAL
    while (match := special.search(body, position)) is not None:
        pieces.append(copied(body[position : match.start()], start + position))
        position = match.start()
        if match[0] in ("{{", "}}"):
            value, length = match[0][0], 2
        elif match[0] != "\\":
            value, length = "\n", len(match[0])  # as Python reads line ends
        elif "r" in prefix:
            value, length = "\\", 1
        else:
            escaped = _escape(body, position, "b" in prefix)
            if escaped is None:
                return None
            value, length = escaped
        pieces.append(standing_for(value, start + position, start + position + length))
        position += length
    pieces.append(copied(body[position:], start + position))
    return joined(pieces)


def _escape(body: str, position: int, is_bytes: bool) -> tuple[str, int] | None:
    """What an escape stands for, and its length."""
    match = _ESCAPE.match(body, position)
    if match is None or (is_bytes and match["wide"]):
        return "\\", 1  # Python leaves it as it is.
    length = len(match[0])
    try:
        if match["line"]:
            return "", length
        if match["simple"]:
            return _SIMPLE.get(match["simple"], match["simple"]), length
        if match["octal"]:
            return chr(int(match["octal"], 8) & (0xFF if is_bytes else 0x1FF)), length
        if match["name"]:
            return unicodedata.lookup(match["name"]), length
        return chr(int(match["byte"] or match["short"] or match["long"], 16)), length
    except (KeyError, ValueError, OverflowError):
        return None
