"""Where the process, or a test, ends with a function: what is lost there is gone a moment later."""

from __future__ import annotations

from cudalint.analysis.shape.callgraph import CallGraph, Site
from cudalint.analysis.shape.operations import calls, expressions, operations
from cudalint.analysis.shape.reach import closure, ways
from cudalint.analysis.shape.symbols import Symbols, identity
from cudalint.program import (
    Call,
    Function,
    FunctionReference,
    Launch,
    Program,
    Return,
    walk,
)


class ProcessEnd:
    """Which functions of a run are tests, and whose exceptions nobody handles."""

    def __init__(self, symbols: Symbols, program_headers: frozenset[str]) -> None:
        self._symbols = symbols
        self._calls = symbols.memo(CallGraph)
        known = {identity(one): (one, program) for one, program in symbols.functions()}
        self._ends = {
            one for one, (function, program) in known.items() if self._ends_all(function, program)
        }
        referred = self._referred()
        outside = {one for one in known if one[1] in referred or not self._calls.sites(one)}
        self._open = self._calls.reached(outside - self._ends)
        self._working = self._calls.reaching(
            one for one, (function, program) in known.items() if self._works(function, program)
        )
        """The functions that launch, acquire or make something, themselves or by others."""
        headers = program_headers | self._headers_of_programs()
        entered = {one for one in outside if one[1] in referred or one[0] not in headers}
        self.tests = {one for one in self._ends if not _is_main(known[one][0])}
        """The bodies of tests. What only they call may be what is tested."""
        surviving = {
            one for one in known if any(self._goes_on(site) for site in self._calls.sites(one))
        }
        open_ended = (entered | surviving) - self._ends
        self.unhandled = known.keys() - self._calls.reached(open_ended)
        """Those whose exceptions end the process, or fail a test, whoever calls them."""

    def _ends_all(self, function: Function, program: Program) -> bool:
        if _is_main(function):
            return True
        record = function.record
        bases = self._symbols.lineage(record, function.filename) if record else ()
        return self._symbols.models(program.language).is_test(
            function.name, function.filename, bases
        )

    def runs_once(self, function: Function) -> bool:
        """Whether it runs once in a process, or in a test: one call, outside all loops, from each
        `main` that reaches it."""
        one = identity(function)
        return one in self._ends or not (one in self._open or one in self._calls.repeated)

    def _headers_of_programs(self) -> set[str]:
        """Headers that a file with a `main` includes: whoever is not seen to call their functions
        is not seen to handle their exceptions either."""
        return {
            name
            for program in self._symbols.programs.values()
            if any(function.is_main for function in program.functions)
            for name in program.includes
        }

    def _referred(self) -> set[str]:
        """The functions that somebody may call whom no call names."""
        return {
            part.key
            for function, _ in self._symbols.functions()
            for whole in expressions(function)
            for part in walk(whole)
            if isinstance(part, FunctionReference) and part.key
        }

    def _goes_on(self, site: Site) -> bool:
        """Whether the program does so after an exception of a call: some handler takes it, and the
        function returns; in `main` and in tests, it works on the device again."""
        blocks = site.caller.blocks
        unwind = blocks[site.at.block].unwind
        if unwind is None:
            return False
        within = range(len(blocks))
        after = [blocks[number] for number in closure([unwind], ways(blocks, within))]
        if identity(site.caller) not in self._ends:
            return any(isinstance(block.terminator, Return) for block in after)
        if any(isinstance(at.operation, Launch) for at in operations(after)):
            return True
        callees = (self._symbols.callees(call, site.caller.filename) for _, call in calls(after))
        return any(identity(callee) in self._working for found in callees for callee, _ in found)

    def _works(self, function: Function, program: Program) -> bool:
        models = self._symbols.models(program.language)
        return any(
            isinstance(at.operation, Launch)
            or (
                isinstance(at.operation, Call)
                and (model := models.lookup(at.operation.name)) is not None
                and (model.acquires or model.returns is not None)
            )
            for at in operations(function)
        )


def _is_main(function: Function) -> bool:
    return function.is_main or function.kind == "module"
