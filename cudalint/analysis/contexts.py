"""Facts of functions, with what is only known for the constant arguments of their calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from cudalint.analysis.domains.native_peak import NativePeak
from cudalint.analysis.domains.ordering.log import OrderingLog
from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import (
    Allocation,
    Capacity,
    ClassFacts,
    Exit,
    FunctionFacts,
    LaunchSite,
    Leak,
    Misuse,
    MisuseKind,
    Transfer,
)
from cudalint.analysis.queries.copies import copyable_owner, overwritten_members, owner_copies
from cudalint.analysis.queries.error_checks import AllocationChecks, LaunchChecks
from cudalint.analysis.queries.half_made import left_half_made
from cudalint.analysis.queries.kept_globals import overwritten_globals
from cudalint.analysis.queries.launch_grids import rounded_grids, tall_grids
from cudalint.analysis.queries.launch_guards import uncalled_guards
from cudalint.analysis.queries.lifetimes import lifetimes
from cudalint.analysis.queries.loops import loop_facts
from cudalint.analysis.queries.narrow_sizes import narrow_sizes
from cudalint.analysis.queries.process_end import ProcessEnd
from cudalint.analysis.queries.scaled_twice import scaled_twice
from cudalint.analysis.queries.unfollowed import left_unfollowed
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import Identity, identity
from cudalint.analysis.summaries import Linker
from cudalint.analysis.values.values import Value
from cudalint.findings.finding import Step
from cudalint.source import Span

MOST_CONTEXTS = 4
"""Different constant argument lists that are tried for one function."""
MOST_ROUNDS = 3
"""Calls in calls that constants are carried through."""

Sized = TypeVar("Sized", Allocation, Transfer, LaunchSite)


def function_facts(
    linker: Linker,
    runs: list[FunctionRun],
    misuses: dict[str, list[Misuse]],
    classes: tuple[ClassFacts, ...],
    ends: ProcessEnd,
) -> tuple[FunctionFacts, ...]:
    """The facts of all runs, with sizes that calls with constant arguments decide, and with
    ``misuses`` (by function key) that only a view of the whole class shows. What a class does wrong
    is its own, not that of each user."""
    told: set[tuple[MisuseKind, str, Span]] = set()
    facts = {id(run): _facts(run, linker) for run in runs}
    lost = _lost_by_classes(classes, facts.values())
    abandoned = [one for known in classes for one in known.abandoned()]
    by_functions = {one.site for one in abandoned}
    pointed = {(one.inside, one.method) for one in abandoned if one.pointed}

    def is_told(leak: Leak, run: FunctionRun) -> bool:
        """Whether it is a class that loses it, or a function that ends its objects. What a
        constructor makes that no object of the class ever releases, it loses whenever it ends."""
        kinds = {leave.kind for leave in leak.exits}
        acquired = leak.inside or (leak.resource.filename, leak.resource.span)
        unborn = run.function.kind == "constructor" and kinds == {Exit.THROW}
        return (
            leak.inside in lost
            or (leak.inside, leak.resource.through) in pointed
            or (kinds == {Exit.OVERWRITE} and leak.inside in by_functions)
            or (unborn and acquired in lost)
        )

    by_identity = {identity(run.function): run for run in runs}
    launches = LaunchChecks(linker, runs)
    allocations = AllocationChecks(linker, runs)
    undecided = _undecided(linker, runs, [facts[id(run)] for run in runs])
    tried: dict[Identity, int] = defaultdict(int)
    seen: set[tuple[Identity, object]] = set()
    frontier: list[tuple[FunctionRun, tuple[Step, ...]]] = [(run, ()) for run in runs]
    for _ in range(MOST_ROUNDS):
        following: list[tuple[FunctionRun, tuple[Step, ...]]] = []
        for caller, steps in frontier:
            for key, filename, arguments, span in caller.calls_made:
                called = filename, key
                callee = by_identity.get(called)
                if callee is None or (called, arguments) in seen or called not in undecided:
                    continue
                if callee.exhausted:
                    continue  # its paths are too many, with constants too
                seen.add((called, arguments))
                if tried[called] >= MOST_CONTEXTS:
                    continue
                tried[called] += 1
                run = linker.run_with(key, filename, dict(arguments))
                if run is None:
                    continue
                path = (*steps, _step(caller, callee, arguments, span))
                facts[id(callee)] = _enrich(facts[id(callee)], _facts(run, linker), path)
                following.append((run, path))
        frontier = following
    copied = {copy.record.key for known in facts.values() for copy in known.copies}
    copyable = {id(run): copyable_owner(run, linker) for run in runs}
    overwritten = overwritten_globals(linker, runs)
    half_made = left_half_made(linker, runs)
    unfollowed = left_unfollowed(linker, runs)

    def leaks_of(run: FunctionRun) -> tuple[Leak, ...]:
        one = identity(run.function)
        own = (leak for leak in facts[id(run)].leaks if not is_told(leak, run))
        return (*own, *overwritten.get(one, ()), *half_made.get(one, ()), *unfollowed.get(one, ()))

    return tuple(
        replace(
            facts[id(run)],
            is_test=identity(run.function) in ends.tests,
            unhandled=identity(run.function) in ends.unhandled,
            runs_once=ends.runs_once(run.function),
            runs_few_times=bool(leaks) and ends.runs_few_times(run.function),
            is_step=bool(leaks) and ends.is_step(run.function),
            runs_last=ends.ends_with(run.function),
            fatal=ends.is_fatal(run.function),
            uncalled=ends.uncalled(run.function) if leaks or run.python else (),
            allocations=allocations.checked(run, facts[id(run)].allocations),
            leaks=leaks,
            copies=(
                *facts[id(run)].copies,
                *(one for one in (copyable[id(run)],) if one and one.record.key not in copied),
            ),
            misuses=(
                *_untold(facts[id(run)].misuses, run.filename, told),
                *misuses.get(run.function.key, ()),
            ),
            ordering=run.log(OrderingLog).facts(launches.unchecked(run)),
        )
        for run in runs
        for leaks in (leaks_of(run),)
    )


def _lost_by_classes(
    classes: tuple[ClassFacts, ...], functions: Iterable[FunctionFacts]
) -> set[tuple[str, Span]]:
    """Where classes acquire what they do not release, or overwrite."""
    overwritten = {(one.record.key, one.member) for facts in functions for one in facts.overwritten}
    for facts in classes:
        overwritten |= {(facts.record.key, one.member) for one in facts.overwritten}
    return {
        one.site
        for facts in classes
        for one in (
            *(item for item in facts.abandoned() if item.method_kind != "function"),
            *(item for item in facts.acquired if (facts.record.key, item.member) in overwritten),
        )
    }


def _untold(
    misuses: tuple[Misuse, ...], filename: str, told: set[tuple[MisuseKind, str, Span]]
) -> Iterator[Misuse]:
    """The misuses of a function, without those in a class that another user of it has shown."""
    for misuse in misuses:
        where = (misuse.kind, misuse.filename or filename, misuse.span)
        if where not in told or misuse.at_end is None:
            told.add(where)
            yield misuse


def _undecided(
    linker: Linker, runs: list[FunctionRun], facts: list[FunctionFacts]
) -> set[Identity]:
    """The functions with a size that constants could decide, and all that call them."""
    graph = linker.memo(CallGraph)
    through_pointers: dict[Identity, set[Identity]] = defaultdict(set)
    for run in runs:
        for key, filename, _, _ in run.calls_made:
            through_pointers[filename, key].add(identity(run.function))
    return closure(
        (
            identity(run.function)
            for run, known in zip(runs, facts, strict=True)
            if _has_open_size(known)
        ),
        lambda one: graph.callers(one) | through_pointers[one],
    )


def _has_open_size(facts: FunctionFacts) -> bool:
    """Whether an analysis with known arguments could tell more (``_enrich``)."""
    return facts.capacity is not None or any(
        any(_is_open(one) for one in sized)
        for sized in (facts.allocations, facts.transfers, facts.launches)
    )


def _is_open(one: Allocation | Transfer | LaunchSite) -> bool:
    if isinstance(one, LaunchSite):
        return None in (*one.block, one.shared_bytes)
    return one.bytes is None or (isinstance(one, Allocation) and one.overflow is not None)


def _step(
    caller: FunctionRun,
    callee: FunctionRun,
    arguments: tuple[tuple[str, Value], ...],
    span: Span,
) -> Step:
    names = {parameter.symbol: parameter.name for parameter in callee.function.parameters}
    shown = ", ".join(
        f"{names.get(symbol, symbol)} = {getattr(value, 'value', '...')}"
        for symbol, value in arguments
    )
    return Step(caller.filename, span, f"`{callee.function.name}` is called with {shown}")


def _facts(run: FunctionRun, linker: Linker) -> FunctionFacts:
    facts = run.log(Recorder).facts(run.program.language, run.conditions.checked)
    return replace(
        facts,
        launches=tuple(
            replace(site, opted_in=linker.opted_in(site, facts.filename)) for site in facts.launches
        ),
        copies=owner_copies(run, facts.copies, linker),
        overwritten=overwritten_members(run, linker),
        guards=uncalled_guards(run),
        grids=rounded_grids(run),
        tall_grids=tall_grids(run),
        narrow=narrow_sizes(run),
        scaled_twice=scaled_twice(run, linker),
        lifetimes=lifetimes(run, linker),
        host_accesses=run.log(OrderingLog).device_accesses(),
        loops=loop_facts(run),
        capacity=Capacity(peak=peak) if (peak := run.log(NativePeak).peak()) is not None else None,
    )


def _enrich(facts: FunctionFacts, bound: FunctionFacts, steps: tuple[Step, ...]) -> FunctionFacts:
    """Sizes that only the bound run knows."""
    return replace(
        facts,
        capacity=_larger(facts.capacity, bound.capacity, steps),
        allocations=tuple(_sized(mine, bound.allocations, steps) for mine in facts.allocations),
        transfers=tuple(_sized(mine, bound.transfers, steps) for mine in facts.transfers),
        launches=tuple(_sized(mine, bound.launches, steps) for mine in facts.launches),
    )


def _larger(
    mine: Capacity | None, bound: Capacity | None, steps: tuple[Step, ...]
) -> Capacity | None:
    """The larger of two peaks."""
    ours = mine.peak.bytes if mine is not None and mine.peak is not None else 0
    if bound is None or bound.peak is None or bound.peak.bytes <= ours:
        return mine
    return Capacity(peak=replace(bound.peak, steps=steps))


def _sized(mine: Sized, others: tuple[Sized, ...], steps: tuple[Step, ...]) -> Sized:
    """What the bound run tells of the same place, if it tells more."""
    for other in others if _is_open(mine) or mine.steps else ():
        if _place(other) != _place(mine) or not _tells_more(other, mine):
            continue
        if isinstance(mine, Allocation) and isinstance(other, Allocation):
            resource = replace(mine.resource, bytes=other.bytes)
            return replace(other, checked=mine.checked, resource=resource, steps=steps)
        if isinstance(mine, LaunchSite) and isinstance(other, LaunchSite):
            # That one of its paths asks for nothing does not say that a call does.
            shared = other.shared_bytes or mine.shared_bytes
            return replace(other, opted_in=mine.opted_in, shared_bytes=shared, steps=steps)
        return replace(other, steps=steps)
    return mine


def _place(one: Allocation | Transfer | LaunchSite) -> tuple[Span, str]:
    if isinstance(one, Allocation):
        return one.span, one.resource.api
    return one.span, one.api if isinstance(one, Transfer) else ""


def _tells_more(other: Sized, mine: Sized) -> bool:
    if isinstance(mine, LaunchSite) and isinstance(other, LaunchSite):
        larger = (other.shared_bytes or 0) > (mine.shared_bytes or 0)
        return larger or None in mine.block
    if isinstance(mine, Allocation) and isinstance(other, Allocation) and not mine.overflow:
        return bool(other.overflow) or (other.bytes or 0) > (mine.bytes or 0)
    return (other.bytes or 0) > (mine.bytes or 0)
