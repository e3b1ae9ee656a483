"""Text that remembers, character by character, where in the source it was written."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_WHITE_SPACE = " \t\n\r\v\f"


@dataclass(frozen=True, slots=True)
class Text:
    """A string made from a file's pieces. Character ``i`` stands for the file's characters from
    ``starts[i]`` to ``ends[i]``: one of its own, an escape, or a whole hole of an f-string."""

    value: str
    starts: list[int]
    ends: list[int]

    def __len__(self) -> int:
        return len(self.value)

    def part(self, first: int, last: int) -> Text:
        """The characters from ``first`` up to ``last``."""
        return Text(self.value[first:last], self.starts[first:last], self.ends[first:last])

    def moved(self, start: int, end: int) -> Text:
        """The same characters, all of them standing for one range of the file."""
        return standing_for(self.value, start, end)

    def origin(self, first: int, last: int) -> tuple[int, int]:
        """The range of the file that the characters from ``first`` up to ``last`` stand for. Where
        pieces of it are written elsewhere, the range ends with the first piece."""
        if not self.value:
            return 0, 0
        if first >= len(self.value):
            return self.ends[-1], self.ends[-1]
        start = self.starts[first]
        if last <= first:
            return start, start
        end = self.ends[min(last, len(self.value)) - 1]
        return start, end if end > start else self.ends[first]


def standing_for(value: str, start: int, end: int) -> Text:
    """A text whose every character stands for the same range of the file."""
    return Text(value, [start] * len(value), [end] * len(value))


def copied(value: str, start: int) -> Text:
    """A text that stands in the file as it is."""
    return Text(
        value,
        list(range(start, start + len(value))),
        list(range(start + 1, start + len(value) + 1)),
    )


def joined(parts: Iterable[Text]) -> Text:
    """Texts one behind the other."""
    values: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for part in parts:
        values.append(part.value)
        starts += part.starts
        ends += part.ends
    return Text("".join(values), starts, ends)


def separated(parts: list[Text], separator: Text) -> Text:
    """``separator.join(parts)``."""
    pieces: list[Text] = []
    for number, part in enumerate(parts):
        if number:
            pieces.append(separator)
        pieces.append(part)
    return joined(pieces)


def substituted(text: Text, places: Iterable[tuple[int, int, Text]]) -> Text:
    """The text with some of its ranges, in order, replaced by others."""
    pieces: list[Text] = []
    position = 0
    for first, last, replacement in places:
        pieces += [text.part(position, first), replacement]
        position = last
    pieces.append(text.part(position, len(text)))
    return joined(pieces)


def replaced(text: Text, old: str, new: Text, most: int = -1) -> Text:
    """``str.replace``: what is put in stands for what it replaces."""

    def places() -> Iterator[tuple[int, int, Text]]:
        position = text.value.find(old)
        count = 0
        while position >= 0 and count != most:
            end = position + len(old)
            yield position, end, new.moved(*text.origin(position, end))
            position = text.value.find(old, end)
            count += 1

    return substituted(text, places()) if old else text


def stripped(text: Text, method: str, characters: str | None = None) -> Text:
    """``str.strip``, ``str.lstrip`` or ``str.rstrip``."""
    first, last = 0, len(text)
    if method != "rstrip":
        first = last - len(text.value.lstrip(characters))
    if method != "lstrip":
        last = max(first, len(text.value.rstrip(characters)))
    return text.part(first, last)


def dedented(text: Text) -> Text:
    """``textwrap.dedent``."""
    after = textwrap.dedent(text.value).split("\n")
    places: list[tuple[int, int, Text]] = []
    start = 0
    nothing = Text("", [], [])
    for line, kept in zip(text.value.split("\n"), after, strict=True):
        # Lines lose white space at their beginning; blank ones all that they have.
        places.append((start, start + len(line) - len(kept), nothing))
        start += len(line) + 1
    return substituted(text, places)


def cleaned(text: Text) -> Text:
    """``inspect.cleandoc``: margins are taken off, and blank lines at both ends."""
    lines = text.value.expandtabs().split("\n")
    if "\t" in text.value:
        return text
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    places: list[tuple[int, int, Text]] = []
    start = 0
    for number, line in enumerate(lines):
        width = len(line) - len(line.lstrip()) if number == 0 else min(margin, len(line))
        places.append((start, start + width, Text("", [], [])))
        start += len(line) + 1
    return stripped(substituted(text, places), "strip", "\n")


_PERCENT = re.compile(r"%(?:\((\w+)\))?([-#0 +]*)(\d+|\*)?(\.\d+)?[hlL]?([a-zA-Z%])")
_DOLLAR = re.compile(r"\$(?:(\$)|(\w+)|\{(\w+)\})")


@dataclass(frozen=True, slots=True)
class Field:
    """A place in a template that takes a value: its range, the value's name or number, and the
    format that it is written in."""

    first: int
    last: int
    name: str | int
    format: str = ""
    literal: str | None = None
    """For ``{{``, ``%%`` and ``$$``: the character that they stand for."""


def percent_fields(template: str) -> Iterator[Field]:
    """The places of ``template % values``."""
    number = 0
    for match in _PERCENT.finditer(template):
        if match[5] == "%":
            yield Field(*match.span(), "", literal="%")
            continue
        style = "".join((match[2] or "", match[3] or "", match[4] or "", match[5]))
        yield Field(*match.span(), match[1] or number, "%" + style)
        number += match[1] is None


def brace_fields(template: str) -> Iterator[Field]:
    """The places of ``template.format(...)``; ``ValueError`` where it is none."""
    position = number = 0
    while position < len(template):
        character = template[position]
        if character not in "{}":
            position += 1
            continue
        if template.startswith(character * 2, position):
            yield Field(position, position + 2, "", literal=character)
            position += 2
            continue
        end = template.find("}", position)
        if character == "}" or end < 0 or "{" in template[position + 1 : end]:
            raise ValueError("a brace that is no field")
        name, _, style = template[position + 1 : end].partition(":")
        name = name.partition("!")[0].strip()
        if name:
            yield Field(position, end + 1, int(name) if name.isdigit() else name, style)
        else:
            yield Field(position, end + 1, number, style)
            number += 1
        position = end + 1


def dollar_fields(template: str) -> Iterator[Field]:
    """The places of ``Template(template).substitute(...)``."""
    for match in _DOLLAR.finditer(template):
        if match[1]:
            yield Field(*match.span(), "", literal="$")
        else:
            yield Field(*match.span(), match[2] or match[3])
