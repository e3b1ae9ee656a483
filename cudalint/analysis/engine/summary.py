"""Summaries: what a function of the run does to its caller, as a bounded list of outcomes.

An outcome speaks of the function's inputs (``Input`` values and the locations below them), of its
result (``("return", ...)``) and of the resources that it hands out. See Infer's Pulse for the idea
of pre/post disjuncts; a status-returning wrapper needs two of them, a plain one needs one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cudalint.analysis.engine.state import CalledInput, InputRelease, InputUse, Lending
from cudalint.analysis.shape.effects import NO_EFFECTS, Effects
from cudalint.analysis.values.elements import is_of_elements
from cudalint.analysis.values.values import NULL, Input, Location, Operation, Symbol, Value, inside
from cudalint.findings.finding import Step
from cudalint.source import Span

RETURN = "return"
LATER = "later:"
"""How the origin of a value starts that a variable has in some later iteration."""
MOST_OUTCOMES = 12
MOST_WAYS = 24
"""Paths of one outcome whose conditions are kept apart."""
Conditions = tuple[tuple[Value, bool], ...]


@dataclass(frozen=True)
class HandedOut:
    """A resource that an outcome leaves with the caller."""

    resource: Symbol
    location: Location
    """Where: ``("return",)``, ``("return", "[1]")``, ``("this", ".d_a")``, what an input points to,
    or a reference parameter's ``("handle",)``."""
    family: str
    api: str
    filename: str
    span: Span
    bytes: Value | None
    condition: Value | None
    """The status value that decides whether it is there, while nobody looked at it."""
    requested: bool
    managed: bool
    ambiguous: bool = False
    """It may be of another family."""
    escaped: bool = False
    """Somebody else may own it too."""
    released: Step | None = None
    """Where the callee has released it already: the pointer dangles."""
    lent: tuple[Lending, ...] = ()
    """The callees out of sight that were given it."""
    contained: bool = False
    """It is in a container of an object that the callee has made."""


@dataclass(frozen=True)
class Outcome:
    """One way in which a call may end."""

    kind: str
    """return or throw."""
    value: Value | None
    conditions: tuple[tuple[Value, bool], ...] = ()
    handed_out: tuple[HandedOut, ...] = ()
    dangling: tuple[HandedOut, ...] = ()
    """Resources that were released before their pointers were handed out."""
    released: tuple[InputRelease, ...] = ()
    used: tuple[tuple[Location, InputUse], ...] = ()
    called: tuple[CalledInput, ...] = ()
    stored: frozenset[Location] = frozenset()
    put: frozenset[tuple[Location, Location]] = frozenset()
    """What became an element of a container of the receiver that is left alone otherwise."""
    lent: frozenset[Location] = frozenset()
    writes: tuple[tuple[Location, Value], ...] = ()
    failure: Step | None = None
    sticky: bool = False
    """What failed was an error of the device."""
    asked_for: Value | None = None
    """... or is one, where there is memory at this value."""
    explicit: bool = True
    thrown: tuple[str, ...] = ()
    """The classes of the exception."""
    foreign: bool = False
    """A call whose result has nothing to do with the inputs decided for this outcome."""
    settled: tuple[tuple[Symbol, bool], ...] = ()
    """Statuses in the result that the callee has looked at: whether they mean success."""
    ways: tuple[Conditions, ...] = ()
    """The conditions of each path that ends so: one of these holds. None: they are not told."""
    asked_about: frozenset[Location] = frozenset()
    """What stands at these was asked for what it is, and that decided for this outcome."""
    skipped: bool = False
    """It goes past a loop: there may be none of what that handles."""
    left: Span | None = field(default=None, compare=False)
    """Where a path that ends so leaves the function."""

    @property
    def effects(self) -> int:
        """The number of its effects."""
        parts = (self.handed_out, self.released, self.used, self.stored, self.lent, self.writes)
        return sum(map(len, parts))

    def releases(self, location: Location) -> bool:
        """Whether what the caller keeps at a location is released."""
        return any(release.location == location for release in self.released)

    def renews(self, location: Location) -> bool:
        """Whether something else stands at a location afterwards."""
        return any(place == location and new != NULL for place, new in self.writes)

    def passes_by(self, location: Location, outcomes: Sequence[Outcome]) -> bool:
        """Whether it leaves something behind for a reason that has nothing to do with what the
        function was given: what is known of the inputs does not tell it from a way on which that
        is released, and nothing has failed."""
        return (
            self.kind == "return"
            and self.foreign
            and self.failure is None
            and not self.releases(location)
            and any(one.releases(location) and self._may_be(one) for one in outcomes)
        )

    def _may_be(self, other: Outcome) -> bool:
        known = dict(other.conditions)
        return all(known.get(condition, truth) == truth for condition, truth in self.conditions)


