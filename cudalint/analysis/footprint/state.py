"""One way through a program, with what its variables hold; and the peak over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from cudalint.analysis.facts import Holder, Peak
from cudalint.analysis.footprint.objects import (
    KEEPERS,
    Instance,
    Items,
    Memory,
    Raw,
    duplicate,
    memory_in,
)
from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.operations import successors
from cudalint.findings.finding import Step
from cudalint.program import Function
from cudalint.source import Span

MOST_HOLDERS = 12


@dataclass(eq=False)
class Frame:
    """A function that runs."""

    function: Function
    flow: Flow
    env: dict[str, Any] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    elements: dict[str, int] = field(default_factory=dict)
    """Which element each iterated variable is at."""
    lengths: dict[int, list[tuple[Items, int]]] = field(default_factory=dict)
    """How long the lists were when the last iteration of a loop began."""
    block: int = 0
    index: int = 0
    outs: dict[int, frozenset[str]] = field(default_factory=dict)
    """``live_out`` of each block."""

    def copy(self, known: dict[int, Any]) -> Frame:
        """An independent copy; ``known`` as ``duplicate`` has it."""
        return Frame(
            self.function,
            self.flow,
            duplicate(self.env, known),
            dict(self.visits),
            dict(self.elements),
            duplicate(self.lengths, known),
            self.block,
            self.index,
            self.outs,
        )

    def drop_temporaries(self) -> None:
        """Forget the temporaries that nothing reads any more."""
        for symbol in [one for one in self.env if one.startswith("%")]:
            if not self.live_after(symbol):
                del self.env[symbol]

    def live_after(self, symbol: str) -> bool:
        """Whether a variable may still be read after the current operation."""
        if self.flow.last_read[self.block].get(symbol, -1) > self.index:
            return True
        return symbol in self.live_out()

    def live_out(self) -> frozenset[str]:
        """The variables that are read after the current block."""
        if self.block not in self.outs:
            after = successors(self.flow.blocks[self.block])
            live = (self.flow.live.get(target, frozenset()) for target in after)
            self.outs[self.block] = frozenset().union(*live)
        return self.outs[self.block]


@dataclass(eq=False)
class State:
    """The frames of one path, and memory that no variable holds."""

    frames: list[Frame]
    raws: list[Raw] = field(default_factory=list)
    kept: dict[str, Memory] = field(default_factory=dict)
    """Workspaces of libraries."""
    operands: list[Any] = field(default_factory=list)
    """Values on the stack of the expression that is evaluated."""
    recording: bool = True
    """Whether automatic differentiation records."""

    @property
    def frame(self) -> Frame:
        """The function that runs."""
        return self.frames[-1]

    @contextmanager
    def holding(self, *values: Any) -> Iterator[None]:
        """While an expression has some values on its stack."""
        depth = len(self.operands)
        self.operands += values
        yield
        del self.operands[depth:]

    def fork(self) -> State:
        """An independent copy."""
        known: dict[int, Any] = {}
        return State(
            [frame.copy(known) for frame in self.frames],
            duplicate(self.raws, known),
            dict(self.kept),
            duplicate(self.operands, known),
            self.recording,
        )

    def live(self) -> dict[Memory, str]:
        """All memory that is alive, with the variable that holds it, if any."""
        found: dict[Memory, str] = {}
        named: set[int] = set()
        nameless: set[int] = set()
        for frame in reversed(self.frames):
            for symbol, value in frame.env.items():
                if not isinstance(value, KEEPERS):
                    continue
                for shown, part in _named(frame, symbol, value):
                    for memory in memory_in([part], named if shown else nameless):
                        if not found.get(memory):
                            found[memory] = shown
        for memory in memory_in(self.operands, nameless):
            found.setdefault(memory, "")
        for raw in self.raws:
            if not raw.released:
                found.setdefault(raw.memory, "")
        found.update((memory, name) for name, memory in self.kept.items())
        return found

    def total(self) -> int:
        """The bytes that are alive."""
        values = (value for frame in self.frames for value in frame.env.values())
        found = memory_in([*(one for one in values if isinstance(one, KEEPERS)), *self.operands])
        found.update((raw.memory, "") for raw in self.raws if not raw.released)
        found.update((memory, "") for memory in self.kept.values())
        return sum(memory.bytes for memory in found)


def _called_at(frame: Frame) -> Span:
    operations = frame.flow.blocks[frame.block].operations
    index = min(frame.index, len(operations) - 1)
    return operations[index].span if operations else frame.function.span


def _named(frame: Frame, symbol: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What a variable holds, with its name; of an object its members."""
    shown = "" if symbol.startswith("%") else _shown(frame, symbol)
    if isinstance(value, Instance) and shown:
        yield from ((f"{shown}.{field}", part) for field, part in value.fields.items())
    else:
        yield shown, value


