"""Which handlers take an exception: by the classes of the run, of Python and of the libraries."""

from __future__ import annotations

import builtins

from cudalint.analysis.shape.reach import closure
from cudalint.analysis.shape.symbols import Symbols
from cudalint.apis.loader import ApiModels

_BUILTIN = "builtins."
_OUT_OF_SIGHT = ""


class Exceptions:
    """The exception classes of a run."""

    def __init__(self, symbols: Symbols, models: ApiModels) -> None:
        self._symbols = symbols
        self._models = models

    def fits(self, thrown: tuple[str, ...], kinds: tuple[str, ...], filename: str) -> bool | None:
        """Whether a handler of some classes takes an exception, which is of one of the classes
        ``thrown``; ``None`` where that depends, or cannot be known."""
        found = {self._fits(one, kinds, filename) for one in thrown}
        return found.pop() if len(found) == 1 else None

    def _fits(self, thrown: str, kinds: tuple[str, ...], filename: str) -> bool | None:
        above = self._above(thrown, filename)
        wanted = [self._above(kind, filename) for kind in kinds]
        own = self._name(thrown)
        if above.intersection(self._name(kind) for kind in kinds):
            return True
        unsure = any(_OUT_OF_SIGHT in kind or own in kind for kind in wanted)
        return None if unsure or not kinds or _OUT_OF_SIGHT in above else False

    def _above(self, name: str, filename: str) -> set[str]:
        """A class and all that it derives from."""
        return set(closure([self._name(name)], lambda one: self._bases(one, filename)))

    def _bases(self, name: str, filename: str) -> tuple[str, ...]:
        record = self._symbols.record(name, filename)
        if record is not None:
            return tuple(map(self._name, record.bases))
        kind = getattr(builtins, name.removeprefix(_BUILTIN), None)
        if name.startswith(_BUILTIN) and isinstance(kind, type):
            return tuple(_BUILTIN + base.__name__ for base in kind.__mro__)
        return (self._models.exception_base(name) or _OUT_OF_SIGHT,)

    def _name(self, name: str) -> str:
        """A class by the name that is its own: ``IOError`` is ``OSError``."""
        kind = getattr(builtins, name.removeprefix(_BUILTIN), None)
        if name.startswith(_BUILTIN) and isinstance(kind, type):
            return _BUILTIN + kind.__name__
        return self._models.named(name)
