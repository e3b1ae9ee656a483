"""Finds the sources that define what a linker misses."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from cudalint.runtime.build import SOURCES
from cudalint.runtime.targets import has_main

_UNDEFINED = re.compile(r"undefined reference to [`'‘]([^'’\n]+)['’]")
_TABLE = re.compile(r"(?:vtable|typeinfo|VTT) for (.+)")
_RENAMED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\w+)[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_AFTER = re.compile(r"\s*(?:(?:const|noexcept|override|final)\s*)*(?:\{|:[^:])")
_MOST_BYTES = 1 << 20
_MOST_CANDIDATES = 400


def missing_names(output: str) -> frozenset[str]:
    """The functions that a linker asked for, qualified, and the classes whose tables it did, as
    ``Class::``."""
    found: set[str] = set()
    for text in _UNDEFINED.findall(output):
        table = _TABLE.match(text)
        name = _without_arguments(table[1] if table else text.partition("(")[0])
        found.add(f"{name}::" if table else name)
    return frozenset(found)


def defining(names: Iterable[str], candidates: Iterable[Path]) -> tuple[Path, ...]:
    """Those of some sources without a ``main`` that define one of these."""
    patterns = [re.compile(_pattern(name)) for name in sorted(names)]
    found: list[Path] = []
    for path in candidates:
        try:
            text = path.read_text("utf-8", "replace") if path.stat().st_size < _MOST_BYTES else ""
        except OSError:
            continue
        text = _COMMENT.sub(" ", text)
        if not has_main(text) and any(_defines(text, pattern) for pattern in patterns):
            found.append(path)
    return tuple(found)


def written_as(names: Iterable[str], headers: Iterable[Path]) -> frozenset[str]:
    """The macros of some headers that stand for one of these functions: ``SPREAD`` where there is
    ``#define SPREAD spread_double``."""
    wanted = set(names)
    found: set[str] = set()
    for path in itertools.islice(headers, _MOST_CANDIDATES):
        try:
            text = path.read_text("utf-8", "replace") if path.stat().st_size < _MOST_BYTES else ""
        except OSError:
            continue
        found.update(macro for macro, name in _RENAMED.findall(text) if name in wanted)
    return frozenset(found)


def sources_in(folders: Sequence[Path]) -> list[Path]:
    """The sources in some folders."""
    return [
        path
        for folder in dict.fromkeys(folders)
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.suffix.lower() in SOURCES and path.is_file()
    ][:_MOST_CANDIDATES]


def _without_arguments(name: str) -> str:
    """``std::vector<int> A<float>::f<4>`` without what templates are given and what it returns."""
    previous = ""
    while previous != name:
        previous, name = name, re.sub(r"<[^<>]*>", "", name)
    return name.strip().rpartition(" ")[2]


def _pattern(name: str) -> str:
    owner, _, own = name.rpartition("::")
    owner = owner.rpartition("::")[2]
    if not own:
        return rf"\b{re.escape(owner)}\s*(?:<[^<>;{{}}]*>)?\s*::\s*~?\w+\s*\("
    return rf"(?<![\w~]){re.escape(own)}\s*\("


def _defines(text: str, pattern: re.Pattern[str]) -> bool:
    """Whether a body follows the parameters."""
    for found in pattern.finditer(text):
        depth, at = 1, found.end()
        while depth and at < len(text) and text[at] not in ";{":
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        if not depth and _AFTER.match(text, at):
            return True
    return False
