"""Releases: what ends a resource, what cannot end it, and uses after its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cudalint.analysis.domains.ownership.asking import is_asked_for
from cudalint.analysis.domains.ownership.iterations import is_taken_out, was_another_case
from cudalint.analysis.domains.ownership.lending import borrowed_by
from cudalint.analysis.domains.ownership.objects import NO_OBJECTS
from cudalint.analysis.domains.ownership.recorder import Recorder, ReleasedMember, live
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.joining import is_null
from cudalint.analysis.engine.run import FunctionRun, position_of
from cudalint.analysis.engine.state import InputRelease, InputUse, State, Status
from cudalint.analysis.facts import Cleanup, Misuse, MisuseKind, Site
from cudalint.analysis.shape.macros import Macros
from cudalint.analysis.shape.members import declaring, member_in
from cudalint.analysis.shape.walk import is_within, plain
from cudalint.analysis.values.elements import is_any_element, is_index
from cudalint.analysis.values.values import (
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
    Uninitialized,
    Value,
    inside,
    integer,
)
from cudalint.apis.model import ReleaseEffect
from cudalint.apis.paths import parse_path
from cudalint.findings.finding import Step
from cudalint.program import (
    NUMBERS,
    Call,
    Constant,
    Expression,
    Member,
    Unreachable,
    Variable,
    children,
)
from cudalint.source import Span

CURRENT: Location = ("current",)
"""Stands for what a caller of the function has acquired last."""


_PROVIDED = ".provided "


def attachment(value: Value, family: str) -> Location:
    """Where a resource is kept that a call attached to existing memory."""
    return ("@", value, f".<{family}>")


def provided(of: Value, family: str) -> Location:
    """Where it stands what a later call hands back instead of acquiring; callers see it there."""
    return ("@", of, f"{_PROVIDED}{family}")


def is_provided(location: Location, family: str = "") -> bool:
    """Whether it is what a later call hands back that stands there."""
    part = location[-1]
    return isinstance(part, str) and part.startswith(f"{_PROVIDED}{family}")


def is_attachment(location: Location) -> bool:
    """Whether a resource that was attached to memory is kept there: it is not what stands in it."""
    return isinstance(location[-1], str) and location[-1].startswith(".<")


def release(
    run: FunctionRun,
    binding: Binding,
    effect: ReleaseEffect,
    name: str,
    state: State,
    status: Value | None,
) -> None:
    """Release what a path holds, or report why it cannot be released so."""
    path = parse_path(effect.handle, binding.parameters)
    span = binding.call.span
    if path.root == "current":
        release_current(run, effect, name, span, state)
        return
    expression = binding.expression(effect.handle)
    value = binding.value(effect.handle)
    if expression is None or value is None:
        return
    if isinstance(plain(expression), Constant):
        _note_cleanup(run, name, span, set(), null_release=True)
        return
    if isinstance(value, Input) and is_null(state, value):
        return  # nothing, on this path
    note_members(run, expression, value)
    location = binding.location(effect.handle)
    shown = run.show(binding.place(effect.handle))
    cut = may_run_later(run)
    Release(run, state, shown, name, span, effect, status, cut=cut).value(value, location)


def may_run_later(run: FunctionRun) -> bool:
    """Whether the call that runs stands in what a statement passes to a macro out of sight, which
    may keep it for the end of the scope: ``defer(cudaFree(block));``."""
    after = run.flow.blocks[run.position.block].operations[run.position.index + 1 :]
    around = [
        one.name
        for one in after
        if isinstance(one, Call) and one.kind == "macro" and is_within(run.position.span, one.span)
    ]
    return bool(around) and not run.symbols.memo(Macros).at_once(run.program).issuperset(around)


def release_current(
    run: FunctionRun, effect: ReleaseEffect, name: str, span: Span, state: State
) -> None:
    """Release what was acquired last of the families (``Context.pop()``)."""
    candidates = [
        (state.resources[resource].since, resource, acquired)
        for resource, acquired in run.log(Recorder).held(state)
        if acquired.family in effect.families
    ]
    if not candidates:
        step = Step(run.filename, span, f"released here by {name}")
        state.inputs.setdefault(CURRENT, InputRelease(CURRENT, effect.families, step, name))
        return
    _, newest, acquired = max(candidates, key=lambda one: one[0])
    Release(run, state, acquired.name, name, span, effect).value(Pointer(newest, Const(0)), None)


def note_members(run: FunctionRun, expression: Expression, value: Value) -> None:
    """What an expression stands for is released: it may be a member, whosever."""
    origin = value.resource.origin if isinstance(value, Pointer) else None
    for of, member in {*_members(run, expression), *_members_read(run, expression, value)}:
        run.log(Recorder).released_members.add(ReleasedMember(of, member, origin))


def _members(run: FunctionRun, expression: Expression) -> set[tuple[str | None, str]]:
    """The members that an expression leads through, with the classes that declare them."""
    found = set().union(*(_members(run, part) for part in children(expression)))
    if isinstance(expression, Member):
        known = member_in(expression, run.function, run.program, run.symbols)
        found.add((None, expression.field) if known is None else known)
    return found


def _members_read(
    run: FunctionRun, expression: Expression, value: Value
) -> Iterator[tuple[str | None, str]]:
    """The member that a method has read, with the class that declares it: ``cloud->points()``."""
    field = value.location[-1] if isinstance(value, Input) else None
    if not isinstance(field, str) or not isinstance(expression := plain(expression), Variable):
        return
    sources = run.flow.sources((expression.symbol,))
    for made in (one for symbol in sources for one in run.flow.definitions.get(symbol, ())):
        key = made.key if isinstance(made, Call) else None
        method = run.symbols.function(key, run.filename) if key else None
        name = field.removeprefix(".")
        of = declaring(method.record, name, run.filename, run.symbols) if method else None
        if of is not None:
            yield of, name


@dataclass
class Passing:
    """Something, as the source shows it, is passed to a call by a name, on one path."""

    run: FunctionRun
    state: State
    shown: str
    name: str
    span: Span
    by_global: bool = field(default=False, kw_only=True)
    misused: bool = field(default=False, init=False)
    """Whether the path may not do it."""

    def use(self, value: Value, inside: Step | None = None) -> None:
        """What is released must not be used, neither here nor (``inside``) by what is called."""
        self._use(value, inside)
        self._passed(value)

    def _passed(self, value: Value) -> None:
        """For what other paths show: null is nothing that is released or used."""
        what = value.resource if isinstance(value, Pointer) else value
        absent = isinstance(what, Symbol) and self.state.status(what) is Status.ABSENT
        if not absent and not is_null(self.state, value):
            self.run.log(Recorder).passing(self.span, self.shown, what, misused=self.misused)

    def _use(self, value: Value, inside: Step | None) -> None:
        used = InputUse(inside or self._step(f"`{self.shown}` is used here"), self.name)
        match value:
            case Pointer(resource=resource) if not resource.older:
                released = self.state.status(resource) is Status.RELEASED
                if released and not self._is_excused(resource):
                    self._misuse(MisuseKind.USE_AFTER_FREE, resource)
            case Operation(operator="element", operands=(Input(location=entry),)):
                self.state.used.setdefault(entry, used)
            case Input(location=entry):
                earlier = self.state.inputs.get(entry)
                if earlier is None:
                    if self.run.evaluator.kind(entry) not in NUMBERS:
                        self.state.used.setdefault(entry, used)
                elif not (
                    _may_be_another(self.run, entry) or self._is_asked_for(value, earlier.step)
                ):
                    here = self._step(f"`{self.shown}` is used here")
                    self._misuse_again(MisuseKind.USE_AFTER_FREE, earlier, here)

    def _step(self, message: str) -> Step:
        return Step(self.run.filename, self.span, message)

    def _misuse_again(self, kind: MisuseKind, earlier: InputRelease, here: Step) -> None:
        """Of what was there when the function was entered."""
        if earlier.cut:
            return
        self.misused = True
        site = Site(earlier.step.filename, earlier.step.span, earlier.api)
        steps = (earlier.step, here)
        self.run.log(Recorder).misuse(
            Misuse(
                kind,
                self.shown,
                self.name,
                self.span,
                steps,
                released=site,
                by_global=self.by_global,
            )
        )

    def _misuse(self, kind: MisuseKind, resource: Symbol | None = None) -> None:
        self.misused = True
        acquired = self.run.log(Recorder).of(resource) if resource is not None else None
        steps: list[Step] = []
        released = None
        if acquired is not None and resource is not None:
            steps.append(acquired.step)
            earlier = self.state.resources[resource].released
            if earlier is not None:
                steps.append(earlier)
                released = Site(earlier.filename, earlier.span, self.shown)
        steps.append(self._step(f"`{self.shown}` is passed to {self.name} here"))
        self.run.log(Recorder).misuse(
            Misuse(
                kind,
                self.shown,
                self.name,
                self.span,
                tuple(steps),
                acquired.resource() if acquired else None,
                released,
                by_global=self.by_global,
                asks_callers=self._asks_callers(),
            )
        )

    def _is_excused(self, resource: Symbol) -> bool:
        """Whether its release was in another case, or where a copy ended: GPU205 speaks of that; or
        somebody who may know of it says that it is there."""
        earlier = self.state.resources[resource].released
        return (
            resource in self.state.part(NO_OBJECTS).copies_ended
            or was_another_case(self.run, self.state, resource)
            or (earlier is not None and self._is_asked_for(Pointer(resource, Const(0)), earlier))
        )

    def _is_asked_for(self, value: Value, earlier: Step) -> bool:
        since = earlier.span if earlier.filename == self.run.filename else None
        return is_asked_for(self.run, self.state, value, since)

    def _asks_callers(self) -> bool:
        kinds = [event.kind for event in self.state.events()]
        return self.state.failure is None and kinds.count("condition") > 1


def _went_astray(state: State) -> bool:
    """Whether a path was chosen by what stands where a pointer without a value points to: nobody
    comes this way."""
    return any(
        isinstance(one, Input) and any(isinstance(part, Uninitialized) for part in one.location)
        for one in inside(*state.conditions)
    )


@dataclass
class Release(Passing):
    """It is passed to be released; ``status`` tells whether it could. Nothing is held against a
    callee that was ``cut``: it may be another case, or another object; or that has ``asked``
    whether it is there. That it does not fit may be ``told`` elsewhere."""

    effect: ReleaseEffect
    status: Value | None = None
    cut: bool = False
    asked: bool = False
    told: bool = False

    @property
    def step(self) -> Step:
        """For messages."""
        return self._step(f"`{self.shown}` is released here by {self.name}")

    def _misuse(self, kind: MisuseKind, resource: Symbol | None = None) -> None:
        acquired = self.run.log(Recorder).of(resource) if resource is not None else None
        of = (acquired.family,) if acquired is not None else ()
        is_mismatch = kind is MisuseKind.MISMATCH
        if not self.cut and (not self.told if is_mismatch else not self._is_of_host(of)):
            super()._misuse(kind, resource)

    def _is_of_host(self, families: tuple[str, ...]) -> bool:
        """Whether nothing of CUDA's is released here, and was not (``families``) before."""
        known = [self.run.models.families.get(one) for one in (*self.effect.families, *families)]
        return all(one is not None and one.space == "host" for one in known) and bool(known)

    def value(self, value: Value, location: Location | None) -> None:
        """Release a value that is stored in some place."""
        self._value(value, location)
        self._passed(value)

    def _value(self, value: Value, location: Location | None) -> None:
        run, state = self.run, self.state
        for family in self.effect.families:
            attached = state.values.get(attachment(value, family))
            if isinstance(attached, Pointer):
                value = attached
        match value:
            case Pointer(resource=resource, offset=offset):
                if integer(offset) != 0 and not _managed(run, resource):
                    is_known = integer(offset) is not None
                    self._misuse(MisuseKind.INTERIOR if is_known else MisuseKind.OFFSET, resource)
                self._resource(resource, location)
            case Bag(resources=resources):
                meant = [one for one in resources if self._fits(one)]
                # What an object holds that is released here goes with it.
                state.escape(one for one in resources if meant and one not in meant)
                for resource in sorted(meant or resources, key=repr):
                    if live(state.status(resource)) or state.status(resource) is Status.ESCAPED:
                        self._resource(resource, location)
            case Address(location=target) if _is_local(run, target):
                self._misuse(MisuseKind.STACK)
                state.escape(state.reachable([value]))  # what was meant is not lost too
            case Uninitialized() if location and not _may_have_value(run, state, location[0]):
                if not _went_astray(state):
                    self._misuse(MisuseKind.UNINITIALIZED)
            case Input(location=entry):
                ended = self._ended(entry)
                self._input(ended, ended if location == entry else location)
            case Polynomial():  # the start of what points into its middle
                state.keep_inputs(inside(value))
            case Operation(operator="element", operands=(Sequence(items=items),)):
                for item in items:
                    self._value(item, None)
            case Operation(
                operator=field,
                operands=(Operation(operator="element", operands=(Input(location=entry),)),),
            ) if field.startswith("."):
                self._note((*entry, field))
            case Operation(operator="element", operands=(Input(location=entry),)):
                self._note(entry)

    def _fits(self, resource: Symbol) -> bool:
        acquired = self.run.log(Recorder).of(resource)
        return acquired is not None and acquired.family in self.effect.families

    def _resource(self, resource: Symbol, location: Location | None) -> None:
        run, state, families = self.run, self.state, self.effect.families
        acquired = run.log(Recorder).of(resource)
        stands = state.status(resource)
        if acquired is None or stands is Status.ABSENT or stands is None:
            return
        if stands is Status.RELEASED and not self.effect.idempotent and not resource.older:
            if not (self.asked or self._is_excused(resource)):
                self._misuse(MisuseKind.DOUBLE_FREE, resource)
            return
        ends = Status.ESCAPED if self.cut else Status.RELEASED
        if not (acquired.ambiguous or not families or acquired.family in families):
            ends = Status.ESCAPED  # such a release fails, or nobody knows what it does
            ending = [run.models.families.get(family) for family in families]
            if acquired.managed and all(one is not None and one.attached for one in ending):
                return  # it was attached out of sight
            self._misuse(MisuseKind.MISMATCH, resource)
            state.escape(state.reachable([Pointer(resource, Const(0))]) - {resource})
        if is_too_late(run, state, resource, Site(run.filename, self.span, self.name)):
            return
        lent = borrowed_by(state, state.resources[resource])
        if acquired.info.holds:
            self._what_it_holds(state.resources[resource].since)
        state.set_status(resource, ends, self.step, self.status)
        in_some = resource.older and location is not None and "[]" in location
        if _in_its_loop(run, resource) and (in_some or is_taken_out(run, state, resource)):
            run.log(Recorder).pipelined(resource.origin)
        site = Site(run.filename, self.span, self.name)
        run.log(Recorder).released(resource.origin, site, location, lent)

    def _what_it_holds(self, since: int) -> None:
        """A context ends, and with it what was acquired in it: after it, for all that is known."""
        recorder, site = self.run.log(Recorder), Site(self.run.filename, self.span, self.name)
        for resource, acquired in list(recorder.held(self.state)):
            if acquired.info.reset and self.state.resources[resource].since >= since:
                self.state.set_status(resource, Status.ESCAPED)
                recorder.released(resource.origin, site, None, ())

    def _ended(self, entry: Location) -> Location:
        """What a release ends of what was there at entry: the memory, or what is attached to it."""
        families = [self.run.models.families.get(name) for name in self.effect.families]
        if (
            is_attachment(entry)
            or not families
            or any(f is None or not f.attached for f in families)
        ):
            return entry
        return attachment(Input(entry), self.effect.families[0])

    def _input(self, entry: Location, place: Location | None) -> None:
        earlier = self.state.inputs.get(entry)
        if earlier is None:
            self._note(entry)
        elif not (
            self.effect.idempotent
            or self.asked
            or _may_be_another(self.run, entry)
            or self._is_asked_for(Input(entry), earlier.step)
            # A callee gave it, say: of two calls, each may have come by another way.
            or (len(entry) > 1 and place != entry)
            or self._is_of_host(earlier.families)
        ):
            self._misuse_again(MisuseKind.DOUBLE_FREE, earlier, self._step("and again here"))

    def _note(self, entry: Location) -> None:
        asked = self.asked or is_asked_for(self.run, self.state, Input(entry))
        release = InputRelease(entry, self.effect.families, self.step, self.name, self.cut, asked)
        self.state.inputs.setdefault(entry, release)
        places = self.run.log(Recorder).released_inputs
        places.setdefault(entry, set()).add(self.span)


