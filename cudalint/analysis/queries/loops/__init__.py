"""What loops do with data: copies that each iteration repeats, data sets of which it needs a part.

Both questions are about a function as a whole (is it written anywhere, is it used as a whole
anywhere), so they are answered from its blocks once its paths are known, not on each path.
"""

from __future__ import annotations

from cudalint.analysis.domains.ownership.recorder import Recorder
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts.loops import LoopFacts, RoundTrip


def loop_facts(run: FunctionRun) -> LoopFacts:
    """The facts of the loops of one function whose paths were followed."""
    from cudalint.analysis.queries.loops.data_sets import sliced_data_sets
    from cudalint.analysis.queries.loops.repeated import repeated
    from cudalint.analysis.queries.loops.round_trips import round_trips
    from cudalint.analysis.queries.loops.uses import Uses

    trips: tuple[RoundTrip, ...] = ()
    if run.python and run.function.kind != "module":
        trips = tuple(round_trips(run.function, run.symbols, run.models))
    if not run.flow.loops or not (run.log(Recorder).transfers or run.log(Recorder).launches):
        return LoopFacts(round_trips=trips)
    uses = Uses(run)
    return LoopFacts(
        round_trips=trips,
        repeated=tuple(repeated(uses)),
        data_sets=tuple(sliced_data_sets(uses)) if run.python else (),
    )
