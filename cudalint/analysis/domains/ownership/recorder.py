"""What one run over a function's paths saw, gathered into facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cudalint.analysis.domains.ownership.asking import asked_about
from cudalint.analysis.domains.ownership.lending import lent_to
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State, Status
from cudalint.analysis.facts import (
    Allocation,
    Cleanup,
    DanglingPointer,
    Exit,
    Fill,
    FunctionFacts,
    LaunchSite,
    Leak,
    LeakExit,
    Misuse,
    MisuseKind,
    Overflow,
    OwnerCopy,
    Resource,
    Site,
    Transfer,
)
from cudalint.analysis.shape.effects import EffectsOf
from cudalint.analysis.shape.operations import calls
from cudalint.analysis.values.arithmetic import rewrite
from cudalint.analysis.values.values import (
    NULL,
    ZERO,
    Const,
    Location,
    Operation,
    Pointer,
    Symbol,
    Value,
    integer,
)
from cudalint.apis.model import Family
from cudalint.findings.finding import Step
from cudalint.findings.repair import Held
from cudalint.source import Span


@dataclass
class Acquired:
    """One acquisition site, with what its resource was first stored in."""

    origin: str
    name: str
    api: str
    family: str
    info: Family
    filename: str
    span: Span
    bytes: Value | None = None
    bytes_text: str = ""
    through: str | None = None
    in_loop: bool = False
    managed: bool = False
    at_least: bool = False
    location: Location | None = None
    element_count: bool = False
    from_callee: tuple[str, Span] | None = None
    """Where the API call stands when a callee made it."""
    ambiguous: bool = False
    """The callee may hand out a resource of another family in its place, or is an imitation."""
    kept_by_callee: bool = False
    """The callee itself stored it in its object or struct."""
    contained: bool = False
    """It is in a container of an object that this function has made, and is not followed."""
    fallible: bool = True
    """It reports a status that somebody must look at."""
    part: str = ""
    """The field of what it is stored in that releases it: ``.ptr`` of a ``cudaPitchedPtr``."""

    @property
    def shown(self) -> str:
        """Its name for messages: a temporary is what made it."""
        if not self.name.startswith("%"):
            return self.name
        made_by = (self.through or self.api).replace("::", ".").rpartition(".")[2]
        return f"the result of {made_by}"

    @property
    def step(self) -> Step:
        """Its acquisition, for messages."""
        return Step(self.filename, self.span, f"`{self.shown}` is acquired here")

    def resource(self) -> Resource:
        """As rules see it."""
        return Resource(
            name=self.shown,
            api=self.api,
            family=self.family,
            info=self.info,
            filename=self.filename,
            span=self.span,
            bytes=integer(self.bytes),
            through=self.through,
            in_loop=self.in_loop,
            part=self.part,
        )


@dataclass
class _Record:
    """What happened to one acquisition site's resource."""

    acquired: Acquired
    exits: dict[tuple[Exit, Span, tuple[Site, ...], bool], LeakExit] = field(default_factory=dict)
    """The last of the key: the path has passed by a loop that handles the resource, or was told
    what that is."""
    released: dict[Span, Site] = field(default_factory=dict)
    handed_over: dict[Span, Site] = field(default_factory=dict)
    pipelined: bool = False
    """A later iteration of the loop that acquires it into some element releases it; which
    elements those are, only the counters tell."""

    put_off: bool = False
    """A function that is kept for later releases it, or gets past that."""

    owner: Acquired | None = None
    """An object of the host that is lost: as the owner of what it keeps."""

    @property
    def lost(self) -> list[LeakExit]:
        """The ways on which it is lost. Where some path ends it, what a loop would have done is not
        known to be missing, nor what it would be where it was asked for."""
        ended = self.released or self.handed_over
        return [way for (*_, doubted), way in self.exits.items() if not (doubted and ended)]


def is_empty(run: FunctionRun, state: State, resource: Symbol) -> bool:
    """Whether a path knows that a block has no bytes: there is nothing to lose."""
    acquired = run.log(Recorder).of(resource)
    size = acquired.bytes if acquired is not None else None

    def known(value: Value) -> Value | None:
        positive = Operation(">", (value, ZERO))
        none = False in (state.conditions.get(value), state.conditions.get(positive))
        return ZERO if none else state.equal.get(value)

    return size is not None and integer(rewrite(size, known)) == 0


