"""Links the functions of a run: each is followed once, and its summary kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cudalint.analysis.engine.budget import Budget
from cudalint.analysis.engine.run import FunctionRun, Told
from cudalint.analysis.engine.summary import (
    MOST_OUTCOMES,
    Summary,
    is_same,
    leaves_same,
    merge,
    of_any_call,
)
from cudalint.analysis.interpreter.worklist import follow
from cudalint.analysis.kept import Kept
from cudalint.analysis.shape.effects import EffectsOf
from cudalint.analysis.shape.subjects import Subjects
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.values.values import Value
from cudalint.apis.loader import ApiModels
from cudalint.program import Function, Program

MOST_DEPTH = 12
"""Nested calls that are followed for a summary."""
MOST_SELECTED = 8
"""Summaries of one function for different constants that select elements."""
MOST_ROUNDS = 3
"""Times that a function is followed that calls itself."""


class Linker(Symbols):
    """The symbols of a run, and what following their functions has shown."""

    def __init__(
        self,
        programs: Sequence[Program],
        models: dict[str, ApiModels],
        is_full: Callable[[], bool] = lambda: False,
        kept: Kept | None = None,
    ) -> None:
        super().__init__(programs, models)
        self.budget = Budget(len(programs), is_full)
        self._kept = kept
        self._summaries: dict[tuple[str, str], Summary | None] = {}
        self._selected: dict[tuple[str, str], dict[object, Summary | None]] = {}
        self._runs: dict[tuple[str, str], FunctionRun] = {}
        self._in_progress: list[tuple[str, str]] = []
        self._assumed: dict[tuple[str, str], Summary] = {}
        """What functions that are followed are taken to do where they call themselves."""
        self._asked: set[tuple[str, str]] = set()
        """Those that call themselves."""

    def run_of(self, function: Function, program: Program) -> FunctionRun | None:
        """The analysis of a function, made once; ``None`` while it is being made."""
        identity = (function.filename, function.key)
        if identity in self._runs:
            return self._runs[identity]
        if identity in self._in_progress or len(self._in_progress) > MOST_DEPTH:
            return None
        self._in_progress.append(identity)
        try:
            run = self._follow(function, program, identity)
        finally:
            self._in_progress.pop()
            self._assumed.pop(identity, None)
        self._runs[identity] = run
        return run

    def _follow(
        self, function: Function, program: Program, identity: tuple[str, str]
    ) -> FunctionRun:
        """Follow a function. Where it calls itself, this begins with the paths on which it does
        not, and goes on until the calls add nothing new."""
        if program.language != "python" and identity in self.memo(Subjects).dealing:
            self._assumed[identity] = Summary(())
        for _ in range(MOST_ROUNDS):
            self._asked.discard(identity)
            run = self._followed(function, program)
            if identity not in self._asked:
                return run
            before, found = self._assumed[identity], summarize(run)
            if found is None or not found.complete:
                break
            if is_same(before, found):
                return run
            # The conditions of a path speak of one call only, not of those before it.
            self._assumed[identity] = of_any_call(found)
        self._assumed.pop(identity)
        return self._followed(function, program)

    def _followed(
        self, function: Function, program: Program, constants: dict[str, Value] | None = None
    ) -> FunctionRun:
        if self._kept is not None:
            return self._kept.followed(function, program, self, constants)
        return follow(FunctionRun(function, program, self, self, constants))

    def told(
        self, key: str, filename: str, ask: Callable[..., Told | None], *about: object
    ) -> Told | None:
        """What the analysis of the function that a call means tells whoever asks it about
        something, if it has been made already."""
        found = self.definition(key, filename)
        run = self._runs.get((found[0].filename, key)) if found is not None else None
        return None if run is None else ask(run, *about)

    def summary(self, key: str, filename: str) -> tuple[Summary | None, Function | None]:
        """What a function of the run does to its callers. Of several definitions this is told by
        the first one, if they leave the caller with the same; else nothing is known of them."""
        found = sorted(self.definitions(key, filename), key=lambda pair: pair[0].filename)
        first, *others = [self._summary_of(*pair) for pair in found] or [None]
        if others and (first is None or not all(leaves_same(first, one) for one in others)):
            return None, None
        return first, found[0][0] if found else None

    def _summary_of(self, function: Function, program: Program) -> Summary | None:
        identity = (function.filename, function.key)
        if identity not in self._summaries:
            run = self.run_of(function, program)
            if run is None and self._in_progress[-1] == identity and identity in self._assumed:
                self._asked.add(identity)
                return self._assumed[identity]
            if run is None:
                return self._cut(function, program)
            summary = summarize(run)
            if identity in self._asked and summary is not None:
                summary = of_any_call(summary)
            self._summaries[identity] = summary
        return self._summaries[identity]

    def selected(self, function: Function, constants: Mapping[str, Value]) -> Summary | None:
        """What a function does to the elements that constants select, if they do."""
        selecting = self.flow(function).selecting
        chosen = {symbol: value for symbol, value in constants.items() if symbol in selecting}
        if not chosen:
            return None
        known = self._selected.setdefault((function.filename, function.key), {})
        which = tuple(sorted(chosen.items(), key=repr))
        if which not in known:
            if len(known) >= MOST_SELECTED:
                return None
            run = self.run_with(function.key, function.filename, chosen)
            if run is None:
                return None
            known[which] = summarize(run)
        return known[which]

    def _cut(self, function: Function, program: Program) -> Summary | None:
        """What is known of a function that calls itself, while it is followed."""
        if program.language == "python":
            return None
        return Summary((), complete=False, effects=self.memo(EffectsOf).of(function, program))

    def run_with(self, key: str, filename: str, constants: dict[str, Value]) -> FunctionRun | None:
        """An analysis of a function with some parameters bound."""
        found = self.definition(key, filename)
        if found is None or len(self._in_progress) > MOST_DEPTH:
            return None
        function, program = found
        self._in_progress.append((filename, key))
        try:
            return self._followed(function, program, constants)
        finally:
            self._in_progress.pop()


def summarize(run: FunctionRun) -> Summary | None:
    """The summary of a finished run; a generator's body does not run at its call."""
    if run.function.is_generator:
        return None
    effects = run.symbols.memo(EffectsOf).of(run.function, run.program)
    if run.summary is None or run.summary.effects != effects:
        outcomes = merge(run.outcomes)
        run.summary = Summary(
            outcomes=outcomes[:MOST_OUTCOMES],
            tested=frozenset(run.tested),
            reads_last_error=run.reads_last_error,
            complete=run.complete and len(outcomes) <= MOST_OUTCOMES,
            effects=effects,
        )
    return run.summary
