"""Whether anybody looks at the errors of a launch: in the function itself, or in its callers."""

from __future__ import annotations

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.flow import Place
from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.program import Call, Launch
from cudalint.source import Span

MOST_CALLERS = 4
"""How far up the callers are asked."""


class LaunchChecks:
    """Asks the functions of a run, each once."""

    def __init__(self, symbols: Symbols, runs: list[FunctionRun]) -> None:
        self._symbols = symbols
        self._runs = {identity(run.function): run for run in runs}
        self._graph = symbols.memo(CallGraph)
        self._looking = self._graph.reaching(
            one
            for one, run in self._runs.items()
            if any(self._looks(run, at.place, call) for at, call in calls(run.function))
        )
        """The functions that look at errors, themselves or through what they call."""

    def unchecked(self, run: FunctionRun) -> tuple[tuple[str, Span], ...]:
        """The launches of a function after which nobody asks for an error."""
        if run.python or run.function.kind == "kernel":
            return ()
        launches = [
            (at.place, at.operation)
            for at in operations(run.function)
            if isinstance(at.operation, Launch)
        ]
        if not launches or not all(self._is_bare(run, place, 0) for place, _ in launches):
            return ()
        return tuple((launch.kernel, launch.span) for _, launch in launches)

    def _is_bare(self, run: FunctionRun, place: Place, depth: int) -> bool:
        """Whether no check follows a place, here or in any caller. Callers out of sight check."""
        if any(
            run.flow.reaches(*place, *at.place)
            and (self._looks(run, at.place, call) or self._callee(run, call) in self._looking)
            for at, call in calls(run.function)
        ):
            return False
        if run.function.is_main:
            return True
        callers = [
            (self._runs[identity(site.caller)], site.at.place)
            for site in self._graph.sites(identity(run.function))
            if identity(site.caller) in self._runs
        ]
        if not callers or depth >= MOST_CALLERS or run.function.kind == "lambda":
            return False
        return all(self._is_bare(caller, at, depth + 1) for caller, at in callers)

    def _looks(self, run: FunctionRun, place: Place, call: Call) -> bool:
        """Whether a call looks at errors, and not in a function of the run. What is out of sight
        may: whatever it is called, unless a library that is known has it."""
        if self._callee(run, call) is not None:
            return False
        model = run.models.lookup(call.name)
        if model is None:
            return not (self._is_implicit(run, call) or run.models.only_borrows(call.name))
        if model.reads_last_error or model.unwraps is not None:
            return True
        looked_at = run.conditions.looked_at(call.name, *place) or not run.complete
        return model.synchronizes and looked_at

    def _is_implicit(self, run: FunctionRun, call: Call) -> bool:
        """Whether the compiler writes the callee: a constructor of a class of the run, a copy."""
        made = call.kind == "constructor" and self._symbols.record(call.record, run.filename)
        return call.kind == "copy" or bool(made)

    def _callee(self, run: FunctionRun, call: Call) -> Identity | None:
        found = self._symbols.function(call.key, run.filename)
        return identity(found) if found is not None and identity(found) in self._runs else None
