"""Globals that a function acquires into, each time that it runs, and that nobody ever releases.

Memory that is acquired once and lives as long as the process is no leak. It is one where the
function that acquires it runs again, without a look at what the global holds: the earlier memory is
lost. Several functions that only callers out of sight call make it run again, too, most likely. And
where `main` acquires it, and releases its siblings, it was forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import Exit, Leak, LeakExit
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.effects import EffectsOf
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.findings.finding import Step

_NONE: frozenset[Identity] = frozenset()


def overwritten_globals(
    symbols: Symbols, runs: Sequence[FunctionRun]
) -> dict[Identity, list[Leak]]:
    """By function: what it acquires into a global, over what an earlier run of it has acquired."""
    acquiring = {identity(run.function): list(_acquired(run)) for run in runs if not run.python}
    if not any(acquiring.values()):
        return {}
    effects = symbols.memo(EffectsOf)
    known = [effects.of(function, program) for function, program in symbols.functions()]
    given = set[str]().union(*(one.released | one.kept | one.lent for one in known))
    graph = symbols.memo(CallGraph)
    mains = {identity(run.function) for run in runs if run.function.is_main}
    guards = _Guards(graph, runs)
    found = {}
    for run in runs:
        function = identity(run.function)
        leaks = [
            leak
            for root, leak in acquiring.get(function, ())
            if root not in given and not guards.around(function, root)
        ]
        users = {one for one in graph.callers(function) - mains if not graph.sites(one)}
        if function in mains:
            forgotten = (_forgotten(run, leak) for leak in leaks)
            leaks = [leak for leak in forgotten if leak.siblings]
        elif function not in graph.repeated:
            leaks = [replace(leak, followed=False) for leak in leaks if len(users) > 1]
        found[function] = leaks
    return found


class _Guards:
    """Which functions are called once only: ``if (!ready) { set_up(); ready = true; }``."""

    def __init__(self, graph: CallGraph, runs: Sequence[FunctionRun]) -> None:
        self._graph = graph
        self._runs = {identity(run.function): run for run in runs}

    def around(self, function: Identity, root: str, seen: frozenset[Identity] = _NONE) -> bool:
        """Whether whoever calls a function makes sure that it acquires into a global once."""
        callers = self._graph.callers(function) - seen
        return bool(callers) and all(
            self._inside(one, root) or self.around(one, root, seen | {function}) for one in callers
        )

    def _inside(self, caller: Identity, root: str) -> bool:
        run = self._runs.get(caller)
        ways = [
            outcome
            for outcome in (run.outcomes if run is not None else ())
            if outcome.failure is None
            and any(one.location[0] == root for one in outcome.handed_out)
        ]
        return run is not None and bool(ways) and all(run.excludes_itself(one) for one in ways)


def _forgotten(run: FunctionRun, leak: Leak) -> Leak:
    """What `main` leaves in a global when it ends, beside the siblings that it releases."""
    siblings = run.log(Recorder).siblings(leak.resource.name, leak.resource.family)
    (way,) = leak.exits
    span = max((site.span for site in siblings), default=way.span)
    ends = LeakExit(Exit.END, span, "the function ends", way.steps[:1])
    return Leak(leak.resource, (ends,), siblings=siblings, followed=False)


def _acquired(run: FunctionRun) -> Iterator[tuple[str, Leak]]:
    """The globals that a function acquires into, whatever they hold, with the loss of that."""
    told: set[str] = set()
    for outcome in run.outcomes:
        if outcome.failure is not None or run.excludes_itself(outcome):
            continue
        for item in outcome.handed_out:
            root, origin = item.location[0], item.resource.origin
            record = run.log(Recorder).records.get(origin)
            unasked = item.location not in run.tested and "[]" not in item.location
            if not root.startswith("::") or origin in told:
                continue
            if record is None or record.acquired.managed or record.released or not unasked:
                continue
            if record.acquired.through is not None:
                continue  # that function's own affair
            told.add(origin)
            resource = record.acquired.resource()
            steps = (
                Step(resource.filename, resource.span, f"`{resource.name}` is acquired here"),
                Step(resource.filename, resource.span, "and again when the function runs again"),
            )
            way = LeakExit(Exit.OVERWRITE, resource.span, "it runs again", steps,
                           overwritten_by="run")  # fmt: skip
            yield root, Leak(resource, (way,))
