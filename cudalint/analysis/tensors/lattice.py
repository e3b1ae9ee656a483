"""What is known of a value: sets of possibilities that only grow, so that any order of joins ends.

Each component is a set of what may be; joining is union, and nothing known yet is the empty set.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace


class Kind(enum.IntFlag):
    """What sort of thing a value may be."""

    NOTHING = 0
    NUMBER = enum.auto()
    TENSOR = enum.auto()
    MODULE = enum.auto()
    FUNCTION = enum.auto()
    """A callable without weights: a loss, an activation."""
    LIST = enum.auto()
    CONTEXT = enum.auto()
    """Something that switches the recording of gradients."""
    OTHER = enum.auto()


class Gradient(enum.IntFlag):
    """Whether a value may hold on to a graph."""

    NOTHING = 0
    DETACHED = enum.auto()
    ATTACHED = enum.auto()
    UNKNOWN = enum.auto()


class Device(enum.IntFlag):
    """Where a value may live."""

    NOTHING = 0
    HOST = enum.auto()
    DEVICE = enum.auto()
    UNKNOWN = enum.auto()


class Recording(enum.IntFlag):
    """Whether operations may be recorded for gradients at a point of the program."""

    NOTHING = 0
    ON = enum.auto()
    OFF = enum.auto()
    EITHER = ON | OFF


@dataclass(frozen=True)
class Value:
    """The abstract value of a variable or an expression."""

    kind: Kind = Kind.NOTHING
    gradient: Gradient = Gradient.NOTHING
    device: Device = Device.NOTHING
    recording: Recording = Recording.NOTHING
    """Of a context: what it switches to."""
    origins: frozenset[int] = frozenset()
    """The operations that may have made it; below zero: a parameter."""
    tensorlike: bool = False
    """Data of a model or a loader goes into it."""
    large: bool = False
    """It may be more than one number in size."""
    records: frozenset[str] = frozenset()
    """The classes that it may be an instance of."""

    def join(self, other: Value) -> Value:
        """Either of two values."""
        if self is other or self == other or other is NOTHING:
            return self
        if self is NOTHING:
            return other
        return Value(
            self.kind | other.kind,
            self.gradient | other.gradient,
            self.device | other.device,
            self.recording | other.recording,
            self.origins | other.origins,
            self.tensorlike or other.tensorlike,
            self.large or other.large,
            self.records | other.records,
        )

    def of(self, *origins: int) -> Value:
        """The same value, made by these operations."""
        return replace(self, origins=frozenset(origins))

    @property
    def may_attach(self) -> bool:
        """It holds a graph on some path."""
        return bool(self.gradient & Gradient.ATTACHED)

    @property
    def is_detached(self) -> bool:
        """It holds a graph on no path."""
        return self.gradient == Gradient.DETACHED

    @property
    def is_number(self) -> bool:
        """It is a plain number on every path."""
        return self.kind == Kind.NUMBER


NOTHING = Value()
NUMBER = Value(Kind.NUMBER, Gradient.DETACHED, Device.HOST)
OBJECT = Value(Kind.OTHER, Gradient.DETACHED)
"""Something that is no tensor and holds none."""
UNKNOWN = Value(Kind.OTHER, Gradient.UNKNOWN, Device.UNKNOWN, large=True)


MODULE = Value(Kind.MODULE, Gradient.UNKNOWN)
LIST = Value(Kind.LIST, Gradient.DETACHED)


def join_all(values: Iterable[Value]) -> Value:
    """Any of several values."""
    result = NOTHING
    for value in values:
        result = result.join(value)
    return result


def computed(operands: Iterable[Value], recording: Recording) -> tuple[Gradient, Device]:
    """Gradient and device of what is computed from operands: a gradient where one has it and
    operations are recorded; on the device where one is."""
    values = list(operands)
    gradient = Gradient.NOTHING
    if recording & Recording.OFF:
        gradient |= Gradient.DETACHED
    if recording & Recording.ON and any(one.gradient == Gradient.ATTACHED for one in values):
        gradient |= Gradient.ATTACHED
    elif recording & Recording.ON:
        gradient |= join_all(values).gradient & (Gradient.ATTACHED | Gradient.UNKNOWN)
        if all(value.gradient & Gradient.DETACHED for value in values):
            gradient |= Gradient.DETACHED
    arrays = [value for value in values if not value.is_number]
    device = join_all(arrays).device & (Device.DEVICE | Device.UNKNOWN)
    if all(value.device & Device.HOST or not value.device for value in arrays):
        device |= Device.HOST
    return gradient, device


@dataclass(frozen=True)
class State:
    """What is known at one point: the values of places, and whether operations are recorded."""

    values: Mapping[str, Value]
    recording: Recording = Recording.NOTHING
    saved: Mapping[str, Recording] | None = None
    """For each open context, by its variable: what recording goes back to."""

    def join(self, other: State) -> State:
        """Either of two states."""
        if self is other:
            return self
        values = join_maps(self.values, other.values)
        saved = self.saved or {}
        for name, recording in (other.saved or {}).items():
            both = saved.get(name, Recording.NOTHING) | recording
            if both != saved.get(name):
                saved = {**saved, name: both}
        recording = self.recording | other.recording
        if values is self.values and recording == self.recording and saved == (self.saved or {}):
            return self
        return State(values, recording, saved)

    def only(self, live: Callable[[str], bool]) -> State:
        """The state without the places that nobody reads any more."""
        values = {name: value for name, value in self.values.items() if live(name)}
        return self if len(values) == len(self.values) else replace(self, values=values)


def join_maps(one: Mapping[str, Value], other: Mapping[str, Value]) -> Mapping[str, Value]:
    """Place by place; a place that one side does not know is the other's."""
    if one is other:
        return one
    new: dict[str, Value] = {}
    for place, value in other.items():
        mine = one.get(place)
        if mine is value:
            continue
        joined = value if mine is None else mine.join(value)
        if mine is None or (joined is not mine and joined != mine):
            new[place] = joined
    return {**one, **new} if new else one
