"""One analysis of one function: what stays the same on all of its paths, and what they gather."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from cudalint.analysis.engine.budget import Budget
from cudalint.analysis.engine.conditions import Conditions
from cudalint.analysis.engine.evaluate import Evaluator
from cudalint.analysis.engine.state import State
from cudalint.analysis.engine.summary import Outcome, Summary
from cudalint.analysis.shape.loops import few_turns
from cudalint.analysis.shape.operations import calls, operations, successors
from cudalint.analysis.shape.placement import Placements
from cudalint.analysis.shape.subjects import Subjects
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.analysis.values.arithmetic import rewrite
from cudalint.analysis.values.values import Const, Input, Location, Operation, Symbol, Value
from cudalint.program import (
    Call,
    Constant,
    Expression,
    Function,
    Launch,
    Program,
    Return,
    render,
)
from cudalint.source import Span

Log = TypeVar("Log")
Told = TypeVar("Told")


class Summaries(Protocol):
    """What is known of the functions that a function calls."""

    budget: Budget
    """What following them may cost."""

    def summary(self, key: str, filename: str) -> tuple[Summary | None, Function | None]:
        """What a function of the run does to its callers, and its definition."""
        ...

    def selected(self, function: Function, constants: Mapping[str, Value]) -> Summary | None:
        """What a function does to the elements that constants select, if they do."""
        ...

    def told(
        self, key: str, filename: str, ask: Callable[..., Told | None], *about: object
    ) -> Told | None:
        """What the analysis of the function that a call means tells whoever asks it about
        something, if it has been made already."""
        ...


@dataclass(frozen=True)
class Position:
    """The operation that runs: for the origins of symbols, which must not depend on the path."""

    block: int
    index: int
    span: Span
    unwind: int | None

    def symbol(self, kind: str) -> Symbol:
        """The symbol of what this operation produces."""
        return Symbol(f"{kind}@{self.block}.{self.index}")


def position_of(origin: str) -> tuple[int, int] | None:
    """The block and the index of the operation that a symbol's origin names, if one does."""
    block, _, index = origin.rpartition("@")[2].partition("#")[0].partition(".")
    return (int(block), int(index)) if block.isdigit() and index.isdigit() else None


MOST_DISJUNCTS = 24
"""Kept at one place of a function that may owe a release."""
FEW_DISJUNCTS = 4
"""... of one that only handles arrays and memory of the host, or tells such functions something."""
WORK_BETWEEN_LOOKS = 100_000
"""Until it is asked again whether there is room for more."""


class Raised(NamedTuple):
    """A path on which an operation raises an exception, instead of coming back."""

    state: State
    span: Span
    what: str
    explicit: bool
    """Whether code in sight throws it."""
    thrown: tuple[str, ...] = ()
    """Of which classes one is its own."""


Next = State | Raised
"""Where an operation leads."""


