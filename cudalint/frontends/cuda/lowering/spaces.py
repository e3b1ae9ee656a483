"""Where a global variable lives: on the host, or by its attributes on the device."""

from __future__ import annotations

import re
from typing import Literal

from clang.cindex import Cursor

from cudalint.frontends.cuda.blanked import blanked
from cudalint.frontends.cuda.lowering.libclang import Kind, children, name_of
from cudalint.frontends.cuda.lowering.positions import Positions

_ON_DEVICE = (Kind.CONSTANT, Kind.DEVICE, Kind.SHARED)
_SAID = re.compile(r"\b__(?:device|constant)__\b")
_DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_MACRO = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b(?!\s*(?:::|\*|&|$))")
"""What may be a macro that has attributes: no type, which stands before the name."""
_LONGEST = 400
"""Bytes before a name in which its attributes are looked for."""


def space_of(positions: Positions, variable: Cursor) -> Literal["host", "device", ""]:
    """Where it lives. Of ``__managed__`` clang shows nothing, and a macro may stand for it."""
    filename, _, end = positions.offsets(variable)
    if end < 0:
        return ""
    before = _DIRECTIVE.sub("", blanked(positions.text_of(filename, max(end - _LONGEST, 0), end)))
    declared = re.split(r"[;{}]", before.rpartition(name_of(variable))[0])[-1]
    on_device = any(part._kind_id in _ON_DEVICE for part in children(variable))
    if "managed" in declared.lower() or bool(_SAID.search(declared)) != on_device:
        return ""
    if not on_device and _MACRO.search(declared):
        return ""
    return "device" if on_device else "host"
