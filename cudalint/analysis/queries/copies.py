"""Copies of objects: those that the compiler writes, and moves written by hand that keep too much
or too little."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.summary import Outcome
from cudalint.analysis.facts import OverwrittenMember, OwnerCopy, Site
from cudalint.analysis.queries.destructor_releases import released_members
from cudalint.analysis.shape.members import referred
from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.summaries import Linker
from cudalint.analysis.values.values import Input, Location
from cudalint.program import (
    THIS,
    Assign,
    Call,
    Expression,
    Member,
    Operation,
    Record,
    Variable,
)
from cudalint.source import is_header


def owner_copies(
    run: FunctionRun, copies: tuple[OwnerCopy, ...], linker: Linker
) -> tuple[OwnerCopy, ...]:
    """The copies in a function of objects whose destructor releases a member, and the function
    itself where it makes such a copy."""
    found = []
    for copy in copies:
        released = released_members(linker, copy.record)
        if released:
            members = tuple(released)
            found.append(replace(copy, members=members, destructor=next(iter(released.values()))))
    transfer = _Transfer.of(run, linker)
    kept = transfer.kept() if transfer is not None else {}
    if transfer is not None and kept:
        function = run.function
        what = f"the constructor {function.name}"
        if function.kind != "constructor":
            what = function.name
        found.append(
            OwnerCopy(transfer.record, tuple(kept), function.span, what, next(iter(kept.values())))
        )
    return tuple(found)


def copyable_owner(run: FunctionRun, linker: Linker) -> OwnerCopy | None:
    """The class that a destructor is of, if it releases a member, whoever includes the header of
    the class, and the compiler writes its copy constructor."""
    function = run.function
    record = linker.record(function.record, function.filename)
    if record is None or function.kind != "destructor" or not is_header(record.filename):
        return None
    members = released_members(linker, record, always=True)
    if not members or not _is_copyable(linker, record):
        return None
    return OwnerCopy(record, tuple(members), record.span, "", next(iter(members.values())))


def _is_copyable(linker: Linker, record: Record) -> bool:
    """Whether the compiler writes a copy constructor, as far as the classes of members tell."""
    if record.copy_constructor not in ("implicit", "defaulted") or record.bases:
        return False
    for kind, inner in linker.contained(record):
        if kind.kind in ("record", "other") and (inner is None or not _is_copyable(linker, inner)):
            return False
    return True


def overwritten_members(run: FunctionRun, linker: Linker) -> tuple[OverwrittenMember, ...]:
    """Members that an assignment overwrites while the object still owns what they hold."""
    transfer = _Transfer.of(run, linker)
    return tuple(transfer.overwritten()) if transfer is not None else ()


def _assigned(operation: Operation) -> Expression | None:
    """The place that takes another value; an array of the library takes it by its operator."""
    match operation:
        case Assign(target=target):
            return target
        case Call(kind="copy", receiver=receiver):
            return receiver
    return None


class _Transfer:
    """A constructor or an assignment of a class, written by hand, from another of its objects."""

    def __init__(self, run: FunctionRun, record: Record, source: str, linker: Linker) -> None:
        self.run = run
        self.record = record
        self.source = source
        self.owned = released_members(linker, record, always=True)
        self.outcomes = [one for one in run.outcomes if one.kind == "return"]
        kinds = linker.fields(record.key, record.filename)
        classes = {name: linker.record(kind.record, run.filename) for name, kind in kinds.items()}
        self.objects = {
            name
            for name, kind in classes.items()
            if kinds[name].kind == "record" and kind and kind.destructor in ("declared", "defined")
        }
        """Members that look after what they hold, also where they are assigned."""

    @staticmethod
    def of(run: FunctionRun, linker: Linker) -> _Transfer | None:
        """The transfer that a function makes, if it is one."""
        function = run.function
        record = linker.record(function.record, function.filename)
        assigns = function.name.endswith("operator=")
        if record is None or run.python or not (assigns or function.kind == "constructor"):
            return None
        given = [one for one in function.parameters if one.symbol != "this"]
        kind = referred(given[0].type) if len(given) == 1 else None
        if kind is None or kind.kind != "record" or kind.record != record.key:
            return None
        return _Transfer(run, record, given[0].symbol, linker)

    def kept(self) -> dict[str, Site]:
        """The members that both objects hold afterwards, and where each of them releases them."""
        found = {}
        for outcome in self.outcomes:
            written = {location[:2] for location, _ in outcome.writes}
            for member in self._taken(outcome):
                if (self.source, f".{member}") not in written and not self._is_changed(member):
                    found[member] = self.owned[member]
        return found

    def _is_changed(self, member: str) -> bool:
        """Whether a call, as of ``clear``, may leave nothing in a container of the source."""
        for _, call in calls(self.run.function):
            match call.receiver:
                case Member(base=Variable(symbol=self.source), field=field) if field == member:
                    if call.kind == "method" and call.target is None:
                        return True
        return False

    def overwritten(self) -> Iterator[OverwrittenMember]:
        """The members that are overwritten before anybody releases or keeps what they held."""
        function = self.run.function
        if function.kind == "constructor":
            return
        taken = {one for outcome in self.outcomes for one in self._taken(outcome)}
        for member in sorted(taken - self.objects):
            mine: Location = ("this", f".{member}")
            if mine in self.run.tested or any(self._is_kept(mine, one) for one in self.outcomes):
                continue
            for _, _, operation in operations(function):
                if _assigned(operation) == Member(THIS, member):
                    yield OverwrittenMember(self.record, member, operation.span, self.owned[member])

    def _is_kept(self, mine: Location, outcome: Outcome) -> bool:
        held = any(value == Input(mine) for location, value in outcome.writes if location != mine)
        released = any(release.location[:2] == mine for release in outcome.released)
        return held or released or mine in outcome.stored or mine in outcome.lent

    def _taken(self, outcome: Outcome) -> list[str]:
        return [
            str(location[1])[1:]
            for location, value in outcome.writes
            if location[0] == "this"
            and len(location) == 2
            and value == Input((self.source, location[1]))
            and str(location[1])[1:] in self.owned
        ]
