"""Which of a project's own headers a file includes, and whether one of them brings CUDA: a scan of
``#include`` lines, before anything is parsed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cudalint.frontends.cuda.includes import included_names
from cudalint.frontends.cuda.prefilter import is_toolkit
from cudalint.project.reading import UnreadableError, read_bytes

_MOST_READ = 20_000


class OwnHeaders:
    """The includes of the files of one run; each header is read once.

    ``known`` are headers of the project. A name is looked for beside the file that includes it, in
    ``folders``, and last among the known headers, where only one may be meant. ``contents`` stands
    for what is on the disk.
    """

    def __init__(
        self, known: Iterable[Path], folders: Iterable[Path], contents: Mapping[Path, bytes]
    ) -> None:
        self._folders = tuple(folders)
        self._contents = contents
        self._by_name: dict[str, list[Path]] = {}
        for path in known:
            self._by_name.setdefault(path.name, []).append(path)
        self._read: dict[Path, tuple[tuple[bool, str], ...]] = {}

    def of(self, path: Path) -> frozenset[Path]:
        """All own headers that a file includes, directly or not."""
        return frozenset(self._walk(path))

    def bringing_cuda(self, path: Path) -> Path | None:
        """The first own header of a file that includes one of CUDA's."""
        for header in self._walk(path):
            if any(is_toolkit(name) for _, name in self._names(header)):
                return header
        return None

    def _walk(self, path: Path) -> Iterator[Path]:
        """Every own header, the nearest first."""
        seen = {path}
        pending = [path]
        for one in pending:
            for quoted, name in self._names(one):
                header = self._resolved(name, one.parent, quoted)
                if header is not None and header not in seen:
                    seen.add(header)
                    pending.append(header)
                    yield header

    def _names(self, path: Path) -> tuple[tuple[bool, str], ...]:
        if path not in self._read:
            names: tuple[tuple[bool, str], ...] = ()
            if len(self._read) < _MOST_READ:
                with contextlib.suppress(UnreadableError, ValueError):
                    data = self._contents.get(path)
                    data = read_bytes(path) if data is None else data
                    names = included_names(data.decode("utf-8", "replace"))
            self._read[path] = names
        return self._read[path]

    def _resolved(self, name: str, folder: Path, quoted: bool) -> Path | None:
        for place in (folder, *self._folders) if quoted else self._folders:
            path = Path(os.path.normpath(place / name))
            if path in self._read or path.is_file():
                return path
        suffix = f"/{name}"
        named = [
            path
            for path in self._by_name.get(Path(name).name, ())
            if path.as_posix().endswith(suffix)
        ]
        return named[0] if len(named) == 1 else None
