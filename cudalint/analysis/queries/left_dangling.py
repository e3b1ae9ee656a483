"""Releases of a member by a method that keeps the pointer, where the destructor releases it again.

    ~Buffer() { cudaFree(data_); }
    void clear() { cudaFree(data_); }  // and data_ still points there

Where a function makes the object, calls the method and ends, its own paths tell. Here the callers
are out of sight, or the object outlives them.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import InputRelease
from cudalint.analysis.engine.summary import Outcome
from cudalint.analysis.facts import Misuse, MisuseKind, Site
from cudalint.analysis.interpreter.exits import MOST_WRITES
from cudalint.analysis.queries.member_table import Members, Table
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.callgraph import Site as CallSite
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.shape.symbols import identity
from cudalint.analysis.summaries import Linker
from cudalint.analysis.values.values import Const, Input, Location, Operation
from cudalint.program import THIS, Member, Variable


def left_dangling(table: Table, linker: Linker) -> dict[str, list[Misuse]]:
    """By function: what it releases of an object and leaves there."""
    found: dict[str, list[Misuse]] = {}
    for members in table.values():
        for name, end in _always_released(members):
            for release, run in _leaving(members, name):
                if _is_called_elsewhere(run, linker):
                    misuse = Misuse(
                        MisuseKind.LEFT,
                        _written(release.location),
                        release.api,
                        release.step.span,
                        (release.step, end.step),
                        at_end=Site(end.step.filename, end.step.span, members.record.name),
                    )
                    found.setdefault(run.function.key, []).append(misuse)
    return found


def _written(member: Location) -> str:
    """``buffer.data_`` for what a method releases of its object."""
    return "".join(map(str, member[1:])).removeprefix(".")


def _always_released(members: Members) -> Iterator[tuple[str, InputRelease]]:
    """What the destructor releases on each way, unless it is null."""
    told: set[str] = set()
    for member, release, run in members.releases:
        own = run.function.kind == "destructor" and run.function.record == members.record.key
        returns = [one for one in run.outcomes if one.kind == "return"]
        if (
            own
            and member not in told
            and run.complete
            and "[" not in member
            and all(_releases(one, release.location) or _is_null(one, release) for one in returns)
        ):
            told.add(member)
            yield member, release


def _leaving(members: Members, name: str) -> Iterator[tuple[InputRelease, FunctionRun]]:
    """The methods that release a member on some way and leave it as it was."""
    told: set[tuple[str, Location]] = set()
    for member, release, run in members.releases:
        place = run.function.key, release.location
        if (
            member != name
            or run.function.kind != "method"
            or release.location[0] != "this"  # what a pointer of its leads to may be another's
            or place in told
            or not run.complete
            or _deletes_itself(run)
            or release.cut
            or release.asked
            or all(run.models.families[family].managed for family in release.families)
            or release.step.filename != run.filename
        ):
            continue
        ways = [
            one
            for one in run.outcomes
            if one.kind == "return" and one.failure is None and _releases(one, release.location)
        ]
        if ways and not any(_writes(one, release.location) for one in ways):
            told.add(place)
            yield release, run


def _deletes_itself(run: FunctionRun) -> bool:
    """``delete this``: it is the destructor that releases."""
    return any(
        call.name.startswith("operator delete")
        and any(argument.value == THIS for argument in call.arguments)
        for _, call in calls(run.function)
    )


def _releases(outcome: Outcome, member: Location) -> bool:
    return any(one.location == member for one in outcome.released)


def _writes(outcome: Outcome, member: Location) -> bool:
    """Whether it, or the object that it is a part of, gets something else, for all that is told."""
    if len(outcome.writes) >= MOST_WRITES:
        return True  # the rest is not told
    places = [place for place, _ in outcome.writes] + [one.location for one in outcome.handed_out]
    return any(member[: len(place)] == place for place in (*places, *outcome.stored))


def _is_null(outcome: Outcome, release: InputRelease) -> bool:
    """Whether a way is taken where there is nothing to release."""
    member = Input(release.location)
    for condition, truth in outcome.conditions:
        if condition == member and not truth:
            return True
        match condition:
            case Operation("==", (left, Const(value))) if left == member and not value and truth:
                return True
            case Operation("!=", (left, Const(value))) if left == member and not value:
                return not truth
            case _:
                pass
    return False


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
