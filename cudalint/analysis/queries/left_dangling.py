"""Releases of a member by a method that keeps the pointer, where the destructor releases it again.

    ~Buffer() { cudaFree(data_); }
    void clear() { cudaFree(data_); }  // and data_ still points there

Where a function makes the object, calls the method and ends, its own paths tell. Here the callers
are out of sight, or the object outlives them.
"""

from __future__ import annotations

from dataclasses import replace

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import InputRelease
from cudalint.analysis.engine.summary import Outcome
from cudalint.analysis.facts import Misuse, MisuseKind
from cudalint.analysis.queries.destructor_releases import released_members
from cudalint.analysis.queries.member_table import Table, named_in
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.callgraph import Site as CallSite
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.summaries import Linker
from cudalint.analysis.values.values import Location
from cudalint.findings.finding import Step
from cudalint.program import THIS, Member, Variable


def left_dangling(table: Table, linker: Linker) -> dict[str, list[Misuse]]:
    """By function: what it releases of an object and leaves there."""
    found: dict[str, list[Misuse]] = {}
    for members in table.values():
        ends = released_members(linker, members.record, always=True) if members.releases else {}
        told: set[tuple[str, Location]] = set()
        for member, release, run in members.releases:
            place = run.function.key, release.location
            if member not in ends or place in told or not _leaves(run, release):
                continue
            if _is_called_elsewhere(run, linker):
                told.add(place)
                name, end = _written(release.location), ends[member]
                again = Step(end.filename, end.span, f"`{name}` is released again by {end.text}")
                misuse = Misuse(
                    MisuseKind.LEFT,
                    name,
                    release.api,
                    release.step.span,
                    (release.step, again),
                    at_end=replace(end, text=members.record.name),
                )
                found.setdefault(run.function.key, []).append(misuse)
    return found


def _written(member: Location) -> str:
    """``buffer.data_`` for what a method releases of its object."""
    return "".join(map(str, member[1:])).removeprefix(".")


def _leaves(run: FunctionRun, release: InputRelease) -> bool:
    """Whether a method releases a member itself, on some way, and always leaves it as it was. What
    a pointer of the object leads to may be another's by then."""
    if run.function.kind != "method" or not run.complete or release.location[0] != "this":
        return False
    if release.cut or release.asked or release.step.filename != run.filename:
        return False
    if not _is_named(run, release) or _deletes_itself(run):
        return False
    member = release.location
    ways = [
        one
        for one in run.outcomes
        if one.kind == "return" and one.failure is None and one.releases(member)
    ]
    return bool(ways) and not any(_writes(one, member) for one in ways)


def _is_named(run: FunctionRun, release: InputRelease) -> bool:
    """Whether a call that names the member, or the object, releases it: not the end of a local that
    was made a copy of it."""
    for _, call in calls(run.function):
        if call.span == release.step.span:
            given = [one.value for one in call.arguments]
            parts = named_in(run, [*given, call.receiver] if call.receiver else given)
            own = Member(THIS, str(release.location[1]).removeprefix("."))
            if call.receiver == THIS or own in parts:
                return True
    return False


def _deletes_itself(run: FunctionRun) -> bool:
    """``delete this``: it is the destructor that releases."""
    return any(
        call.name.startswith("operator delete")
        and any(argument.value == THIS for argument in call.arguments)
        for _, call in calls(run.function)
    )


def _writes(outcome: Outcome, member: Location) -> bool:
    """Whether it, or the object that it is a part of, gets something else."""
    places = [place for place, _ in outcome.writes] + [one.location for one in outcome.handed_out]
    return any(member[: len(place)] == place for place in (*places, *outcome.stored))


def _is_called_elsewhere(run: FunctionRun, linker: Linker) -> bool:
    """Whether somebody may call a method of an object that lives on: callers out of sight, or of
    what a pointer or a global leads to. Of its own, and of its members, a method is asked itself,
    and of its locals a function is."""
    sites = linker.memo(CallGraph).sites(identity(run.function))
    return not sites or not all(_is_own(site) for site in sites)


def _is_own(site: CallSite) -> bool:
    """Whether an object is the caller's own, a member of that, or a local of the caller."""
    receiver = site.call.receiver
    while isinstance(receiver, Member):
        receiver = receiver.base
    if receiver == THIS:
        return True
    info = site.caller.variables.get(receiver.symbol) if isinstance(receiver, Variable) else None
    return info is not None and info.storage == "local" and info.type.kind == "record"