def _may_have_value(run: FunctionRun, state: State, symbol: object) -> bool:
    """Whether an earlier loop gives a variable its value, and may do so in one iteration only:
    the first, by its counter."""
    around = run.flow.enclosing.get(run.position.block, frozenset())
    return run.skipped_work_on(state, symbol) or any(
        symbol in run.flow.assigned[header] for header in run.flow.loops if header not in around
    )


def _is_local(run: FunctionRun, location: Location) -> bool:
    info = run.function.variables.get(location[0])
    return (
        info is not None
        and info.storage in ("local", "parameter")
        and info.type.kind != "reference"  # it stands for an object of the caller
        and not (info.type.kind == "record" and is_index(location[-1]))  # a container's memory
    )


def _managed(run: FunctionRun, resource: Symbol) -> bool:
    acquired = run.log(Recorder).of(resource)
    return acquired is None or acquired.managed


def _in_its_loop(run: FunctionRun, resource: Symbol) -> bool:
    """Whether the operation that runs is in a loop in which the resource was acquired."""
    made = position_of(resource.origin)
    around = run.flow.enclosing
    here = around.get(run.position.block, frozenset())
    return made is not None and bool(here & around.get(made[0], frozenset()))


def _may_be_another(run: FunctionRun, location: Location) -> bool:
    """Whether a place may be another one the next time: some element, of one of several objects,
    what a call out of sight tells, and in a loop what belongs to one iteration. Behind a null
    pointer there is none."""
    repeated = bool(run.flow.enclosing.get(run.position.block))
    for value in inside(Input(location)):
        match value:
            case Input(location=inner):
                another = (
                    "[]" in inner
                    or (inner[0] == "@" and isinstance(inner[1], Const))
                    or (repeated and run.evaluator.is_local(inner))
                )
            case Operation(operator=operator):
                another = is_any_element(value) or operator.endswith("()")
            case Symbol(origin=origin):
                another = repeated and origin.startswith("call:")
            case Bag():
                another = True
            case _:
                another = False
        if another:
            return True
    return False


