"""How long a function lets device memory be held: by handlers, files, waits, caches and hooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cudalint.analysis.facts.resources import Site
from cudalint.source import Span


@dataclass(frozen=True)
class Retry:
    """Device work inside the handler of an out-of-memory exception."""

    call: str
    span: Span
    handler: Span
    exception: str
    """What the handler takes, as its clause has it."""
    others: tuple[Site, ...] = ()
    """Further such calls in the same handler."""
    same: bool = False
    """It calls what the ``try`` called."""
    unsure: bool = False
    """That it was the memory, only what the handler writes says."""


CheckpointUse = Literal["restored", "filled", "summed", "moved", "rewritten", "beside"]
"""What shows that a file held weights: they are copied into a module, written into parameters one
by one, summed up with others by their names, a module that is moved, a table that is written again
with an entry changed; or another load of the class says where to."""


@dataclass(frozen=True)
class NeededOnDevice:
    """An element of a checkpoint that is used on a device as it was read."""

    taken: Site
    """Where it is taken out; ``text``: the variable that it goes into."""
    device: str
    """The device, as the code writes it."""


@dataclass(frozen=True)
class CheckpointLoad:
    """Weights read from a file, with nothing said of where they go, or onto the device of what they
    fill."""

    api: str
    span: Span
    name: str
    """What the result is first stored in."""
    told: str | None
    """The ``map_location`` as it is written, ``None`` among others; ``None``: there is none."""
    used: Site
    """Where the weights are used."""
    use: CheckpointUse = "restored"
    own: bool = False
    """Something shows that the file was written from a device: this run writes such files from
    there."""
    likely: bool = False
    """Something speaks for it: this run writes weights from a device, or under the very name that
    is read; or the program reckons with such files, where there is no device or in another load."""
    placed: bool = True
    """What is filled was moved to a device before."""
    brief: bool = False
    """They are dropped before anything is computed with them."""
    onto: bool = False
    """They are loaded onto the device that what they fill is on, and kept while the work goes on:
    ``told`` says so."""
    needed: NeededOnDevice | None = None
    """What else the file held, where it must go to the device."""


@dataclass(frozen=True)
class IdleHold:
    """Memory of a known size that is held while the program waits."""

    name: str
    api: str
    span: Span
    bytes: int
    wait: Site
    seconds: float | None
    """``None``: until something outside happens."""
    used_later: bool = False
    release: str = ""


@dataclass(frozen=True)
class TensorCache:
    """Something that keeps device tensors by a key and never lets go of one."""

    kind: str
    """``method``, ``tensors`` or ``results`` for a decorator; ``global`` or ``instance`` for a
    dictionary."""
    name: str
    """The dictionary, or the decorator."""
    span: Span
    key: str
    unsure: bool = False
    """The key is called as things are of which there are few."""
    given: bool = False
    """On which device its tensors are, decides who makes the object."""


@dataclass(frozen=True)
class Hook:
    """A hook that stays where it was put."""

    api: str
    module: str
    span: Span
    handle: str
    """The variable that held the handle; empty where it was discarded at once."""
    skipped: Site | None = None
    """Where an exception gets past the removal; ``None``: nothing removes it."""
    removal: Site | None = None
    yields: bool = False
    """What gets past the removal is raised at a ``yield``."""


@dataclass(frozen=True)
class GraphHook:
    """A hook on a node of the graph that holds the object whose method registers it."""

    node: str
    """The node as the code writes it: ``mean.grad_fn``."""
    span: Span
    kept: Site
    """Where the object keeps a tensor, or what keeps the result of the method; ``text``: what."""


@dataclass(frozen=True)
class LeftBehind:
    """What hooks stored in their object stays there when they are removed."""

    member: str
    span: Span
    """Of the removal."""
    stored: Site
    ends: bool = False
    """The method that removes them is called at the end of the object or of its block."""


@dataclass(frozen=True)
class SkippedClear:
    """A method empties a member at its end, which an exception passes."""

    clear: str
    span: Span
    member: str
    call: str
    """What is given the member in between, and may raise."""
    filled: Span
    survived: bool = False
    """Something of the run takes an exception of the method, and goes on."""


@dataclass(frozen=True)
class MovedSet:
    """All items of a data set are moved to the device before they are asked for."""

    name: str
    span: Span
    by_one: bool = False
    """One by one, by a loop."""
    given: bool = False
    """The function is given them: its callers decide how many there are."""
    items: Site | None = None
    """What says that it is a data set: where its items are counted or handed out."""


@dataclass(frozen=True)
class MovedEntry:
    """An entry of something that outlives the function is moved to the device in place."""

    entry: str
    """The variable that the entry was taken out in."""
    holder: str
    """What it was taken out of: ``self.cached``."""
    span: Span
    taken: Site
    moved: str
    """What is moved, as the code writes it."""


@dataclass(frozen=True)
class UnclosedOwner:
    """An object that owns memory or handles, and that its function leaves open."""

    name: str
    """The variable; empty where the object was discarded at once."""
    made_by: str
    span: Span
    apis: tuple[str, ...]
    """What its constructor acquires with; of a stack, what it was given to release with."""
    closing: tuple[str, ...]
    """The methods that would release it."""
    is_handle: bool
    """It owns handles only."""
    members: tuple[str, ...] = ()
    """Those that hold what it owns."""
    is_stack: bool = False


@dataclass(frozen=True)
class Lifetimes:
    """All of these in one function."""

    retries: tuple[Retry, ...] = ()
    checkpoints: tuple[CheckpointLoad, ...] = ()
    idle: tuple[IdleHold, ...] = ()
    caches: tuple[TensorCache, ...] = ()
    hooks: tuple[Hook, ...] = ()
    graph_hooks: tuple[GraphHook, ...] = ()
    left_behind: tuple[LeftBehind, ...] = ()
    skipped_clears: tuple[SkippedClear, ...] = ()
    moved_entries: tuple[MovedEntry, ...] = ()
    moved_sets: tuple[MovedSet, ...] = ()
    owners: tuple[UnclosedOwner, ...] = ()
