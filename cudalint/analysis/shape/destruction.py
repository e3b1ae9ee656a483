"""What runs when an object ends: the destructor of its class, of its members and of its bases."""

from __future__ import annotations

from dataclasses import dataclass

from cudalint.analysis.shape.operations import operations
from cudalint.analysis.shape.symbols import Symbols
from cudalint.program import Function, Record, Type


@dataclass(frozen=True)
class Destructor:
    """One destructor that runs."""

    path: tuple[str, ...]
    """The members that lead from the object to the part of it that the destructor ends."""
    record: Record
    definition: Function | None
    """``None``: its body is out of sight."""


class Destruction:
    """What runs when objects of the classes of a run end, in order."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._known: dict[tuple[str, str], tuple[Destructor, ...]] = {}

    def of(self, kind: Type | None, filename: str) -> tuple[Destructor, ...]:
        """What runs when a variable of a type ends; nothing for a pointer or a reference."""
        if kind is not None and kind.kind == "array":
            element = kind.pointee
            return tuple(
                Destructor(("[]",), one.record, None) for one in self.of(element, filename)
            )
        return self.record(kind.record, filename) if kind and kind.kind == "record" else ()

    def record(self, key: str | None, filename: str) -> tuple[Destructor, ...]:
        """What runs when an object of a class ends."""
        record = self._symbols.record(key, filename)
        if record is None:
            return ()
        identity = (record.key, record.filename)
        if identity not in self._known:
            self._known[identity] = ()  # a class that is its own base: code that was misread
            self._known[identity] = (*self._own(record), *self.parts(record))
        return self._known[identity]

    def _own(self, record: Record) -> tuple[Destructor, ...]:
        if record.destructor not in ("declared", "defined"):
            return ()
        found = (self._symbols.function(key, record.filename) for key in record.methods)
        bodies = [one for one in found if one is not None and one.kind == "destructor"]
        if bodies and not any(operations(bodies[0])):
            return ()  # `virtual ~Base() {}`
        return (Destructor((), record, bodies[0] if bodies else None),)

    def parts(self, record: Record) -> tuple[Destructor, ...]:
        """What runs after the destructor of the class itself: for its members, then its bases."""
        found = [
            Destructor((f".{field.name}", *one.path), one.record, one.definition)
            for field in reversed(record.fields)
            for one in self.of(field.type, record.filename)
        ]
        for base in reversed(record.bases):
            found += self.record(base, record.filename)
        return tuple(found)
