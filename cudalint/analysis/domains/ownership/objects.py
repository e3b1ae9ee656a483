"""The objects of a function: which of its variables are alive, and what ends with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from cudalint.analysis.domains.ownership.adoption import adopted
from cudalint.analysis.domains.ownership.recorder import Recorder, live
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import InputRelease, InputUse, State
from cudalint.analysis.facts import Misuse, MisuseKind, Site
from cudalint.analysis.shape.destruction import Destruction, Destructor
from cudalint.analysis.shape.places import root
from cudalint.analysis.values.values import (
    Const,
    Location,
    Pointer,
    Symbol,
    Value,
    resources_in,
)
from cudalint.findings.finding import Step
from cudalint.program import (
    THIS,
    Assign,
    Call,
    Expression,
    Operation,
    Type,
    Variable,
)
from cudalint.source import Span

CLASS = ".(class)"
"""Where an object keeps which class it was made of."""


_OWN = ("local", "parameter")


class OwnRelease(NamedTuple):
    """A method of an object, or its destructor, has released what it holds."""

    resource: Symbol
    variable: str
    destroys: bool
    step: Step


@dataclass(frozen=True)
class Objects:
    """The objects of one path."""

    alive: tuple[str, ...] = ()
    """Variables with destructors, in the order in which they were made."""
    ended: tuple[OwnRelease, ...] = ()
    """What the methods of objects, and their destructors, have released."""
    copied: frozenset[Symbol] = frozenset()
    """What two objects hold because one is a copy of the other."""
    copies_ended: frozenset[Symbol] = frozenset()
    """What the copies that callees were given have released where they ended."""

    def join(self, other: Objects) -> Objects:
        """What is alive on both paths."""
        return Objects(
            tuple(symbol for symbol in self.alive if symbol in other.alive),
            tuple(dict.fromkeys((*self.ended, *other.ended))),
            self.copied | other.copied,
            self.copies_ended | other.copies_ended,
        )


NO_OBJECTS = Objects()


class Owners:
    """The variables of a function that have destructors."""

    def __init__(self, run: FunctionRun) -> None:
        self.destructors: dict[str, tuple[Destructor, ...]] = {}
        if run.python:
            return
        destruction = run.symbols.memo(Destruction)
        for symbol, info in run.function.variables.items():
            found = destruction.of(info.type, run.filename)
            if found and info.storage in _OWN:
                self.destructors[symbol] = found
        self.parameters = tuple(
            one.symbol for one in run.function.parameters if one.symbol in self.destructors
        )


def enter(run: FunctionRun, state: State) -> None:
    """A function begins: it ends what it was given by value."""
    owners = run.log(Owners)
    if owners.destructors and owners.parameters:
        state.keep(Objects(owners.parameters))


def begin(run: FunctionRun, operation: Operation, states: list[State]) -> None:
    """An operation has made an object, if it has."""
    for state in states:
        construct(run, operation, state)
    place = _made(operation)
    made = place.symbol if isinstance(place, Variable) else ""
    if made not in run.log(Owners).destructors:
        return
    for state in states:
        objects = state.part(NO_OBJECTS)
        if made not in objects.alive:
            state.keep(replace(objects, alive=(*objects.alive, made)))


def construct(run: FunctionRun, operation: Operation, state: State) -> None:
    """An object gets its class where it is made."""
    place = _made(operation)
    if place is None or place == THIS or run.python:
        return
    declared = run.evaluator.type_of(place)
    record = declared.record if declared is not None and declared.kind == "record" else None
    if isinstance(operation, Call):
        record = operation.record
    if record is None:
        return
    location = run.evaluator.location(place, state)
    if location is None or not (location[0] == "@" or run.symbols.is_polymorphic(record)):
        return
    state.values[(*location, CLASS)] = Const(record)


def class_in(memory: Value, state: State) -> str | None:
    """The class of the object that was constructed in some memory."""
    kind = state.values.get(("@", memory, CLASS))
    return str(kind.value) if isinstance(kind, Const) else None


def declared_class(run: FunctionRun, place: Location) -> str | None:
    """The class of a variable, or of a member, that is an object itself."""
    kind = run.evaluator.type_of(place[:1])
    if place[0] == "this" and len(place) > 1:
        kind = Type("", "record", record=run.function.record)
    for part in place[1:]:
        if kind is None or kind.kind != "record":
            return None
        kind = run.symbols.fields(kind.record, run.filename).get(str(part).removeprefix("."))
    return kind.record if kind is not None and kind.kind == "record" else None


def _made(operation: Operation) -> Expression | None:
    """Where an operation makes an object, if it does."""
    if isinstance(operation, Assign) and operation.declares:
        return operation.target
    if isinstance(operation, Call) and operation.kind in ("constructor", "copy"):
        return None if operation.name.endswith("operator=") else operation.receiver
    return None


def leave_out(location: Location, state: State) -> None:
    """Somebody out of sight may have emptied an object: what its end does is not known."""
    objects = state.part(NO_OBJECTS)
    if location[0] in objects.alive:
        alive = tuple(symbol for symbol in objects.alive if symbol != location[0])
        state.keep(replace(objects, alive=alive))


def copied(state: State, origin: Location, target: Location) -> None:
    """Two objects hold the same from here on, one as a copy of the other."""
    held = _held(state, origin) & _held(state, target)
    if held:
        objects = state.part(NO_OBJECTS)
        state.keep(replace(objects, copied=objects.copied | held))


def copy_ended(state: State, resources: Iterable[Symbol]) -> None:
    """A callee was given an object by value: its copy ends there, with what the object holds."""
    objects = state.part(NO_OBJECTS)
    state.keep(replace(objects, copies_ended=objects.copies_ended.union(resources)))


def released(state: State, resources: Iterable[Symbol], call: Call, step: Step) -> None:
    """A method of a variable, or its destructor, releases these."""
    objects = state.part(NO_OBJECTS)
    name, destroys = _root(call), call.kind == "destructor"
    more = tuple(OwnRelease(one, name, destroys, step) for one in resources)
    if more:
        state.keep(replace(objects, ended=(*objects.ended, *more)))


def released_before(
    run: FunctionRun,
    call: Call,
    resource: Symbol,
    shown: str,
    again: InputRelease | InputUse,
    state: State,
) -> None:
    """The destructor of a variable releases or uses what has been released already."""
    objects = state.part(NO_OBJECTS)
    earlier = state.resources[resource].released
    acquired = run.log(Recorder).of(resource)
    if resource.older or acquired is None or earlier is None or resource in objects.copied:
        return  # of two copies GPU205 speaks
    if acquired.info is not None and acquired.info.space == "host":
        return  # not our affair
    own = next((one for one in objects.ended if one.resource == resource), None)
    where = earlier
    if own is not None and own.variable == _root(call):
        where = own.step if own.destroys else again.step  # the class itself does it twice
    elif own is not None:
        where = Step(run.filename, _later(run, own.variable, _root(call)) or earlier.span, "")
    # Two destructors may be of two objects that are told apart nowhere.
    if own is None or not own.destroys:
        run.log(Recorder).passing(call.span, shown, resource, misused=True)
    run.log(Recorder).misuse(
        Misuse(
            MisuseKind.DOUBLE_FREE
            if isinstance(again, InputRelease)
            else MisuseKind.USE_AFTER_FREE,
            shown,
            call.name,
            where.span,
            (
                acquired.step,
                earlier,
                Step(run.filename, call.span, f"the life of `{shown_root(run, call)}` ends here"),
                again.step,
            ),
            acquired.resource(),
            released=Site(earlier.filename, earlier.span, again.api),
            filename=where.filename,
            at_end=Site(run.filename, call.span, shown_root(run, call)),
        )
    )


def does_not_fit(
    run: FunctionRun,
    call: Call,
    resource: Symbol,
    shown: str,
    release: InputRelease,
) -> bool:
    """Whether the destructor of a variable releases what another function must release."""
    acquired = run.log(Recorder).of(resource)
    if acquired is None or acquired.ambiguous or not release.families:
        return False
    info = run.function.variables.get(_root(call))
    span = info.span if info is not None and info.span is not None else call.span
    fits = acquired.family in release.families
    run.log(Recorder).passing(span, shown, resource, misused=not fits)
    if fits:
        return False
    if acquired.through is None:  # else its class does not fit itself
        run.log(Recorder).misuse(
            Misuse(
                MisuseKind.MISMATCH,
                shown,
                release.api,
                span,
                (acquired.step, release.step),
                acquired.resource(),
            )
        )
    return True


def _later(run: FunctionRun, one: str, other: str) -> Span | None:
    """Where the second of two variables is declared."""
    infos = (run.function.variables.get(one), run.function.variables.get(other))
    return max((i.span for i in infos if i is not None and i.span is not None), default=None)


def _root(call: Call) -> str:
    return (root(call.receiver) if call.receiver is not None else None) or ""


def shown_root(run: FunctionRun, call: Call) -> str:
    """The variable whose end a call of a destructor is part of, as it is called."""
    info = run.function.variables.get(_root(call))
    return info.name if info is not None else "this"


def ends(run: FunctionRun, place: Location) -> bool:
    """Whether a variable, or a temporary, has a destructor."""
    return bool(run.symbols.memo(Destruction).of(run.evaluator.type_of(place), run.filename))


def _held(state: State, place: Location) -> set[Symbol]:
    return {resource for _, value in state.below(place) for resource in resources_in(value)}


def is_own(run: FunctionRun, place: Location | None, state: State) -> bool:
    """Whether a place is an object of the function itself, or a part of one: what methods do to it
    is known, and nobody else ends it."""
    if place is None or run.python:
        return False
    if place[0] == "@":
        memory = place[1]
        return (
            isinstance(memory, Pointer)
            and class_in(memory, state) is not None
            and live(state.status(memory.resource))
            and _is_part(place[2:])
        )
    info = run.function.variables.get(place[0])
    if info is None or info.type.kind != "record":
        return False
    if info.storage not in _OWN and (info.storage != "temporary" or ends(run, place[:1])):
        return False
    record = run.symbols.record(info.type.record, run.filename)
    known = record is not None or adopted(state, place[0]) is not None
    return known and _is_part(place[1:])


def _is_part(path: Location) -> bool:
    return all(isinstance(part, str) and part.startswith(".") for part in path)
