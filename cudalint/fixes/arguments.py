"""Arguments of copies: their direction and their size."""

from __future__ import annotations

import re

from cudalint.findings.fix import Applicability, Fix
from cudalint.findings.repair import CopyKind, InBytes
from cudalint.fixes.cpp import CppText
from cudalint.fixes.text import Text, demand


def copy_kind(repair: CopyKind, text: Text) -> Fix:
    """The other word for a direction, where the call itself has the one."""
    old, new = _words(repair.old), _words(repair.new)
    start, _ = text.bounds(repair.call)
    found = list(re.finditer(rf"\b\w*[mM]emcpy(?P<way>{old})\b", text.at(repair.call)))
    demand(len(found) == 1)
    at = start + found[0].start("way")
    return Fix(
        f"Copy from {repair.new.replace('-to-', ' to ')}",
        (text.edit(at, at + len(old), new),),
        Applicability.SAFE if repair.safe else Applicability.UNSAFE,
    )


def _words(direction: str) -> str:
    """``HostToDevice`` for ``host-to-device``."""
    return "".join(word.capitalize() for word in direction.split("-"))


def in_bytes(repair: InBytes, text: Text) -> Fix:
    """A count times the size of an element."""
    written = text.at(repair.call)
    found = list(
        re.finditer(rf"(?<=[(,])\s*(?P<count>{re.escape(repair.count)})\s*(?=[,)])", written)
    )
    demand(len(found) == 1)
    if isinstance(text, CppText):
        demand(_points_to_elements(repair.pointer, text.text))
        size = f"sizeof(*{repair.pointer})"
    else:
        demand(repair.size)
        size = str(repair.size)
    start, end = found[0].span("count")
    count = repair.count if re.fullmatch(r"[\w.]+(\(\))?", repair.count) else f"({repair.count})"
    offset = text.bounds(repair.call)[0]
    return Fix(
        f"Multiply `{repair.count}` by the size of an element",
        (text.edit(offset + start, offset + end, f"{count} * {size}"),),
        Applicability.SAFE,
    )


def _points_to_elements(name: str, text: str) -> bool:
    """Whether every pointer of a name points to something that has a size."""
    declared = re.findall(rf"\b(\w+)\s*(?:const\s*)?\*+\s*(?:\w+\s*=[^,;]*,\s*\**)*{name}\b", text)
    return bool(declared) and name.isidentifier() and not {"void", "return"} & set(declared)