def released_by(outcomes: Sequence[Outcome]) -> dict[Location, InputRelease]:
    """What a method releases of its object, by the place there."""
    return {
        release.location: release
        for outcome in reversed(outcomes)
        for release in reversed(outcome.released)
        if release.location[0] == "this" and len(release.location) > 1
    }


@dataclass(frozen=True)
class Summary:
    """All outcomes; none: it never returns."""

    outcomes: tuple[Outcome, ...]
    tested: frozenset[Location] = frozenset()
    """Inputs that it looks at: a status passed there counts as checked."""
    reads_last_error: bool = False
    complete: bool = True
    """False where paths had to be cut: the outcomes are some of those there are."""
    effects: Effects = NO_EFFECTS
    """What the whole body may do: by this alone a cut summary says what is not the case."""


def merge(outcomes: list[Outcome]) -> tuple[Outcome, ...]:
    """Join outcomes that differ in their conditions only; what matters most comes first."""
    elements = {r.location for o in outcomes for r in o.released if _is_one_of_many(r.location)}
    if not any(_settled(o) or elements <= _released(o) for o in outcomes):
        elements = set()  # no path followed releases them all
    some = {one for one in elements if any(_spares(outcome, one) for outcome in outcomes)}
    outcomes = [_doubting(outcome, some) for outcome in outcomes] if some else outcomes
    asked = {r.location: r._replace(cut=True) for o in outcomes for r in o.released if r.asked}
    outcomes = [_asking(outcome, asked) for outcome in outcomes] if asked else outcomes
    stored = frozenset().union(*(outcome.stored for outcome in outcomes))
    outcomes = [_keeping(outcome, stored) for outcome in outcomes]
    found = _joined(outcomes, elements, fine=True)
    if len(found) > MOST_OUTCOMES:
        found = _joined(outcomes, elements, fine=False)
        # What matters first: outcomes that hand out or release, then the shortest to state.
        found.sort(key=lambda o: (-len(o.handed_out) - len(o.released), len(o.conditions)))
    return tuple(found)


def _spares(outcome: Outcome, location: Location) -> bool:
    """Whether there are elements, and a condition that is not about their own value keeps them
    from being released (``if (!block.taken)``)."""
    return not (
        outcome.skipped
        or outcome.releases(location)
        or _settled(outcome)
        or any(_asks_for(condition, Input(location)) for condition, _ in outcome.conditions)
    )


def _asks_for(condition: Value, given: Input) -> bool:
    """Whether a condition asks whether there is something: ``block == nullptr``, or ``block``."""
    if isinstance(condition, Operation) and condition.operator == "==":
        return condition.operands[-1] == NULL and given in inside(condition)
    return condition in (given, Operation("element", (given,)))


def _doubting(outcome: Outcome, some: set[Location]) -> Outcome:
    """An outcome that holds against nobody that it may have released any of some elements."""
    released = (r._replace(cut=r.cut or r.location in some) for r in outcome.released)
    return replace(outcome, released=tuple(released))


def _asking(outcome: Outcome, asked: dict[Location, InputRelease]) -> Outcome:
    """An outcome that leaves what it was told is nothing to be released: nobody knows that it is
    still there."""
    gone = [asked[one] for one in sorted(outcome.asked_about & asked.keys(), key=repr)]
    left = [release for release in gone if not outcome.releases(release.location)]
    return replace(outcome, released=(*outcome.released, *left)) if left else outcome


def _keeping(outcome: Outcome, stored: frozenset[Location]) -> Outcome:
    """An outcome that goes past a loop may keep what others keep: the loop does, however often it
    runs."""
    kept = stored if outcome.skipped and not _settled(outcome) else outcome.stored
    return outcome if kept == outcome.stored else replace(outcome, stored=kept)


def _is_one_of_many(location: Location) -> bool:
    """Whether a location is some element, or on an object that a loop comes to later."""
    return is_of_elements(location) or is_later(location)


def is_later(location: Location) -> bool:
    """Whether a location is on an object that a loop comes to after others, as in a list."""
    return location[0] == "@" and any(
        isinstance(one, Symbol) and one.origin.startswith(LATER) for one in inside(location[1])
    )


