"""Which disjuncts of a function are followed, and which go on as one.

One that arrives at a block forgets what nothing reads any more. Then it is joined with its equal,
meets another one (``meetings``), or goes on together with those that owe the same. Where there is
no room for it, it is followed no more, and the function not to its end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from cudalint.analysis.domains.ownership.escape import leave_globals
from cudalint.analysis.domains.ownership.objects import Owners
from cudalint.analysis.domains.ownership.recorder import live
from cudalint.analysis.engine.joining import join, key, leads_on, meet, owed, settle, settled
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.schedule import Pending, Schedule
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.interpreter.domains import DOMAINS
from cudalint.analysis.interpreter.meetings import Meetings
from cudalint.analysis.values.values import Symbol, resources_in


class Disjuncts:
    """Those of one function that are still to be followed."""

    def __init__(self, run: FunctionRun) -> None:
        self._run = run
        self._flow = run.flow
        self._meetings = Meetings(run)
        self._schedule = Schedule(run.flow)
        self._seen: dict[int, dict[object, int]] = {}
        function = run.function
        inside = [one for one in run.symbols.nested(function.key) if one.filename == run.filename]
        captured = frozenset().union(*(one.variables for one in inside))
        self._mortal = frozenset(
            symbol
            for symbol, info in function.variables.items()
            if info.storage in ("local", "temporary")
            and symbol not in run.flow.addressed
            and symbol not in captured
            and symbol not in run.log(Owners).destructors
        )
        """The variables that are gone where nothing reads them any more."""

    def next(self) -> tuple[int, list[State]] | None:
        """The next block and the disjuncts that go on there; ``None`` at the end."""
        turn = self._schedule.next()
        return None if turn is None else (turn[0], self._standing(turn[1].values()))

    def arrive(self, target: int, state: State) -> None:
        """A disjunct arrives at a block; equal ones are joined."""
        self._forget_dead(state, target)
        pending = self._schedule.at(target, state)
        mine = self.key(state)
        if mine in pending:
            join(pending[mine], state)
            return
        if target in self._flow.loops:
            # Of two that may be joined, the one that owns more comes by too.
            seen = self._seen.setdefault(target, {})
            missing = sum(one.status is Status.ABSENT for one in state.resources.values())
            if seen.get(mine, missing + 1) <= missing:
                return
            seen[mine] = missing
        if len(pending) >= self._meetings.after(target) and self._meet(pending, state, target):
            return
        if len(pending) >= self._run.most and not pending.apart:
            leave_globals(self._run, *pending.values(), state, for_good=True)
            self._settle(pending)
        if len(pending) < self._run.most:
            pending[mine] = state
        elif not self._is_stood_for(state, pending.values()):
            self._run.complete = False
            self._make_room(pending, mine, state)

    def key(self, state: State) -> object:
        """Those that have the same go on as one."""
        return key(state, self._run.touches_cuda)

    def joined(self, states: list[State]) -> list[State]:
        """The disjuncts, equal ones as one."""
        found: dict[object, State] = {}
        for state in states:
            mine = self.key(state)
            if mine in found:
                join(found[mine], state)
            else:
                found[mine] = state
        return list(found.values())

    def is_full(self, states: list[State]) -> bool:
        """Whether there is no room for what comes of one more."""
        return len(states) >= self._run.most and not self._meetings.anywhere

    def fewer(self, states: list[State], block: int) -> list[State]:
        """What is followed of more disjuncts than there is room for."""
        kept = states[: self._run.most]
        for state in states[self._run.most :]:
            if self._meetings.may_meet(block, kept[-1], state):
                kept[-1] = meet(kept[-1], state, block)
            else:
                self._run.complete = False
        return kept

    def without_results(self, states: list[State], block: int) -> list[State]:
        """Disjuncts that go on as one where it does not count what each of them will return."""
        kept: list[State] = []
        for state in states:
            for symbol in sorted(self._mortal & self._flow.resulting):
                value = state.values.get((symbol,))
                if value is not None and not resources_in(value) and not leads_on(value):
                    unknown = Symbol(f"either{block}:{symbol}")
                    state.refresh(unknown)
                    state.values[(symbol,)] = unknown
            if not self._is_stood_for(state, kept):
                kept.append(state)
        return kept

    def _make_room(self, pending: Pending, place: object, state: State) -> None:
        """A disjunct gives way, where others own all that it owns, to one that alone owns
        something."""
        owned = {
            place: [r for r, one in other.resources.items() if live(one.status)]
            for place, other in [*pending.items(), (place, state)]
        }
        owners = Counter(resource for resources in owned.values() for resource in resources)
        alone = {place for place, resources in owned.items() if 1 in map(owners.get, resources)}
        spare = next((one for one in reversed(pending) if one not in alone), None)
        if place in alone and spare is not None:
            del pending[spare]
            pending[place] = state

    def _settle(self, pending: Pending) -> None:
        """Let disjuncts go on together that owe the same."""
        standing = self._standing(pending.values())
        pending.clear()
        pending.update((self.key(state), state) for state in standing)
        pending.apart = len(pending) >= self._run.most

    def _standing(self, waiting: Collection[State]) -> list[State]:
        """Those of some disjuncts that go on, each for others too that owe the same. What is null
        goes on with what is released rather than with what somebody has forgotten, so those that
        release come first."""
        if len(waiting) < 2:
            return list(waiting)
        found: list[State] = []
        alike: dict[object, list[State]] = defaultdict(list)
        for state in sorted(waiting, key=settled, reverse=True):
            self._run.spend(len(found))
            others = alike[owed(state)]
            if not self._is_stood_for(state, others):
                others.append(state)
                found.append(state)
        return found

    def _is_stood_for(self, state: State, others: Iterable[State]) -> bool:
        owes = state.resources or state.inputs or self._run.touches_cuda
        return bool(owes) and any(settle(other, state) for other in others)

    def _meet(self, pending: Pending, state: State, target: int) -> bool:
        """Let one disjunct go on together with one that waits at the same block, if they may."""
        for place in reversed(pending):
            if self._meetings.may_meet(target, pending[place], state):
                both = meet(pending.pop(place), state, target)
                pending.setdefault(self.key(both), both)
                return True
        return False

    def _forget_dead(self, state: State, target: int) -> None:
        live_here = self._flow.live[target]
        mortal = self._mortal
        dead = [
            location
            for location, value in state.values.items()
            if location[0] in mortal
            and location[0] not in live_here
            and not resources_in(value)
            and not any(domain.keeps(self._run, value) for domain in DOMAINS)
        ]
        for location in dead:
            del state.values[location]
