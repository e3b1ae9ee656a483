"""What following a function in a Python program rests on, whatever it meets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from cudalint.analysis.footprint.objects import Memory
from cudalint.analysis.footprint.state import Peaks, State
from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.wording import substitute, written_calls
from cudalint.program import Expression, Function, Program, render


class Surroundings(ABC):
    """The run, the models, and the peaks that were seen so far."""

    def __init__(self, function: Function, program: Program, symbols: Symbols) -> None:
        self.function = function
        self.program = program
        self.symbols = symbols
        self.models = symbols.models(program.language)
        self.peaks = Peaks(function.filename)
        self.operations = 0
        self._written: dict[int, Any] = {}

    @abstractmethod
    def follow(self, state: State) -> list[tuple[Any, State]]:
        """Run the topmost frame to its ends: what it returns, in states without it."""

    def show(self, state: State, expression: Expression) -> str:
        """An expression as the source has it: calls in place of their temporaries."""
        function = state.frame.function
        if id(function) not in self._written:
            self._written[id(function)] = written_calls(function)
        return render(substitute(expression, self._written[id(function)]))

    def keep(self, state: State, workspace: str) -> None:
        """A library allocates a workspace, once."""
        name, _, size = workspace.rpartition(":")
        if name not in state.kept:
            span = self.function.span
            state.kept[name] = Memory(int(size), span, name, self.function.filename)
