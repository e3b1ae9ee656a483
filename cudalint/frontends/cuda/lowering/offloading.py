"""Statements that a directive sends to a device: what they read and write is not the host's.

OpenACC 3.3, sections 2.5 and 2.9 (compute constructs, loops); OpenMP 5.2, section 13.8 (target).
"""

from __future__ import annotations

import re

from cudalint.frontends.cuda.blanked import blanked

_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*pragma[ \t]+"
    r"(?:acc[ \t]+(?:parallel|kernels|serial|loop)"
    r"|omp[ \t]+target(?![ \t]+(?:data|enter|exit|update)))\b"
    r"(?:[^\n]*\\[ \t\r]*\n)*[^\n]*\n(?:\s|#[^\n]*\n)*",
    re.MULTILINE,
)


def offloaded(text: str) -> frozenset[int]:
    """The rows on which such statements begin."""
    if "#" not in text or "pragma" not in text:
        return frozenset()
    found = _DIRECTIVE.finditer(blanked(text))
    return frozenset(text.count("\n", 0, one.end()) + 1 for one in found)
