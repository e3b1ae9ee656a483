"""What would mend a finding, said without its text: a rule knows what to do, and not how it is
written. ``cudalint.fixes`` makes edits of it, or nothing where that is not certain."""

from __future__ import annotations

from typing import Literal

import msgspec

from cudalint.source import Span

Held = Literal["always", "unless failed", "unless ended", "sometimes"]
"""Whether a resource is there on all paths to a way out, or its variable empty; or where not, its
own acquisition has failed; or some of the others have released it or passed it on; or neither."""


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
    number: bool = False
    """A handle that is no pointer."""
    wrapped: bool = False
    """A function of the project acquires it: what its API is released by may not be meant."""
    handed_over: bool = False
    """Other paths pass it on."""
    raised_over: bool = False
    """A call of Python may raise while it is there, and nothing would release it then."""
    sure: bool = True


class ReleaseFirst(msgspec.Struct, frozen=True, tag=True):
    """Release a resource before its only variable gets another value; ``lost`` says where."""

    lost: ReleaseOnExits


class DropRelease(msgspec.Struct, frozen=True, tag=True):
    """Release a resource once, not twice."""

    first: Span
    second: Span
    function: Span
    memory: bool
    """Null can be released."""


class ReleaseMember(msgspec.Struct, frozen=True, tag=True):
    """Release a class's member where its others are released, or where its destructor ends."""

    name: str
    owner: str
    """What stands before members: ``self.``."""
    api: str
    releases: tuple[str, ...]
    acquired: Span
    siblings: tuple[Named, ...]
    """Where members are released that are acquired beside it, the nearest first."""
    released_by: tuple[str, ...] = ()
    """By which functions."""
    destructor: Span | None = None
    handle: bool = False
    constructed: bool = False
    """Each object has it from its beginning."""
    last: bool = False
    """Everything else goes with it."""


class UseRelease(msgspec.Struct, frozen=True, tag=True):
    """Release what an API has acquired by a function that fits, in place of the one called."""

    call: Span
    called: str
    name: str
    """What is released: a part of what a function of the project is given, it may be."""
    api: str
    releases: tuple[str, ...]
    """What its family is released by, the usual function first."""


class SetKeyword(msgspec.Struct, frozen=True, tag=True):
    """Give a Python call a keyword argument, in place of one of that name."""

    call: Span
    keyword: str
    value: str
    safe: bool = False


class Detach(msgspec.Struct, frozen=True, tag=True):
    """Let go of the graph of what a Python statement keeps."""

    span: Span
    value: str
    """As messages show it: what is called with may be left out (``criterion(...)``)."""
    safe: bool = False


class KeepOnHost(msgspec.Struct, frozen=True, tag=True):
    """What a Python list collects is brought to the host by a method before it is added."""

    span: Span
    """Of something that is added to it."""
    place: str
    method: str
    joined: Span
    """Where all of it becomes one."""


class DropRetainGraph(msgspec.Struct, frozen=True, tag=True):
    """A backward pass keeps no graph; what is ``carried`` into an iteration is detached."""

    call: Span
    carried: Named | None = None


class WrapInWith(msgspec.Struct, frozen=True, tag=True):
    """A Python statement runs in a ``with``."""

    statement: Span
    """Or where it begins: the head of a loop."""
    manager: str


class OpenInWith(msgspec.Struct, frozen=True, tag=True):
    """An object that a Python call makes is closed when a ``with`` ends."""

    call: Span
    manager: str = ""
    """The class that is a context manager, with its module where that is a library's; empty: it
    has a ``close()``."""
    closed: tuple[Span, ...] = ()
    """Where other paths close it."""


class MoveBehind(msgspec.Struct, frozen=True, tag=True):
    """A call of a Python loop's body is made once, behind the loop."""

    call: Span
    loop: Span


class OptIn(msgspec.Struct, frozen=True, tag=True):
    """A C++ kernel is allowed its dynamic shared memory before it is launched."""

    launch: Span


class CopyKind(msgspec.Struct, frozen=True, tag=True):
    """A copy goes in another direction: both ``host-to-device`` and the like."""

    call: Span
    old: str
    new: str
    safe: bool = True


class InBytes(msgspec.Struct, frozen=True, tag=True):
    """An argument that counts elements counts bytes: times the size of what a pointer points to,
    which in Python is a number."""

    call: Span
    count: str
    pointer: str
    size: int | None = None


class InChunks(msgspec.Struct, frozen=True, tag=True):
    """A copy to the device is made in parts of at most so many bytes."""

    call: Span
    function: Span
    api: str
    most: int
    of_bytes: bool
    """To, from and how many bytes are the first three arguments."""
    numbers: tuple[int, ...] = ()
    """Those of the first two that are numbers in C."""
    new: str = ""
    """What makes the whole that the call returns, not filled yet, and what fills a part of it
    (``CopyInParts`` of the models)."""
    fill: str = ""
    device: str = ""
    """Where the call names none."""


class AddCheck(msgspec.Struct, frozen=True, tag=True):
    """The status of some calls, or of the launches before which they stand, is looked at as the
    project looks at that of others."""

    calls: tuple[Span, ...]
    launches: bool = False


class DropSuppression(msgspec.Struct, frozen=True, tag=True):
    """A comment no longer names what it does not suppress."""

    comment: Span
    text: str
    """The directive in it."""
    codes: tuple[str, ...]
    """The entries that go; empty: it has none, and goes as a whole."""


Repair = (
    ReleaseOnExits
    | ReleaseFirst
    | DropRelease
    | ReleaseMember
    | UseRelease
    | SetKeyword
    | Detach
    | KeepOnHost
    | DropRetainGraph
    | WrapInWith
    | OpenInWith
    | MoveBehind
    | OptIn
    | CopyKind
    | InBytes
    | InChunks
    | AddCheck
    | DropSuppression
)
