"""Whether anybody looks at the errors of a launch: in the function itself, or in its callers."""

from __future__ import annotations

import re

from cudalint.analysis.engine.evaluate import STATUS
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.shape.symbols import Symbols
from cudalint.program import Call, Launch
from cudalint.source import Span

_CHECKING = re.compile(r"check|err|safe|sync|assert|try|guard|verify", re.IGNORECASE)
"""Names of functions out of sight that may look at the last error."""
MOST_CALLERS = 4
"""How far up the callers are asked."""

Place = tuple[int, int]


class LaunchChecks:
    """Asks the functions of a run, each once."""

    def __init__(self, symbols: Symbols, runs: list[FunctionRun]) -> None:
        self._symbols = symbols
        self._runs = {(run.filename, run.function.key): run for run in runs}
        self._checks: dict[tuple[str, str], list[Place]] = {}
        self._callers: dict[tuple[str, str], list[tuple[FunctionRun, Place]]] = {}
        for run in runs:
            for at, call in calls(run.function):
                target = self._target(run, call)
                if target is not None:
                    self._callers.setdefault(target, []).append((run, at.place))

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
        if any(run.flow.reaches(*place, *check) for check in self._places(run)):
            return False
        if run.function.is_main:
            return True
        callers = self._callers.get((run.filename, run.function.key), [])
        if not callers or depth >= MOST_CALLERS or run.function.kind == "lambda":
            return False
        return all(self._is_bare(caller, at, depth + 1) for caller, at in callers)

    def _places(self, run: FunctionRun) -> list[Place]:
        """Where a function looks at errors, itself or through what it calls."""
        identity = (run.filename, run.function.key)
        known = self._checks.get(identity)
        if known is None:
            self._checks[identity] = []  # while a recursive call asks
            known = self._checks[identity] = [
                at.place for at, call in calls(run.function) if self._looks(run, at.place, call)
            ]
        return known

    def _looks(self, run: FunctionRun, place: Place, call: Call) -> bool:
        model = run.models.lookup(call.name)
        if model is not None and not model.guess:
            if model.reads_last_error:
                return True
            origin = f"{STATUS}{call.name}@{place[0]}.{place[1]}"
            return model.synchronizes and origin in run.conditions.checked
        target = self._target(run, call)
        if target is not None and target in self._runs:
            return bool(self._places(self._runs[target]))
        return _CHECKING.search(call.name) is not None

    def _target(self, run: FunctionRun, call: Call) -> tuple[str, str] | None:
        found = self._symbols.function(call.key, run.filename) if call.key else None
        return None if found is None else (found.filename, found.key)
