"""Facts of classes and of C structs: which members are lost, overwritten or released amiss."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from cudalint.analysis.domains.ownership.passed_by import gets_past
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import InputRelease
from cudalint.analysis.facts import (
    ClassFacts,
    MemberAcquisition,
    Misuse,
    MisuseKind,
    Resource,
    Site,
    part_of,
)
from cudalint.analysis.queries.left_dangling import left_dangling
from cudalint.analysis.queries.member_table import Members, Table, is_ending, overlap, path_of
from cudalint.analysis.queries.process_end import ProcessEnd
from cudalint.analysis.shape.callgraph import CallGraph, following
from cudalint.analysis.shape.callgraph import Site as CallSite
from cudalint.analysis.shape.chosen import is_chosen
from cudalint.analysis.shape.destruction import Destruction
from cudalint.analysis.shape.flags import Flags
from cudalint.analysis.shape.operations import At, calls
from cudalint.analysis.shape.symbols import Identity, identity
from cudalint.analysis.summaries import Linker
from cudalint.apis.loader import ApiModels
from cudalint.findings.finding import Step
from cudalint.program import Function, render, variables
from cudalint.source import Span, is_header


def class_facts(linker: Linker, table: Table, ends: ProcessEnd) -> tuple[ClassFacts, ...]:
    """The facts of every class that acquires into a member."""
    found = []
    static = _static_only(linker)
    passed = _getting_past(table)
    for members in table.values():
        if not members.acquired:
            continue
        record = members.record
        names = {part_of(member) for member, _ in members.acquired}
        overwritten = _overwritten(members, linker)
        # A process-lifetime object gives its memory back with the process.
        escaping = members.escaping | (names if record.key in static else _lent(members))
        found.append(
            ClassFacts(
                record=record,
                filename=record.filename,
                acquired=tuple(
                    replace(one, once=ends.runs_once(maker), is_step=ends.is_step(maker))
                    for at, one in members.acquired.items()
                    for maker in (members.makers[at],)
                ),
                released_by_destructor=members.by_destructor,
                released_elsewhere=members.elsewhere,
                destructor=members.destructor,
                overwritten=overwritten,
                overwritable=_overwritable(members, overwritten, linker),
                escaping=frozenset(escaping),
                sometimes=_sometimes(members, passed),
                unseen=_ends_out_of_sight(members, linker),
                taken=_is_taken_out_of_sight(members, linker),
                replaced=frozenset(filter(members.is_replaced, members.releasing)),
                left=frozenset(one for one in members.left if part_of(one) not in escaping),
            )
        )
    return tuple(found)


def _ends_out_of_sight(members: Members, linker: Linker) -> bool:
    """Whether a destructor has no body in the run."""
    filename, owners = members.record.filename, {*members.owners, members.record.key}
    ends = (one for key in owners for one in linker.memo(Destruction).record(key, filename))
    return any(one.definition is None and not one.path and one.record.key in owners for one in ends)


def _is_taken_out_of_sight(members: Members, linker: Linker) -> bool:
    """Whether there is no destructor, and a function without a body in the run may be given an
    object."""
    filename, owners = members.record.filename, {*members.owners, members.record.key}
    return members.destructor is None and (
        members.given
        or any(
            linker.definition(taker, filename) is None
            for program in members.programs.values()
            for key in owners
            for one in linker.classes(key, filename)
            for taker in program.takers.get(one.key, ())
        )
    )


def _lent(members: Members) -> set[str]:
    """Members that point to a table which no function makes: whoever made it has its elements
    too."""
    pointers = {field.name for field in members.record.fields if field.type.kind == "pointer"}
    lent = pointers - members.made
    return {part_of(member) for member, _ in members.acquired if member.partition("[")[0] in lent}


_Releasing = dict[tuple[str, str], set[Span]]
"""By a member and the key of a function: where that releases it."""


def _releasing(members: Members) -> _Releasing:
    places: _Releasing = defaultdict(set)
    for member, release, run in members.releases:
        spans = run.log(Recorder).released_inputs.get(release.location, {release.step.span})
        places[part_of(member), run.function.key] |= spans
    return places


def _getting_past(table: Table) -> set[tuple[str, str]]:
    """The members, and the functions that may return without a release of them."""
    places: _Releasing = defaultdict(set)
    for members in table.values():
        for place, spans in _releasing(members).items():
            places[place] |= spans
    runs = {run.function.key: run for one in table.values() for _, _, run in one.releases}
    passed: set[tuple[str, str]] = set()
    grows = True
    while grows:
        new = {
            (name, key)
            for (name, key), spans in places.items()
            if (name, key) not in passed and _may_leave(name, runs[key], spans, passed)
        }
        passed |= new
        grows = bool(new)
    return passed


def _sometimes(members: Members, passed: set[tuple[str, str]]) -> dict[str, Site]:
    """Members that every function which releases them may leave behind: of those that end the
    object, if any of them does."""
    places = _releasing(members)
    ending = {run.function.key for _, _, run in members.releases if is_ending(run)}
    found = {}
    for name in dict.fromkeys(name for name, _ in places):
        keys = {key for other, key in places if other == name}
        if all((name, key) in passed for key in keys & ending or keys):
            found[name] = members.by_destructor.get(name) or members.elsewhere[name]
    released = {name for name, _ in places}
    for acquired in sorted({part_of(member) for member, _ in members.acquired} - released):
        holders = {acquired, *members.together.get(acquired, ())}
        parts = [
            name for name in sorted(released) if any(overlap(name, holder) for holder in holders)
        ]
        if parts and all(name in found for name in parts):
            found[acquired] = found[parts[0]]
    return found


def _may_leave(
    name: str, run: FunctionRun, releases: set[Span], passed: set[tuple[str, str]]
) -> bool:
    """Whether a function may return without any of its releases of a member; those that it leaves
    to others, or to methods of the member that holds it, count where these do not return so."""
    others = {key for member, key in passed if f".{name}".endswith(f".{member}")}
    left = {call.span for _, call in calls(run.function) if call.key in others}
    return releases <= left or gets_past(run, releases - left)


def _static_only(linker: Linker) -> frozenset[str]:
    """Records whose only named objects are static or global."""
    static: set[str] = set()
    other: set[str] = set()
    for program in linker.programs.values():
        for info in program.variables.values():
            for kind in (info.type, info.type.pointee):
                if kind is not None and kind.record:
                    static.add(kind.record)
    for function, _ in linker.functions():
        for info in function.variables.values():
            pointee = info.type.pointee
            if info.storage == "static" and pointee is not None and pointee.record:
                static.add(pointee.record)
            if info.type.record and info.storage != "temporary":
                (static if info.storage in ("static", "global") else other).add(info.type.record)
    return frozenset(static - other)


def _overwritten(members: Members, linker: Linker) -> tuple[MemberAcquisition, ...]:
    """Acquired by a method that does not look at the earlier value, after the constructor has
    acquired it or where the method runs twice on one object."""
    found = []
    for acquisition, method in members.careless.items():
        item = members.acquired[acquisition]
        if item.method_kind != "method" or item.member in members.together:
            continue  # another member still holds the earlier one
        if _is_made_once(members, method, item.resource, linker):
            continue
        if acquisition in members.on_one_way:
            if not _only_constructs(linker, method):
                found.append(replace(item, released=members.on_one_way[acquisition]))
            continue
        acquiring = members.acquiring[item.member]
        lineage = linker.lineage(method.record or "", method.filename)
        made = [[m for m in linker.methods(one) if m.kind == "constructor"] for one in lineage]
        constructed = any(each and {m.key for m in each} <= acquiring for each in made)
        enders = members.releasing.get(item.member, set())
        models = linker.models(members.programs[method.filename].language)
        again = _called_again(linker, identity(method), enders, models)
        if constructed or again is not None:
            found.append(replace(item, again=again))
    return tuple(found)


def _only_constructs(linker: Linker, method: Function) -> bool:
    """Whether a method is called by constructors alone."""
    sites = linker.memo(CallGraph).sites(identity(method))
    return bool(sites) and all(site.caller.kind == "constructor" for site in sites)


def _is_made_once(members: Members, method: Function, resource: Resource, linker: Linker) -> bool:
    """Whether a method acquires where a member of the object says that it has not yet."""
    flags, program = linker.memo(Flags), members.programs[method.filename]
    return any(
        flags.keep_from(method, program, at.block)
        for at, call in calls(method)
        if call.span == resource.span and method.filename == resource.filename
    )


def _overwritable(
    members: Members, known: tuple[MemberAcquisition, ...], linker: Linker
) -> tuple[MemberAcquisition, ...]:
    """Memory acquired by a method of a header that nobody in the run calls, for what it is given,
    without a look at the earlier value, of which the destructor releases the last."""
    if not is_header(members.record.filename):
        return ()
    return tuple(
        item
        for item, method in ((members.acquired[at], by) for at, by in members.careless.items())
        if method.kind == "method"
        and method.parameters
        and not item.resource.is_handle
        and not any(replace(one, again=None, released=None) == item for one in known)
        and item.member not in members.together
        and part_of(item.member) in members.by_destructor
        and not linker.memo(CallGraph).sites(identity(method))
    )


def _called_again(
    linker: Linker, method: Identity, enders: set[str], models: ApiModels
) -> Site | None:
    """Where some function calls a method in a loop, or for the second time on one way, on the same
    object, with none of the ``enders`` that release in between."""
    seen: dict[tuple[int, str], list[At]] = defaultdict(list)
    for site in linker.memo(CallGraph).sites(method):
        call = site.call
        if call.receiver is None or _calls_any(linker, site.caller, enders):
            continue
        flow = linker.flow(site.caller)
        if is_chosen(site, flow, models):
            continue  # one text of many, that comes once as a rule
        loops = flow.enclosing.get(site.at.block, frozenset())
        receiver = render(call.receiver)
        named = variables(call.receiver)
        here = Site(site.caller.filename, call.span, site.caller.name)
        if loops and not any({receiver, *named} & flow.assigned[header] for header in loops):
            return here
        if any(len(flow.definitions.get(one, ())) > 1 for one in named):
            continue  # it may be another object by then
        later = following(site)
        earlier = seen[id(site.caller), receiver]
        if any(one in later for one in earlier) or any(
            site.at in following(CallSite(site.caller, one, call)) for one in earlier
        ):
            return here
        earlier.append(site.at)
    return None


def _calls_any(linker: Linker, caller: Function, enders: set[str]) -> bool:
    """Whether a function calls one of those that release, or what one of them overrides."""
    return any(
        one.key in enders
        for _, call in calls(caller)
        for one, _ in linker.callees(call, caller.filename)
    )


def member_misuses(table: Table, linker: Linker) -> dict[str, list[Misuse]]:
    """By function: releases of members that do not fit what other methods did, or will do."""
    found = left_dangling(table, linker)
    for members in table.values():
        for member, release, run in members.releases:
            name = path_of(member)
            kinds = members.families.get(name, set())
            if release.step.filename != run.filename or _is_by_end(run, release):
                continue
            if "[]" in release.location and not any(
                path_of(one.member) == name != one.member for one in members.acquired.values()
            ):
                continue  # an element of a table, which is not known to be what the table is
            if _chooses(run, release, kinds):
                continue  # by what it asks, which may well say what the member holds
            misuse = _mismatch(members, name, release, kinds)
            if misuse is not None:
                found.setdefault(run.function.key, []).append(misuse)
    return found


def _is_by_end(run: FunctionRun, release: InputRelease) -> bool:
    """Whether it is a destructor that releases it where a scope ends: there it is told."""
    return not any(call.span == release.step.span for _, call in calls(run.function))


def _chooses(run: FunctionRun, release: InputRelease, kinds: set[str]) -> bool:
    """Whether a function releases the same on other paths, by what fits ``kinds``."""
    return any(
        one.location == release.location and kinds & set(one.families)
        for outcome in run.outcomes
        if release not in outcome.released
        for one in outcome.released
    )


def _mismatch(members: Members, name: str, release: InputRelease, kinds: set[str]) -> Misuse | None:
    if len(kinds) != 1 or not release.families or kinds & set(release.families):
        return None
    own = (i for i in members.acquired.values() if path_of(i.member) == name)
    made = next(((one.resource, one.method) for one in own), members.managed.get(name))
    if made is None:
        return None
    resource, method = made
    return Misuse(
        MisuseKind.MISMATCH,
        name,
        release.api,
        release.step.span,
        (
            Step(resource.filename, resource.span, f"`{name}` is acquired here by {method}"),
            release.step,
        ),
        resource,
        filename=release.step.filename,
        certain=name not in members.passed_in
        and not any(
            path_of(member) == name and kinds & set(other.families)
            for member, other, _ in members.releases
        ),
    )
