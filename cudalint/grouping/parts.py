"""Splits groups of files that are too large to be analysed at once.

In a framework of a thousand Python files every file is linked to every other one by some import. A
part of such a group is a folder or a few, with the files that its own need most as context: these
are analysed too, but what is found in them is told by the part that they belong to. What lies
further away is unknown to the part, as code outside of the run is. Of files that each define what
one of its own calls it has all or none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import MOST_DEFINITIONS
from cudalint.grouping.groups import Links, groups_of, nearest

MOST_LINKED = 96
"""Files of one part."""
MOST_CONTEXT = 48


@dataclass(frozen=True)
class Part:
    """Files to analyse together: what is found in ``context`` is told elsewhere."""

    files: tuple[str, ...]
    context: tuple[str, ...] = ()


def parts_of(links: Mapping[str, Links]) -> list[Part]:
    """The groups of files that belong together, split where they are large."""
    found: list[Part] = []
    for group in groups_of(links):
        if len(group) <= MOST_LINKED:
            found.append(Part(tuple(group)))
            continue
        needs = _Needs({name: links[name] for name in group})
        found += [Part(files, needs.of(files, MOST_CONTEXT)) for files in _folders(group, 0)]
    return found


def context_of(files: Sequence[str], links: Mapping[str, Links], most: int) -> tuple[str, ...]:
    """What else should be read where only some files are asked for: the others of their groups; of
    large groups, the files that they need most."""
    own = set(files)
    groups = [group for group in groups_of(links) if own.intersection(group)]
    beside = sorted({name for group in groups for name in group} - own)
    if len(beside) <= most:
        return tuple(beside)
    needs = _Needs({name: links[name] for group in groups for name in group})
    return needs.of([name for name in files if name in links], most)


def _folders(names: Sequence[str], depth: int) -> Iterator[tuple[str, ...]]:
    """Names in order, in pieces that keep folders together as far as that is possible."""
    if len(names) <= MOST_LINKED:
        yield tuple(names)
        return
    by_folder: dict[str, list[str]] = defaultdict(list)
    for name in names:
        folders = name.split("/")[:-1]
        by_folder[folders[depth] if depth < len(folders) else ""].append(name)
    if len(by_folder) == 1 and "" in by_folder:  # all in one folder
        for start in range(0, len(names), MOST_LINKED):
            yield tuple(names[start : start + MOST_LINKED])
        return
    packed: list[str] = []
    for folder in sorted(by_folder):
        inside = by_folder[folder]
        if packed and len(packed) + len(inside) > MOST_LINKED:
            yield tuple(packed)
            packed = []
        if len(inside) > MOST_LINKED:
            yield from _folders(inside, depth + 1)
        else:
            packed += inside
    if packed:
        yield tuple(packed)


class _Needs:
    """Which files of a group need which others."""

    def __init__(self, links: Mapping[str, Links]) -> None:
        self._links = links
        self._functions: dict[str, list[str]] = defaultdict(list)
        self._callers: dict[str, list[str]] = defaultdict(list)
        self._records: dict[str, list[str]] = defaultdict(list)
        for name, one in links.items():
            for key in one.functions:
                self._functions[key].append(name)
            for key in one.called:
                self._callers[key].append(name)
            for key in {*one.records, *one.implemented}:
                self._records[key].append(name)
        known = {key for one in links.values() for key in (*one.records, *one.header_records)}
        self._records = {key: one for key, one in self._records.items() if key in known}

    def of(self, files: Sequence[str], most: int) -> tuple[str, ...]:
        """The files that some files need most; where there is room, those that call them."""
        own = set(files)
        wanted: Counter[str] = Counter()
        calling: Counter[str] = Counter()
        definers: dict[str, set[str]] = defaultdict(set)
        """By file: those that define the same, as each program links another one."""
        for name in files:
            one = self._links[name]
            for key in one.called:
                found = nearest(self._functions.get(key, ()), name)
                wanted.update(found)
                for definer in found if 1 < len(found) <= MOST_DEFINITIONS else ():
                    definers[definer].update(found)
            for key in {*one.used_records, *one.records}:
                wanted.update(self._records.get(key, ()))
            for key in one.functions:
                calling.update(self._callers.get(key, ()))

        def order(name: str) -> tuple[bool, int, int, str]:
            # Without the others of its own the part would know too little: these come first.
            return not definers[name] & own, -wanted[name], -calling[name], name

        chosen: set[str] = set()
        for name in sorted({*wanted, *calling}, key=order):
            together = closure([name], definers.__getitem__) - own
            if len(chosen | together) <= most:
                chosen |= together
        return tuple(sorted(chosen))
