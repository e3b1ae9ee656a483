"""Finds the sources that define what a linker misses."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
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
_MOST_BELOW = 2000
_MOST_FOLDERS = 2000
_MOST_UP = 4


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
    """Those of some sources without a ``main`` that define one of these which none before does."""
    wanted = {name: re.compile(_pattern(name)) for name in sorted(names)}
    found: list[Path] = []
    for path in candidates:
        if not wanted:
            break
        try:
            text = path.read_text("utf-8", "replace") if path.stat().st_size < _MOST_BYTES else ""
        except OSError:
            continue
        named = [name for name in wanted if all(part in text for part in _named_in(name))]
        if not named:
            continue
        text = _COMMENT.sub(" ", text)
        defined = [name for name in named if _defines(text, wanted[name])]
        if defined and not has_main(text):
            found.append(path)
            for name in defined:
                del wanted[name]
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


def sources_in(folders: Sequence[Path], file: Path) -> Iterator[Path]:
    """The sources in some folders, then those below them; of a folder without any (one of headers),
    those of the next one above that holds some, and ``file``."""
    given = [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
    beside = (path for folder in given for path in sorted(folder.iterdir()) if _is_source(path))
    seen = dict.fromkeys(itertools.islice(beside, _MOST_CANDIDATES))
    yield from seen
    roots = dict.fromkeys(root for folder in given for root in _root(folder, file))
    below = (path for root in roots for path in _sources_below(root) if path not in seen)
    for path in itertools.islice(below, _MOST_BELOW):
        seen[path] = None
        yield path


def _root(folder: Path, file: Path) -> Iterator[Path]:
    for one in (folder, *folder.parents[:_MOST_UP]):
        if one != folder and one not in file.parents:
            continue
        if next(_sources_below(one), None) is not None:
            yield one
            return


def _sources_below(root: Path) -> Iterator[Path]:
    """Those of the folder itself first."""
    for name, folders, files in itertools.islice(os.walk(root), _MOST_FOLDERS):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        paths = (Path(name, one) for one in sorted(files))
        yield from (path for path in paths if _is_source(path))


def _is_source(path: Path) -> bool:
    return path.suffix.lower() in SOURCES and path.is_file()


def _without_arguments(name: str) -> str:
    """``std::vector<int> A<float>::f<4>`` without what templates are given and what it returns."""
    previous = ""
    while previous != name:
        previous, name = name, re.sub(r"<[^<>]*>|\[abi:\w+\]", "", name)
    return name.strip().rpartition(" ")[2]


def _named_in(name: str) -> tuple[str, ...]:
    """What stands in each source that defines it: its name, and that of its class or namespace."""
    owner, _, own = name.rpartition("::")
    return own, owner.rpartition("::")[2]


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
