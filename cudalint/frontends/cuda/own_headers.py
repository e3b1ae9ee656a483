"""Which of a project's own headers a file includes, and whether one of them brings CUDA: a scan of
``#include`` lines, before anything is parsed."""

# Thousands of files per run: os.path is several times faster than pathlib.
# ruff: noqa: PTH113, PTH118, PTH119, PTH120
from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cudalint.frontends.cuda.conditional import asked_around
from cudalint.frontends.cuda.includes import included_at, included_names
from cudalint.frontends.cuda.prefilter import is_toolkit
from cudalint.project.files import language_of
from cudalint.project.reading import UnreadableError, read_bytes

_MOST_READ = 20_000
_DEVICE_CODE = re.compile(r"CUDACC|NVCC|CUDA_ARCH|HIPCC|GPUCC|HIP_DEVICE")
"""In the names that only a compiler of device code defines (``__CUDACC__``), or a library after
them."""
_TYPES = re.compile(r"(?:^|/)cuda_(?:fp|bf)\d+\.h")
_STANDARD = frozenset(
    (
        "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h",
        "iso646.h", "limits.h", "locale.h", "math.h", "setjmp.h", "signal.h", "stdalign.h",
        "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h",
        "stdnoreturn.h", "string.h", "tgmath.h", "threads.h", "time.h", "uchar.h", "wchar.h",
        "wctype.h",
    )
)  # fmt: skip
"""The headers of the C library (ISO/IEC 9899:2018, 7.1.2)."""


class OwnHeaders:
    """The includes of the files of one run; each header is read once.

    ``known`` are headers of the project. A name is looked for beside the file that includes it, in
    ``folders``, and last among the known headers, where only one may be meant. ``contents`` stands
    for what is on the disk.
    """

    def __init__(
        self, known: Iterable[Path], folders: Iterable[Path], contents: Mapping[Path, bytes]
    ) -> None:
        self._folders = tuple(map(str, folders))
        self._contents = contents
        self._known = set(map(str, known))
        self._by_name: dict[str, list[str]] = {}
        for path in self._known:
            self._by_name.setdefault(os.path.basename(path), []).append(path)
        self._included: dict[str, tuple[tuple[bool, str], ...]] = {}
        self._harmless: set[str] = set()
        """What brings no CUDA, with all that it includes."""

    def of(self, path: Path) -> frozenset[str]:
        """All own headers that a file includes, directly or not."""
        return frozenset(self._walk(str(path), set()))

    def may_have(self, path: Path) -> bool:
        """Whether a file may include an own header, had more of the project been known."""
        return any(
            self._resolved(name, os.path.dirname(path), quoted) is not None
            or (_may_be_elsewhere(name) and language_of(Path(name)) == "cuda")
            for quoted, name in self._names(str(path))
        )

    def bringing_cuda(self, path: Path) -> Path | None:
        """The first own header of a file that includes one of CUDA's."""
        walked = []
        for header in self._walk(str(path), self._harmless):
            if any(is_toolkit(name) for _, name in self._names(header)) and self._brings(header):
                return Path(header)
            walked.append(header)
        self._harmless.update(walked)
        return None

    def _brings(self, header: str) -> bool:
        """Whether a header includes CUDA's for code of the host: not for the compiler of device
        code alone, and more than the types of numbers."""
        text = self._read(header)
        return any(
            is_toolkit(name)
            and not _TYPES.search(name)
            and not any(map(_DEVICE_CODE.search, asked_around(text[:place])))
            for name, place in included_at(text)
        )

    def _walk(self, path: str, without: set[str]) -> Iterator[str]:
        """Every own header, the nearest first."""
        seen = {path}
        pending = [path]
        for one in pending:
            folder = os.path.dirname(one)
            for quoted, name in self._names(one):
                header = self._resolved(name, folder, quoted)
                if header is not None and header not in seen and header not in without:
                    seen.add(header)
                    pending.append(header)
                    yield header

    def _names(self, path: str) -> tuple[tuple[bool, str], ...]:
        names = self._included.get(path)
        if names is None:
            names = ()
            if len(self._included) < _MOST_READ:
                names = included_names(self._read(path))
            self._included[path] = names
        return names

    def _read(self, path: str) -> str:
        """The text of a file; empty where it cannot be read."""
        with contextlib.suppress(UnreadableError, ValueError):
            data = self._contents.get(Path(path))
            data = read_bytes(Path(path)) if data is None else data
            return data.decode("utf-8", "replace")
        return ""

    def _resolved(self, name: str, folder: str, quoted: bool) -> str | None:
        for place in (folder, *self._folders) if quoted else self._folders:
            path = os.path.normpath(os.path.join(place, name))
            if path in self._known or os.path.isfile(path):
                return path
        if not _may_be_elsewhere(name):
            return None
        suffix = os.sep + name
        named = [
            path for path in self._by_name.get(os.path.basename(name), ()) if path.endswith(suffix)
        ]
        return named[0] if len(named) == 1 else None


def _may_be_elsewhere(name: str) -> bool:
    """Not for CUDA's and C's headers: no copy that lies somewhere in the project is meant."""
    return not is_toolkit(name) and name not in _STANDARD