def check_use(
    run: FunctionRun, expression: Expression, name: str, span: Span, state: State
) -> None:
    """A released resource must not be passed on."""
    value = run.evaluator.value(expression, state)
    Passing(run, state, run.show(expression), name, span).use(value)


# Clean-up that is none --------------------------------------------------------------------------


@dataclass(frozen=True)
class ContextGone:
    """What went with a context that was destroyed."""

    ended: frozenset[Symbol] = frozenset()

    def join(self, other: ContextGone) -> ContextGone:
        """What has gone on both paths."""
        return ContextGone(self.ended & other.ended)


_NOTHING_GONE = ContextGone()


def is_too_late(run: FunctionRun, state: State, resource: Symbol, site: Site) -> bool:
    """Whether a resource is released after its context has gone."""
    late = resource in state.part(_NOTHING_GONE).ended
    if late:
        run.log(Recorder).late.setdefault(resource.origin, site)
    return late


def reset(run: FunctionRun, call: Call, name: str, state: State) -> None:
    """The device's context is destroyed, with all that is in it."""
    if isinstance(run.flow.blocks[run.position.block].terminator, Unreachable):
        return  # the process ends right here
    held = [one for one, acquired in run.log(Recorder).held(state) if acquired.info.reset]
    managed = {one for one in held if _managed(run, one)}
    for resource in held:
        state.set_status(resource, Status.ESCAPED)
    gone = frozenset(held) | state.part(_NOTHING_GONE).ended
    state.keep(ContextGone(gone))
    owned = {one.origin for one in held if one not in managed}
    _note_cleanup(run, name, call.span, owned, null_release=False)


def _note_cleanup(
    run: FunctionRun, name: str, span: Span, owned: set[str], *, null_release: bool
) -> None:
    before, after = run.surroundings()
    cleanup = Cleanup(name, span, null_release, last=not after, first=not before)
    run.log(Recorder).cleanup(cleanup, owned)
