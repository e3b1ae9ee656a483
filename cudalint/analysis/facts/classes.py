"""What classes do with the resources that they hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from cudalint.analysis.facts.resources import Resource, Site
from cudalint.program import Record


@dataclass(frozen=True)
class MemberAcquisition:
    """A class acquires a resource into one of its members."""

    member: str
    resource: Resource
    method: str
    method_kind: str
    """constructor, method, destructor, or function (C-style init)."""


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
    escaping: frozenset[str] = frozenset()
    """Members whose value leaves the class (returned, handed to an owner): silence."""
    sometimes: dict[str, Site] = field(default_factory=dict)
    """Member to its release, where the destructor may get past it for a reason that has nothing to
    do with the object (a call of something unrelated decides)."""
    unseen_destructor: bool = False
    """It is declared but its body is not in the run: silence."""
    replaced: frozenset[str] = frozenset()
    """Members whose releases in ``released_elsewhere`` all stand in a function that acquires them:
    they make room for a new value (``resize``) or undo a failed start, and end no lifetime."""
