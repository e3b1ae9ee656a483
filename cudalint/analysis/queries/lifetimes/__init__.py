"""How long device memory is held: handlers, checkpoints, waits, caches and hooks."""

from __future__ import annotations

from cudalint.analysis.domains.idle import IdleLog
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts.lifetimes import Lifetimes
from cudalint.analysis.summaries import Linker


def lifetimes(run: FunctionRun, linker: Linker) -> Lifetimes:
    """What one function does with lifetimes."""
    idle = tuple(run.log(IdleLog).holds.values())
    if not run.python:
        return Lifetimes(idle=idle)
    from cudalint.analysis.queries.lifetimes.caches import decorated, dictionaries
    from cudalint.analysis.queries.lifetimes.checkpoints import checkpoints
    from cudalint.analysis.queries.lifetimes.hooks import hooks
    from cudalint.analysis.queries.lifetimes.moved_entries import moved_entries
    from cudalint.analysis.queries.lifetimes.moved_sets import moved_sets
    from cudalint.analysis.queries.lifetimes.owners import unclosed_owners
    from cudalint.analysis.queries.lifetimes.retries import retries
    from cudalint.analysis.queries.lifetimes.skipped_clears import skipped_clears
    from cudalint.analysis.queries.lifetimes.stored_by_hooks import graph_hooks, left_behind

    function, program, models = run.function, run.program, run.models
    return Lifetimes(
        retries=retries(function, linker, models),
        checkpoints=checkpoints(function, program, linker, models),
        idle=idle,
        caches=(
            *decorated(function, linker, models),
            *dictionaries(function, program, linker, models),
        ),
        hooks=hooks(function, linker, models),
        graph_hooks=graph_hooks(function, linker, models),
        left_behind=left_behind(function, linker, models),
        skipped_clears=skipped_clears(function, linker),
        moved_entries=moved_entries(function, linker),
        moved_sets=moved_sets(function, program, linker, models),
        owners=unclosed_owners(function, linker, models),
    )
