"""One disjunct: what holds on one set of paths to a point of a function."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from cudalint.analysis.facts import Site
from cudalint.analysis.shape.reach import closure
from cudalint.analysis.values.arithmetic import rewrite, rewrite_location
from cudalint.analysis.values.elements import LENGTH, exactly, is_index
from cudalint.analysis.values.projection import project
from cudalint.analysis.values.values import (
    NULL,
    NUMERIC,
    Address,
    Bag,
    Const,
    Input,
    Location,
    Operation,
    Pointer,
    Polynomial,
    Sequence,
    Symbol,
    Value,
    bag,
    resources_in,
    symbols_in,
)
from cudalint.findings.finding import Step
from cudalint.program import FIELDS


class Status(enum.Enum):
    """Where a resource stands on one path (DESIGN section 3)."""

    REQUESTED = "requested"
    """The call was made; its status was not looked at yet."""
    OWNED = "owned"
    RELEASED = "released"
    ESCAPED = "escaped"
    """Somebody else may own it: silence."""
    ABSENT = "absent"
    """The call failed on this path: there is nothing."""

    __hash__ = object.__hash__
    """Python's own of an ``Enum`` is a function in Python, and states are compared all the time."""


class Lending(NamedTuple):
    """A callee out of sight that was given a resource: it may own it now, whatever its name."""

    to: Site
    answer: Value | None = None
    """What it returned."""
    status: bool = False
    """Its answer is a number, of which zero means success."""
    raised: bool = False
    """It gave none: it threw."""


class Holding(NamedTuple):
    """The state of one resource on one path."""

    status: Status
    condition: Value | None = None
    """While REQUESTED: the status value that decides. RELEASED: that of the release."""
    released: Step | None = None
    since: int = 0
    """The length of the trace at its acquisition."""
    lent: tuple[Lending, ...] = ()
    """To whom it was given, without a word on who owns it from then on."""
    alone: bool = False
    """While ESCAPED: what stands in it has not gone with it (``delete p`` ends a block only)."""
    passed_by: bool = False
    """The path went past a loop, without an iteration, that handles what leads to it: what it would
    do there is not known to be missing."""


@dataclass(frozen=True)
class Event:
    """A station of the path so far; ``kind`` is failure, condition, throw or may throw."""

    kind: str
    step: Step
    block: int | None = None
    """Of a condition: which one branches by it."""
    sticky: bool = False
    """Of a failure: the context is of no more use after it."""
    thrown: tuple[str, ...] = ()
    """Of an exception: of which classes one is its own; none where they are not known."""
    inside: Step | None = None
    """Of a failure of the project's own function: what failed in it."""
    asked_for: Value | None = None
    """Of a failure: it is one of the context where there is memory at this value."""

    @property
    def is_failure(self) -> bool:
        """Whether something has failed here."""
        return self.kind == "failure"


class Trace(NamedTuple):
    """The path so far, as a linked list that disjuncts share."""

    event: Event
    before: Trace | None
    length: int


class InputRelease(NamedTuple):
    """A release of something that was there when the function was entered."""

    location: Location
    families: tuple[str, ...]
    step: Step
    api: str
    cut: bool = False
    """By a callee of which not all paths were followed: what it did afterwards may be missing."""
    asked: bool = False
    """Only where a call that was given it has answered so: it may know what is released."""


class InputUse(NamedTuple):
    """A use of something that was there when the function was entered."""

    step: Step
    api: str


class CalledInput(NamedTuple):
    """A call of a function value that was there when the function was entered."""

    location: Location
    arguments: tuple[Value, ...]
    answer: Symbol
    """What stands for its result."""


class Part(Protocol):
    """What a domain keeps of one path: immutable, and made without arguments where it is empty."""

    def join(self, other: Self) -> Self:
        """What holds on both of two paths."""
        ...


PartOf = TypeVar("PartOf", bound=Part)


