"""Facts of classes and of C structs: which members their functions acquire and release."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cudalint.analysis.facts import ClassFacts, MemberAcquisition, Resource, Site
from cudalint.analysis.link import Linker
from cudalint.analysis.run import FunctionRun
from cudalint.analysis.values import Input, Location, integer
from cudalint.program import Function, Record, Type

CLOSING = frozenset({"close", "__exit__", "__del__", "__aexit__", "terminate", "shutdown"})
"""Methods that end an object's life in Python."""


@dataclass
class _Members:
    """What the functions of a run do with the members of one record."""

    record: Record
    acquired: dict[tuple[str, object], MemberAcquisition] = field(default_factory=dict)
    by_destructor: dict[str, Site] = field(default_factory=dict)
    elsewhere: dict[str, Site] = field(default_factory=dict)
    releasing: dict[str, set[str]] = field(default_factory=dict)
    """Member to the functions that release it outside the destructor."""
    acquiring: dict[str, set[str]] = field(default_factory=dict)
    destructor: Site | None = None
    escaping: set[str] = field(default_factory=set)
    overwritten: dict[tuple[str, object], MemberAcquisition] = field(default_factory=dict)


def class_facts(linker: Linker, runs: list[FunctionRun]) -> tuple[ClassFacts, ...]:
    """The facts of every class that acquires into a member."""
    table: dict[str, _Members] = {}
    for run in runs:
        _collect(run, linker, table)
    _join_bases(table, linker)
    found = []
    for members in table.values():
        if not members.acquired:
            continue
        record = members.record
        replaced = frozenset(
            name
            for name, functions in members.releasing.items()
            if functions and functions <= members.acquiring.get(name, set())
        )
        found.append(
            ClassFacts(
                record=record,
                filename=record.filename,
                acquired=tuple(members.acquired.values()),
                released_by_destructor=members.by_destructor,
                released_elsewhere=members.elsewhere,
                destructor=members.destructor,
                overwritten=_overwritten(members),
                escaping=frozenset(members.escaping),
                unseen_destructor=record.destructor == "declared" and members.destructor is None,
                replaced=replaced,
            )
        )
    return tuple(found)


def member_of(
    location: Location, function: Function, python: bool
) -> tuple[str | None, str] | None:
    """The record and member that a location of a function stands for, if any: ``this->d``, a
    struct parameter's ``p->d`` or ``p.d``."""
    root = location[0]
    if root == "this" and len(location) > 1:
        return (function.record, _name(location[1:])) if function.record else None
    symbol: object = root
    rest = location[1:]
    if root == "@":
        base = location[1]
        if not isinstance(base, Input) or len(location) < 3:
            return None
        if len(base.location) != 1:
            return None
        symbol, rest = base.location[0], location[2:]
    if root == "return":
        record = _record_of(function.returns)
        return (record, _name(location[1:])) if record and len(location) > 1 else None
    for parameter in function.parameters:
        if parameter.symbol == symbol and rest and not python:
            record = _record_of(parameter.type)
            return (record, _name(rest)) if record else None
    return None


def _name(path: Location) -> str:
    return "".join("[...]" if part == "[]" else str(part) for part in path).removeprefix(".")


def _record_of(kind: Type | None) -> str | None:
    while kind is not None and kind.record is None and kind.pointee is not None:
        kind = kind.pointee
    return kind.record if kind is not None else None


def _base_name(member: str) -> str:
    """``streams`` for ``streams[...]`` and ``streams[0]``: elements are released together."""
    return member.partition("[")[0]


def _collect(run: FunctionRun, linker: Linker, table: dict[str, _Members]) -> None:
    function = run.function
    ending = function.kind == "destructor" or (
        run.python and function.name.rpartition(".")[2] in CLOSING
    )
    for outcome in run.outcomes:
        for item in outcome.handed_out:
            found = member_of(item.location, function, run.python)
            members = _members(table, linker, found[0]) if found else None
            if members is None or found is None or item.managed:
                continue
            record = run.recorder.records.get(item.resource.origin)
            if record is None or record.acquired.from_callee is not None:
                continue
            acquired = record.acquired
            name = found[1]
            resource = replace(acquired.resource(), bytes=integer(item.bytes))
            members.acquired.setdefault(
                (name, acquired.span),
                MemberAcquisition(name, resource, function.name, _kind(function)),
            )
            members.acquiring.setdefault(_base_name(name), set()).add(function.key)
        for release in outcome.released:
            found = member_of(release.location, function, run.python)
            members = _members(table, linker, found[0]) if found else None
            if members is None or found is None:
                continue
            step = release.step
            site = Site(step.filename, step.span, release.api)
            name = _base_name(found[1])
            if ending:
                members.by_destructor.setdefault(name, site)
            else:
                members.elsewhere.setdefault(name, site)
                members.releasing.setdefault(name, set()).add(function.key)
        for location in outcome.stored:
            found = member_of(location, function, run.python)
            members = _members(table, linker, found[0]) if found else None
            if members is not None and found is not None:
                members.escaping.add(_base_name(found[1]))
    if function.record and ending:
        members = _members(table, linker, function.record)
        if members is not None and members.destructor is None:
            members.destructor = Site(function.filename, function.span, function.name)


def _kind(function: Function) -> str:
    return function.kind if function.record else "function"


def _members(table: dict[str, _Members], linker: Linker, key: str | None) -> _Members | None:
    record = linker.record(key)
    if record is None:
        return None
    return table.setdefault(record.key, _Members(record))


def _join_bases(table: dict[str, _Members], linker: Linker) -> None:
    """A base class may release what a derived class acquires, and the other way round."""
    for key, members in table.items():
        for base in members.record.bases:
            other = table.get(base)
            if other is None or base == key:
                continue
            for one, two in ((members, other), (other, members)):
                one.by_destructor = {**two.by_destructor, **one.by_destructor}
                one.elsewhere = {**two.elsewhere, **one.elsewhere}


def _overwritten(members: _Members) -> tuple[MemberAcquisition, ...]:
    """Acquired by the constructor and again by a method that does not release first."""
    by_member: dict[str, list[MemberAcquisition]] = {}
    for item in members.acquired.values():
        by_member.setdefault(_base_name(item.member), []).append(item)
    found = []
    for name, items in by_member.items():
        constructors = [item for item in items if item.method_kind == "constructor"]
        if not constructors or "[" in items[0].member:
            continue
        for item in items:
            if item.method_kind == "method" and not members.releasing.get(name):
                found.append(item)
    return tuple(found)


__all__ = ["Resource", "class_facts", "member_of"]