def _joined(outcomes: list[Outcome], elements: set[Location], fine: bool) -> list[Outcome]:
    """The outcomes, those that differ in no effect as one; where it need not be ``fine``, what they
    use and what decides for them count for nothing."""
    joined: dict[object, Outcome] = {}
    for outcome in outcomes:
        left = () if _settled(outcome) else elements - _released(outcome)
        if any(is_later(one) or not _spares(outcome, one) for one in left):
            continue  # a loop that releases all elements does so, however many there are
        key = _key(outcome, fine)
        earlier = joined.get(key)
        if earlier is None:
            joined[key] = replace(outcome, ways=(outcome.conditions,))
            continue
        joined[key] = replace(
            earlier,
            conditions=tuple(pair for pair in earlier.conditions if pair in outcome.conditions),
            failure=earlier.failure if outcome.failure else None,
            sticky=earlier.sticky and outcome.sticky,
            asked_for=earlier.asked_for if earlier.asked_for == outcome.asked_for else None,
            explicit=earlier.explicit or outcome.explicit,
            foreign=earlier.foreign and outcome.foreign,
            ways=_ways(earlier, outcome),
            used=tuple(use for use in earlier.used if use[0] in dict(outcome.used)),
        )
    return list(joined.values())


def _key(outcome: Outcome, fine: bool) -> object:
    return (
        outcome.kind,
        outcome.thrown,
        outcome.value,
        tuple((out.location, out.family) for out in outcome.handed_out),
        tuple((release.location, release.families) for release in outcome.released),
        tuple(out.location for out in outcome.dangling),
        tuple(location for location, _ in outcome.used) if fine else (),
        outcome.called,
        outcome.stored,
        outcome.put,
        outcome.lent,
        outcome.writes,
        outcome.settled,
        fine and outcome.foreign,
    )


def is_same(one: Summary, other: Summary) -> bool:
    """Whether two summaries tell of the same effects."""
    mine, theirs = ({_key(out, fine=True) for out in each.outcomes} for each in (one, other))
    return mine == theirs


def leaves_same(one: Summary, other: Summary | None) -> bool:
    """Whether two whole summaries leave the caller with the same, whatever decides for it and
    whatever else they compute."""
    if other is None or not (one.complete and other.complete):
        return False
    mine, theirs = ({_left(out) for out in each.outcomes} for each in (one, other))
    return mine == theirs


def _left(outcome: Outcome) -> object:
    return (
        outcome.kind,
        outcome.failure is None,
        frozenset((out.location, out.family) for out in outcome.handed_out),
        frozenset((release.location, release.families) for release in outcome.released),
        frozenset(out.location for out in outcome.dangling),
        outcome.called,
        outcome.stored,
        outcome.put,
        outcome.lent,
        frozenset(place for place, new in outcome.writes if new == NULL),
    )


def of_any_call(summary: Summary) -> Summary:
    """The summary of a function that calls itself: what is asked on one of its paths, the call
    before may have answered otherwise. It says no more than the effects where nothing that it was
    given, or that has nothing to do with it, tells two of the outcomes apart that release different
    things."""
    outcomes = tuple(replace(one, ways=()) for one in summary.outcomes)
    returning = [one for one in outcomes if not (one.failure or one.kind != "return")]
    told = all(
        _released(one) == _released(other)
        or (one.foreign and other.foreign)
        or _exclude(one, other)
        for number, one in enumerate(returning)
        for other in returning[:number]
    )
    if not told:
        return replace(summary, outcomes=(), complete=False)
    return replace(summary, outcomes=outcomes)


def _exclude(one: Outcome, other: Outcome) -> bool:
    truths = dict(other.conditions)
    return any(truths.get(condition, truth) != truth for condition, truth in one.conditions)


def _ways(one: Outcome, other: Outcome) -> tuple[Conditions, ...]:
    if not one.ways or not other.conditions:
        return ()  # whatever holds, one path ends so
    return () if len(one.ways) == MOST_WAYS else tuple(dict.fromkeys((*one.ways, other.conditions)))


def _settled(outcome: Outcome) -> bool:
    """Whether more than what it was given decided for an outcome."""
    return outcome.foreign or outcome.failure is not None or outcome.kind != "return"


def _released(outcome: Outcome) -> set[Location]:
    return {release.location for release in outcome.released}
