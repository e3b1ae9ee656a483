"""What would mend a finding, said without its text: a rule knows what to do, and not how it is
written. ``cudalint.fixes`` makes edits of it, or nothing where that is not certain."""

from __future__ import annotations

from typing import Literal

import msgspec

from cudalint.source import Span

Held = Literal["always", "unless failed", "sometimes"]
"""Whether a resource is there on all paths to a way out, or its variable empty; or where not, its
own acquisition has failed; or neither."""


class WayOut(msgspec.Struct, frozen=True, array_like=True):
    """A way out of a function that needs a release before it."""

    span: Span
    failing: bool
    """Something has failed on the way."""
    held: Held
    """Whether the resource is there on all paths that leave here, or its variable empty."""
    throws: bool = False


class Named(msgspec.Struct, frozen=True, array_like=True):
    """A place, and what it is about."""

    span: Span
    text: str


class ReleaseOnExits(msgspec.Struct, frozen=True, tag=True):
    """Release a resource wherever it is lost: before the way out, or by an owner."""

    name: str
    api: str
    """What acquired it."""
    releases: tuple[str, ...]
    """What its family is released by."""
    acquired: Span
    function: Span
    ways: tuple[WayOut, ...]
    released: tuple[Named, ...] = ()
    """Where other paths release it, by which function."""
    siblings: tuple[Named, ...] = ()
    """Where others of its family are released: ``text`` is what they are called."""
    handle: bool = False
    """It is no memory: null cannot be released."""
    wrapped: bool = False
    """A function of the project acquires it: what its API is released by may not be meant."""
    handed_over: bool = False
    """Other paths pass it on."""
    sure: bool = True


class UseRelease(msgspec.Struct, frozen=True, tag=True):
    """Release what an API has acquired by a function that fits, in place of the one called."""

    call: Span
    called: str
    api: str
    releases: tuple[str, ...]
    """What its family is released by, the usual function first."""


class SetKeyword(msgspec.Struct, frozen=True, tag=True):
    """Give a Python call a keyword argument, in place of one of that name."""

    call: Span
    keyword: str
    value: str
    safe: bool = False


Repair = ReleaseOnExits | UseRelease | SetKeyword
