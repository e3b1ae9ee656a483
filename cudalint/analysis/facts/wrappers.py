"""Functions of a project that acquire for their callers, or release what they are given."""

from __future__ import annotations

import msgspec

from cudalint.source import Span


class Wrapper(msgspec.Struct, frozen=True, order=True, array_like=True):
    """What a table of a model would say of a function; the paths are written as there."""

    name: str
    filename: str
    span: Span
    handle: str
    """Where the resource is: ``return``, ``*arg0`` or, of one that is released, ``arg0``."""
    families: tuple[str, ...]
    """The one that it acquires, or all that it releases."""
    acquires: bool
    bytes: str | None = None
    status: str | None = None
    null_on_failure: bool = False