class FunctionRun:
    """One analysis of one function, with some parameters bound to constants or none."""

    def __init__(
        self,
        function: Function,
        program: Program,
        symbols: Symbols,
        summaries: Summaries,
        constants: dict[str, Value] | None = None,
    ) -> None:
        self.function = function
        self.program = program
        self.symbols = symbols
        self.summaries = summaries
        self.filename = function.filename
        self.models = symbols.models(program.language)
        self.evaluator = Evaluator(
            function, program.language, program.variables, self.models.constants
        )
        self.evaluator.constants = dict(constants or {})
        self.conditions = Conditions(
            function, program.variables, python=program.language == "python"
        )
        self.flow = symbols.flow(function)
        self.python = program.language == "python"
        subjects = symbols.memo(Subjects)
        self.touches_cuda = identity(function) in subjects.dealing
        self.most = _disjuncts(function, subjects, python=self.python)
        """Disjuncts that are kept at one place."""
        module = function.kind == "module"
        self.private_globals = (
            symbols.private_globals(function, program) if module else frozenset[str]()
        )
        """Variables of a script's own code that no function of it mentions: as good as locals."""
        self.has_finalizer = symbols.has_finalizer(function)
        self.last_return = _last_return(function)
        self.position = Position(0, 0, function.span, None)
        self.outcomes: list[Outcome] = []
        self.tested: set[Location] = set()
        self.reads_last_error = False
        self.complete = True
        """False where any path was left out."""
        self.work = 0
        """What has been spent on its paths: stored values handled, or as much as that."""
        self.most_work = 0
        """After which one of the remaining paths is followed."""
        self._looks_at = 0
        self.exhausted = False
        """Whether the work that one function is worth was spent before its paths were."""
        self.memory_full = False
        """Whether that was so because there was no memory left."""
        self.calls_made: list[tuple[str, str, tuple[tuple[str, Value], ...], Span]] = []
        """Calls of functions of the run with constant arguments: key, file, arguments, where."""
        self.summary: Summary | None = None
        """Once it has been followed, and somebody has asked for it."""
        self.logs: dict[Callable[[FunctionRun], Any], Any] = {}
        self.given: list[Identity] = []
        """What callees call that they were given, each inside of the one before."""

    @property
    def placements(self) -> Placements:
        """Where its arrays live for sure, by its lines (Python)."""
        return self.log(_placements)

    def spend(self, work: int) -> None:
        """Count what following its paths costs. Where that is too much, only one disjunct for each
        place goes on."""
        self.work += work
        if self.work > self._looks_at:
            self._look()

    def _look(self) -> None:
        """Whether there is enough left to go on as before."""
        is_full = self.summaries.budget.is_full()
        if is_full:
            self.most_work = 0
        if self.work > self.most_work:
            self.memory_full = self.memory_full if self.exhausted else is_full
            self.complete, self.exhausted, self.most = False, True, 1
        next_look = self.work + WORK_BETWEEN_LOOKS
        self._looks_at = next_look if self.exhausted else min(next_look, self.most_work)

    def log(self, kind: Callable[[FunctionRun], Log]) -> Log:
        """What a domain gathers on all paths, begun when it is first asked for."""
        found: Log | None = self.logs.get(kind)
        if found is None:
            found = self.logs[kind] = kind(self)
        return found

    def made_by(self, origin: str) -> Call | None:
        """The call that a symbol's origin names."""
        block, index = position_of(origin) or (len(self.function.blocks), 0)
        made = (one.operations[index:] for one in self.function.blocks[block : block + 1])
        first = next((operations[0] for operations in made if operations), None)
        return first if isinstance(first, Call) else None

    def skipped_work_on(self, state: State, symbol: object) -> bool:
        """Whether a path went past a loop, without an iteration, that handles a variable: what it
        would do there is not known to be missing."""
        return any(symbol in self.flow.mentioned[header] for header in state.skipped)

    def reads_later(self, symbol: str) -> bool:
        """Whether a variable may be read after the operation that runs now."""
        block = self.position.block
        return self.flow.last_read[block].get(symbol, -1) > self.position.index or any(
            symbol in self.flow.live[after] for after in successors(self.flow.blocks[block])
        )

    def show(self, expression: Expression | None) -> str:
        """An expression as the source has it: calls in place of their temporaries."""
        return "" if expression is None else render(substitute(expression, self.log(_written)))

    def repeats(self, block: int) -> bool:
        """Whether a block runs again and again: in a loop of more than a few turns, which is not
        one over the devices."""
        return any(
            not few_turns(self.flow, header) and not self._selects_device(header)
            for header in self.flow.enclosing.get(block, ())
        )

    def _selects_device(self, header: int) -> bool:
        found = (self.models.lookup(call.name) for _, call in calls(self.flow.body(header)))
        return any(model is not None and model.selects_device for model in found)

    def excludes_itself(self, outcome: Outcome) -> bool:
        """Whether what a path leaves in globals, or in what it was given, keeps the function from
        that path when it runs again: ``if (!ready) { ...; ready = true; }``, or ``ready[device]``;
        what is acquired there is no null pointer."""
        left = dict(outcome.writes)
        left |= {item.location: Const(1) for item in outcome.handed_out}

        def after(value: Value) -> Value | None:
            match value:
                case Input(place) | Operation("element", (Input(place),)):
                    return left.get(place)
                case _:
                    return None

        return any(
            not self.conditions.assume(State(), again, truth)
            for condition, truth in outcome.conditions
            if (again := rewrite(condition, after)) != condition
        )

    def surroundings(self) -> tuple[bool, bool]:
        """Whether other CUDA work may run before, and after, the operation that runs now. In a
        destructor, or where a reset follows, it is not the first; in a constructor it is."""
        here = (self.position.block, self.position.index)
        after = any(
            work != here and self.flow.reaches(here[0], here[1], work[0], work[1])
            for work in self.log(_cuda_work)
        )
        if self.function.kind == "constructor":
            return False, after
        if self.function.kind == "destructor" or any(
            self.flow.reaches(here[0], here[1], reset[0], reset[1]) for reset in _resets(self)
        ):
            return True, after
        before = any(
            work != here and self.flow.reaches(work[0], work[1], here[0], here[1])
            for work in self.log(_cuda_work)
        )
        return before, after


def _last_return(function: Function) -> Span | None:
    """The return at the very end; none where the closing brace is reached too."""
    returns = [b.terminator for b in function.blocks if isinstance(b.terminator, Return)]
    if any(leave.implicit for leave in returns):
        return None
    return max((leave.span for leave in returns), default=None)


def _disjuncts(function: Function, subjects: Subjects, *, python: bool) -> int:
    if identity(function) in subjects.owing:
        return MOST_DISJUNCTS
    return FEW_DISJUNCTS if identity(function) in subjects.telling or not python else 1


def _cuda_work(run: FunctionRun) -> list[tuple[int, int]]:
    """Where a function allocates, frees, copies, launches, or calls a function that may."""
    found = []
    for at in operations(run.function):
        operation = at.operation
        if isinstance(operation, Launch):
            found.append(at.place)
        if not isinstance(operation, Call):
            continue
        model = run.models.lookup(operation.name)
        if model is None:
            works = operation.key is not None
        else:
            works = not model.resets and bool(
                model.acquires or model.releases or model.copies or model.sets or model.launches
            )
            works = works and not _releases_null(operation)
        if works:
            found.append(at.place)
    return found


def _resets(run: FunctionRun) -> list[tuple[int, int]]:
    return [
        at.place
        for at, call in calls(run.function)
        if call.name and (model := run.models.lookup(call.name)) is not None and model.resets
    ]


def _releases_null(call: Call) -> bool:
    first = call.arguments[0].value if call.arguments else None
    return isinstance(first, Constant) and not first.value


def _written(run: FunctionRun) -> dict[str, Expression]:
    return written_calls(run.function)


def _placements(run: FunctionRun) -> Placements:
    return Placements(run.function, run.symbols, sure=True)