class Departure(NamedTuple):
    """What one path holds where it leaves the function."""

    held: frozenset[str]
    """The origins of the resources."""
    failed: frozenset[str]
    """The origins of those that it did not get."""
    ended: frozenset[str]
    """The origins of those that it has released or passed on."""
    empty: frozenset[Location]
    """Where null is stored."""


class ReleasedMember(NamedTuple):
    """A member in what a function releases, whatever object it is of."""

    record: str | None
    """The class that declares it, if anybody can tell."""
    name: str
    origin: str | None
    """The resource that it holds, if the function has acquired it."""


class Recorder:
    """Collects events of all paths; the same event on two paths counts once."""

    def __init__(self, run: FunctionRun) -> None:
        self._run = run
        self.function = run.function
        self.filename = run.filename
        self.statuses: dict[str, str] = {}
        """Acquisition origins to the origins of their statuses."""
        self.records: dict[str, _Record] = {}
        self.misuses: dict[tuple[MisuseKind, Span], Misuse] = {}
        self.passed: dict[tuple[Span, str], set[tuple[Value, bool]]] = {}
        """What paths release or use at one place, and whether they may not."""
        self.transfers: dict[tuple[Span, str], Transfer] = {}
        self.fills: dict[Span, Fill] = {}
        self.launches: dict[Span, LaunchSite] = {}
        self.cleanups: dict[Span, tuple[Cleanup, set[str]]] = {}
        self.copies: dict[Span, OwnerCopy] = {}
        self.dangling: dict[Span, DanglingPointer] = {}
        self.released_places: set[Location] = set()
        self.released_inputs: dict[Location, set[Span]] = {}
        """Where it releases what was there when it was entered."""
        self.borrowers: set[tuple[str, str]] = set()
        """Callees out of sight that were given something of a family, and did not keep it."""
        self.released_members: set[ReleasedMember] = set()
        self.unsized: set[tuple[Span, str]] = set()
        self.departures: dict[Span, set[Departure]] = {}
        self.late: dict[str, Site] = {}
        """Where something is released after its context has gone."""
        self.in_globals = False
        """Whether a path puts anything into a global."""
        self.follows_globals = not run.python
        """Whether it is told what a function puts into a global over its own."""

    def of(self, resource: Symbol) -> Acquired | None:
        """How a resource was acquired."""
        record = self.records.get(resource.origin)
        return record.acquired if record is not None else None

    def held(self, state: State) -> Iterator[tuple[Symbol, Acquired]]:
        """What is there on a path, and must be released by somebody."""
        for resource, holding in list(state.resources.items()):
            acquired = self.of(resource)
            if acquired is not None and live(holding.status):
                yield resource, acquired

    # Events -----------------------------------------------------------------------------------

    def acquired(self, acquired: Acquired) -> None:
        """A call acquires a resource (again, on another path)."""
        record = self.records.get(acquired.origin)
        if record is None:
            self.records[acquired.origin] = _Record(acquired)
        elif record.acquired.bytes is not None and acquired.bytes != record.acquired.bytes:
            record.acquired.bytes = None  # different sizes on different paths

    def named(self, origin: str, name: str, location: Location) -> None:
        """A resource that only a temporary held is stored in a named place."""
        record = self.records.get(origin)
        if record is not None and record.acquired.name.startswith("%"):
            record.acquired.name = name
            record.acquired.location = location

    def released(
        self, origin: str, site: Site, location: Location | None, lent: tuple[Site, ...]
    ) -> None:
        """A path releases a resource, that some callees were given before."""
        record = self.records.get(origin)
        if record is not None:
            record.released.setdefault(site.span, site)
            self.borrowers.update((to.text, record.acquired.family) for to in lent)
        if location is not None:
            self.released_places.add(location)

    @contextmanager
    def trying(self, resource: Symbol) -> Iterator[None]:
        """Whatever releases a resource meanwhile is only tried."""
        record = self.records[resource.origin]
        released = dict(record.released)
        yield
        record.released = released

    def pipelined(self, origin: str) -> None:
        """An iteration releases the element that an earlier one acquired."""
        record = self.records.get(origin)
        if record is not None:
            record.pipelined = True

    def put_off(self, origin: str, site: Site) -> None:
        """A function that may release a resource is kept for later."""
        record = self.records.get(origin)
        if record is not None:
            record.put_off = True
            record.released.setdefault(site.span, site)

    def handed_over(self, origin: str, site: Site) -> None:
        """A path passes the ownership of a resource on."""
        record = self.records.get(origin)
        if record is not None:
            record.handed_over.setdefault(site.span, site)

    def lost(
        self,
        state: State,
        resource: Symbol,
        kind: Exit,
        span: Span,
        reason: str,
        steps: Iterable[Step],
        last: str,
        *,
        explicit: bool = True,
        overwritten_by: str = "",
        owner: Acquired | None = None,
    ) -> None:
        """A path leaves a resource behind, with some ``steps`` since its acquisition; ``owner``:
        what an object of the host is then."""
        record = self.records.get(resource.origin)
        if record is None or (record.acquired.managed and owner is None):
            return
        record.owner, holding = record.owner or owner, state.resources[resource]
        leave = LeakExit(
            kind=kind,
            span=span,
            reason=reason,
            steps=(record.acquired.step, *steps, Step(self.filename, span, last)),
            explicit=explicit,
            on_failure=state.failure is not None,
            sticky=state.failure is not None and state.failure.sticky,
            overwritten_by=overwritten_by,
            lent=lent_to(state, holding),
        )
        doubted = holding.passed_by or Pointer(resource, Const(0)) in asked_about(self._run, state)
        key = (leave.kind, leave.span, leave.lent, doubted)
        earlier = record.exits.get(key)
        if earlier is None or _certainty(leave) < _certainty(earlier):
            record.exits[key] = leave

    def departed(self, state: State, span: Span) -> None:
        """A path leaves the function, with what it has lost."""
        standing: dict[Status, set[str]] = {}
        held: set[str] = set()
        for resource, holding in state.resources.items():
            standing.setdefault(holding.status, set()).add(resource.origin)
            if live(holding.status) and not resource.older:
                held.add(resource.origin)
        departure = Departure(
            frozenset(held),
            frozenset(standing.get(Status.ABSENT, ())),
            frozenset(standing.get(Status.RELEASED, set()) | standing.get(Status.ESCAPED, set())),
            frozenset(place for place, value in state.values.items() if value == NULL),
        )
        self.departures.setdefault(span, set()).add(departure)

    def misuse(self, misuse: Misuse) -> None:
        """A release or use that the state forbids."""
        self.misuses.setdefault((misuse.kind, misuse.span), misuse)
        if (MisuseKind.INTERIOR, misuse.span) in self.misuses:  # it is certain
            self.misuses.pop((MisuseKind.OFFSET, misuse.span), None)

    def passing(self, span: Span, shown: str, what: Value, *, misused: bool) -> None:
        """A release or a use of something on one path, rightly or not."""
        self.passed.setdefault((span, shown), set()).add((what, misused))

    def transfer(self, transfer: Transfer) -> None:
        """A copy. Two paths that disagree on its size leave the size unknown."""
        key = (transfer.span, transfer.api)
        earlier = self.transfers.get(key)
        if earlier is None:
            self.transfers[key] = transfer
        elif earlier.bytes != transfer.bytes or earlier.to.bytes != transfer.to.bytes:
            self.unsized.add(key)
        elif earlier.to_itself and not transfer.to_itself:
            self.transfers[key] = transfer

    def launch(self, site: LaunchSite) -> None:
        """A launch. What two paths disagree on is not known."""
        earlier = self.launches.get(site.span)
        if earlier is None:
            self.launches[site.span] = site
            return
        self.launches[site.span] = replace(
            earlier,
            grid=_agreed(earlier.grid, site.grid),
            block=_agreed(earlier.block, site.block),
            shared_bytes=earlier.shared_bytes
            if earlier.shared_bytes == site.shared_bytes
            else None,
        )

    def cleanup(self, cleanup: Cleanup, owned: set[str]) -> None:
        """A clean-up call, with the origins of what is still owned."""
        _, known = self.cleanups.setdefault(cleanup.span, (cleanup, set()))
        known |= owned

    @property
    def resets(self) -> bool:
        """Whether the device's context is destroyed, with all that is in it."""
        return any(not cleanup.null_release for cleanup, _ in self.cleanups.values())

    # Facts ------------------------------------------------------------------------------------

    def facts(self, language: str, checked: set[str]) -> FunctionFacts:
        """Everything that was seen; ``checked`` are the statuses that were looked at."""
        function = self.function
        return FunctionFacts(
            function=function.name,
            filename=self.filename,
            span=function.span,
            is_main=function.is_main or function.kind == "module",
            is_constructor=function.kind == "constructor" and language != "python",
            language=language,
            leaks=tuple(self._leaks()),
            misuses=tuple(
                replace(self._with_fitting(one), certain=self._is_certain(one))
                for one in self.misuses.values()
            ),
            allocations=tuple(self._allocations(checked)),
            transfers=tuple(
                transfer for key, transfer in self.transfers.items() if key not in self.unsized
            ),
            fills=tuple(self.fills.values()),
            launches=tuple(self._launches()),
            cleanups=tuple(self._cleanups()),
            copies=tuple(self.copies.values()),
            dangling=tuple(self.dangling.values()),
        )

    def _launches(self) -> Iterator[LaunchSite]:
        """The launches; a 0 that a path brings there is not known where other paths were cut."""
        for site in self.launches.values():
            if site.settled or self._run.complete:
                yield site
            else:
                yield replace(site, grid=_but_zero(site.grid), block=_but_zero(site.block))

    def _is_certain(self, misuse: Misuse) -> bool:
        """Whether no path that was followed comes there rightly; or those alone that pass by the
        earlier release, from which every way that goes on leads there."""
        at = misuse.at_end.span if misuse.at_end is not None else misuse.span
        passed = self.passed.get((at, misuse.name), set())
        if not passed or not self._run.complete:
            return False
        if all(misused for _, misused in passed):
            return True
        first = misuse.released
        if first is None or first.filename != self.filename or len({one for one, _ in passed}) > 1:
            return False
        return self._run.flow.leads(first.span, at)

    def _with_fitting(self, misuse: Misuse) -> Misuse:
        """A release that does not fit, with the one behind it that does."""
        if misuse.kind is not MisuseKind.MISMATCH or misuse.resource is None:
            return misuse
        fits = (
            site
            for record in self.records.values()
            if record.acquired.span == misuse.resource.span
            for site in sorted(record.released.values(), key=lambda one: one.span)
            if site.text in misuse.resource.info.releases and site.span > misuse.span
        )
        return replace(misuse, released=next(fits, None))

    def _leaks(self) -> list[Leak]:
        found = []
        for record in self.records.values():
            if not record.lost or record.pipelined or self._is_unfollowed(record):
                continue
            acquired = record.owner or record.acquired
            exits = self._exits(record)
            found.append(
                Leak(
                    resource=acquired.resource(),
                    exits=exits,
                    released=tuple(sorted(record.released.values(), key=lambda s: s.span)),
                    siblings=self.siblings(acquired.name, acquired.family),
                    place_released=self._place_released(acquired),
                    handed_over=tuple(record.handed_over.values()),
                    put_off=record.put_off,
                    inside=acquired.from_callee if acquired.kept_by_callee else None,
                )
            )
        return found

    def _is_unfollowed(self, record: _Record) -> bool:
        """Whether a path that was cut may do what no followed one did: release it, or come back and
        hand it over."""
        if self._run.complete or record.released or record.handed_over:
            return False
        if not any(leave.kind in (Exit.RETURN, Exit.SCOPE, Exit.END) for leave in record.lost):
            return True
        where = record.acquired.location
        effects = self._run.symbols.memo(EffectsOf)
        return where is not None and any(
            call.span != record.acquired.span
            and effects.may_end(call, where[0], self.filename, self._run.models)
            for _, call in calls(self.function)
        )

    def _exits(self, record: _Record) -> tuple[LeakExit, ...]:
        """The ways out on which a resource is lost, each told by its most certain path."""
        found: dict[tuple[Exit, Span], LeakExit] = {}
        family = record.acquired.family
        for one in record.lost:
            doubts = tuple(to for to in one.lent if (to.text, family) not in self.borrowers)
            leave = replace(one, lent=doubts, held=self._held(record, one.span))
            earlier = found.setdefault((leave.kind, leave.span), leave)
            if _certainty(leave) < _certainty(earlier):
                found[(leave.kind, leave.span)] = leave
        return tuple(sorted(found.values(), key=lambda leave: leave.span))

    def _held(self, record: _Record, span: Span) -> Held:
        """Whether all paths to a way out have a resource there."""
        acquired, departures = record.acquired, self.departures.get(span, set())
        where = acquired.location
        holder = where[1] if where is not None and where[0] == "@" else None
        origin = holder.resource.origin if isinstance(holder, Pointer) else None
        if any(origin in one.ended for one in departures):
            return "sometimes"  # what its place is in is gone by then
        others = [
            one
            for one in departures
            if acquired.origin not in one.held and acquired.location not in one.empty
        ]
        if any(acquired.origin in one.ended for one in others):
            return "unless ended"  # whatever the paths do that were cut
        if not departures or not self._run.complete or record.put_off:
            return "sometimes"
        if not others:
            return "always"
        failed = all(acquired.origin in one.failed for one in others)
        return "unless failed" if failed else "sometimes"

    def siblings(self, name: str, family: str) -> tuple[Site, ...]:
        """Where others of a family than the one of a name are released; none whose name another
        one has that is not, in a block of its own."""
        found: dict[str, Site] = {}
        kept = {one.acquired.name for one in self.records.values() if not one.released}
        for record in self.records.values():
            other = record.acquired
            if other.family == family and other.name not in {name, *kept} and record.released:
                last = max(record.released.values(), key=lambda site: site.span)
                found.setdefault(other.name, Site(last.filename, last.span, other.name))
        return tuple(sorted(found.values(), key=lambda site: site.span))

    def _place_released(self, acquired: Acquired) -> bool:
        return acquired.location is not None and acquired.location in self.released_places

    def _allocations(self, checked: set[str]) -> list[Allocation]:
        found = []
        looked_at = {
            record.acquired.span
            for origin, record in self.records.items()
            if origin in checked or self.statuses.get(origin) in checked
        }
        for origin, record in self.records.items():
            acquired = record.acquired
            if acquired.through is not None:
                continue
            found.append(
                Allocation(
                    resource=acquired.resource(),
                    bytes=integer(acquired.bytes),
                    bytes_text=acquired.bytes_text,
                    checked=not acquired.fallible
                    or origin not in self.statuses
                    or acquired.span in looked_at
                    or not self._run.complete,  # a path that was cut may look
                    span=acquired.span,
                    overflow=overflow_of(acquired.bytes),
                    element_count=acquired.element_count,
                )
            )
        return found

    def _cleanups(self) -> list[Cleanup]:
        found = []
        for cleanup, owned in self.cleanups.values():
            resources = {one: self.records[one].acquired.resource() for one in sorted(owned)}
            left = tuple(one for origin, one in resources.items() if origin not in self.late)
            late = tuple((one, self.late[origin]) for origin, one in resources.items()
                         if origin in self.late)  # fmt: skip
            found.append(replace(cleanup, owned=left, late=late))
        return found


def _certainty(leave: LeakExit) -> tuple[bool, bool, bool, int]:
    """Of two paths to the same exit, the shorter one that needs no failure explains it better, or
    one that the program survives, and one on which nobody else may own the resource."""
    return bool(leave.lent), leave.on_failure, leave.sticky, len(leave.steps)


Extent = tuple[int | None, int | None, int | None]


def _agreed(one: Extent, other: Extent) -> Extent:
    x, y, z = (a if a == b else None for a, b in zip(one, other, strict=True))
    return (x, y, z)


def _but_zero(one: Extent) -> Extent:
    x, y, z = (number or None for number in one)
    return (x, y, z)


def overflow_of(value: Value | None) -> Overflow | None:
    """The overflow on the way to a size, if there was one."""
    if isinstance(value, Const) and value.overflow is not None:
        return Overflow(*value.overflow)
    return None


def live(status: Status | None) -> bool:
    """Whether a resource is there and somebody must release it."""
    return status in (Status.OWNED, Status.REQUESTED)
