"""What depends on a macro: files that have CUDA only where it is defined (all of it in ``#ifdef
USE_CUDNN``), and lines that only some compilation reads."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from cudalint.frontends.cuda.blanked import blanked, uncommented

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)[ \t]*(.*)")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_NAME = r"(?:defined\s*\(\s*\w+\s*\)|defined\s+\w+|[A-Za-z_]\w*(?:\s*==\s*\d+)?)"
_ALL_OF = re.compile(rf"\(?\s*{_NAME}(?:\s*&&\s*{_NAME})*\s*\)?$")
_ASKED = re.compile(r"\b(?!defined\b)([A-Za-z_]\w*)(?:\s*==\s*(\d+))?")
_NEGATED = re.compile(r"!\s*(?:defined\b\s*\(?\s*)?([A-Za-z_]\w*)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_DECLARED = re.compile(r"[\w>*&][\s*&]+([A-Za-z_]\w{3,})\s*(?=[;=(\[])")
"""What a type stands before."""
_INCLUDED = re.compile(r"#[ \t]*include[ \t]*\"(?:[^\"]*/)?([^\"/]+)\"")
_TOOLKIT = re.compile(
    r"(?:cu|nv|nccl|hip|roc)[a-z]*[A-Z]|(?:CU|NV|NCCL|HIP|ROC)[A-Z]*_|_|[a-z]+\d$"
)
"""What CUDA declares without the project: it may be a macro for a name of HIP."""
_ENOUGH = 3
"""Fewer names may be other things of the same name."""
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


class Conditional(NamedTuple):
    """What a header declares, by what must be defined for it."""

    under: dict[str, frozenset[str]]
    """By macro: the names declared where it is asked for, and the headers included there."""
    always: frozenset[str]
    """All words that stand on no condition."""
    defined: frozenset[str]
    """The macros that it defines itself."""


def declared_under(text: str) -> Conditional:
    """What a header declares under conditions."""
    under: dict[str, set[str]] = defaultdict(set)
    always: set[str] = set()
    for line, around in _conditional_lines(text, directives=True):
        asked = {one for branch in around for one in branch.asked}
        found = {*_DECLARED.findall(line), *_DEFINE.findall(line), *_INCLUDED.findall(line)}
        for one in asked:
            under[one] |= found
        if not asked:
            always.update(_WORD.findall(line), _INCLUDED.findall(line))
    frozen = {one: frozenset(names) for one, names in under.items()}
    return Conditional(frozen, frozenset(always), defined_in(text))


def needed(text: str, headers: Mapping[str, Conditional]) -> frozenset[str]:
    """The macros under which alone its headers declare names that a file uses on no such
    condition, and does not declare: whoever compiles it has them defined. ``headers``: by path."""
    under: dict[str, set[str]] = defaultdict(set)
    for header in headers.values():
        for macro, declared in header.under.items():
            under[macro] |= declared
    if not under:
        return frozenset()
    always = frozenset[str]().union(*(one.always for one in headers.values()))
    defined = frozenset[str]().union(*(one.defined for one in headers.values())) | defined_in(text)
    lines = [
        (set(_WORD.findall(line)), {one for branch in around for one in branch.asked})
        for line, around in _conditional_lines(text)
    ]
    words = {word for line, _ in lines for word in line}
    words -= {*_DECLARED.findall(blanked(text))}
    found = set()
    for macro, names in under.items():
        if macro.partition("=")[0] in defined:
            continue
        included = names - always
        within = {path: one for path, one in headers.items() if _last(path) in included}
        elsewhere = always
        if within:
            names = names.union(*(one.defined for one in within.values()))
            others = (one.always for path, one in headers.items() if path not in within)
            elsewhere = frozenset[str]().union(*others)
        lacking = {name for name in names & words - elsewhere if not _TOOLKIT.match(name)}
        used = {word for line, around in lines if macro not in around for word in line & lacking}
        if len(used) >= _ENOUGH:
            found.add(macro)
    return frozenset(found)


def _last(path: str) -> str:
    return path.rpartition("/")[2]


class _Branch(NamedTuple):
    """A branch of an ``#if``: what is defined where it is read, and what is not."""

    asked: frozenset[str]
    not_asked: frozenset[str]


def _conditional_lines(text: str, directives: bool = False) -> Iterator[tuple[str, list[_Branch]]]:
    """The lines that are no directives, each with the branches around it; with those that are no
    conditions, where they are wanted."""
    around: list[_Branch] = []
    whole = uncommented(text) if directives else blanked(text)  # the name of a header is a text
    for line in whole.replace("\\\n", " ").split("\n"):
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
        elif directives and kind in ("define", "include"):
            yield line, around


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
