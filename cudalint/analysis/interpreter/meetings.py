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
from cudalint.program import Call, Delete, Launch, ScopeEnd


class Meetings:
    """Where the disjuncts of one function meet."""

    def __init__(self, run: FunctionRun) -> None:
        self._run = run
        self._subjects = run.symbols.memo(Subjects)
        flow = run.flow
        self.anywhere = identity(run.function) not in self._subjects.owing
        """Whether disjuncts may meet at any block."""
        loops = frozenset(one for one in flow.loops if self.anywhere or self._computes(one))
        self._around = {block: around & loops for block, around in flow.enclosing.items()}
        self._computed = {
            block: frozenset(symbol for header in around for symbol in flow.assigned[header])
            for block, around in self._around.items()
        }
        """By block: the variables that the loops around it compute."""

    def after(self, block: int) -> int:
        """How many disjuncts are kept there before any of them meet."""
        few: int = self._run.most >> 2 * len(self._around[block])
        return max(1, few)

    def may_meet(self, block: int, one: State, other: State) -> bool:
        """Whether two paths to a block may go on as one."""
        if not (self.anywhere or self._computed[block]) or not can_meet(one, other):
            return False
        if self.anywhere and self._run.python and not (one.resources or one.inputs):
            return True  # what its values lead to is no memory that anybody owes
        return agrees_on_memory(one, other, None if self.anywhere else self._computed[block])

    def _computes(self, header: int) -> bool:
        """Whether nothing in a loop acquires, releases or launches anything."""
        return not self._run.python and not any(
            self._acts(at.operation) for at in operations(self._run.flow.body(header))
        )

    def _acts(self, operation: object) -> bool:
        run = self._run
        if isinstance(operation, ScopeEnd):
            return not run.log(Owners).destructors.keys().isdisjoint(operation.symbols)
        if not isinstance(operation, Call):
            return isinstance(operation, Delete | Launch)
        model = run.models.lookup(operation.name)
        if model is not None or operation.key is None:
            return model is not None and owes(model, run.models)
        callee = run.symbols.function(operation.key, run.filename)
        return callee is not None and identity(callee) in self._subjects.owing
