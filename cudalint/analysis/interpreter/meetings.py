"""How many disjuncts are kept at a block before some go on together, and which of them may.

A function that owes no release tells its callers little that depends on the way there: all of its
disjuncts may meet. Of one that does, those in a loop that does nothing but compute may: what they
own is the same, and what they disagree on was computed there and leads to no memory. Each loop
around a block doubles the rounds, so that they meet the sooner the deeper it lies.
"""

from __future__ import annotations

from cudalint.analysis.domains.ownership.objects import Owners
from cudalint.analysis.engine.joining import agrees_on_memory, can_meet
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.operations import operations
from cudalint.analysis.shape.subjects import Subjects, owes
from cudalint.analysis.shape.symbols import identity
from cudalint.program import Call, Delete, ScopeEnd


class Meetings:
    """Where the disjuncts of one function meet."""

    def __init__(self, run: FunctionRun) -> None:
        self._run = run
        self._subjects = run.symbols.memo(Subjects)
        self.is_shared = identity(run.function) not in self._subjects.owing
        """Whether disjuncts may meet anywhere."""
        self._shared = frozenset(
            header for header in run.flow.loops if self.is_shared or self._computes(header)
        )

    def after(self, block: int) -> int:
        """How many disjuncts are kept there before any of them meet."""
        around = self._run.flow.enclosing[block] & self._shared
        few: int = self._run.most >> 2 * len(around)
        return max(1, few)

    def may_meet(self, block: int, one: State, other: State) -> bool:
        """Whether two paths to a block may go on as one."""
        if self.is_shared:
            return can_meet(one, other) and (self._run.python or agrees_on_memory(one, other))
        around = self._run.flow.enclosing[block] & self._shared
        computed = frozenset().union(*(self._run.flow.assigned[header] for header in around))
        return bool(computed) and can_meet(one, other) and agrees_on_memory(one, other, computed)

    def _computes(self, header: int) -> bool:
        """Whether nothing in a loop acquires, releases or launches anything."""
        return not self._run.python and not any(
            self._acts(at.operation) for at in operations(self._run.flow.body(header))
        )

    def _acts(self, operation: object) -> bool:
        run = self._run
        if isinstance(operation, ScopeEnd):
            return not run.log(Owners).destructors.keys().isdisjoint(operation.symbols)
        if isinstance(operation, Call) and operation.key is not None:
            callee = run.symbols.function(operation.key, run.filename)
            return callee is None or identity(callee) in self._subjects.owing
        return isinstance(operation, Delete) or owes(operation, run.models)
