"""Colours, and characters that a terminal must not see raw."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from typing import Literal, TextIO

from cudalint.findings.finding import Severity

ColorChoice = Literal["auto", "always", "never"]

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "1;31",
    "green": "1;32",
    "yellow": "1;33",
    "blue": "1;34",
    "cyan": "1;36",
}
SEVERITY_COLOR = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}

# Control characters, and those that reorder text on the screen (bidirectional overrides).
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_QUOTED = re.compile(r"`([^`]+)`")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Style:
    """Paints text, or leaves it plain; ``width`` is how much of a line of source is shown."""

    def __init__(self, enabled: bool = False, links: bool = False, width: int = 140) -> None:
        self.enabled = enabled
        self.links = links
        self.width = width

    def paint(self, text: str, color: str) -> str:
        """The text in a colour."""
        if not self.enabled or not text:
            return text
        return f"\x1b[{_CODES[color]}m{text}\x1b[0m"

    def link(self, text: str, url: str | None) -> str:
        """The text as a hyperlink, where there is an address and the terminal shows them."""
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if self.links and url else text

    def message(self, text: str) -> str:
        """A message: escaped, with its `code` in bold."""
        return _QUOTED.sub(lambda match: self.paint(match[0], "bold"), escaped(text))


def use_color(
    stream: TextIO, choice: ColorChoice = "auto", environment: Mapping[str, str] | None = None
) -> bool:
    """Whether to paint: the option, then ``FORCE_COLOR``, ``NO_COLOR``, then the terminal."""
    environment = os.environ if environment is None else environment
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return environment.get("TERM") != "dumb" and stream.isatty()


def escaped(text: str) -> str:
    """The text on one line, with nothing in it that a terminal would obey."""
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    number = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def cell(character: str) -> tuple[str, int]:
    """How a character of source code is shown, and how many columns that takes. (Tabs depend on
    where they stand: see ``frames``.)"""
    if " " <= character <= "~":
        return character, 1
    number = ord(character)
    if number < 0x20:
        return chr(0x2400 + number), 1
    if number == 0x7F:
        return "\u2421", 1
    if _UNSAFE.match(character):
        return "\ufffd", 1
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1
