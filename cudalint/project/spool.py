"""Bytes that a run needs again later, out of memory until then."""

from __future__ import annotations

import contextlib
import tempfile
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_IN_MEMORY = 4 * 1024**2


class Spooled(NamedTuple):
    """Where some bytes are; what the file could not take is in ``data``."""

    start: int
    size: int
    data: bytes | None = None


class Spool:
    """A temporary file without a name, which is none while there is little in it."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  (for the whole run)
        weakref.finalize(self, self._file.close)
        self._end = 0

    def put(self, data: bytes) -> Spooled:
        """Keep some bytes."""
        with contextlib.suppress(OSError):  # a full disk
            self._file.seek(self._end)
            self._file.write(data)
            self._end += len(data)
            return Spooled(self._end - len(data), len(data))
        return Spooled(0, len(data), data)

    def get(self, one: Spooled) -> bytes:
        """The bytes that were kept."""
        if one.data is not None:
            return one.data
        self._file.seek(one.start)
        return self._file.read(one.size)


class Made(Sequence[bytes]):
    """A sequence of bytes each of which is made when it is asked for."""

    def __init__(self, count: int, make: Callable[[int], bytes]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < self._count:
            raise IndexError(index)
        return self._make(index)
