"""What a Python program's variables hold, as far as it decides the life of device memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cudalint.analysis.footprint.arrays import Shape, count, item_bytes
from cudalint.source import Span

GRANULE = 512
"""Both CuPy's and PyTorch's allocators round sizes up to this."""


class Memory:
    """One piece of device memory. Identity is what counts; copies of a state share it."""

    __slots__ = ("api", "bytes", "count", "filename", "name", "span", "unknown")

    def __init__(
        self, size: int | None, span: Span, name: str, filename: str, unknown: str = ""
    ) -> None:
        self.bytes = 0 if size is None else -(-size // GRANULE) * GRANULE
        self.unknown = unknown if size is None else ""
        self.span = span
        self.name = name
        self.filename = filename
        self.count = 1

    def another(self, times: int = 1) -> Memory:
        """As much memory again, or several times as much."""
        other = Memory(self.bytes * times, self.span, self.name, self.filename)
        other.unknown, other.count = self.unknown, times
        return other


@dataclass(eq=False)
class Node:
    """What automatic differentiation keeps for one operation."""

    saved: tuple[Memory, ...]
    parents: tuple[Node, ...]
    bytes: int
    """Of the operation's result, and so of its gradient."""
    leaf: Array | None = None


@dataclass(eq=False)
class Array:
    """An array, or a view of one: ``memory`` is what it keeps alive (``None``: on the host)."""

    memory: Memory | None
    shape: Shape | None
    dtype: str | None
    library: str = ""
    space: str | None = "device"
    node: Node | None = None
    gradient: Memory | None = None
    unknown: str = ""
    """What its shape depends on."""

    @property
    def torch(self) -> bool:
        """Whether PyTorch's rules hold."""
        return self.library == "torch"

    def nbytes(self) -> int | None:
        """The size of its elements."""
        elements, size = count(self.shape), item_bytes(self.dtype)
        return None if elements is None or size is None else elements * size


@dataclass(eq=False)
class Raw:
    """A pointer from an allocation function: alive until it is released."""

    memory: Memory
    released: bool = False


@dataclass(eq=False)
class Items:
    """A list, tuple, set or dictionary (its values)."""

    items: list[Any] = field(default_factory=list)
    kind: str = "list"


@dataclass(eq=False)
class Instance:
    """An object of a class of the run."""

    record: str
    fields: dict[str, Any] = field(default_factory=dict)


KEEPERS = (Array, Node, Items, Instance)
"""What may keep memory alive; all other values of a variable do not."""
_CHANGING = frozenset({Raw, *KEEPERS})


@dataclass(frozen=True)
class Plain:
    """A number, a string, ``None``: ``value``, if ``known``. ``text`` says what it depends on."""

    value: Any = None
    known: bool = True
    text: str = ""


@dataclass(frozen=True)
class Name:
    """A function, a module, an element type."""

    name: str
    key: str | None = None


@dataclass(frozen=True)
class Range:
    """Python's ``range``."""

    start: int | None
    stop: int | None
    step: int | None

    def __len__(self) -> int:
        return len(range(self.start or 0, self.stop or 0, self.step or 1))

    @property
    def known(self) -> bool:
        """Whether its length is."""
        return None not in (self.start, self.stop, self.step)


NOTHING = Plain(None)
_MOST_TEXT = 200


def unknown(text: str = "") -> Plain:
    """A value that is not known."""
    return Plain(None, False, text)


def text_of(value: object) -> str:
    """What an unknown value depends on, for messages."""
    if isinstance(value, Plain) and not value.known:
        return value.text
    if isinstance(value, Array):
        return value.unknown
    return ""


def texts_of(*values: object) -> str:
    """What several values depend on: as much of it as a message has room for. What is computed from
    itself again and again would double it each time."""
    found = ", ".join(dict.fromkeys(text for value in values if (text := text_of(value))))
    return found if len(found) <= _MOST_TEXT else found[:_MOST_TEXT].rpartition(", ")[0] or "..."


def flat(values: Iterable[Any]) -> list[Any]:
    """Some values, with the items of sequences in place of these."""
    return [part for one in values for part in (one.items if isinstance(one, Items) else [one])]


def duplicate(value: Any, known: dict[int, Any]) -> Any:
    """A copy of a value that shares what cannot change: pieces of memory, numbers, names.
    ``known`` holds the copies made so far, by the ``id`` of what they are of."""
    kind = type(value)  # millions of times for a large file: no `match`
    if kind in _CHANGING:
        made: Any = known.get(id(value))
        if made is None:
            made = known[id(value)] = object.__new__(kind)
            vars(made).update(duplicate(vars(value), known))
        return made
    if kind is dict:
        return {name: duplicate(one, known) for name, one in value.items()}
    if kind is list:
        return [duplicate(one, known) for one in value]
    if kind is tuple:
        return tuple([duplicate(one, known) for one in value])
    return value


def memory_in(values: Iterable[Any], seen: set[int] | None = None) -> dict[Memory, str]:
    """All memory that some values keep alive, but for what hangs on the objects already ``seen``
    (each by its ``id``)."""
    found: dict[Memory, str] = {}
    seen = set() if seen is None else seen
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, Memory):
            found[value] = ""
        elif isinstance(value, (list, tuple)):
            pending += value
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, KEEPERS) and id(value) not in seen:
            seen.add(id(value))
            pending += _kept_by(value)
    return found


def _kept_by(value: Any) -> tuple[Any, ...]:
    """What an object of ``KEEPERS`` keeps alive itself."""
    match value:
        case Array():
            return value.memory, value.node, value.gradient
        case Node():
            return value.saved, value.parents, value.leaf
        case Items():
            return (value.items,)
    return (value.fields,)
