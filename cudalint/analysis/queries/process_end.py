"""Where the process, or a test, ends with a function: what is lost there is gone a moment later."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator

from cudalint.analysis.shape.arguments import bindings
from cudalint.analysis.shape.callgraph import CallGraph, Site, following
from cudalint.analysis.shape.handling import Handling
from cudalint.analysis.shape.loops import derived
from cudalint.analysis.shape.operations import At, calls, operations
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.shape.symbols import Identity, Symbols, identity, short_name
from cudalint.apis.loader import ApiModels
from cudalint.findings.finding import Step
from cudalint.program import (
    Branch,
    Call,
    Function,
    Launch,
    Operation,
    Return,
    Throw,
    Variable,
    variables,
)
from cudalint.source import is_header


class ProcessEnd:
    """Which functions of a run are tests, and whose exceptions nobody handles."""

    def __init__(self, symbols: Symbols, program_headers: frozenset[str]) -> None:
        self._symbols = symbols
        self._calls = symbols.memo(CallGraph)
        known = {identity(one): (one, program) for one, program in symbols.functions()}
        self._models = {
            one: symbols.models(program.language) for one, (_, program) in known.items()
        }
        self._ends = {one for one, (function, _) in known.items() if self._ends_all(function)}
        self._known = {one: function for one, (function, _) in known.items()}
        self._handling = symbols.memo(Handling)
        self._referred = referred = self._handling.referred
        outside = {one for one in known if one[1] in referred or not self._calls.sites(one)}
        self._mains = {
            one
            for one, (function, program) in known.items()
            if function.is_main and program.language != "python"
        }
        self._of_mains = {name for name, _ in self._mains}
        self._open = self._calls.reached(outside - self._ends)
        self._working = self._calls.reaching(
            one
            for one, (function, _) in known.items()
            if any(_works(at.operation, self._models[one]) for at in operations(function))
        )
        """The functions that launch, acquire or make something, themselves or by others."""
        headers = program_headers | self._headers_of_programs()
        self._of_programs = headers | {name for (name, _), (one, _) in known.items() if one.is_main}
        entered = {one for one in outside if one[1] in referred or one[0] not in headers}
        if self._mains:
            running = self._handling.reached(self._ends)
            linked = self._handling.linked(self._of_mains)
            native = {
                one
                for one, (_, program) in known.items()
                if program.language != "python" and one[0] in linked
            }
            entered = (entered - native) | (self._handling.bound(running) & native)
        self.tests = {one for one in self._ends if not _is_main(known[one][0])}
        """The bodies of tests. What only they call may be what is tested."""
        surviving = {
            run
            for function, _ in known.values()
            for run in self._handling.run_by(function, self._survived(function))
        }
        open_ended = (entered | surviving) - self._ends
        self.unhandled = known.keys() - self._handling.reached(open_ended)
        """Those whose exceptions end the process, or fail a test, whoever calls them."""

    def _ends_all(self, function: Function) -> bool:
        if _is_main(function):
            return True
        record = function.record
        bases = self._symbols.lineage(record, function.filename) if record else ()
        models = self._models[identity(function)]
        return models.is_test(function.name, function.filename, bases)

    def runs_once(self, function: Function) -> bool:
        """Whether it runs once in a process, or in a test: one call, outside all loops, from each
        `main` that reaches it."""
        one = identity(function)
        return one in self._ends or not (one in self._open or one in self._calls.repeated)

    def runs_few_times(self, function: Function) -> bool:
        """Whether it runs as often as the source says, outside all loops."""
        one = identity(function)
        return one in self._ends or not (one in self._open or one in self._calls.looping)

    def is_step(self, function: Function) -> bool:
        """Whether it is a step of one program, which runs it once, or whoever calls it sees to that
        by a flag."""
        one = identity(function)
        sites = self._calls.sites(one)
        if sites and one[1] not in self._referred and all(map(self._calls.is_flagged, sites)):
            return True
        return self.runs_once(function) and self._programs[one] == 1

    @functools.cached_property
    def _programs(self) -> Counter[Identity]:
        """How many programs run each function. What a test or a Python module calls counts as a
        library's: others may call it too."""
        return Counter(
            reached
            for one in self._ends
            for _ in range(1 if one in self._mains else 2)
            for reached in self._calls.reached([one])
        )

    def ends_with(self, function: Function, within: frozenset[Identity] = frozenset()) -> bool:
        """Whether a function is a part of `main`: it takes nothing, runs once, and nothing works on
        the device after it. What it leaves behind goes with the process a moment later."""
        one = identity(function)
        if one in self._ends or function.parameters or one in within:
            return one in self._ends
        return self.runs_once(function) and all(
            self.ends_with(site.caller, within | {one})
            and not self._work_on(following(site), site.caller)
            for site in self._calls.sites(one)
        )

    def is_fatal(self, function: Function) -> bool:
        """Whether all that call it end the process where it returns a failure."""
        sites = self._calls.sites(identity(function))
        return bool(sites) and all(map(self._ends_on_failure, sites))

    def uncalled(self, function: Function) -> tuple[Step, ...]:
        """A function, and all that call it, where nobody calls any of them: nor can another file,
        or it stands where the `main` is that would, or, a template, would have an instance."""
        if not self._may_be_uncalled(function):
            return ()
        first = identity(function)
        callers = [self._known[one] for one in self._calls.reaching([first]) if one != first]
        if not all(map(self._may_be_uncalled, callers)):
            return ()
        return tuple(
            Step(one.filename, one.span, short_name(one.name)) for one in (function, *callers)
        )

    def _may_be_uncalled(self, function: Function) -> bool:
        named_by = function.named_by
        if function.kind not in ("function", "method") or identity(function) in self._ends:
            return False
        if named_by == "any" and function.filename not in self._of_mains:
            return False
        if function.key in self._referred or short_name(function.name).startswith("operator"):
            return False
        if named_by == "project":
            record = function.record
            bases = self._symbols.lineage(record, function.filename) if record else {}
            return None not in bases.values()  # which may call it
        hidden = named_by == "file" and not is_header(function.filename)
        return hidden or function.filename in self._of_programs

    def _ends_on_failure(self, site: Site) -> bool:
        """Whether a branch on what a call returns, in its caller or in a function that is given it,
        has a side that never returns."""
        if not isinstance(site.call.target, Variable):
            return False
        status = derived({site.call.target.symbol}, [at.operation for at in following(site)])
        if _is_fatal_to(site.caller, status):
            return True
        for at in following(site):
            call = at.operation
            if isinstance(call, Call) and call.key is not None:
                callee = self._symbols.function(call.key, site.caller.filename)
                given = bindings(call, callee.parameters) if callee is not None else {}
                told = {symbol for symbol, value in given.items() if variables(value) & status}
                if callee is not None and _is_fatal_to(callee, told):
                    return True
        return False

    def _headers_of_programs(self) -> set[str]:
        """Headers that a file with a `main` includes: whoever is not seen to call their functions
        is not seen to handle their exceptions either."""
        return {
            name
            for program in self._symbols.programs.values()
            if any(function.is_main for function in program.functions)
            for name in program.includes
        }

    def _survived(self, function: Function) -> Iterator[Call]:
        """The calls after whose exceptions a function goes on."""
        unwinds = {one.unwind for one in function.blocks if one.unwind is not None}
        survived = {one for one in unwinds if self._goes_on(function, one)}
        for at, call in calls(function) if survived else ():
            if function.blocks[at.block].unwind in survived:
                yield call

    def _goes_on(self, function: Function, unwind: int) -> bool:
        """Whether the program does so after an exception that leads to a block: some handler takes
        it, and the function returns; in `main` and in tests, it works on the device again."""
        if identity(function) not in self._ends:
            return self._handling.returns(function, unwind)
        return self._work_on(operations(self._handling.after(function, unwind)), function)

    def _work_on(self, steps: Iterable[At], function: Function) -> bool:
        """Whether operations of a function launch, acquire or make something, themselves or by
        others."""
        models = self._models[identity(function)]
        return any(
            _works(at.operation, models)
            or (
                isinstance(at.operation, Call)
                and any(
                    identity(callee) in self._working
                    for callee, _ in self._symbols.callees(at.operation, function.filename)
                )
            )
            for at in steps
        )


def _works(operation: Operation, models: ApiModels) -> bool:
    """Whether an operation launches, acquires or makes something."""
    model = models.lookup(operation.name) if isinstance(operation, Call) else None
    acquires = model is not None and bool(model.acquires or model.returns is not None)
    return acquires or isinstance(operation, Launch)


def _is_fatal_to(function: Function, symbols: set[str]) -> bool:
    """Whether a branch on some variables has a side from which the function never returns."""
    blocks = function.blocks
    onward = ways(blocks, range(len(blocks)))

    def never_returns(side: int) -> bool:
        reached = (blocks[number].terminator for number in closure([side], onward))
        return not any(isinstance(one, Return | Throw) for one in reached)

    return any(
        variables(branch.condition) & symbols
        and (never_returns(branch.then) or never_returns(branch.otherwise))
        for block in blocks
        if isinstance(branch := block.terminator, Branch)
    )


def _is_main(function: Function) -> bool:
    return function.is_main or function.kind == "module"
