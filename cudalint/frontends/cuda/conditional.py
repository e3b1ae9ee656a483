"""What depends on a macro: files that have CUDA only where it is defined (all of it in ``#ifdef
USE_CUDNN``), and lines that only some compilation reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cudalint.frontends.cuda.blanked import blanked

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)[ \t]*(.*)")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_NAME = r"(?:defined\s*\(\s*\w+\s*\)|defined\s+\w+|[A-Za-z_]\w*(?:\s*==\s*\d+)?)"
_ALL_OF = re.compile(rf"\(?\s*{_NAME}(?:\s*&&\s*{_NAME})*\s*\)?$")
_ASKED = re.compile(r"\b(?!defined\b)([A-Za-z_]\w*)(?:\s*==\s*(\d+))?")
_NEGATED = re.compile(r"!\s*(?:defined\b\s*\(?\s*)?([A-Za-z_]\w*)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CUDA = re.compile(
    r"\b(?:cu(?:da|blas|fft|dnn|sparse|solver|rand|tensor)?|nvrtc|nccl|hip)[A-Z]\w*[ \t]*\("
    r"|__global__|<<<"
)


def asked_for(text: str) -> tuple[str, ...]:
    """The macros without which a file has no CUDA, as ``NAME`` or ``NAME=VALUE``: whoever compiles
    it for CUDA defines them. Those that only a compiler defines, which start with an underscore,
    are none."""
    common: frozenset[str] | None = None
    for line, around in _conditional_lines(text):
        if _CUDA.search(line):
            asked = frozenset(name for branch in around for name in branch.asked)
            common = asked if common is None else common & asked
            if not common:
                break
    return tuple(sorted(common or ()))


def asked_together(texts: Iterable[str]) -> frozenset[str]:
    """The macros that some of the files built together are read with, less those to which they
    give different values."""
    asked = {one for text in texts for one in asked_for(text)}
    values: dict[str, set[str]] = {}
    for one in asked:
        values.setdefault(one.partition("=")[0], set()).add(one)
    return frozenset(one for several in values.values() if len(several) == 1 for one in several)


def also_defined(text: str, together: frozenset[str]) -> tuple[str, ...]:
    """Those macros of the other files' build (``together``) that a file asks about too, unless it
    has CUDA where one is not defined."""
    if not together or "#" not in text:
        return ()
    found: set[str] = set()
    refused: set[str] = set()
    for line, around in _conditional_lines(text):
        found.update(name for branch in around for name in branch.asked)
        if _CUDA.search(line):
            refused.update(name for branch in around for name in branch.not_asked)
    names = {one.partition("=")[0] for one in refused}
    return tuple(sorted(one for one in found & together if one.partition("=")[0] not in names))


class _Branch(NamedTuple):
    """A branch of an ``#if``: what is defined where it is read, and what is not."""

    asked: frozenset[str]
    not_asked: frozenset[str]


def _conditional_lines(text: str) -> Iterator[tuple[str, list[_Branch]]]:
    """The lines that are no directives, each with the branches around it."""
    around: list[_Branch] = []
    for line in blanked(text).replace("\\\n", " ").split("\n"):
        directive = _DIRECTIVE.match(line)
        if directive is None:
            yield line, around
            continue
        kind, condition = directive[1], directive[2].strip()
        if kind in ("if", "ifdef", "ifndef"):
            around.append(_Branch(_names(kind, condition), _negated(kind, condition)))
        elif kind in ("elif", "else") and around:
            others = around[-1].not_asked | around[-1].asked
            around[-1] = _Branch(_names(kind, condition), others)
        elif kind == "endif" and around:
            around.pop()


def defined_in(text: str) -> frozenset[str]:
    """The macros that a text defines, on whatever condition."""
    return frozenset(_DEFINE.findall(blanked(text)))


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


def _negated(kind: str, condition: str) -> frozenset[str]:
    """What must not be defined for a branch to be read: ``#ifndef NAME``, ``#if !NAME``."""
    if kind == "ifndef":
        return frozenset(_WORD.findall(condition)[:1])
    return frozenset(_NEGATED.findall(condition))


def _names(kind: str, condition: str) -> frozenset[str]:
    """What must be defined for a branch to be read."""
    if kind in ("else", "ifndef") or not _ALL_OF.match(condition):
        return frozenset()
    return frozenset(
        f"{name}={value}" if value else name
        for name, value in _ASKED.findall(condition)
        if not name.startswith("_")
    )
