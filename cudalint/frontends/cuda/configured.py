"""Headers that a build makes of a template which lies beside the sources (``config.h.in``), for a
project that was not built: CMake's ``configure_file`` and ``#cmakedefine``, Meson's
``#mesondefine``, autoheader's ``#undef`` and the ``@NAME@`` of all three."""

from __future__ import annotations

import re
from pathlib import Path

from cudalint.frontends.cuda.blanked import blanked

_DECIDED = re.compile(r"^[ \t]*#[ \t]*(?:cmakedefine(?:01)?|mesondefine|undef)\b")
_FILLED_IN = re.compile(r"@[A-Za-z_]\w*@|\$\{\w+\}")


def configured(template: Path) -> str | None:
    """The header without what only the build knows; each line keeps its place. ``None`` where the
    template cannot be read."""
    try:
        text = template.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    lines = text.split("\n")
    unknown = [
        bool(_DECIDED.match(line) or _FILLED_IN.search(line)) for line in blanked(text).split("\n")
    ]
    goes_on = [number for number, line in enumerate(lines[:-1]) if line.endswith("\\")]
    for number in goes_on:
        unknown[number + 1] |= unknown[number]
    for number in reversed(goes_on):
        unknown[number] |= unknown[number + 1]
    return "\n".join("" if gone else line for line, gone in zip(lines, unknown, strict=True))
