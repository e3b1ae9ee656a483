"""What a failing function leaves with its caller, though it cleans up where something else fails.

A caller cannot tell the two failures apart: who releases what the one has left releases what the
other has released already. So nobody does, and what is left is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.summary import HandedOut, Outcome
from cudalint.analysis.facts import Exit, Leak, LeakExit
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.destruction import Destruction
from cudalint.analysis.shape.members import referred
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.analysis.values.values import Const, Input, Location
from cudalint.findings.finding import Step


def left_half_made(symbols: Symbols, runs: Sequence[FunctionRun]) -> dict[Identity, list[Leak]]:
    """By function that no function of the run calls: what it leaves behind where it fails."""
    calls = symbols.memo(CallGraph)
    return {
        identity(run.function): list(_left(run, symbols))
        for run in runs
        if not run.python
        and run.complete
        and any(outcome.failure and outcome.dangling for outcome in run.outcomes)
        and not calls.sites(identity(run.function))
    }


def _left(run: FunctionRun, symbols: Symbols) -> Iterator[Leak]:
    passed = _passed(run, symbols)
    returning = [outcome for outcome in run.outcomes if outcome.kind == "return"]
    failing = [outcome for outcome in returning if outcome.failure is not None]
    made = {
        (item.resource.origin, item.location)
        for outcome in returning
        if outcome.failure is None
        for item in outcome.handed_out
        if _root(item) in passed
    }
    places = {place for _, place in made}
    # What it releases there, it does not reset: nobody else may release that.
    tidy = {
        _answer(outcome, places)
        for outcome in failing
        if any((item.resource.origin, item.location) in made for item in outcome.dangling)
    }
    lost: dict[str, list[LeakExit]] = {}
    for outcome in failing:
        for item in outcome.handed_out if _answer(outcome, places) in tidy else ():
            sure = not (item.managed or item.escaped or item.requested or item.condition)
            again = item.location in run.tested  # it is kept for the next attempt
            if sure and not again and (item.resource.origin, item.location) in made:
                lost.setdefault(item.resource.origin, []).append(_way(run, outcome, item))
    for origin, ways in lost.items():
        record = run.log(Recorder).records.get(origin)
        if record is not None and not record.lost and record.acquired.through is None:
            resource, others = record.acquired.resource(), tuple(record.handed_over.values())
            released = tuple(sorted(record.released.values(), key=lambda site: site.span))
            yield Leak(resource, tuple(ways), released, handed_over=others)


def _passed(run: FunctionRun, symbols: Symbols) -> set[str]:
    """The parameters by which a caller lends what has no destructor."""
    ends = symbols.memo(Destruction)
    found = set()
    for parameter in run.function.parameters:
        kind = referred(parameter.type)
        pointee = kind.pointee if kind is not None and kind.kind == "pointer" else kind
        if not ends.of(pointee, run.filename):
            found.add(parameter.symbol)
    return found


def _root(item: HandedOut) -> str:
    """The parameter by which a function has handed something out."""
    match item.location:
        case ("@", Input(location=(root,)), *_):
            return str(root)
        case (root, *_):
            return str(root)
    return ""


def _answer(outcome: Outcome, places: Set[Location]) -> object:
    """What the caller gets to know of a failure: the result, and what is said elsewhere."""
    told = {
        (place, value.value)
        for place, value in outcome.writes
        if isinstance(value, Const) and place not in places
    }
    return outcome.value.value if isinstance(outcome.value, Const) else None, frozenset(told)


def _way(run: FunctionRun, outcome: Outcome, item: HandedOut) -> LeakExit:
    failure = outcome.failure
    assert failure is not None
    span = outcome.left or failure.span
    reason = f"{failure.message} (line {failure.span.row})"
    told = "returns, and leaves it with a caller who cannot know that it is there"
    steps = (
        Step(item.filename, item.span, f"acquired by {item.api}"),
        failure,
        Step(run.filename, span, told),
    )
    return LeakExit(Exit.RETURN, span, reason, steps, on_failure=True)
