"""Brackets, strings and commas in the text of C++."""

from __future__ import annotations

import re
from collections.abc import Iterator

STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'")
_TEMPLATE_ARGUMENTS = re.compile(r"(?<=\w)\s*<(?:[^<>;(){}]|<(?:[^<>;(){}]|<[^<>;(){}]*>)*>)*>")


class Beyond(Exception):  # noqa: N818
    """The text is beyond the small grammar."""


def separated(text: str) -> Iterator[str]:
    """What stands between commas, up to the bracket that closes. Raises ``Beyond`` where none
    does."""
    begin = place = 0
    while place < len(text):
        if text[place] in "([{":
            place = balanced(text, place)
            continue
        passed = STRING.match(text, place) or _TEMPLATE_ARGUMENTS.match(text, place)
        if passed is not None:
            place = passed.end()
            continue
        if text[place] in ",)":
            yield text[begin:place].strip()
            begin = place + 1
        if text[place] == ")":
            return
        place += 1
    raise Beyond("unbalanced")


def balanced(text: str, start: int) -> int:
    """The offset after the bracket that closes the one at ``start``. Raises ``Beyond`` where none
    does."""
    depth = 0
    place = start
    while place < len(text):
        character = text[place]
        if character in "\"'":
            found = STRING.match(text, place)
            if found is not None:
                place = found.end()
                continue
        depth += (character in "([{") - (character in ")]}")
        place += 1
        if depth == 0:
            return place
    raise Beyond("unbalanced")
