"""Writes TOML that people read: strings on one line, with nothing hidden in them."""

from __future__ import annotations

from collections.abc import Iterable


def quoted(text: str) -> str:
    """A string. What cannot be seen, or turns text around, is written by its number."""
    escaped = (
        f"\\{one}" if one in '"\\' else one if one.isprintable() else f"\\U{ord(one):08x}"
        for one in readable(text)
    )
    return f'"{"".join(escaped)}"'


def array(texts: Iterable[str]) -> str:
    """A list of strings on one line."""
    return f"[{', '.join(map(quoted, texts))}]"


def readable(text: str) -> str:
    """A text as UTF-8 can hold it: a file's name may have bytes that are no letters."""
    return text.encode("utf-8", "backslashreplace").decode()
