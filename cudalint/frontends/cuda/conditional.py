"""What depends on a macro: files that have CUDA only where it is defined (all of it in ``#ifdef
USE_CUDNN``), and lines that only some compilation reads."""

from __future__ import annotations

import re

from cudalint.frontends.cuda.blanked import blanked

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)[ \t]*(.*)")
_NAME = r"(?:defined\s*\(\s*\w+\s*\)|defined\s+\w+|[A-Za-z_]\w*(?:\s*==\s*\d+)?)"
_ALL_OF = re.compile(rf"\(?\s*{_NAME}(?:\s*&&\s*{_NAME})*\s*\)?$")
_ASKED = re.compile(r"\b(?!defined\b)([A-Za-z_]\w*)(?:\s*==\s*(\d+))?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CUDA = re.compile(
    r"\b(?:cu(?:da|blas|fft|dnn|sparse|solver|rand|tensor)?|nvrtc|nccl|hip)[A-Z]\w*[ \t]*\("
    r"|__global__|<<<"
)


def asked_for(text: str) -> tuple[str, ...]:
    """The macros without which a file has no CUDA, as ``NAME`` or ``NAME=VALUE``: whoever compiles
    it for CUDA defines them. Those that only a compiler defines, which start with an underscore,
    are none."""
    bare = blanked(text)
    around: list[frozenset[str]] = []
    common: frozenset[str] | None = None
    for line in bare.replace("\\\n", " ").split("\n"):
        directive = _DIRECTIVE.match(line)
        if directive is None:
            if _CUDA.search(line):
                asked = frozenset(name for names in around for name in names)
                common = asked if common is None else common & asked
        elif directive[1] in ("if", "ifdef", "ifndef"):
            around.append(_names(directive[1], directive[2].strip()))
        elif directive[1] in ("elif", "else") and around:
            around[-1] = _names(directive[1], directive[2].strip())
        elif directive[1] == "endif" and around:
            around.pop()
    return tuple(sorted(common or ()))


def asked_around(text: str) -> frozenset[str]:
    """The names in the conditions of those ``#if`` that a text, the beginning of a file, leaves
    open."""
    around: list[set[str]] = []
    for line in blanked(text).replace("\\\n", " ").split("\n"):
        directive = _DIRECTIVE.match(line)
        if directive is None:
            continue
        names = set(_WORD.findall(directive[2]))
        if directive[1] in ("if", "ifdef", "ifndef"):
            around.append(names)
        elif directive[1] == "elif" and around:
            around[-1] |= names
        elif directive[1] == "endif" and around:
            around.pop()
    return frozenset(name for names in around for name in names)


def _names(kind: str, condition: str) -> frozenset[str]:
    """What must be defined for a branch to be read."""
    if kind in ("else", "ifndef") or not _ALL_OF.match(condition):
        return frozenset()
    return frozenset(
        f"{name}={value}" if value else name
        for name, value in _ASKED.findall(condition)
        if not name.startswith("_")
    )
