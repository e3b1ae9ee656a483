"""Sources that mention no CUDA, and say something of those that do: whether what they call throws,
and who calls them. They are read beside them, and nothing is told of them."""

from __future__ import annotations

import contextlib
import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from cudalint.analysis.shape.reach import closure
from cudalint.frontends.cuda.flags import all_system_folders
from cudalint.frontends.cuda.includes import find_includes
from cudalint.frontends.cuda.toolchain import find_toolchain
from cudalint.grouping.groups import nearest
from cudalint.loading import text_of
from cudalint.plan import Plan
from cudalint.project.paths import absolute
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.selection import PassedOver, ReadFile
from cudalint.source import is_header

_MOST_SEARCHED = 2_000
_MOST_STEPS = 3
"""From a function of the run to the `main` that calls it."""
_MOST_CALLERS = 16
_MOST_BYTES = 1024**2
"""Of those that call each other: more of them are a library's, or its tests and examples."""
_WORD = re.compile(rb"[A-Za-z_]\w*")
_CALLABLE = re.compile(rb"([A-Za-z_]\w*)[ \t]*\(")
_NO_FUNCTIONS = frozenset(
    b"alignas alignof assert catch decltype defined for if noexcept operator return sizeof"
    b" static_assert switch typeid while".split()
)


class Known(Protocol):
    """What of a file that was lowered says which others belong to it."""

    @property
    def includes(self) -> list[str]: ...  # noqa: D102
    @property
    def callable(self) -> list[str]: ...  # noqa: D102


class Companions:
    """Finds them among the C and C++ sources of a run that were passed over."""

    def __init__(
        self, passed_over: Sequence[PassedOver], contents: Mapping[Path, bytes], plan: Plan
    ) -> None:
        """``contents`` stands for what is on the disk."""
        self._passed_over = {one.file.filename: one for one in passed_over}
        self._contents = contents
        self._plan = plan
        self._included: dict[str, frozenset[str]] = {}

    def of(self, lowered: Mapping[str, Known]) -> list[ReadFile]:
        """Those that define what an included header declares, and throw; and the callers of what
        the files define, where a `main` is among them."""
        declared = {Path(name).stem for one in lowered.values() for name in one.includes}
        chosen = {
            name
            for name, one in self._passed_over.items()
            if one.throws and one.file.path.stem in declared
        }
        return list(self._read(sorted(chosen.union(self._callers(lowered)))))

    def _read(self, names: Iterable[str]) -> Iterator[ReadFile]:
        for name in names:
            file = self._passed_over[name].file
            with contextlib.suppress(UnreadableError):
                loaded = text_of(file, self._bytes(file.path), self._plan.max_file_size)
                yield ReadFile(file, loaded.data, loaded.source)

    def _bytes(self, path: Path) -> bytes:
        with contextlib.suppress(UnreadableError):
            return self._contents[path] if path in self._contents else read_bytes(path)
        return b""

    def _callers(self, lowered: Mapping[str, Known]) -> Iterator[str]:
        """Who calls whom decides how often something runs: all that belong together, or none."""
        mains = {name for name, one in self._passed_over.items() if one.has_main}
        if not mains or len(self._passed_over) > _MOST_SEARCHED:
            return
        left = len(lowered) + _MOST_CALLERS
        joined = self._joined(lowered, left)
        groups = set()
        for main in mains & joined.keys():
            group = closure([main], joined.__getitem__) & self._passed_over.keys()
            groups.add(tuple(sorted(group)))
        for callers in sorted(groups, key=lambda one: (len(one), one)):
            size = sum(self._passed_over[name].size for name in callers)
            if len(callers) <= min(_MOST_CALLERS, left) and size <= _MOST_BYTES:
                left -= len(callers)
                yield from callers

    def _joined(self, lowered: Mapping[str, Known], most: int) -> dict[str, set[str]]:
        """Which files name what others define, either way, in some steps from those of the run;
        nothing where there are far more than are read at most."""
        joined: dict[str, set[str]] = defaultdict(set)
        self._included = {
            name: frozenset(str(absolute(Path(header))) for header in one.includes)
            for name, one in lowered.items()
        }
        words = {name: self._words(name) for name in self._passed_over}
        defined = {name: frozenset(one.callable) for name, one in lowered.items()}
        for _ in range(_MOST_STEPS):
            definers = _by_name(defined)
            defined = {}
            for caller, named in words.items():
                met = self._met(caller, named & definers.keys(), definers)
                for one in met:
                    joined[caller].add(one)
                    joined[one].add(caller)
                if met:
                    defined[caller] = self._declared(caller, named)
                if len(defined) > 2 * most:
                    return {}
            # Those of a library are too many: who calls them in turn is not asked.
            many = {name for name, others in joined.items() if len(others) > _MOST_CALLERS}
            defined = {name: one for name, one in defined.items() if many.isdisjoint(joined[name])}
        return joined

    def _met(
        self, caller: str, named: Iterable[str], definers: Mapping[str, Sequence[str]]
    ) -> set[str]:
        """The files that define what another one names, and may mean."""
        if not named:
            return set()
        headers = self._headers(caller)
        stems = {Path(header).stem for header in headers}

        @functools.cache
        def is_known(one: str) -> bool:
            """Whether it stands in its folder, shares a header with it, or is named like one."""
            return one != caller and (
                Path(one).parent == Path(caller).parent
                or Path(one).stem in stems
                or not headers.isdisjoint(self._headers(one))
            )

        known = (list(filter(is_known, definers[name])) for name in named)
        return {one for among in known for one in nearest(among, caller)}

    def _words(self, name: str) -> frozenset[str]:
        data = self._bytes(self._passed_over[name].file.path)
        return frozenset(word.decode() for word in set(_WORD.findall(data)))

    def _declared(self, name: str, words: frozenset[str]) -> frozenset[str]:
        """The functions of a source, as far as a header of the same name declares them."""
        path = self._passed_over[name].file.path
        found: set[bytes] = set()
        for header in self._headers(name):
            if Path(header).stem == path.stem:
                found.update(_CALLABLE.findall(self._bytes(Path(header))))
        return frozenset(word.decode() for word in found - _NO_FUNCTIONS) & words

    def _headers(self, name: str) -> frozenset[str]:
        """The project's headers that a file includes, by a scan of its text."""
        if name not in self._included:
            file = self._passed_over[name].file
            text = self._bytes(file.path).decode("utf-8", "replace")
            found = find_includes(name, text, self._folders, self._system, self._plan.root)
            self._included[name] = frozenset(found.headers)
        return self._included[name]

    @functools.cached_property
    def _folders(self) -> list[str]:
        return [str(absolute(folder)) for folder in self._plan.settings.include_folders]

    @functools.cached_property
    def _system(self) -> tuple[str, ...]:
        return tuple(all_system_folders(find_toolchain()))


def _by_name(defined: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for filename in sorted(defined):
        for name in defined[filename]:
            if not is_header(filename):
                found[name].append(filename)
    return found