class State:
    """One disjunct. Mutable while one block runs; copied at every fork."""

    def __init__(self) -> None:
        self.values: dict[Location, Value] = {}
        self.resources: dict[Symbol, Holding] = {}
        self.conditions: dict[Value, bool] = {}
        self.equal: dict[Value, Const] = {}
        self.among: dict[Value, frozenset[Const]] = {}
        """Values that are one of a few constants: where the cases of a switch met."""
        self.inputs: dict[Location, InputRelease] = {}
        self.used: dict[Location, InputUse] = {}
        """What was copied, launched with or passed to a library, before anybody released it."""
        self.called: frozenset[CalledInput] = frozenset()
        self.stored: frozenset[Location] = frozenset()
        """Entry values that were stored where they outlive the call."""
        self.put: frozenset[tuple[Location, Location]] = frozenset()
        """Entry values that became elements of a container of the receiver, and of which."""
        self.lent: frozenset[Location] = frozenset()
        """Entry values that were given to callees out of sight."""
        self.skipped: frozenset[int] = frozenset()
        """Loops that ran zero times, where that was not certain."""
        self.guards: frozenset[str] = frozenset()
        """Functions, out of sight, that release what they captured (scope guards)."""
        self.parts: dict[type, Any] = {}
        """What domains keep of this path: see ``part``."""
        self.trace: Trace | None = None
        self.visits: dict[int, int] = {}
        self.failure: Event | None = None
        """The last failure branch taken."""
        self.thrown: Event | None = None
        """The exception that brought the path into a handler, or on its way out."""

    def copy(self) -> State:
        """An independent copy."""
        other = State.__new__(State)
        other.values = self.values.copy()
        other.resources = self.resources.copy()
        other.conditions = self.conditions.copy()
        other.equal = self.equal.copy()
        other.among = self.among.copy()
        other.inputs = self.inputs.copy()
        other.used = self.used.copy()
        other.called = self.called
        other.stored = self.stored
        other.put = self.put
        other.lent = self.lent
        other.skipped = self.skipped
        other.guards = self.guards
        other.parts = self.parts
        other.trace = self.trace
        other.visits = self.visits.copy()
        other.failure = self.failure
        other.thrown = self.thrown
        return other

    # The domains ------------------------------------------------------------------------------

    def part(self, empty: PartOf) -> PartOf:
        """What a domain keeps of this path; ``empty`` while it has kept nothing."""
        found: PartOf = self.parts.get(type(empty), empty)
        return found

    def keep(self, part: Part) -> None:
        """Keep this for the domain from here on."""
        self.parts = {**self.parts, type(part): part}

    # The path ---------------------------------------------------------------------------------

    def record(
        self,
        kind: str,
        step: Step,
        block: int | None = None,
        sticky: bool = False,
        inside: Step | None = None,
        asked_for: Value | None = None,
    ) -> Event:
        """Add a station to the trace."""
        event = Event(kind, step, block, sticky, inside=inside, asked_for=asked_for)
        length = self.trace.length + 1 if self.trace else 1
        self.trace = Trace(event, self.trace, length)
        return event

    def events(self, since: int = 0) -> list[Event]:
        """The stations after the first ``since``, oldest first."""
        found: list[Event] = []
        trace = self.trace
        while trace is not None and trace.length > since:
            found.append(trace.event)
            trace = trace.before
        return found[::-1]

    # Locations --------------------------------------------------------------------------------

    def read(self, location: Location) -> Value:
        """The value stored at a location; its entry value if nothing was stored."""
        if "[]" in location:
            location = exactly(self.values, location)
        value = self.values.get(location)
        if location[0] == "@" and isinstance(location[1], Bag):
            held = self._in_any(location[1], location[2:])
            if held - set(resources_in(value if value is not None else NULL)):
                return bag(held)
        if value is not None and "[]" not in location:
            return value
        if is_index(location[-1]):
            element = self._element(location)
            if element is not None:
                return element
        elif any(map(is_index, location)) and (held := self._alike(location)):
            return bag(held.union(() if value is None else resources_in(value)))
        if value is not None:
            return value
        for length in range(len(location) - 1, 0, -1):
            base = self.values.get(location[:length])
            if base is None and length > 1 and is_index(location[length - 1]):
                base = self._element(location[:length])
            if base is not None:
                element = self._through(base, location[length:])
                return project(base, location[length:]) if element is None else element
        if "[]" in location:
            return Operation("element", (Input(location),))
        return Input(location)

    def _through(self, base: Value, rest: Location) -> Value | None:
        """What is stored in the block of memory that a pointer points to."""
        if not isinstance(base, Pointer) or not is_index(rest[0]):
            return None
        location: Location = ("@", base, *rest)
        found = self.values.get(location)
        if found is None and rest[0] == "[0]":
            found = self.values.get(("@", base, *rest[1:]))  # `table->x` is `table[0].x`
        if found is None and is_index(rest[-1]):
            found = self._element(location)
        if found is None and rest[0] == "[]":
            found = self._anywhere(base, rest[1:])
        return found

    def in_blocks(self, blocks: Iterable[Symbol]) -> frozenset[Symbol]:
        """The resources whose pointers or handles are stored at the start of some blocks."""
        wanted = frozenset(blocks)
        return frozenset(
            resource
            for place, value in self.values.items()
            if place[0] == "@"
            and len(place) == 2
            and not isinstance(place[1], str)
            and not wanted.isdisjoint(resources_in(place[1]))
            for resource in resources_in(value)
        )

    def _anywhere(self, base: Pointer, rest: Location) -> Value | None:
        """What the same member of several elements of a block holds, each with its own pointer."""
        held = {
            resource
            for key, value in self.block(base.resource)
            if key[2:] == rest
            for resource in resources_in(value)
        }
        return bag(held) if held else None

    def _in_any(self, blocks: Bag, rest: Location) -> set[Symbol]:
        """What the same member holds of some blocks, through whatever pointers it was stored. What
        has been released may have been another block's."""
        wanted = set(blocks.resources)
        return {
            resource
            for key, value in self.values.items()
            if key[0] == "@"
            and key[2:] == rest
            and isinstance(key[1], Pointer | Bag)
            and not wanted.isdisjoint(resources_in(key[1]))
            for resource in resources_in(value)
            if self.status(resource) is not Status.RELEASED
        }

    def _element(self, location: Location) -> Value | None:
        """What an element holds through which others were stored too: ``[]`` is any of them."""
        base = location[:-1]
        any_element = self.values.get((*base, "[]"))
        if location[-1] != "[]":
            return any_element
        first = self.values.get(base, NULL) if base[0] == "@" and len(base) == 2 else NULL
        found = set(resources_in(first))  # `*table` is `table[0]`
        depth = len(location)
        given: list[Value] = []
        for other, value in self.values.items():
            if len(other) == depth and other[:-1] == base and is_index(other[-1]):
                found.update(resources_in(value))
                given += [value] if isinstance(value, Input) else []
        if given and not found:
            return Operation("element", (Sequence(tuple(given)),))
        return bag(found) if found else None

    def _alike(self, location: Location) -> set[Symbol]:
        """What the same member of several elements holds, where one of them is any element."""
        found: set[Symbol] = set()
        for other, value in self.values.items():
            if len(other) == len(location) and other[0] == location[0]:
                pairs = [(a, b) for a, b in zip(location, other, strict=True) if a != b]
                if pairs and all("[]" in pair and all(map(is_index, pair)) for pair in pairs):
                    found.update(resources_in(value))
        return found

    def write(self, location: Location, value: Value) -> None:
        """Store a value; an unknown element keeps what the other elements held."""
        if "[]" in location:
            location = exactly(self.values, location)
        if "[]" in location:
            end = location.index("[]")
            if (*location[:end], LENGTH) in self.values and location[end + 1 :]:
                self.values.pop((*location[:end], LENGTH))  # an entry of a new key, maybe
            held = set(resources_in(self.values.get(location, NULL)))
            held.update(resources_in(value))
            for other in self._others(location, end) if held else ():
                if self.values[other] == NULL:
                    del self.values[other]  # this element, maybe
            self.values[location] = bag(held) if held else value
            return
        if location[0] == "@" and isinstance(location[1], Bag):  # one of these blocks, maybe
            held = {*resources_in(self.values.get(location, NULL)), *resources_in(value)}
            self.values[location] = bag(held) if held else value
            return
        self.forget(location)
        if isinstance(value, Sequence) and value.kind == FIELDS:
            for field, inner in value.fields:
                self.write((*location, field), inner)
        else:
            self.values[location] = value

    def _others(self, location: Location, end: int) -> list[Location]:
        """Where the same is kept of the other elements of a container."""
        return [
            key
            for key in self.values
            if len(key) == len(location)
            and is_index(key[end])
            and key[:end] == location[:end]
            and key[end + 1 :] == location[end + 1 :]
        ]

    def forget(self, location: Location) -> None:
        """Drop what is stored at a location and below it."""
        depth = len(location)
        self.values.pop(location, None)
        root = location[0]
        below = [
            key
            for key in self.values
            if len(key) > depth and key[0] == root and key[:depth] == location
        ]
        for key in below:
            del self.values[key]

    def below(self, location: Location) -> list[tuple[Location, Value]]:
        """What is stored at a location and below it."""
        depth = len(location)
        root = location[0]
        # Asked for at every store: most keys differ in their root already.
        return [
            (key, value)
            for key, value in self.values.items()
            if key[0] == root and key[:depth] == location
        ]

    def parts_of(self, location: Location) -> list[tuple[Location, Value]]:
        """What is stored at a location and below it, by the way that leads there."""
        return [(key[len(location) :], value) for key, value in self.below(location)]

    def replace(self, location: Location, parts: Iterable[tuple[Location, Value]]) -> None:
        """Put other parts where a location is."""
        self.forget(location)
        for rest, value in parts:
            self.values[(*location, *rest)] = value

    def pointed(self) -> Mapping[Value | str, list[Value]]:
        """What stands in each block of memory, and behind each pointer."""
        found: dict[Value | str, list[Value]] = defaultdict(list)
        for key, value in self.values.items():
            if key[0] == "@":
                blocks = key[1].resources if isinstance(key[1], Bag) else (key[1],)
                for block in blocks:
                    found[block.resource if isinstance(block, Pointer) else block].append(value)
        return found

    def reachable(
        self, values: Iterable[Value], pointed: Mapping[Value | str, list[Value]] | None = None
    ) -> set[Symbol]:
        """The resources that values give access to, through addresses and containers too;
        ``pointed``: for who asks more than once."""
        values = [value for value in values if not isinstance(value, Const)]
        if not values:
            return set()
        if pointed is None:
            pointed = self.pointed()
        reached = closure(values, lambda value: self._leads_to(value, pointed))
        return {resource for value in reached for resource in resources_in(value)}

    def _leads_to(
        self, value: Value, pointed: Mapping[Value | str, list[Value]]
    ) -> Iterator[Value]:
        match value:
            case Input(location=("@", pointer, *_)):
                yield pointer
            case Address(location=location):
                yield from (inner for _, inner in self.below(location))
            case Operation(operator=operator) if operator in NUMERIC:
                pass
            case Sequence(items=inner) | Operation(operands=inner):
                yield from inner
            case Pointer() | Bag():
                yield from (inner for one in resources_in(value) for inner in pointed.get(one, ()))
        if not isinstance(value, Const):
            yield from pointed.get(value, ())

    def pass_by(self, symbols: Container[object]) -> None:
        """The path goes past a loop, without an iteration, that handles variables."""
        led = [value for at, value in self.values.items() if at[0] in symbols]
        for resource in self.reachable(led) if self.resources else ():
            holding = self.resources.get(resource)
            if holding is not None and not holding.passed_by:
                self.resources[resource] = holding._replace(passed_by=True)

    def block(self, resource: Symbol) -> list[tuple[Location, Value]]:
        """What stands in a block of memory, whatever part of it a pointer points to."""
        return [
            (key, value)
            for key, value in self.values.items()
            if key[0] == "@"
            and isinstance(key[1], Pointer | Bag)
            and resource in resources_in(key[1])
        ]

    # Resources --------------------------------------------------------------------------------

    def hold(self, resource: Symbol, holding: Holding) -> None:
        """A resource is acquired here."""
        since = self.trace.length if self.trace else 0
        self.resources[resource] = holding._replace(since=since)

    def status(self, resource: Symbol) -> Status | None:
        """Where a resource stands, ``None`` if this path did not acquire it."""
        holding = self.resources.get(resource)
        return holding.status if holding else None

    def set_status(
        self,
        resource: Symbol,
        status: Status,
        released: Step | None = None,
        condition: Value | None = None,
    ) -> None:
        """Move a resource on; ``condition`` is the status value of the call that releases it."""
        holding = self.resources.get(resource)
        if holding is not None:
            self.resources[resource] = holding._replace(
                status=status,
                released=released if released is not None else holding.released,
                condition=holding.condition if status is Status.REQUESTED else condition,
            )

    def escape(self, resources: Iterable[Symbol]) -> list[Symbol]:
        """Somebody else may own these from now on. Returns those that had one owner till now."""
        gone = []
        for resource in resources:
            holding = self.resources.get(resource)
            if holding and holding.status in (Status.REQUESTED, Status.OWNED):
                self.set_status(resource, Status.ESCAPED)
                gone.append(resource)
        return gone

    def keep_inputs(self, values: Iterable[Value]) -> None:
        """What was there when the function was entered is kept by somebody from now on."""
        self.stored |= {one.location for value in values for one in _origins(value)}

    def keep_held(self, resources: Set[Symbol], told: Container[Location]) -> None:
        """Somebody keeps what some resources hold, but for what is told with the place."""
        self.keep_inputs(
            value
            for key, value in self.values.items()
            if key[0] == "@" and key not in told and resources & {*resources_in(key[1])}
        )

    def give_away(self, values: Iterable[Value]) -> list[Symbol]:
        """All that values give access to goes out of sight. Returns what had one owner till now."""
        values = list(values)
        self.keep_inputs(values)
        return self.escape(self.reachable(values))

    def lend(self, resources: Iterable[Symbol], lending: Lending) -> None:
        """A callee out of sight gets these, by value."""
        for resource in resources:
            holding = self.resources.get(resource)
            if holding and holding.status in (Status.REQUESTED, Status.OWNED):
                earlier = tuple(one for one in holding.lent if one.to != lending.to)
                self.resources[resource] = holding._replace(lent=(*earlier, lending))

    def refresh(self, *symbols: Symbol) -> None:
        """An operation is about to produce its symbols again: the earlier ones become older."""
        if not any(self.visits.values()):
            return  # outside of a repeated loop no operation runs twice
        known = self._known(frozenset(symbols))
        if not known:
            return
        older = {symbol: Symbol(symbol.origin, older=True) for symbol in sorted(known)}
        self._drop_conditions(frozenset(older.values()))
        for symbol, before in older.items():
            holding = self.resources.pop(symbol, None)
            if holding is not None:
                earlier = self.resources.get(before)
                if earlier is None or earlier.status not in (Status.OWNED, Status.REQUESTED):
                    self.resources[before] = holding
        replaced = older.keys()

        def change(value: Value) -> Value | None:
            if isinstance(value, Symbol):
                return older.get(value)
            return value if symbols_in(value).isdisjoint(replaced) else None

        self._rename(change, known)

    def resolve(self, symbol: Symbol, value: Value) -> list[tuple[Value, bool]]:
        """A symbol turns out to stand for a value. Returns what was assumed of it, in the terms of
        that, which nobody has looked at."""

        def change(inner: Value) -> Value | None:
            return value if inner == symbol else None

        known = frozenset({symbol})
        assumed = [one for one in self.conditions.items() if symbol in symbols_in(one[0])]
        self._drop_conditions(known)
        self._rename(change, known)
        return [(rewrite(condition, change), truth) for condition, truth in assumed]

    def _drop_conditions(self, symbols: frozenset[Symbol]) -> None:
        """What is known of some symbols is not known any more."""
        for table in (self.conditions, self.equal, self.among):
            for value in [value for value in table if symbols_in(value) & symbols]:
                del table[value]

    def choices(self, value: Value) -> frozenset[Const]:
        """The constants that a value is one of; empty where it may be anything."""
        known = self.equal.get(value)
        return self.among.get(value, frozenset()) if known is None else frozenset({known})

    def _known(self, symbols: frozenset[Symbol]) -> frozenset[Symbol]:
        """Those of some symbols that the state speaks of."""
        found = symbols.intersection(self.resources)
        entries = [part for entry in (*self.inputs, *self.used) for part in entry[1:2]]
        reached = [part for part in entries if not isinstance(part, str)]
        for table in (self.values.values(), reached, self.conditions, self.equal, self.among):
            for value in table:
                inside = symbols_in(value)
                if inside and not inside.isdisjoint(symbols):
                    found |= inside & symbols
        return found

    def _rename(self, change: Callable[[Value], Value | None], known: frozenset[Symbol]) -> None:
        """Rewrite every value of the state that speaks of some symbols."""

        def renamed(value: Value) -> Value:
            # Most speak of none: this is asked more often than anything else in a loop.
            return value if symbols_in(value).isdisjoint(known) else rewrite(value, change)

        self.values = {
            rewrite_location(location, change): renamed(value)
            for location, value in self.values.items()
        }
        self.inputs = {
            rewrite_location(entry, change): release._replace(
                location=rewrite_location(release.location, change)
            )
            for entry, release in self.inputs.items()
        }
        self.used = {rewrite_location(entry, change): use for entry, use in self.used.items()}
        self.stored = frozenset(rewrite_location(entry, change) for entry in self.stored)
        self.put = frozenset(
            (rewrite_location(entry, change), container) for entry, container in self.put
        )
        self.lent = frozenset(rewrite_location(entry, change) for entry in self.lent)
        self.conditions = {renamed(value): truth for value, truth in self.conditions.items()}
        self.equal = {renamed(value): constant for value, constant in self.equal.items()}
        self.among = {renamed(value): choices for value, choices in self.among.items()}
        for resource, holding in self.resources.items():
            if holding.condition is not None or holding.lent:
                self.resources[resource] = holding._replace(
                    condition=None if holding.condition is None else renamed(holding.condition),
                    lent=tuple(
                        one if one.answer is None else one._replace(answer=renamed(one.answer))
                        for one in holding.lent
                    ),
                )


def _origins(value: Value) -> Iterator[Input]:
    """What was there when the function was entered of which a value is the pointer to a part, or
    the pointer itself."""
    match value:
        case Input():
            yield value
        case Address(location=("@", pointer, *_)) if not isinstance(pointer, str):
            yield from _origins(pointer)
        case Polynomial(terms=terms):
            for factors, _ in terms:
                for factor in factors if len(factors) == 1 else ():
                    yield from _origins(factor)