def _shown(frame: Frame, symbol: str) -> str:
    if symbol == "this":
        return "self"
    info = frame.function.variables.get(symbol)
    return info.name if info is not None else symbol.removeprefix("::")


class Peaks:
    """Collects the largest total of all paths."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.bytes = -1
        self.unknown: dict[str, None] = {}
        self.recorded = Peak(-8192, Span(1, 1, 1, 1))

    def observe(self, state: State, span: Span, extra: int = 0, what: str = "") -> None:
        """Memory was allocated: is this the most so far?"""
        live = state.live()
        total = sum(memory.bytes for memory in live) + extra
        for memory in live:
            if memory.unknown:
                self.unknown.setdefault(memory.unknown)
        self.bytes = max(self.bytes, total)
        if total - self.recorded.bytes <= max(4096, total // 1000):
            return  # what tipped it over is not what fills the device
        function = state.frame.function
        held: dict[tuple[str, Span], Holder] = {}
        for memory, name in live.items():
            if memory.bytes:
                shown = name or memory.name
                earlier = held.get((shown, memory.span))
                held[shown, memory.span] = Holder(
                    shown,
                    memory.bytes + (earlier.bytes if earlier else 0),
                    memory.span,
                    temporary=not name,
                    filename=memory.filename,
                    count=memory.count + (earlier.count if earlier else 0),
                )
        holders = list(held.values())
        if extra:
            holders.append(Holder(what or "workspace", extra, span, True, function.filename))
        holders.sort(key=lambda holder: (-holder.bytes, holder.span))
        self.recorded = Peak(
            total,
            span,
            tuple(holders[:MOST_HOLDERS]),
            hint=_hint(state, live, total // 20),
            filename=function.filename if function.filename != self.filename else "",
            steps=tuple(
                Step(one.function.filename, _called_at(one), f"`{inner.function.name}` is called")
                for one, inner in pairwise(state.frames)
            ),
            function=function.name,
        )

    def peak(self) -> Peak | None:
        """What was found; ``None`` where nothing was allocated."""
        if self.bytes <= 0 and not self.unknown:
            return None
        return replace(self.recorded, bytes=max(self.bytes, 0), unknown=tuple(self.unknown))


def _hint(state: State, live: dict[Memory, str], enough: int) -> str:
    """What helps against the largest piece that is alive for no good reason."""
    frame = state.frame
    dead: list[tuple[Memory, str]] = []
    for symbol, value in frame.env.items():
        if symbol.startswith(("%", "::")) or symbol == "this" or frame.live_after(symbol):
            continue
        if frame.flow.last_read[frame.block].get(symbol, -1) == frame.index:
            continue  # the operation itself still needs it
        if frame.function.kind == "module":
            continue
        dead += [(m, _shown(frame, symbol)) for m in memory_in([value]) if m.bytes > enough]
    others = memory_in(
        [
            value
            for one in state.frames
            for symbol, value in one.env.items()
            if one is not frame or frame.live_after(symbol) or symbol == "this"
        ]
    )
    operands = memory_in(state.operands)
    free = [(m, n) for m, n in dead if m not in others and m not in operands]
    if free:
        _, name = max(free, key=lambda pair: pair[0].bytes)
        return f"`{name}` is not used any more: `del {name}` before"
    made = memory_in(state.operands[-1:])
    temporary = [
        memory
        for memory, name in live.items()
        if not name and memory in operands and memory not in made and memory.bytes > enough
    ]
    if not temporary:
        return ""
    name = max(temporary, key=lambda m: m.bytes).name
    return f"`{name}` is a temporary: compute it in place (`out=`, `+=`)"
