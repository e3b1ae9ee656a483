"""What classes do with the resources that they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from cudalint.analysis.facts.resources import Resource, Site
from cudalint.program import Record
from cudalint.source import Span


def part_of(member: str) -> str:
    """``streams`` for ``streams[0]``, ``slots[...].host`` for ``slots[0].host``: the elements of a
    table are released together, each of their fields by itself."""
    return re.sub(r"(\[[^\]]*\])+", "[...]", member).removesuffix("[...]")


def memory_of(member: str) -> str:
    """The member that holds the memory to which a resource was attached: ``frames`` for
    ``frames.<host-registered>``; any other one is itself."""
    return member.partition(".<")[0]


@dataclass(frozen=True)
class MemberAcquisition:
    """A class acquires a resource into one of its members."""

    member: str
    resource: Resource
    method: str
    method_kind: str
    """constructor, method, destructor, or function (C-style init)."""
    inside: tuple[str, Span] | None = None
    """Where a function that the method calls acquires it."""
    again: Site | None = None
    """Where the method is called on one object in a loop, or a second time."""
    released: Site | None = None
    """Where the method releases what the member holds, on another way."""
    once: bool = False
    """Whether it happens once in a process, or in a test."""
    is_step: bool = False
    """Whether it happens in a step of one program, whose `main` runs it once."""
    unborn: bool = False
    """A constructor, which goes on to throw: no destructor runs then."""
    pointed: bool = False
    """An object that the member points to keeps it: who deletes that releases it."""

    @property
    def site(self) -> tuple[str, Span]:
        """Where it is acquired; what an object keeps, where that is made."""
        made = self.resource.filename, self.resource.span
        return made if self.inside is None or self.pointed else self.inside


@dataclass(frozen=True)
class ClassFacts:
    """What the methods of a class (or the functions on a struct) do with its members."""

    record: Record
    filename: str
    acquired: tuple[MemberAcquisition, ...]
    released_by_destructor: dict[str, Site]
    """Member to the release, for the destructor, ``__exit__``, ``__del__``, ``close`` and what
    they call."""
    released_elsewhere: dict[str, Site]
    """Member to the release in any other function of the run."""
    destructor: Site | None
    """The destructor or closing method, if it has one with a body in the run."""
    overwritten: tuple[MemberAcquisition, ...] = ()
    """Re-acquired without a release of the earlier value."""
    overwritable: tuple[MemberAcquisition, ...] = ()
    """The same, if users of the header whom the run does not have call a method twice."""
    escaping: frozenset[str] = frozenset()
    """Members whose value leaves the class (returned, handed to an owner): silence."""
    sometimes: dict[str, Site] = field(default_factory=dict)
    """Member to its release, where the destructor may get past it for a reason that has nothing to
    do with the object (a call of something unrelated decides)."""
    unseen: bool = False
    """What ends its objects has no body in the run: silence."""
    taken: bool = False
    """A function without a body in the run is, or may be, given an object: it may empty it."""
    replaced: frozenset[str] = frozenset()
    """Members whose releases in ``released_elsewhere`` all stand in a function that acquires them:
    they make room for a new value (``resize``) or undo a failed start, and end no lifetime."""
    left: frozenset[str] = frozenset()
    """Elements of a table that nothing releases, where others are, each by its own number."""

    def releases(self, member: str) -> bool:
        """Whether something ends the member's life, or it is nobody's business here."""
        if member in self.sometimes:
            return False
        if member in self.released_by_destructor or member in self.escaping:
            return True
        # A release that only makes room for the next value ends no lifetime; any other one is the
        # user's to call.
        return member in self.released_elsewhere and member not in self.replaced

    def unreleased(self) -> Iterator[MemberAcquisition]:
        """What its members acquire and nothing in the run releases."""
        if not self.unseen:
            for acquired in self.acquired:
                member = acquired.member
                if member in self.left or not self.releases(part_of(member)):
                    yield acquired

    def abandoned(self) -> Iterator[MemberAcquisition]:
        """What its members acquire and nothing releases, in the run or out of sight."""
        return iter(()) if self.taken else self.unreleased()
