"""What stands near the files that somebody named: a hook names the three that changed, an editor
one. Sources that share headers with them may hold the destructor of their class. They are read with
them, and nothing is told of them."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from cudalint.frontends.cuda.includes import included_names
from cudalint.frontends.cuda.own_headers import OwnHeaders
from cudalint.loading import text_of
from cudalint.plan import Plan
from cudalint.project.files import LargeTreeError, SourceFile, sources_below
from cudalint.project.paths import absolute
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.selection import ReadFile
from cudalint.source import is_header

_MOST_SEARCHED = 2_000
_MOST_ENTRIES = 20_000
MOST_READ = 16


class Neighbours:
    """Finds them; what it has found it remembers, for whoever lints the same files again and says
    when the disk may hold something else."""

    def __init__(self) -> None:
        self._ranked: dict[object, list[SourceFile]] = {}

    def of(
        self,
        asking: Sequence[SourceFile],
        linted: Iterable[SourceFile],
        plan: Plan,
        contents: Mapping[Path, bytes],
    ) -> list[ReadFile]:
        """Sources that share own headers with some files, those with the rarest ones first."""
        known = {file.path for file in linted}
        named = [_included(file, contents) for file in asking]
        which = (tuple(asking), frozenset(known), tuple(named))
        if which not in self._ranked:
            self._ranked = {which: _ranked(asking, known, plan, contents)}
        return list(_loaded(self._ranked[which][:MOST_READ], plan))


def _included(file: SourceFile, contents: Mapping[Path, bytes]) -> Hashable:
    data = contents.get(file.path)
    return None if data is None else included_names(data.decode("utf-8", "replace"))


def _ranked(
    asking: Sequence[SourceFile], known: set[Path], plan: Plan, contents: Mapping[Path, bytes]
) -> list[SourceFile]:
    folders = [absolute(folder) for folder in plan.settings.include_folders]
    alone = OwnHeaders((), folders, contents)
    if not any(alone.may_have(file.path) for file in asking):
        return []
    searched = list(itertools.islice(_near(asking, plan), _MOST_SEARCHED))
    headers = OwnHeaders((file.path for file in searched), folders, contents)
    own = frozenset[str]().union(*(headers.of(file.path) for file in asking))
    sharing = {
        file: headers.of(file.path) & own
        for file in searched
        if own and file.path not in known and not is_header(file.path.name)
    }
    count = Counter(header for shared in sharing.values() for header in shared)
    return sorted(
        (file for file, shared in sharing.items() if shared),
        key=lambda file: min(count[header] for header in sharing[file]),
    )


def _near(asking: Sequence[SourceFile], plan: Plan) -> Iterator[SourceFile]:
    """C and C++ files, those in the same folders first, then of the whole project."""
    seen: set[Path] = set()
    for folder in dict.fromkeys([*(file.path.parent for file in asking), plan.root]):
        with contextlib.suppress(LargeTreeError):
            near = sources_below(folder, plan.settings, plan.root, _MOST_ENTRIES, "cuda")
            for file in near:
                if file.path not in seen:
                    seen.add(file.path)
                    yield file


def _loaded(files: Iterable[SourceFile], plan: Plan) -> Iterator[ReadFile]:
    for file in files:
        try:
            loaded = text_of(file, read_bytes(file.path), plan.max_file_size)
        except UnreadableError:
            continue
        yield ReadFile(file, loaded.data, loaded.source)
