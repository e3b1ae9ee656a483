"""Whether an outcome of a callee fits the state of its caller."""

from __future__ import annotations

from collections.abc import Mapping

from cudalint.analysis.engine.evaluate import is_status
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.engine.summary import Conditions, Outcome, Summary
from cudalint.analysis.interpreter.callbacks import ANSWER
from cudalint.analysis.interpreter.dispatch import asked_class
from cudalint.analysis.interpreter.translation import Translation
from cudalint.analysis.shape.flags import Flags
from cudalint.analysis.values.values import (
    Const,
    Input,
    Operation,
    Sequence,
    Symbol,
    Value,
    resources_in,
)
from cudalint.program import Call, Function, Variable, render

WORK_OF_EFFECT = 200
"""What a condition or an effect of a callee costs, compared to a stored value."""


class Fitting(Translation):
    """One outcome at one call."""

    def __init__(
        self,
        run: FunctionRun,
        call: Call,
        definition: Function,
        summary: Summary,
        outcome: Outcome,
        number: int,
        known: dict[Value, Value],
        ends: bool = False,
    ) -> None:
        site = f"{run.position.block}.{run.position.index}"
        if ends and call.receiver is not None:
            site += f"~{render(call.receiver)}"  # several objects may end at once
        elif isinstance(call.target, Variable) and call.target.symbol.startswith(ANSWER):
            site += f"#{call.target.symbol}"  # a callee may call several function values
        super().__init__(run, call, definition, site)
        self.ends = ends
        """Whether it is the destructor of an object that ends."""
        self.undecided = False
        """Whether nobody knows which of its outcomes it has."""
        self.summary = summary
        self.outcome = outcome
        self.number = number
        self.known = known
        """What the conditions of all outcomes are in the caller, in the state of the call."""
        self.before: State | None = None
        """The state of the call."""

    def is_excluded(self, state: State) -> bool:
        """Whether the callee throws because its object does something that everybody ends who has
        begun it: nobody has, when the caller is entered."""
        record, filename = self.definition.record, self.definition.filename
        if record is None or record == self.run.function.record:
            return False
        for condition, truth in self.outcome.conditions:
            match condition:
                case Input(location=("this", str(field))) if truth:
                    asked = self._condition(condition, state, state.equal)
                    if not isinstance(asked, Const) and self.run.symbols.memo(Flags).is_lowered(
                        record, field.removeprefix("."), filename
                    ):
                        return True
        return False

    def fit(self, state: State) -> list[State]:
        """The caller's states in which the callee has this outcome."""
        telling = ((value, True) for value in self._telling_results())
        always = self.outcome.conditions
        forks = self._assume((*telling, *always), state)
        # The conditions of any of the callee's paths that end so may hold.
        ways = [tuple(one for one in way if one not in always) for way in self.outcome.ways]
        return [
            fork
            for fork in forks
            if len(ways) < 2 or any(self._may_hold(way, fork, state.equal) for way in ways)
        ]

    def is_undecided(self, state: State) -> bool:
        """Whether it depends on the class of an object that nobody knows."""
        for condition, _ in self.outcome.conditions:
            asked = asked_class(condition)
            if asked is not None:
                kind = self.translate(asked, state)
                if not isinstance(state.equal.get(kind, kind), Const):
                    return True
        return False

    def mark_tested(self, state: State) -> None:
        """What the callee looks at is looked at, whichever way it ends."""
        for location in sorted(self.summary.tested, key=repr):
            value = self.translate(Input(location), state)
            if is_status(value):
                self.run.conditions.checked.add(value.origin)
            for resource in resources_in(value):
                self.run.conditions.mark_checked(state, resource)

    def other(self, number: int) -> Fitting:
        """Another outcome of the same call."""
        summary = self.summary
        outcome = summary.outcomes[number]
        return Fitting(self.run, self.call, self.definition, summary, outcome, number, self.known)

    def handed(self, resource: Symbol) -> Symbol:
        """What a resource that the callee obtains is called in the caller."""
        again = "~" if resource.older else ""
        return Symbol(f"{self.definition.key}#{resource.origin}{again}@{self.site}")

    def _telling_results(self) -> list[Value]:
        """Unknown items of the returned tuple that are false where nothing is handed out: they
        tell the caller that something is (``return pointer, size`` beside ``return 0, 0``)."""
        mine = self.outcome.value
        if not isinstance(mine, Sequence) or not self.outcome.handed_out:
            return []
        telling: list[Value] = []
        for other in self.summary.outcomes:
            theirs = other.value
            if other.handed_out or not isinstance(theirs, Sequence):
                continue
            for item, refusal in zip(mine.items, theirs.items, strict=False):
                refused = isinstance(refusal, Const) and not refusal.value
                if refused and isinstance(item, Symbol | Operation) and not is_status(item):
                    telling.append(item)
        return telling

    def _assume(self, conditions: Conditions, state: State) -> list[State]:
        """The states in which all of some conditions hold. Where each of several conditions holds
        in several ways, there are too many to follow each of them."""
        forks = [state.copy()]
        for condition, truth in conditions:
            before, forks = forks, []
            for fork in before:
                asked = self._condition(condition, fork, state.equal)
                room = len(before) < self.run.most
                assume = self.run.conditions.assume if room else self.run.conditions.remember
                forks += assume(fork, asked, truth)
        return forks

    def _may_hold(self, conditions: Conditions, state: State, equal: Mapping[Value, Const]) -> bool:
        """Whether some conditions may hold together: so they may where many ways fail."""
        pending = [(0, state)]
        for _ in range(self.run.most * len(conditions)):
            if not pending:
                return False
            number, before = pending.pop()
            if number == len(conditions):
                return True
            condition, truth = conditions[number]
            asked = self._condition(condition, before, equal)
            after = self.run.conditions.assume(before.copy(), asked, truth)
            pending += [(number + 1, one) for one in reversed(after)]
        return True

    def _condition(self, condition: Value, state: State, equal: Mapping[Value, Const]) -> Value:
        """A condition in the caller's terms; where no more is known than at the call, once."""
        self.run.spend(WORK_OF_EFFECT + len(state.conditions))
        if state.equal != equal:
            return self.translate(condition, state)
        found = self.known.get(condition)
        if found is None:
            found = self.known[condition] = self.translate(condition, state)
        return found
