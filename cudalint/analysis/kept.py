"""The paths of functions that were followed in earlier runs, for whoever lints the same files again
and again. They hold for a function that is the same, where all that it asked of others is answered
in the same way.

It is asked again in the order in which it was asked, so that whom a function calls is followed
before it, as it would be; what an answer depends on is never guessed. An answer that differs ends
that, and the function is followed anew, which begins with the same questions. What is found is
therefore the same, whatever was kept.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.interpreter.worklist import follow
from cudalint.analysis.shape.asked import AskedSymbols, Note, holds
from cudalint.analysis.shape.symbols import Identity, identity
from cudalint.analysis.values.values import Value
from cudalint.program import Function, Program
from cudalint.program.packing import Packed, unpacked

_MOST_RUNS = 8
"""What none of so many runs has used is forgotten."""
_MOST_WAYS = 6
"""In which one function is kept: as it stood before too, and as it was taken to call itself."""

Kind = TypeVar("Kind")


class _Table(Generic[Kind]):
    """What was found, by what it belongs to, as long as it is used."""

    def __init__(self) -> None:
        self._found: dict[object, tuple[int, Kind]] = {}
        self._runs = 0

    def get(self, key: object) -> Kind | None:
        """What belongs to a key; it is used now."""
        found = self._found.get(key)
        if found is None:
            return None
        self._found[key] = self._runs, found[1]
        return found[1]

    def keep(self, key: object, value: Kind) -> Kind:
        """Keep something."""
        self._found[key] = self._runs, value
        return value

    def end(self) -> None:
        """A run is over."""
        self._runs += 1
        least = self._runs - _MOST_RUNS
        self._found = {key: one for key, one in self._found.items() if one[0] >= least}


@dataclass(frozen=True)
class _Known:
    """A function that was followed, what it asked, and what its paths had shown at their end: what
    others ask of them afterwards depends on more."""

    run: FunctionRun
    head: Program
    notes: list[Note]
    logs: dict[Callable[[FunctionRun], Any], Any]


class Kept:
    """What runs of one process have followed. ``pulse`` is called between functions: what it raises
    ends a run."""

    def __init__(self, pulse: Callable[[], None] = lambda: None) -> None:
        self._pulse = pulse
        self._known: _Table[tuple[_Known, ...]] = _Table()
        self._functions: _Table[Function] = _Table()
        self._heads: _Table[Program] = _Table()
        self._programs: dict[int, tuple[Program, Program]] = {}
        self.followed_anew: list[Identity] = []

    def end(self) -> None:
        """A run is over."""
        self.followed_anew.clear()
        self._programs.clear()
        for table in (self._known, self._functions, self._heads):
            table.end()

    # Programs -----------------------------------------------------------------------------------

    def unpacked(self, programs: Packed) -> list[Program]:
        """Some programs. A function that is the same as in an earlier run is the same object."""
        return unpacked(programs, self._function)

    def _function(self, data: bytes) -> Function:
        return self._functions.get(data) or self._functions.keep(
            data, msgspec.msgpack.decode(data, type=Function)
        )

    def _head(self, program: Program) -> Program:
        """All of a program but its functions, which have to be asked for: the same object where
        nothing of that is another."""
        if id(program) not in self._programs:
            head = msgspec.structs.replace(program, functions=(), embedded=(), dropped=())
            data = msgspec.msgpack.encode(head)
            # The program is kept too, so that no other one gets its identity.
            self._programs[id(program)] = (
                program,
                self._heads.get(data) or self._heads.keep(data, head),
            )
        return self._programs[id(program)][1]

    # Functions ----------------------------------------------------------------------------------

    def followed(
        self,
        function: Function,
        program: Program,
        linked: Any,
        constants: dict[str, Value] | None = None,
    ) -> FunctionRun:
        """The analysis of a function, with some parameters bound to constants or none."""
        if program.language == "python":  # its arrays are placed by what is asked at any time
            return follow(FunctionRun(function, program, linked, linked, constants))
        self._pulse()
        place = (function.filename, function.key, repr(constants or {}))
        before = self._known.get(place) or ()
        known = next((one for one in before if self._holds(one, function, program, linked)), None)
        if known is None:
            self.followed_anew.append(identity(function))
            known = self._follow(function, program, linked, constants)
            self._known.keep(place, (known, *before)[:_MOST_WAYS])
        run = known.run
        run.program, run.symbols, run.summaries = program, linked, linked
        run.logs = _copies(known.logs)
        return run

    def _holds(self, known: _Known, function: Function, program: Program, linked: object) -> bool:
        return (
            known.run.function is function
            and known.head is self._head(program)
            and all(holds(note, linked, self._head) for note in known.notes)
        )

    def _follow(
        self,
        function: Function,
        program: Program,
        linked: object,
        constants: dict[str, Value] | None,
    ) -> _Known:
        notes: list[Note] = []
        asked: Any = AskedSymbols(linked, notes, self._head)
        head = self._head(program)
        run = follow(FunctionRun(function, head, asked, asked, constants))
        return _Known(run, head, notes, _copies(run.logs))


def _copies(logs: dict[Callable[[FunctionRun], Any], Any]) -> dict[Any, Any]:
    return {kind: copy.copy(log) for kind, log in logs.items()}
