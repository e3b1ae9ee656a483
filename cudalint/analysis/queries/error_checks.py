"""Whether anybody asks for errors after a call: in the function itself, or in its callers.

Who looks at the status of a call, or asks on a path that is followed, is known to the run
(``Conditions.checked``). This is what the whole program is asked: a check that a caller makes after
a function has returned, or that a function out of sight may make.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.facts import Allocation
from cudalint.analysis.shape.callgraph import CallGraph
from cudalint.analysis.shape.flow import Place
from cudalint.analysis.shape.operations import calls, operations
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.apis.model import ApiFunction
from cudalint.program import NUMBERS, Call, Launch, Type, Variable, variables
from cudalint.source import Span

MOST_CALLERS = 4
"""How far up the callers are asked."""


class _ErrorChecks(ABC):
    """Asks the functions of a run, each once, for what looks at errors."""

    strangers_look: ClassVar[bool]
    """Whether callers out of sight are taken to look at them."""

    def __init__(self, symbols: Symbols, runs: list[FunctionRun]) -> None:
        self._symbols = symbols
        self._runs = {identity(run.function): run for run in runs if not run.python}
        self._graph = symbols.memo(CallGraph)
        self._looking = self._graph.reaching(
            one
            for one, run in self._runs.items()
            if any(self._looks(run, at.place, call) for at, call in calls(run.function))
        )
        """The functions that look at errors, themselves or through what they call."""

    @abstractmethod
    def _tells(self, run: FunctionRun, place: Place, call: Call, model: ApiFunction | None) -> bool:
        """Whether a call that may, looks at errors."""

    def _is_bare(self, run: FunctionRun, place: Place, depth: int) -> bool:
        """Whether no check follows a place, here or in any caller."""
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
            return not self.strangers_look
        return all(self._is_bare(caller, at, depth + 1) for caller, at in callers)

    def _looks(self, run: FunctionRun, place: Place, call: Call) -> bool:
        """Whether a call looks at errors, and not in a function of the run. What is out of sight
        may: whatever it is called, unless a library that is known has it."""
        if self._callee(run, call) is not None:
            return False
        model = run.models.lookup(call.name)
        if model is None and (self._is_implicit(run, call) or run.models.only_borrows(call.name)):
            return False
        return self._tells(run, place, call, model)

    def _is_implicit(self, run: FunctionRun, call: Call) -> bool:
        """Whether the compiler writes the callee: a constructor or an assignment of a class of the
        run, a copy, a cast."""
        written = call.kind == "constructor" or call.assigns
        made = written and self._symbols.record(call.record, run.filename)
        return call.kind in ("copy", "cast") or bool(made)

    def _callee(self, run: FunctionRun, call: Call) -> Identity | None:
        found = self._symbols.function(call.key, run.filename)
        return identity(found) if found is not None and identity(found) in self._runs else None


class LaunchChecks(_ErrorChecks):
    """What looks at the errors of launches: who waits for them, too."""

    strangers_look = True

    def unchecked(self, run: FunctionRun) -> tuple[tuple[str, Span], ...]:
        """The launches of a function after which nobody asks for an error."""
        if run.python or run.function.kind == "kernel":
            return ()
        launches = [
            (at.place, at.operation)
            for at in operations(run.function)
            if isinstance(at.operation, Launch)
        ]
        if not all(self._is_bare(run, place, 0) for place, _ in launches):
            return ()
        return tuple((launch.kernel, launch.span) for _, launch in launches)

    def _tells(self, run: FunctionRun, place: Place, call: Call, model: ApiFunction | None) -> bool:
        if model is None or model.reads_last_error:
            return True  # a stranger may wait
        looked_at = run.conditions.looked_at(call.name, *place) or not run.complete
        return model.unwraps is not None or (model.synchronizes and looked_at)


class AllocationChecks(_ErrorChecks):
    """What looks at the last error, which a refused allocation leaves."""

    strangers_look = False

    def checked(self, run: FunctionRun, found: tuple[Allocation, ...]) -> tuple[Allocation, ...]:
        """The allocations of a function; those are checked after which somebody asks."""
        if run.python or all(one.checked for one in found):
            return found
        places = {call.span: at.place for at, call in calls(run.function)}
        return tuple(
            replace(one, checked=True)
            if one.span in places and not self._is_bare(run, places[one.span], 0)
            else one
            for one in found
        )

    def _tells(self, run: FunctionRun, place: Place, call: Call, model: ApiFunction | None) -> bool:
        return _only_reports(run, call) if model is None else model.reads_last_error


def _only_reports(run: FunctionRun, call: Call) -> bool:
    """Whether a call is made for its effect alone, and is given nothing but numbers and text."""
    given = {one for argument in call.arguments for one in variables(argument.value)}
    return (
        call.kind in ("function", "macro")
        and call.target is None
        and all(_is_number_or_text(run.evaluator.type_of(Variable(one, one))) for one in given)
    )


def _is_number_or_text(known: Type | None) -> bool:
    if known is None or known.kind != "pointer":
        return known is not None and known.kind in NUMBERS
    return known.pointee is not None and known.pointee.constant and known.pointee.bytes == 1
