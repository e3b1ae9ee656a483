"""Project pools: a method that is named like a release and takes a pointer takes it back."""

from __future__ import annotations

import re

from cudalint.analysis.domains.ownership.escape import escape_value
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.engine.summary import Summary
from cudalint.analysis.values.values import Input, Pointer
from cudalint.program import Call, Function

_TAKES_BACK = re.compile(r"(free|release|dealloc|give_?back|recycle|put_?back)", re.IGNORECASE)


def take_back(
    run: FunctionRun, call: Call, definition: Function, summary: Summary, state: State
) -> None:
    """Leave a pointer to the pool that gets it: its list of free blocks owns it from now on. A body
    without a branch is none of a pool's: what it does not release, it forgets."""
    if run.python or definition.kind != "method" or len(definition.blocks) < 2:
        return
    if not _TAKES_BACK.search(definition.name.rpartition("::")[2]):
        return
    if any(outcome.released for outcome in summary.outcomes):
        return
    for argument in call.arguments:
        value = run.evaluator.value(argument.value, state)
        if isinstance(value, Input | Pointer):
            escape_value(run, argument.value, value, state)
